"""A private booking is a busy room to everybody else, in every output there is.

The pages and the interface are found by walking the addresses, so that one that is added later is
looked at as well.
"""

import uuid
from datetime import timedelta

import pytest
import time_machine
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.urls import NoReverseMatch, URLPattern, get_resolver, reverse
from django.utils import translation

from booking import selectors, services
from booking.agent import tools
from booking.calendar import feeds
from booking.models import Booking, Mail
from booking.tests import world
from booking.tests.world import NOW, TODAY, book, user, wish
from booking.visibility import MASKED, may_see, seen, visible_to

pytestmark = pytest.mark.django_db
TITLE, WHO = "Secret budget", "Organizer-of-the-secret"
KNOWS, STRANGERS = ("wangfang", "admin"), ("hanmei", "lilei")


@pytest.fixture(autouse=True)
def _world(db, settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    with time_machine.travel(NOW, tick=False):
        world.build()
        User.objects.filter(username="wangfang").update(first_name=WHO, email="w@example.com")
        with translation.override(None):
            yield


@pytest.fixture
def secret():
    """Moved once, so that its history says something, and on now."""
    booking = Booking.objects.get(title=TITLE)
    return services.amend_booking(
        booking.pk, by=booking.organizer, title=TITLE, headcount=5, source="portal"
    )


def told(text):
    return [word for word in (TITLE, WHO) if word in str(text)]


OUTPUTS = {
    "seen": lambda viewer, secret: seen(secret, viewer),
    "a list": lambda viewer, _secret: [
        (each.title, each.organizer.first_name)
        for each in Booking.objects.filter(visible_to(viewer), visibility="private")
    ],
    "the booking": lambda viewer, secret: [
        (each.title, each.organizer.first_name)
        for each in [selectors.visible_booking(viewer, secret.pk)]
        if each is not None
    ],
    "its history": lambda viewer, secret: [
        (each.after, each.by.first_name) for each in selectors.history_of(secret, viewer)
    ],
    "the day": lambda viewer, _secret: selectors.day_grid(viewer=viewer, day=TODAY, now=NOW),
    "the room now": lambda viewer, _secret: selectors.room_now("A301", viewer=viewer, now=NOW),
    "the room now, in chat": lambda viewer, _secret: tools.room_now(viewer.pk, "A301", now=NOW),
    "the room's feed": lambda viewer, _secret: feeds.room_feed(
        "A301", viewer=viewer, now=NOW
    ).decode(),
}
OWN_ONLY = {
    "own bookings": lambda viewer: [
        (each.title, each.organizer.first_name) for each in selectors.bookings_of(viewer, now=NOW)
    ],
    "own bookings, in chat": lambda viewer: tools.own_uses(viewer.pk, now=NOW),
    "own feed": lambda viewer: feeds.person_feed(viewer, now=NOW).decode(),
    "a search": lambda viewer: selectors.search(
        wish(TODAY, "10:00", 60, 8, room="A301"), user=viewer, now=NOW
    ),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_what_is_private_is_told_to_its_organizer_and_by_permission_only(output, secret):
    show = OUTPUTS[output]
    for name in KNOWS:
        assert told(show(user(name), secret)), name
    for name in STRANGERS:
        assert not told(show(user(name), secret)), name
    warden = User.objects.create(username="warden")
    assert not told(show(warden, secret))
    warden.user_permissions.add(Permission.objects.get(codename="view_private_booking"))
    assert told(show(User.objects.get(pk=warden.pk), secret))


@pytest.mark.parametrize("output", OWN_ONLY)
def test_what_is_about_oneself_tells_nothing_of_others(output, secret):
    for name in (*STRANGERS, "admin"):
        assert not told(OWN_ONLY[output](user(name))), name


def test_what_is_hidden_and_what_is_absent_look_the_same(secret):
    assert selectors.visible_booking(user("hanmei"), secret.pk) is None
    assert selectors.visible_booking(user("hanmei"), 0) is None


def test_nobody_who_is_not_signed_in_sees_it(secret):
    assert seen(secret, None) == seen(secret, AnonymousUser()) == MASKED
    assert not may_see(secret, None)


def test_who_decides_on_a_private_request_sees_what_it_is_about():
    asked = book(
        "A501", TODAY + timedelta(days=1), "10:00", "11:00", visibility="private", title="M"
    )
    assert seen(asked, user("hanmei")).is_masked
    assert seen(asked, user("admin"), decides=True).title == "M"
    assert selectors.visible_booking(user("hanmei"), asked.pk) is None


def test_mail_of_a_private_booking_goes_to_its_organizer_only(secret):
    User.objects.exclude(username="wangfang").update(email="other@example.com")
    services.cancel_booking(secret.pk, by=secret.organizer, now=NOW, source="portal")
    assert {each.recipient.username for each in Mail.objects.filter(booking=secret)} == {"wangfang"}


def addresses(patterns=None, prefix=""):
    """Every named address of the portal and the interface, with its parameters' names."""
    resolver = patterns if patterns is not None else get_resolver().url_patterns
    for each in resolver:
        if isinstance(each, URLPattern):
            if each.name:
                yield f"{prefix}{each.name}", each.pattern.converters
            continue
        if each.app_name != "admin":
            space = f"{prefix}{each.namespace}:" if each.namespace else prefix
            yield from addresses(each.url_patterns, space)


def arguments(converters, secret, token):
    """Something that exists for each parameter, as near to the secret as it gets."""
    known = {"token": token, "code": "A301", "room": "A301", "building": "A", "format": "json"}
    values = {}
    for name, converter in converters.items():
        number = type(converter).__name__ == "IntConverter"
        values[name] = known.get(name, secret.pk if number or name == "pk" else "A301")
        if type(converter).__name__ == "UUIDConverter":
            values[name] = uuid.UUID(int=1)
    return values


QUERIES = (
    {},
    {"q": "Secret", "search": "Secret"},
    {"date": TODAY.isoformat(), "day": TODAY.isoformat(), "building": "A", "room": "A301"},
    {"show": "past", "format": "json", "starts_at": NOW.isoformat()},
)


@pytest.mark.parametrize("name", STRANGERS)
def test_no_page_and_no_interface_tells_strangers(client, secret, name):
    client.force_login(user(name))
    client.raise_request_exception = False
    token = services.issue_feed(user(name), now=NOW).token
    walked = 0
    for address, converters in addresses():
        try:
            url = reverse(address, kwargs=arguments(converters, secret, token))
        except NoReverseMatch:
            continue
        for query in QUERIES:
            response = client.get(url, query, follow=False)
            body = b"".join(response) if response.streaming else response.content
            walked += 1
            assert response.status_code < 500, url
            assert not told(body.decode(errors="replace")), url
    assert walked > 20


def test_no_page_of_the_administration_tells_staff_without_the_permission(client, secret):
    book("A501", TODAY + timedelta(days=1), "10:00", "11:00")
    clerk = User.objects.create(username="clerk", is_staff=True)
    names = Permission.objects.filter(content_type__app_label="booking")
    clerk.user_permissions.set(names.exclude(codename="view_private_booking"))
    client.force_login(clerk)
    for model in apps.get_app_config("booking").get_models():
        if not admin.site.is_registered(model):
            continue
        listed = reverse(f"admin:booking_{model._meta.model_name}_changelist")
        pages = [client.get(listed), client.get(listed, {"q": "budget"})]
        pages += [
            client.get(reverse(f"admin:booking_{model._meta.model_name}_{view}", args=[each.pk]))
            for each in model._default_manager.all()[:20]
            for view in ("change", "history")
        ]
        for page in pages:
            assert page.status_code in {200, 302}, listed
            assert not told(page.content.decode()), listed
