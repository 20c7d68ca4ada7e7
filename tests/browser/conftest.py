"""The browser, the server it talks to, and a person who sits in front of it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.person import Cookies, Person
from tests.browser.site import Site

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {1280: {"width": 1280, "height": 800}, 390: {"width": 390, "height": 844}}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them, and run them last: Playwright keeps an event loop in this thread from then on."""
    missing = pytest.mark.skip(reason="no Chromium: install Debian's chromium")
    for item in items:
        if _is_ours(item):
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None:
                item.add_marker(missing)
    items.sort(key=_is_ours)


def _is_ours(item: pytest.Item) -> bool:
    return Path(__file__).parent in item.path.parents


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("server") / "server.log")
    site.create()
    try:
        site.start()
        yield site
    finally:
        site.stop()
        site.drop()


@pytest.fixture
def site(_site: Site) -> Iterator[Site]:
    """The server, running at the start of every test whatever the one before did to it."""
    if _site.process is None:
        _site.start()
    yield _site
    if _site.process is None:
        _site.start()


@pytest.fixture(scope="session")
def cookies() -> Cookies:
    """Signing in is made slow on purpose: once a person and language is enough."""
    return {}


@pytest.fixture
def open_browser(browser: Browser, site: Site, cookies: Cookies) -> Iterator[Callable[..., Person]]:
    """Somebody opens a browser: `open_browser(language="zh", width=390)`; fails on page errors."""
    people: list[Person] = []

    def opened(*, language: str = "en", width: int = 1280, **more: Any) -> Person:
        context = browser.new_context(
            base_url=site.url,
            viewport=SIZES[width],
            locale={"en": "en-GB", "zh": "zh-CN"}[language],
            reduced_motion="reduce",
            has_touch=width < 500,
            **more,
        )
        context.set_default_timeout(15_000)
        people.append(Person(context, language=language, cookies=cookies))
        return people[-1]

    yield opened
    for person in people:
        person.context.close()
    assert [problem for person in people for problem in person.problems] == []


@pytest.fixture
def page(open_browser: Callable[..., Person]) -> Page:
    return open_browser().page
