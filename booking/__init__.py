"""Rooms, bookings and the booking agent. The only app that knows what a room is."""
