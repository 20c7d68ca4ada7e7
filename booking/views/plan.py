"""A drawing for a room without a photo: a table and as many chairs as it has seats. Pure."""

from dataclasses import dataclass

STEP = 10
AROUND = 24
"""More seats than that sit in rows, as in a hall."""
ROW = 12


@dataclass(frozen=True)
class Spot:
    x: int
    y: int


@dataclass(frozen=True)
class Table:
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """In units of a tenth of a step between chairs; y grows downwards."""

    width: int
    height: int
    table: Table
    chairs: tuple[Spot, ...]


def plan(seats: int) -> Plan:
    """Chairs around a table, or rows before one; a hall is drawn with ten rows at most."""
    return _around(seats) if seats <= AROUND else _rows(min(seats, ROW * 10))


def _around(seats: int) -> Plan:
    ends = 2 if seats >= 4 else 0
    above = -(-(seats - ends) // 2)
    below = seats - ends - above
    width = max(above, 2) * STEP
    chairs = [Spot(15 + n * STEP + STEP // 2, 14) for n in range(above)]
    chairs += [Spot(15 + n * STEP + STEP // 2, 46) for n in range(below)]
    chairs += [Spot(8, 30), Spot(22 + width, 30)][:ends]
    return Plan(width=width + 30, height=60, table=Table(15, 20, width, 20), chairs=tuple(chairs))


def _rows(seats: int) -> Plan:
    width = ROW * STEP
    chairs = [Spot(15 + n % ROW * STEP + STEP // 2, 34 + n // ROW * STEP) for n in range(seats)]
    table = Table(15 + width // 3, 10, width // 3, 10)
    return Plan(
        width=width + 30, height=44 + -(-seats // ROW) * STEP, table=table, chairs=tuple(chairs)
    )
