"""A room booked by talking, in a real browser on a real server."""

import re

import pytest
from playwright.sync_api import expect


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_room_is_booked_by_talking(open_browser, site, language, width):
    person, at = open_browser(language=language, width=width), site.free_slot()
    person.page.goto("/")
    assert person.serious_faults() == []
    person.sign_in_by_form("lilei")
    assert person.serious_faults() == []

    person.to_length_question(at)
    people = {"en": "6 people", "zh": "6 人"}[language]
    expect(person.page.locator(".chip-value").get_by_text(people, exact=True)).to_be_visible()
    assert person.serious_faults() == []
    person.say(person.words["length"])
    person.question("select_room")
    assert person.serious_faults() == []
    code = person.room.locator("strong").inner_text()
    person.room.click()
    person.question("confirm")
    assert code in person.page.locator(".summary table").inner_text()
    assert person.serious_faults() == []
    assert site.bookings_at(at) == []
    person.yes.click()
    expect(person.receipt).to_contain_text(code)
    expect(person.page.locator(".chip")).to_have_count(0)
    assert person.serious_faults() == []

    [(booking, room, status)] = site.bookings_at(at)
    assert (room, status) == (code, "booked")
    person.receipt.get_by_role("link").click()
    row = person.row_of(booking)
    expect(row).to_contain_text(code)
    expect(row).to_contain_text(f"{at:%H:%M}")
    expect(row).to_contain_text("Asia/Shanghai")
    assert person.serious_faults() == []


def test_a_booking_is_cancelled_after_a_second_look(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_confirmation(at)
    person.yes.click()
    person.receipt.get_by_role("link").click()
    [(booking, room, _)] = site.bookings_at(at)
    row = person.row_of(booking)
    row.locator("a.button").click()
    expect(person.page.locator(".facts")).to_contain_text(room)
    assert person.serious_faults() == []
    person.page.get_by_role("button", name="Yes, cancel it").click()
    expect(person.page.get_by_role("status").first).to_contain_text("cancelled")
    expect(row).to_have_count(0)
    assert site.bookings_at(at) == [(booking, room, "cancelled")]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_booking_is_cancelled_by_talking(open_browser, site, language):
    person, at = open_browser(language=language, width=390).sign_in(), site.free_slot()
    person.to_confirmation(at)
    person.yes.click()
    expect(person.receipt).to_be_visible()
    [(booking, room, _)] = site.bookings_at(at)
    person.say(person.words["cancel"])
    person.question("confirm")
    assert room in person.page.locator(".summary table").last.inner_text()
    expect(person.page.locator("[data-part=draft]")).to_be_hidden()
    assert site.bookings_at(at) == [(booking, room, "booked")]
    person.yes.click()
    expect(person.receipt.nth(1)).to_contain_text(person.words["cancelled"])
    assert site.bookings_at(at) == [(booking, room, "cancelled")]


def test_a_no_books_nothing(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_confirmation(at)
    before = len(person.log())
    person.page.locator(".summary .quiet:enabled").click()
    expect(person.page.locator(".summary button:enabled")).to_have_count(0)
    expect(person.page.locator("[data-part=working]")).to_be_hidden()
    expect(person.page.locator(".message .bubble")).not_to_have_count(before)
    assert site.bookings_at(at) == []


def test_a_second_request_in_the_same_conversation_starts_clean(open_browser, site):
    person, first, second = open_browser().sign_in(), site.free_slot(), site.free_slot()
    person.to_confirmation(first)
    person.yes.click()
    expect(person.receipt).to_be_visible()
    person.to_confirmation(second)
    person.yes.click()
    expect(person.receipt).to_have_count(2)
    assert [len(site.bookings_at(at)) for at in (first, second)] == [1, 1]


def test_the_keyboard_is_enough(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_rooms(at)
    person.page.locator("#say").focus()
    for _ in range(20):
        person.page.keyboard.press("Shift+Tab")
        if person.page.evaluate("document.activeElement.matches('.room')"):
            break
    person.page.keyboard.press("Escape")
    person.page.keyboard.press("Enter")
    person.question("confirm")
    person.yes.focus()
    person.page.keyboard.press("Space")
    expect(person.receipt).to_be_visible()
    assert len(site.bookings_at(at)) == 1


def test_a_chip_prefills_a_correction(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_rooms(at)
    person.page.get_by_role("button", name=re.compile("^People")).click()
    box = person.page.locator("#say")
    expect(box).to_be_focused()
    box.press_sequentially("8")
    assert box.input_value() == "Make it for 8"
    box.press("Enter")
    expect(person.page.locator(".chip:has-text('8 people')")).to_be_visible()
    person.question("select_room")


def test_enter_that_ends_a_composition_sends_nothing(open_browser):
    person = open_browser(language="zh").sign_in()
    box = person.page.locator("#say")
    box.fill("mingtian")
    for init in ({"isComposing": True}, {"keyCode": 229}):
        box.dispatch_event("keydown", {"key": "Enter", "bubbles": True, "cancelable": True, **init})
    box.press("Shift+Enter")
    assert box.input_value() == "mingtian\n"
    assert person.log() == []


def test_an_example_is_put_into_the_field_to_be_changed(open_browser):
    person = open_browser().sign_in()
    example = person.page.locator("[data-example]").first
    text = example.inner_text()
    example.click()
    expect(person.page.locator("#say")).to_have_value(text)
    expect(person.page.locator("#say")).to_be_focused()


def test_more_than_can_be_sent_is_not_cut_but_said(open_browser):
    person = open_browser().sign_in()
    person.page.locator("#say").fill("x" * 2001)
    expect(person.page.locator("#say-count")).to_have_text("2001 of 2000 characters")
    expect(person.page.locator("[data-part=send]")).to_be_disabled()
    person.page.locator("#say").press("Enter")
    assert person.log() == []
