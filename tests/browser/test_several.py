"""Bookings that belong together, by hand: a meeting over several rooms, two that swap."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_pages import book_by_form, looks_right, placed


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_meeting_too_large_for_any_room_is_booked_over_several(
    open_browser, site, language, width
):
    person, at = open_browser(language=language, width=width).sign_in(), site.free_slot()
    page, title = person.page, f"All hands {language} {width}"
    page.goto(f"/bookings/new/?room=B801&start={at:%Y-%m-%dT%H:%M}&minutes=30&people=66")
    page.locator("[name=title]").fill(title)
    person.expects_refusals = True
    page.locator("main form button").click()
    looks_right(person)
    page.locator(".offers a.room").click()
    expect(page.locator("[name=people1]")).not_to_have_value("")
    looks_right(person)
    person.picture("split")
    page.locator("main form button").click()
    page.wait_for_url("**/bookings/")
    looks_right(person)
    made = site.rows("SELECT headcount FROM booking_booking WHERE title = %s", title)
    assert len(made) == 2
    assert sum(people for (people,) in made) == 66


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_two_bookings_swap_their_places(open_browser, site, language, width):
    person = open_browser(language=language, width=width).sign_in("zhaoqiang")
    first_at, second_at = site.free_slot(), site.free_slot()
    first = book_by_form(person, "A302", first_at)
    second = book_by_form(person, "A305", second_at)
    page = person.page
    page.goto(f"/bookings/{first}/")
    page.locator(f"a[href='/bookings/{first}/swap/']").click()
    page.get_by_role("radio", name=re.compile("A305")).first.wait_for()
    looks_right(person)
    person.picture("swap")
    page.locator(f"label:has-text('A305'):has-text('{second_at:%H:%M}') input").last.check()
    page.locator("main form button").click()
    page.wait_for_url(f"**/bookings/{first}/")
    assert placed(site, first)[0][:2] == ("A305", second_at)
    assert placed(site, second)[0][:2] == ("A302", first_at)
    looks_right(person)
