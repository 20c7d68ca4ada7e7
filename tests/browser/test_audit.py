"""An administrator opens the black box of a real booking, tries things, and goes live, in a browser."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from audit import export
from booking.demo import PASSWORD
from tests.browser.person import Person
from tests.browser.site import Site

WORDS = {
    "en": {"fork": "Fork here", "replay": "Replay from here", "what_if": "What if"},
    "zh": {"fork": "从此处分叉", "replay": "从此处重放", "what_if": "假设试验"},
}


class Desk:
    """The administration's side of one thread, as somebody sits in front of it."""

    def __init__(self, person: Person, site: Site, thread: str) -> None:
        self.person, self.site, self.thread = person, site, thread
        self.page: Page = person.page
        self.base = f"/admin/audit/auditedthread/{thread}"

    def sign_in(self) -> "Desk":
        kept = self.person.cookies.get(("admin", f"desk-{self.person.language}"), [])
        self.person.context.add_cookies(kept)
        self.page.goto("/admin/")
        if self.page.locator("[name=username]").count():
            self.page.locator("[name=username]").fill("admin")
            self.page.locator("[name=password]").fill(PASSWORD)
            self.page.locator("[name=password]").press("Enter")
            self.page.wait_for_url("**/admin/")
            cookies = list(self.person.context.cookies())
            self.person.cookies["admin", f"desk-{self.person.language}"] = cookies
        return self

    def open(self, path: str) -> None:
        self.page.goto(f"{self.base}/{path}")
        self.is_sound()

    def is_sound(self) -> None:
        """Nothing serious by axe, and the page is no wider than its window."""
        assert self.person.serious_faults() == []
        wide = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{self.page.url} is {wide} px too wide"

    def waited_at(self, kind: str) -> str:
        """The checkpoint at which the thread asked a question of that kind."""
        self.open("timeline/")
        asked = self.page.locator(f"[data-kind={kind}]")
        row = self.page.locator("tr", has=asked).first
        return str(row.get_attribute("id")).removeprefix("c-")

    def standing(self) -> tuple[Any, ...]:
        [row] = self.site.rows(
            "SELECT head, interrupt, status FROM agentruntime_thread WHERE id = %s", self.thread
        )
        return row


def booked_thread(person: Person, site: Site) -> tuple[str, Any]:
    """A booking made by talking; the thread it was made in, and when it is."""
    at = site.free_slot()
    person.sign_in()
    person.to_confirmation(at)
    person.yes.click()
    expect(person.receipt).to_be_visible()
    [(thread,)] = site.rows(
        """SELECT e.thread_id FROM booking_occurrence o JOIN booking_booking b ON b.id = o.booking_id
           JOIN agentruntime_effect e ON e.id = b.effect_id WHERE o.starts_at = %s""",
        at,
    )
    return thread, at


@pytest.fixture
def desk_of(open_browser: Callable[..., Person], site: Site) -> Callable[..., Desk]:
    """`desk_of("zh", 390)`: an administrator in front of a thread somebody has just booked in."""

    def opened(language: str = "en", width: int = 1280) -> Desk:
        thread, _ = booked_thread(open_browser(language=language), site)
        return Desk(open_browser(language=language, width=width), site, thread).sign_in()

    return opened


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("zh", 390)])
def test_the_box_is_opened_step_by_step(desk_of, language, width):
    desk = desk_of(language, width)
    desk.page.goto("/admin/audit/auditedthread/")
    desk.is_sound()
    desk.page.locator("#result_list a").first.click()
    desk.is_sound()
    desk.open("change/")
    desk.open("timeline/")
    rows = desk.page.locator(".audit-timeline tbody tr")
    assert rows.count() > 10
    rows.nth(1).get_by_role("link").first.click()
    desk.is_sound()
    desk.page.locator(
        ".audit-tools a", has_text=re.compile("Compare with parent|与父检查点对比")
    ).click()
    desk.is_sound()
    expect(desk.page.locator(".audit-changes tbody tr").first).to_be_visible()
    desk.page.go_back()
    desk.page.locator("#raw-reason").fill("a complaint")
    desk.page.locator("#raw-reason").press("Enter")
    expect(desk.page.locator("pre.audit-raw")).to_contain_text("dialogue")
    desk.is_sound()
    [(kind,)] = desk.site.rows("SELECT kind FROM audit_operation WHERE thread = %s", desk.thread)
    assert kind == "read_raw"


