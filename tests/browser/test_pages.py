"""Rooms, bookings and the day ahead, by hand, in a real browser on a real server."""

import re
from datetime import timedelta

import psycopg
import pytest
from playwright.sync_api import expect
from psycopg import sql

WEIGHT = 200_000
"""Bytes, uncompressed: what the day grid and everything it loads may weigh."""


def wide_as_the_screen(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def looks_right(person):
    """No serious fault for a screen reader, nothing wider than the screen, nothing untranslated."""
    assert person.serious_faults() == []
    assert wide_as_the_screen(person.page)


def strip_of(page, room):
    return page.locator(f"[data-room='{room}']")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_gap_of_the_day_is_booked_changed_and_cancelled(open_browser, site, language, width):
    person, at = open_browser(language=language, width=width).sign_in(), site.free_slot()
    page = person.page
    page.goto("/today/")
    looks_right(person)
    page.locator(".site-nav a[href='/rooms/']").click()
    page.locator("[name=date]").fill(f"{at:%Y-%m-%d}")
    page.wait_for_url(f"**date={at:%Y-%m-%d}**")
    looks_right(person)

    page.locator("summary:has(use[href='#icon-filter'])").click()
    page.locator("[name=seats]").fill("12")
    page.locator("[name=starts]").fill(f"{at:%H:%M}")
    page.locator("[data-filters] button").click()
    expect(strip_of(page, "A301")).to_have_count(0)
    looks_right(person)
    strip_of(page, "A305").locator(".wanted a").focus()
    page.keyboard.press("Enter")

    expect(page.locator("[name=room]")).to_have_value("A305")
    expect(page.locator("[name=starts]")).to_have_value(f"{at:%H:%M}")
    page.locator("[name=headcount]").fill("6")
    page.locator("[name=title]").fill("Grid talk")
    looks_right(person)
    page.locator("main form button").click()
    page.wait_for_url(re.compile(r"/bookings/\d+/$"))
    booking = int(page.url.rstrip("/").rsplit("/", 1)[1])
    assert placed(site, booking) == [("A305", at, at + timedelta(hours=1), "booked", "portal")]
    expect(page.locator("h1")).to_have_text("Grid talk")
    looks_right(person)

    page.locator(f"a[href='/bookings/{booking}/change/']").click()
    page.locator("[name=ends]").fill(f"{at + timedelta(minutes=30):%H:%M}")
    looks_right(person)
    page.locator("main form button").click()
    page.wait_for_url(f"**/bookings/{booking}/")
    assert placed(site, booking)[0][2] == at + timedelta(minutes=30)
    expect(page.locator(".history li")).to_have_count(2)
    looks_right(person)

    page.locator(f"a[href='/bookings/{booking}/cancel/']").click()
    looks_right(person)
    page.locator(".button.danger").click()
    expect(page.locator(".message-note.success")).to_be_visible()
    assert placed(site, booking)[0][3] == "cancelled"


def placed(site, booking):
    """`(room, start, end, status, door)` of a booking."""
    return site.rows(
        """SELECT r.code, o.starts_at, o.ends_at, o.status, b.source FROM booking_booking b
           JOIN booking_occurrence o ON o.booking_id = b.id JOIN booking_room r ON r.id = o.room_id
           WHERE b.id = %s ORDER BY o.starts_at""",
        booking,
    )


def test_a_gap_is_booked_from_where_it_is_clicked(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    page = person.page
    page.goto(f"/rooms/?date={at:%Y-%m-%d}")
    gap = strip_of(page, "A501").locator(".free a").first
    box = gap.bounding_box()
    first, last = (
        int(hour) + int(minute) / 60
        for hour, minute in re.findall(r"(\d\d):(\d\d)", gap.get_attribute("data-gap"))
    )
    wished = 14.5
    gap.hover(position={"x": box["width"] * (wished - first) / (last - first) + 2, "y": 20})
    expect(gap).to_have_attribute("data-at", "14:30")
    gap.click(position={"x": box["width"] * (wished - first) / (last - first) + 2, "y": 20})
    expect(page.locator("[name=starts]")).to_have_value("14:30")
    expect(page.locator("[name=ends]")).to_have_value("15:30")


def test_a_lost_race_is_told_with_what_is_left(open_browser, site):
    at = site.free_slot()
    first, second = open_browser().sign_in(), open_browser().sign_in("hanmei")
    for person in (first, second):
        person.page.goto(f"/bookings/new/?room=A305&start={at:%Y-%m-%dT%H:%M}")
        person.page.locator("[name=headcount]").fill("6")
    first.page.locator("main form button").click()
    first.page.wait_for_url(re.compile(r"/bookings/\d+/$"))
    second.expects_refusals = True
    second.page.locator("main form button").click()
    expect(second.page.get_by_role("alert")).to_contain_text("A305 is taken")
    looks_right(second)
    second.page.locator(".offers a").first.click()
    second.page.locator("main form button").click()
    second.page.wait_for_url(re.compile(r"/bookings/\d+/$"))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_room_shows_its_week(open_browser, site, language, width):
    person = open_browser(language=language, width=width).sign_in()
    page = person.page
    page.goto("/rooms/A305/")
    expect(page.locator("[data-day]")).to_have_count(7)
    looks_right(person)
    monday = page.locator("[data-day]").first.get_attribute("data-day")
    page.locator("[rel=next]").click()
    expect(page.locator("[data-day]").first).not_to_have_attribute("data-day", monday)


def test_the_day_grid_is_light(open_browser):
    person = open_browser().sign_in()
    person.page.goto("/rooms/", wait_until="networkidle")
    sizes = person.page.evaluate("""
        Object.fromEntries(["navigation", "resource"]
            .flatMap((kind) => performance.getEntriesByType(kind))
            .map((each) => [each.name, each.decodedBodySize]))
    """)
    assert any("roomwise.css" in url for url in sizes)
    assert sum(sizes.values()) < WEIGHT, sizes


def test_without_javascript_a_gap_is_booked_all_the_same(open_browser, site):
    at = site.free_slot()
    person = open_browser(java_script_enabled=False)
    page = person.page
    page.goto("/accounts/login/?next=/rooms/")
    page.locator("[name=username]").fill("lilei")
    page.locator("[name=password]").fill("roomwise-demo")
    page.locator("[name=password]").press("Enter")
    page.locator("[name=date]").fill(f"{at:%Y-%m-%d}")
    page.locator("[data-filters] button").click()
    strip_of(page, "A305").locator(".free a").first.click()
    page.locator("[name=starts]").fill(f"{at:%H:%M}")
    page.locator("[name=ends]").fill(f"{at + timedelta(hours=1):%H:%M}")
    page.locator("main form button").click()
    page.wait_for_url(re.compile(r"/bookings/\d+/$"))


@pytest.fixture
def deciders(site):
    """hanmei decides on requests for every room."""
    with psycopg.connect(site.conninfo) as connection:
        [(group,)] = connection.execute(
            "INSERT INTO auth_group (name) VALUES ('Deciders') RETURNING id"
        )
        connection.execute(
            """INSERT INTO auth_user_groups (user_id, group_id)
               SELECT id, %s FROM auth_user WHERE username = 'hanmei'""",
            [group],
        )
        connection.execute(
            """INSERT INTO booking_grant (policy_id, group_id, "right")
               SELECT id, %s, 'approve' FROM booking_policy""",
            [group],
        )
    yield
    with psycopg.connect(site.conninfo) as connection:
        for table in ("booking_grant", "auth_user_groups"):
            connection.execute(
                sql.SQL("DELETE FROM {} WHERE group_id = %s").format(sql.Identifier(table)), [group]
            )
        connection.execute("DELETE FROM auth_group WHERE id = %s", [group])


def book_by_form(person, room, at, *, people="6", title=""):
    page = person.page
    page.goto(f"/bookings/new/?room={room}&start={at:%Y-%m-%dT%H:%M}")
    page.locator("[name=headcount]").fill(people)
    page.locator("[name=title]").fill(title)
    page.locator("main form button").click()
    page.wait_for_url(re.compile(r"/bookings/\d+/$"))
    return int(page.url.rstrip("/").rsplit("/", 1)[1])


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_request_is_decided_by_who_may(open_browser, site, deciders, language, width):
    asker, at = open_browser(language=language, width=width).sign_in(), site.free_slot()
    booking = book_by_form(asker, "A501", at, title="Town hall")
    assert placed(site, booking)[0][3] == "pending"
    looks_right(asker)
    decider = open_browser(language=language, width=width).sign_in("hanmei")
    page = decider.page
    page.locator(".site-nav a[href='/approvals/']").click()
    looks_right(decider)
    card = page.locator(f"[data-booking='{booking}']")
    expect(card).to_contain_text("Town hall")
    card.locator("[value=reject]").click()
    expect(page.locator(".message-note.error")).to_be_visible()
    looks_right(decider)
    card.locator("[name=reason]").fill("Painting")
    card.locator("[value=reject]").click()
    expect(card).to_have_count(0)
    assert placed(site, booking)[0][3] == "rejected"
    asker.page.reload()
    expect(asker.page.locator(".history")).to_contain_text("Painting")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_cancellation_is_taken_back(open_browser, site, language, width):
    person, at = open_browser(language=language, width=width).sign_in(), site.free_slot()
    booking = book_by_form(person, "A302", at)
    page = person.page
    page.locator(f"a[href='/bookings/{booking}/cancel/']").click()
    page.locator(".button.danger").click()
    undo = page.locator(".undo button")
    expect(undo).to_be_visible()
    looks_right(person)
    undo.click()
    page.wait_for_url(f"**/bookings/{booking}/")
    assert placed(site, booking)[0][3] == "booked"
    looks_right(person)


@pytest.mark.parametrize(
    ("language", "width", "room"),
    [("en", 1280, "B201"), ("en", 390, "B202"), ("zh", 1280, "A301"), ("zh", 390, "B801")],
)
def test_a_series_is_booked_without_its_clashes_and_ended(
    open_browser, site, language, width, room
):
    person = open_browser(language=language, width=width).sign_in()
    # In the evening: the weeks after a free slot may be other tests' slots.
    at = site.free_slot(weeks=3).replace(hour=19)
    page, weeks = person.page, [at + timedelta(weeks=n) for n in range(3)]
    book_by_form(person, room, weeks[1], people="3")
    page.goto(f"/bookings/new/?room={room}&start={at:%Y-%m-%dT%H:%M}&minutes=30")
    page.locator("[name=title]").fill(f"Weekly {language} {width}")
    page.locator("[name=repeats]").select_option("FREQ=WEEKLY")
    page.locator("[name=until]").fill(f"{weeks[2]:%Y-%m-%d}")
    person.expects_refusals = True
    page.locator("main form button").click()
    expect(page.get_by_role("alert").locator("li")).to_have_count(1)
    looks_right(person)
    page.locator("[name=skip]").check()
    page.locator("main form button").click()
    page.wait_for_url(re.compile(r"/bookings/\d+/$"))
    looks_right(person)
    booking = int(page.url.rstrip("/").rsplit("/", 1)[1])
    assert [each[1] for each in placed(site, booking)] == [weeks[0], weeks[2]]
    page.locator(".actions .danger").click()
    page.locator("[name=scope][value=all]").check()
    looks_right(person)
    page.locator(".button.danger").click()
    expect(page.locator(".undo")).to_be_visible()
    assert {each[3] for each in placed(site, booking)} == {"cancelled"}


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_profile_keeps_the_building_and_gives_keys(open_browser, language, width):
    person = open_browser(language=language, width=width).sign_in("zhaoqiang")
    page = person.page
    page.locator("[data-menu] summary").click()
    page.locator(".menu-item[href='/profile/']").click()
    looks_right(person)
    page.locator("[action='/profile/feed/'] button").click()
    address = page.locator(".secret code").first.inner_text()
    looks_right(person)
    answer = page.request.get(address)
    assert answer.text().startswith("BEGIN:VCALENDAR")
    page.locator("[action='/profile/feed/revoke/'] button").click()
    expect(page.locator(".secret")).to_have_count(0)
    assert page.request.get(address).status == 404


def test_who_is_there_says_so(open_browser, site):
    # Somebody whom the demo gives nothing today: what runs already stands first on the page.
    person, at = open_browser(width=390).sign_in("zhaoqiang"), site.free_slot()
    booking = book_by_form(person, "A302", at)
    with psycopg.connect(site.conninfo) as connection:
        connection.execute(
            """UPDATE booking_occurrence SET
                 during = tstzrange(now() - interval '5 minutes', now() + interval '20 minutes'),
                 blocked = tstzrange(now() - interval '5 minutes', now() + interval '20 minutes'),
                 room_id = (SELECT id FROM booking_room WHERE code = 'B202')
               WHERE booking_id = %s""",
            [booking],
        )
    person.page.goto("/today/")
    looks_right(person)
    person.page.locator(f"[action='/bookings/{booking}/check-in/'] button").click()
    expect(person.page.locator(".message-note.success")).to_be_visible()
    assert placed(site, booking)[0][3] == "checked_in"
