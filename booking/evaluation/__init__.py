"""Offline evaluation: conversations with a known outcome, played over the real socket and judged.

`cases` reads them, `scratch` gives them a database of their own, `world` fills it, `playing` says
their turns, `judging` (pure) compares, `report` (pure) counts. docs/understanding.md tells how to
use it. Nothing of the product imports this but its command.
"""
