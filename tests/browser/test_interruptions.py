"""Power cuts, reloads, two tabs and old cards: the conversation goes on, a room is booked once."""

import json

import pytest
from playwright.sync_api import expect

STEPS = {
    "asked": ("to_length_question", "clarify"),
    "offered": ("to_rooms", "select_room"),
    "confirming": ("to_confirmation", "confirm"),
}


def finish(person):
    """From whatever is asked now to the receipt."""
    page = person.page
    if page.locator(".message.select_room").count() == 0:
        person.say(person.words["length"])
        person.question("select_room")
    if page.locator(".message.confirm").count() == 0:
        page.locator(".room:enabled").first.click()
        person.question("confirm")
    page.locator(".summary .primary:enabled").click()
    expect(page.locator(".receipt")).to_be_visible()


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_server_asks_the_same_again(open_browser, site, step):
    """On the page that stays open, and on one that is loaded again and answers."""
    person, at = open_browser(language="zh").sign_in(), site.free_slot()
    person.expects_lost_connections = True
    way, kind = STEPS[step]
    before = getattr(person, way)(at).inner_text()
    said = person.log()
    stays, person.page = person.page, person.new_tab()
    person.page.goto(stays.url)
    person.question(kind)
    site.kill()
    for page in (stays, person.page):
        pill = page.locator("[data-part=connection]")
        expect(pill).not_to_have_attribute("data-state", "connected")
    site.start()
    person.page.reload()
    for page in (stays, person.page):
        person.connected(page)
        assert person.question(kind, page).inner_text() == before
        assert person.log(page) == said
    finish(person)
    expect(stays.locator(".receipt")).to_have_count(1)
    assert len(site.bookings_at(at)) == 1


# What a run at each step cannot do without: held, the run stays in its middle.
NEEDS = {"request": "booking_room", "room": "booking_room", "yes": "booking_occurrence"}


def to_step(person, at, step):
    """As far as the click or the words that start the step's run."""
    if step == "request":
        person.connected()
        return lambda: person.begin(at)
    if step == "room":
        person.to_rooms(at)
        return person.room.click
    person.to_confirmation(at)
    return person.yes.click


def from_step(person, step):
    if step == "request":
        person.question("clarify")
    elif step == "room":
        person.question("confirm")
    if step != "yes":
        finish(person)
    expect(person.receipt).to_have_count(1, timeout=30_000)


@pytest.mark.parametrize("step", NEEDS)
def test_a_server_killed_in_a_run_goes_on_with_it(open_browser, site, step):
    person, at = open_browser().sign_in(), site.free_slot()
    person.expects_lost_connections = True
    act = to_step(person, at, step)
    with site.held(NEEDS[step]):
        act()
        person.sees_work()
        site.kill()
    site.start()
    person.connected()
    from_step(person, step)
    assert len(site.bookings_at(at)) == 1