@pytest.mark.parametrize(("language", "width"), [("en", 390), ("zh", 1280)])
def test_a_fork_is_edited_talked_to_and_books_nothing(desk_of, language, width):
    desk = desk_of(language, width)
    before, bookings = desk.standing(), desk.site.rows("SELECT count(*) FROM booking_booking")
    checkpoint = desk.waited_at("confirm")
    desk.open(f"checkpoints/{checkpoint}/")
    desk.page.get_by_role("link", name=WORDS[language]["fork"]).click()
    desk.is_sound()
    desk.page.locator("[name='slots.capacity']").fill("2")
    desk.page.locator("[name=reason]").fill("would two fit elsewhere?")
    desk.page.locator("button[name=preview]").click()
    expect(desk.page.locator("#preview")).to_contain_text("/slots/capacity")
    desk.is_sound()
    desk.page.locator("button[name=fork]").click()
    expect(desk.page.locator(".audit-fork")).to_be_visible()
    desk.is_sound()
    desk.page.locator(".audit-choices button").first.click()
    desk.is_sound()
    desk.page.locator(".audit-choices button").first.click()
    expect(desk.page.locator("#content-main")).to_contain_text(
        re.compile("Something here was only simulated|此处有仅为模拟的结果")
    )
    desk.is_sound()
    assert desk.site.rows("SELECT count(*) FROM booking_booking") == bookings
    assert desk.standing() == before


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("zh", 390)])
def test_a_replay_and_variants_stand_side_by_side(desk_of, language, width):
    desk = desk_of(language, width)
    bookings = desk.site.rows("SELECT count(*) FROM booking_booking")
    checkpoint = desk.waited_at("confirm")
    desk.open(f"checkpoints/{checkpoint}/")
    desk.page.locator("#replay-reason").fill("did it have to?")
    desk.page.get_by_role("button", name=WORDS[language]["replay"]).click()
    expect(desk.page.locator(".audit-verdict")).to_be_visible()
    desk.is_sound()
    desk.open(f"checkpoints/{checkpoint}/")
    desk.page.get_by_role("link", name=WORDS[language]["what_if"]).click()
    desk.is_sound()
    desk.page.locator("[name='v1-slots.capacity']").fill("3")
    desk.page.locator("[name='v2-slots.duration_minutes']").fill("30")
    desk.page.locator("[name=reason]").fill("what if")
    desk.page.locator("button[type=submit].default").click()
    expect(desk.page.locator(".audit-variants > section")).to_have_count(3)
    desk.is_sound()
    assert desk.site.rows("SELECT count(*) FROM booking_booking") == bookings


def test_a_fork_goes_live_and_its_owner_sees_it(open_browser, site):
    owner = open_browser()
    thread, _ = booked_thread(owner, site)
    desk = Desk(open_browser(), site, thread).sign_in()
    checkpoint = desk.waited_at("select_room")
    desk.open(f"checkpoints/{checkpoint}/fork/")
    desk.page.locator("[name=reason]").fill("the owner asked for another room")
    desk.page.locator("button[name=fork]").click()
    desk.page.get_by_role("link", name="Make it the live thread").first.click()
    desk.is_sound()
    desk.page.locator("[name=typed]").fill(thread[-8:])
    desk.page.locator("[name=reason]").fill("as they asked on the phone")
    desk.page.locator("button.deletelink").click()
    expect(desk.page.locator(".messagelist")).to_contain_text("live thread now")
    told = owner.page.get_by_text("An administrator went on with this conversation")
    expect(told).to_be_visible(timeout=10_000)
    expect(owner.room).to_be_visible()
    desk.open("timeline/")
    expect(desk.page.locator(".audit-picture svg")).to_be_visible()


def test_without_javascript_everything_still_works(open_browser, site):
    thread, _ = booked_thread(open_browser(), site)
    desk = Desk(open_browser(java_script_enabled=False), site, thread).sign_in()
    desk.page.goto(f"{desk.base}/timeline/")
    row = desk.page.locator("tr", has=desk.page.locator("[data-kind=select_room]")).first
    row.get_by_role("link").first.click()
    desk.page.get_by_role("link", name="Fork here").click()
    desk.page.locator("[name=reason]").fill("no script")
    desk.page.locator("button[name=fork]").click()
    # The first room is the one that was booked: rooms are looked up as they are now.
    desk.page.locator(".audit-choices button").nth(1).click()
    expect(desk.page.locator(".audit-choices")).to_contain_text("Yes")


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("zh", 390)])
def test_a_label_is_corrected_a_thread_exported_and_a_history_pruned(desk_of, language, width):
    desk = desk_of(language, width)
    desk.open("decisions/")
    row = desk.page.locator("[id^=message-]").first
    row.locator("select").select_option("correction")
    row.locator("[name=reason]").fill("they took it back")
    row.locator("button").click()
    expect(desk.page.locator("[id^=message-]").first).to_contain_text("they took it back")
    desk.is_sound()
    desk.open("change/")
    desk.page.locator("#export-reason").fill("evidence")
    with desk.page.expect_download() as download:
        desk.page.locator("#export-reason").press("Enter")
    with open(download.value.path(), "rb") as file:  # noqa: PTH123
        assert export.verify(file).thread == desk.thread
    desk.page.goto(
        "/admin/audit/auditedthread/retention/?agent=booking&keep_last=2&older_than_days=0"
    )
    desk.is_sound()
    plan = desk.page.locator("#plan dd").nth(1).inner_text()
    assert int(plan) > 0
    desk.page.locator("#plan [name=reason]").fill("enough is enough")
    desk.page.locator("#plan button").click()
    expect(desk.page.locator("#plan dd").nth(1)).to_have_text(plan)
    desk.is_sound()
    desk.open("timeline/")
    assert desk.page.locator(".audit-gap").count() > 0
