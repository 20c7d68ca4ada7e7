"""`script/bench availability`: a day of 500 rooms at 200,000 occurrences, beside the bare SQL of it.

Both take turns on one connection. The bare query fetches the same bookings of the same day as
tuples and does nothing with them: what the ratio adds is the rooms, their rules and rights, who may
see what, and the objects a page is made of.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from config import embedded, env

DATABASE = "roomwise_bench_rooms"
DAYS_BACK, DAYS_AHEAD = 60, 40

BARE = """
    SELECT o.room_id, o.starts_at, o.ends_at, lower(o.blocked), upper(o.blocked), o.status, b.title, b.id, b.visibility, b.organizer_id,
           u.first_name, u.last_name, u.username
    FROM booking_occurrence o
    JOIN booking_booking b ON b.id = o.booking_id
    JOIN auth_user u ON u.id = b.organizer_id
    JOIN booking_room r ON r.id = o.room_id
    WHERE o.status IN ('held', 'pending', 'booked', 'checked_in') AND r.is_active
      AND o.blocked && tstzrange(%s, %s)
"""


def prepare(rooms: int, occurrences: int, buildings: int) -> None:
    """A database of its own: the rooms in some buildings, each equally busy, a tenth private."""
    url = embedded.database_url(env.read("ROOMWISE_DATA"))
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(f"drop database if exists {DATABASE} with (force)")
        conn.execute(f"create database {DATABASE}")
    os.environ["DATABASE_URL"] = url.replace("@/roomwise?", f"@/{DATABASE}?")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["DEBUG"] = "true"
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from booking import demo
    from booking.models import Building, Feature, Floor, Policy, Room

    call_command("migrate", verbosity=0)
    site = demo.load_places(years=(2026, 2027))
    Room.objects.all().delete()
    policy, features = Policy.objects.get(), list(Feature.objects.all())
    for number in range(buildings):
        building = Building.objects.create(site=site, code=f"H{number}", name_en="H", name_zh="H")
        Floor.objects.bulk_create(Floor(building=building, number=n) for n in range(5))
    floors = list(Floor.objects.filter(building__code__startswith="H").order_by("pk"))
    made = Room.objects.bulk_create(
        Room(
            code=f"R{n:03}",
            name_en=f"Room {n}",
            name_zh=f"会议室 {n}",
            seats=4 + n % 20,
            floor=floors[n * len(floors) // rooms],
            policy=policy,
        )
        for n in range(rooms)
    )
    through = Room.features.through
    through.objects.bulk_create(
        through(room=room, feature=features[n % len(features)]) for n, room in enumerate(made)
    )
    User.objects.bulk_create(User(username=f"bench{n}", first_name="B") for n in range(200))
    _fill(rooms, occurrences)


def _fill(rooms: int, occurrences: int) -> None:
    """Bookings of 45 minutes on the hour, spread evenly over the days; in one statement each."""
    from django.db import connection

    a_day = occurrences // rooms // (DAYS_BACK + DAYS_AHEAD)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO booking_booking (title, visibility, headcount, recurrence, source,
                idempotency_key, request_digest, version, organizer_id)
            SELECT 'Meeting ' || n, CASE WHEN n %% 10 = 0 THEN 'private' ELSE 'public' END, 4, '',
                'portal', 'bench-' || n, '-', 1, (SELECT min(id) FROM auth_user) + n %% 200
            FROM generate_series(0, %s) n
            """,
            [occurrences - 1],
        )
        cursor.execute(
            """
            WITH slots AS (
                SELECT r.id AS room_id, row_number() OVER () - 1 AS n,
                    date_trunc('day', now()) + make_interval(days => d, hours => 1 + 2 * s) AS at
                FROM booking_room r, generate_series(%s, %s) d, generate_series(0, %s) s
            )
            INSERT INTO booking_occurrence (booking_id, room_id, during, blocked, status)
            SELECT (SELECT min(id) FROM booking_booking) + n, room_id,
                tstzrange(at, at + interval '45 minutes'), tstzrange(at, at + interval '45 minutes'),
                'booked'
            FROM slots
            """,
            [-DAYS_BACK, DAYS_AHEAD - 1, a_day - 1],
        )
        cursor.execute("ANALYZE")


def measured(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Milliseconds on the clock, milliseconds of this process's CPU, and what came of it."""
    began, cpu = time.perf_counter(), time.process_time()
    found = call()
    return (time.perf_counter() - began) * 1000, (time.process_time() - cpu) * 1000, found


def main() -> None:
    parser = argparse.ArgumentParser(prog="script/bench availability", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rooms", type=int, default=500)
    parser.add_argument("--occurrences", type=int, default=200_000)
    parser.add_argument("--buildings", type=int, default=5)
    options = parser.parse_args()
    prepare(options.rooms, options.occurrences, options.buildings)
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from booking import selectors
    from booking.models import Building, Occurrence

    viewer = User.objects.get(username="bench7")
    now = datetime.now(UTC)
    day = (now + timedelta(days=1)).date()

    def bare() -> list[Any]:
        local = selectors.local_day(viewer_zone, day)
        with connection.cursor() as cursor:
            cursor.execute(BARE, [local.starts_at, local.ends_at])
            return cursor.fetchall()

    def grid(**where: Any) -> list[Any]:
        return selectors.day_grid(viewer=viewer, day=day, now=now, **where)

    def wish() -> Any:
        starts_at = datetime.combine(day, datetime.min.time(), viewer_zone) + timedelta(hours=15)
        ends_at = starts_at + timedelta(hours=1)
        request = selectors.RoomRequest(starts_at=starts_at, ends_at=ends_at, headcount=6)
        return selectors.search(request, user=viewer, now=now)

    def page() -> bytes:
        query = {"building": building, "date": day.isoformat()}
        return client.get("/rooms/", query, headers={"host": "localhost"}).content

    client = Client()
    client.force_login(viewer)
    building = Building.objects.get(code="H0").pk
    viewer_zone = grid()[0].zone
    jobs = {
        "bare SQL of the day": bare,
        f"day grid, {options.rooms} rooms": grid,
        "day grid, one building": lambda: grid(building="H0"),
        "search, every room": wish,
        "page of one building": page,
    }
    queries = {}
    for name, job in jobs.items():
        job()
        with CaptureQueriesContext(connection) as captured:
            job()
        queries[name] = len(captured)
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for number in range(options.rounds):
        for name in sorted(jobs, reverse=bool(number % 2)):
            wall, cpu, _found = measured(jobs[name])
            took[name].append((wall, cpu))
    print(f"\n{Occurrence.objects.count()} occurrences, {len(bare())} of them that day")
    print(
        f"{'median of ' + str(options.rounds):28}{'ms':>9}{'CPU ms':>9}{'queries':>9}{'ratio':>8}"
    )
    base = [wall for wall, _cpu in took["bare SQL of the day"]]
    for name, values in took.items():
        ratio = statistics.median(a / b for (a, _), b in zip(values, base, strict=True))
        wall, cpu = (statistics.median(each) for each in zip(*values, strict=True))
        print(f"{name:28}{wall:9.1f}{cpu:9.1f}{queries[name]:9}{ratio:8.2f}")
    print(f"the page weighs {len(page()):,} bytes")
    connection.close()


if __name__ == "__main__":
    main()
