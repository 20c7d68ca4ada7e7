"""Doors: authenticate, decode, delegate, encode. No rule lives here."""