def test_what_is_said_while_the_server_is_away_arrives_once(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.expects_lost_connections = True
    person.to_length_question(at)
    site.kill()
    person.say(person.words["length"])
    expect(person.page.locator(".message.user").last).to_contain_text("Not sent yet")
    site.start()
    person.question("select_room")
    assert person.log().count(person.words["length"]) == 1
    expect(person.page.locator(".message.user").last).not_to_contain_text("Not sent yet")
    person.page.reload()
    person.question("select_room")
    assert person.log().count(person.words["length"]) == 1


@pytest.mark.parametrize("step", NEEDS)
def test_a_page_reloaded_in_mid_run_follows_it_to_its_end(open_browser, site, step):
    person, at = open_browser().sign_in(), site.free_slot()
    act = to_step(person, at, step)
    with site.held(NEEDS[step]):
        act()
        person.sees_work()
        person.page.reload()
        person.connected()
        person.sees_work()
    from_step(person, step)
    assert len(site.bookings_at(at)) == 1


@pytest.mark.parametrize("step", NEEDS)
def test_a_run_that_is_stopped_leaves_things_as_they_were(open_browser, site, step):
    person, at = open_browser().sign_in(), site.free_slot()
    act = to_step(person, at, step)
    open_before = person.page.locator(".message:has(button:enabled) .bubble").all_inner_texts()
    with site.held(NEEDS[step]):
        act()
        person.sees_work()
        person.stops()
        open_now = person.page.locator(".message:has(button:enabled) .bubble")
        expect(open_now).to_have_text(open_before)
    assert site.bookings_at(at) == []
    said = person.log()
    person.page.reload()
    person.connected()
    expect(open_now).to_have_text(open_before)
    assert person.log() == said
    if step == "request":
        person.to_length_question(at)
    finish(person)
    assert len(site.bookings_at(at)) == 1


@pytest.mark.parametrize(
    ("words", "told", "chip"),
    [
        ("with a projector", "Taking that in as well.", "Projector"),
        ("make it for 8", "Starting again with your change.", "8 people"),
    ],
    ids=["supplement", "correction"],
)
def test_what_is_said_beside_a_run_changes_it(open_browser, site, words, told, chip):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_length_question(at)
    with site.held("booking_room"):
        person.say(person.words["length"])
        person.sees_work()
        person.say(words)
        expect(person.page.locator(".message.notice .bubble")).to_have_text(told)
        person.sees_work()
    expect(person.page.locator(f".chip:has-text('{chip}')")).to_be_visible()
    person.question("select_room")
    expect(person.page.locator(".message.select_room")).to_have_count(1)
    assert person.log().count(words) == 1
    person.page.reload()
    person.question("select_room")
    expect(person.page.locator(".message.select_room")).to_have_count(1)


def test_a_question_beside_a_run_is_answered_after_it(open_browser, site):
    person, at = open_browser().sign_in("hanmei"), site.free_slot()
    person.to_length_question(at)
    with site.held("booking_room"):
        person.say(person.words["length"])
        person.sees_work()
        person.say("What have I booked?")
        expect(person.page.locator(".message.user").last).to_contain_text("Next in line")
    expect(person.page.get_by_text("Your bookings from now on")).to_be_visible()
    person.question("select_room")
    expect(person.page.get_by_text("Next in line")).to_have_count(0)
    assert person.log().count("What have I booked?") == 1


def test_what_was_chosen_stays_marked(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_rooms(at)
    other = person.new_tab()
    other.goto(person.page.url)
    person.question("select_room", other)
    person.room.click()
    person.question("confirm")
    person.yes.click()
    expect(person.receipt).to_be_visible()
    expect(other.locator(".receipt")).to_be_visible()
    marked = person.chosen()
    [(_, room, _)] = site.bookings_at(at)
    assert [each.split()[0] for each in marked] == [room, "Yes"]
    assert person.chosen(other) == marked
    person.page.reload()
    expect(person.receipt).to_be_visible()
    assert person.chosen() == marked


def test_a_double_click_books_once(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_confirmation(at)
    person.page.evaluate(
        "for (const _ of [1, 2, 3]) document.querySelector('.summary .primary').click()"
    )
    expect(person.receipt).to_be_visible()
    person.page.reload()
    expect(person.receipt).to_have_count(1)
    assert len(site.bookings_at(at)) == 1


def test_two_tabs_that_both_say_yes_book_once_and_agree(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_confirmation(at)
    other = person.new_tab()
    other.goto(person.page.url)
    person.question("confirm", other)
    for page in (person.page, other):
        page.evaluate("document.querySelector('.summary .primary').click()")
    for page in (person.page, other):
        expect(page.locator(".receipt")).to_have_count(1)
        expect(page.locator(".summary button:enabled")).to_have_count(0)
    assert len(site.bookings_at(at)) == 1


def test_what_one_tab_says_the_other_shows(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_length_question(at)
    other = person.new_tab()
    other.goto(person.page.url)
    person.connected(other)
    person.say(person.words["length"])
    person.question("select_room")
    person.question("select_room", other)
    assert person.log(other) == person.log()


def test_a_stale_card_is_refused_and_the_question_shown_again(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_confirmation(at)
    other, held = person.new_tab(), []

    def between(socket):
        server = socket.connect_to_server()
        server.on_message(lambda frame: None if held else socket.send(frame))

    other.route_web_socket("**/ws/agents/booking/", between)
    other.goto(person.page.url)
    person.question("confirm", other)
    held.append(True)  # this tab hears nothing of what happens now
    later = at.replace(hour=at.hour + 1)
    person.say(person.words["later"].format(clock=person.clock(later)))
    expect(person.page.locator(".message.select_room, .message.confirm")).not_to_have_count(2)
    expect(person.page.locator("[data-part=working]")).to_be_hidden()
    held.clear()
    other.locator(".summary .primary:enabled").click()
    expect(other.locator(".message.error")).to_contain_text("no longer open")
    assert site.bookings_at(at) == []
    assert site.bookings_at(later) == []
    shown = person.page.locator(".message:has(button:enabled) .bubble").last.inner_text()
    expect(other.locator(".message:has(button:enabled) .bubble").last).to_have_text(shown)


def test_words_that_were_accepted_and_then_overtaken_come_back(open_browser, site):
    """The server says of an accepted answer that its question was replaced before it was read."""
    person, sockets, sent = open_browser(), [], []

    def between(socket):
        server = socket.connect_to_server()
        server.on_message(socket.send)
        socket.on_message(lambda frame: (sent.append(json.loads(frame)), server.send(frame)))
        sockets.append(socket)

    person.page.route_web_socket("**/ws/agents/booking/", between)
    person.sign_in()
    person.to_length_question(site.free_slot())
    said = next(frame for frame in sent if frame["type"] == "message")
    told = {"code": "stale_answer", "message": "No longer open.", "retry": False}

    sockets[-1].send(json.dumps({"type": "error", "id": said["id"], **told}))

    expect(person.page.locator("#say")).to_have_value(said["content"])
    expect(person.page.locator(".message.user")).to_have_count(0)
    expect(person.page.locator(".message.error")).to_contain_text("No longer open.")


def test_somebody_who_was_signed_out_is_asked_to_sign_in(open_browser, site):
    person = open_browser().sign_in()
    person.expects_lost_connections = True
    site.end_sessions()
    person.context.set_offline(True)
    expect(person.page.locator("[data-part=connection]")).to_have_attribute("data-state", "offline")
    person.context.set_offline(False)
    person.page.wait_for_url("**/accounts/login/**")


def test_a_new_conversation_leaves_the_old_one_in_the_list(open_browser, site):
    person = open_browser().sign_in()
    person.to_length_question(site.free_slot())
    old, said = person.page.url, person.log()
    person.page.get_by_role("link", name="New conversation").first.click()
    person.connected()
    assert person.log() == []
    person.page.locator(f".thread-list a[href='{old.split(site.url)[1]}']").click()
    person.question("clarify")
    assert person.log() == said
    person.page.goto("/bookings/")
    person.page.get_by_role("link", name="Assistant").click()
    person.question("clarify")
    assert person.page.url == old


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("zh", 390)])
def test_what_waits_is_counted_and_may_be_taken_back_in_any_tab(
    open_browser, site, language, width
):
    person, at = open_browser(language=language, width=width).sign_in("hanmei"), site.free_slot()
    person.to_length_question(at)
    other = person.new_tab()
    with site.held("booking_room"):
        person.say(person.words["length"])
        person.sees_work()
        for words in person.words["asides"]:
            person.say(words)
        expect(person.page.locator("[data-part=queue]")).to_contain_text("2")
        other.goto(person.page.url)
        person.connected(other)
        expect(other.locator("[data-part=queue]")).to_contain_text("2")
        person.picture(f"queue-{language}-{width}")
        other.locator(".message.user .link").first.click()
        for page in (person.page, other):
            expect(page.locator("[data-part=queue]")).to_contain_text("1")
            expect(page.locator(".message.user", has_text=person.words["asides"][0])).to_have_count(
                0
            )
        assert person.serious_faults() == []
    person.question("select_room")
    expect(person.page.locator("[data-part=queue]")).to_be_hidden()
    assert person.log().count(person.words["asides"][1]) == 1
    person.page.reload()
    person.question("select_room")
    assert person.words["asides"][0] not in person.log()


def test_a_run_is_stopped_from_a_tab_that_was_opened_in_its_middle(open_browser, site):
    person, at = open_browser().sign_in(), site.free_slot()
    person.to_length_question(at)
    with site.held("booking_room"):
        person.say(person.words["length"])
        person.sees_work()
        first, person.page = person.page, person.new_tab()
        person.page.goto(first.url)
        person.connected()
        person.sees_work()
        person.stops()
        expect(first.locator("[data-part=working]")).to_be_hidden()
    assert site.bookings_at(at) == []
