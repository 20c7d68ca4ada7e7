"""Somebody in front of the portal: what they do and what they see, in either language."""

import json
from datetime import datetime
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect

from booking.demo import PASSWORD

WORDS = {
    "en": {
        "begin": "A meeting room on {month} {day} at {clock}, for six people",
        "length": "one hour",
        "later": "make it {clock}",
        "cancel": "cancel it",
        "cancelled": "Cancelled",
        "stopped": "Stopped, as you asked. Nothing was booked.",
        "yes": "Yes",
        "switch": "Switch to English",
    },
    "zh": {
        "begin": "{month}月{day}日{clock}，六个人开会",
        "length": "一个小时",
        "later": "改到{clock}",
        "cancel": "取消刚才的预订",
        "cancelled": "已取消",
        "stopped": "已按您的要求停止，没有产生任何预订。",
        "yes": "确认",
        "switch": "切换到中文",
    },
}
Cookies = dict[tuple[str, str], list[Any]]
MONTHS = "January February March April May June July August September October November December"


class Person:
    """`cookies`: those of everybody who has signed in so far, by name and language."""

    def __init__(self, context: BrowserContext, *, language: str, cookies: Cookies) -> None:
        self.context = context
        self.language = language
        self.cookies = cookies
        self.words = WORDS[language]
        self.problems: list[str] = []
        self.expects_lost_connections = False
        self.expects_refusals = False
        self.page = self.new_tab()

    def new_tab(self) -> Page:
        page = self.context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        return page

    def _console(self, message: ConsoleMessage) -> None:
        lost = "WebSocket connection to" in message.text or "ERR_CONNECTION" in message.text
        expected = (lost and self.expects_lost_connections) or (
            "409 (Conflict)" in message.text and self.expects_refusals
        )
        if message.type in {"error", "warning"} and not expected:
            self.problems.append(message.text)

    def sign_in(self, username: str = "lilei") -> "Person":
        """Be signed in: with the cookies of the last time, while the server knows them."""
        kept = self.cookies.get((username, self.language), [])
        self.context.add_cookies(kept)
        self.page.goto("/assistant/")
        if self.page.locator("[name=username]").count():
            self.sign_in_by_form(username)
            self.cookies[username, self.language] = list(self.context.cookies())
        self.connected()
        return self

    def sign_in_by_form(self, username: str) -> None:
        self.page.goto("/")
        switch = self.page.get_by_role("button", name=self.words["switch"])
        if switch.count():
            switch.click()
        self.page.locator("[name=username]").fill(username)
        self.page.locator("[name=password]").fill(PASSWORD)
        self.page.locator("[name=password]").press("Enter")
        self.connected()
        if switch.count():
            switch.click()
            self.connected()

    def connected(self, page: Page | None = None) -> None:
        pill = (page or self.page).locator("[data-part=connection]")
        expect(pill).to_have_attribute("data-state", "connected", timeout=30_000)

    def say(self, text: str) -> None:
        box = self.page.locator("#say")
        box.fill(text)
        box.press("Enter")

    def clock(self, at: datetime) -> str:
        if self.language == "zh":
            return f"{at.hour}点"
        return f"{(at.hour - 1) % 12 + 1} {'pm' if at.hour >= 12 else 'am'}"

    def begin(self, at: datetime) -> None:
        """Ask for a room, without saying for how long."""
        month = MONTHS.split()[at.month - 1] if self.language == "en" else str(at.month)
        self.say(self.words["begin"].format(month=month, day=at.day, clock=self.clock(at)))

    def to_length_question(self, at: datetime) -> Locator:
        self.begin(at)
        return self.question("clarify")

    def to_rooms(self, at: datetime) -> Locator:
        self.to_length_question(at)
        self.say(self.words["length"])
        return self.question("select_room")

    def to_confirmation(self, at: datetime) -> Locator:
        self.to_rooms(at)
        self.room.click()
        return self.question("confirm")

    def question(self, kind: str, page: Page | None = None) -> Locator:
        """The newest message of that kind, there and (if it is a card) open."""
        page = page or self.page
        found = page.locator(f".message.{kind}").last
        expect(found).to_be_visible(timeout=20_000)
        if kind != "clarify":
            expect(found.locator("button:enabled").first).to_be_visible()
        expect(page.locator("[data-part=working]")).to_be_hidden()
        return found

    def sees_work(self) -> None:
        """A run is going on, and the page says what it does."""
        expect(self.page.locator("[data-part=working]")).to_be_visible()
        expect(self.page.locator("[data-part=step]")).not_to_be_empty()
        expect(self.page.locator("[data-part=stop]")).to_be_visible()
        expect(self.page.locator(".room:enabled, .summary button:enabled")).to_have_count(0)

    def stops(self) -> None:
        """Press stop, be told so, and have the field to oneself again."""
        self.page.locator("[data-part=stop]").click()
        told = self.page.locator(".message.assistant").get_by_text(self.words["stopped"])
        expect(told).to_have_count(1)
        expect(self.page.locator("[data-part=working]")).to_be_hidden()
        expect(self.page.locator("[data-part=stop]")).to_be_hidden()

    def chosen(self, page: Page | None = None) -> list[str]:
        """What bears a check mark, from the top."""
        marked = (page or self.page).locator("[aria-pressed=true]:has(svg)")
        return [text.split("\n")[0] for text in marked.all_inner_texts()]

    @property
    def room(self) -> Locator:
        return self.page.locator(".room:enabled").first

    @property
    def yes(self) -> Locator:
        return self.page.locator(".summary .primary:enabled")

    @property
    def receipt(self) -> Locator:
        return self.page.locator(".receipt")

    def row_of(self, booking: int) -> Locator:
        """That booking on My bookings, on whichever of its pages it is."""
        self.page.wait_for_url("**/bookings/**")
        row = self.page.locator(f"[data-booking='{booking}']")
        while row.count() == 0:
            self.page.locator("[rel=next]").click()
        return row

    def log(self, page: Page | None = None) -> list[str]:
        """What the transcript says, without times of day."""
        page = page or self.page
        return page.locator(".message .bubble").all_inner_texts()

    def serious_faults(self) -> list[Any]:
        """What axe finds serious or critical on the page as it is."""
        found = Axe().run(self.page).response["violations"]
        return [
            (each["id"], json.dumps(each["nodes"][0]["target"]), each["nodes"][0]["failureSummary"])
            for each in found
            if each["impact"] in {"serious", "critical"}
        ]
