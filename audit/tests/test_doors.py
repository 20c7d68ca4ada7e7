"""Every address under the audit admin: who may, who may not, and that words are never markup."""

import pytest
from django.contrib import admin
from django.urls import reverse

from agentruntime.models import Effect, Message, Run, Thread
from agentruntime.timetravel import history
from audit import services
from audit.models import AuditedThread, Operation, Pin
from audit.tests.test_sandbox import asked_at, forked

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>"

# By the name of the address: the permission it takes beside the view permission.
DOORS = {
    "timeline": None,
    "compare": None,
    "checkpoint": None,
    "decisions": None,
    "figures": None,
    "raw": "view_raw_state",
    "fork": "fork_thread",
    "sandbox": "fork_thread",
    "replay": "replay_thread",
    "replayed": "replay_thread",
    "what_if": "replay_thread",
    "variants": "replay_thread",
    "promote": "promote_thread",
    "pin": "pin_checkpoint",
    "unpin": "pin_checkpoint",
    "correct": "correct_label",
    "export": "export_thread",
    "export_case": "export_thread",
    "retention": "prune_checkpoints",
}
POSTED = {"raw", "replay", "pin", "unpin", "correct", "export", "export_case"}


@pytest.fixture
def world(desk, booked):
    """A thread with a fork, a replay and variants: what every address needs."""
    checkpoint = asked_at(booked, "confirm")
    _, fork = forked(desk, booked, checkpoint)
    boss = fork.owner.__class__.objects.get(username="admin")
    replayed = services.replay(booked, checkpoint, by=boss, reason="r")
    tried = services.what_if(booked, checkpoint, [{}], by=boss, reason="r")
    message = Message.objects.filter(thread=booked, role="user").first()
    return {
        "thread": booked,
        "fork": fork,
        "args": {
            "timeline": [booked.pk],
            "compare": [booked.pk],
            "checkpoint": [booked.pk, checkpoint],
            "decisions": [booked.pk],
            "raw": [booked.pk, checkpoint],
            "fork": [booked.pk, checkpoint],
            "sandbox": [fork.pk],
            "replay": [booked.pk, checkpoint],
            "replayed": [booked.pk, replayed.pk],
            "what_if": [booked.pk, checkpoint],
            "variants": [booked.pk, tried.pk],
            "promote": [fork.pk],
            "pin": [booked.pk, checkpoint],
            "unpin": [booked.pk, checkpoint],
            "correct": [booked.pk, message.pk],
            "export": [booked.pk],
            "export_case": [booked.pk],
            "retention": [],
            "figures": [],
        },
    }


def knock(client, name, args):
    address = reverse(f"admin:audit_{name}", args=args)
    if name in POSTED:
        return client.post(address, {})
    query = {"a": args[0], "b": args[0]} if name == "compare" else {}
    return client.get(address, query)


def own_addresses():
    model_admin = admin.site.get_model_admin(AuditedThread)
    names = [each.name for each in model_admin.get_urls() if each.name]
    stock = "audit_auditedthread_"
    return {name.removeprefix("audit_") for name in names if not name.startswith(stock)}


def test_every_address_is_walked():
    assert own_addresses() == set(DOORS)


def test_each_permission_opens_its_doors_and_no_other(client, staff, world):
    permissions = sorted({each for each in DOORS.values() if each})
    before = Operation.objects.count()
    for permission in [None, *permissions]:
        held = ["view_auditedthread", *([permission] if permission else [])]
        client.force_login(staff(*held))
        for name, needed in DOORS.items():
            answer = knock(client, name, world["args"][name])
            is_open = needed in (None, permission)
            assert (answer.status_code != 403) is is_open, (permission, name, answer.status_code)
            assert answer.status_code < 500
    # Knocking without a reason does nothing, whoever knocks; an export is of no reason either.
    assert Operation.objects.count() == before


def test_without_the_view_permission_no_door_opens(client, staff, world):
    client.force_login(staff(*sorted({each for each in DOORS.values() if each})))
    for name in DOORS:
        assert knock(client, name, world["args"][name]).status_code == 403, name
    for name in ("changelist", "change"):
        args = [world["thread"].pk] if name == "change" else []
        address = reverse(f"admin:audit_auditedthread_{name}", args=args)
        assert client.get(address).status_code == 403


def test_whoever_is_not_signed_in_or_not_of_the_staff_is_sent_to_sign_in(client, owner, world):
    client.logout()
    for person in (None, owner):
        if person:
            client.force_login(person)
        for name in DOORS:
            answer = knock(client, name, world["args"][name])
            assert (answer.status_code, "login" in answer["Location"]) == (302, True), name


def test_words_are_text_on_every_page(desk, converse, boss):
    thread = converse(
        (("text", NASTY), ("answer", {"room": NASTY}), ("answer", {"approved": True}))
    )
    checkpoint = asked_at(thread, "confirm")
    Thread.objects.filter(pk=thread.pk).update(title=NASTY)
    Run.objects.filter(thread=thread).update(error=NASTY)
    Message.objects.filter(thread=thread).update(classification=NASTY[:40], rule=NASTY[:60])
    Pin.objects.create(thread=thread, checkpoint=checkpoint, reason=NASTY, by=boss)
    _, fork = forked(desk, thread, checkpoint, **{"draft.wish": NASTY, "reason": NASTY})
    services.replay(thread, checkpoint, by=boss, reason=NASTY)
    tried = services.what_if(thread, checkpoint, [{"draft.wish": NASTY}], by=boss, reason=NASTY)
    replayed = Operation.objects.filter(kind="replay").get()
    head = history.timeline(thread).points[0].id
    effect = Effect.objects.get(thread=thread)
    pages = [
        reverse("admin:audit_auditedthread_changelist"),
        reverse("admin:audit_auditedthread_change", args=[thread.pk]),
        reverse("admin:audit_auditedthread_change", args=[fork.pk]),
        reverse("admin:audit_timeline", args=[thread.pk]),
        reverse("admin:audit_checkpoint", args=[thread.pk, checkpoint]),
        reverse("admin:audit_checkpoint", args=[thread.pk, head]),
        reverse("admin:audit_compare", args=[thread.pk]) + f"?a={checkpoint}&b={head}",
        reverse("admin:audit_fork", args=[thread.pk, checkpoint]),
        reverse("admin:audit_what_if", args=[thread.pk, checkpoint]),
        reverse("admin:audit_sandbox", args=[fork.pk]),
        reverse("admin:audit_promote", args=[fork.pk]),
        reverse("admin:audit_replayed", args=[thread.pk, replayed.pk]),
        reverse("admin:audit_variants", args=[thread.pk, tried.pk]),
        reverse("admin:audit_decisions", args=[thread.pk]),
        reverse("admin:audit_operation_changelist"),
        reverse("admin:audit_operation_change", args=[replayed.pk]),
        reverse("admin:audit_pin_changelist"),
        reverse("admin:agentruntime_effect_change", args=[effect.pk]),
    ]

    shown = {address: desk.get(address) for address in pages}
    shown["raw"] = desk.post(
        reverse("admin:audit_raw", args=[thread.pk, checkpoint]), {"reason": NASTY}
    )

    for address, page in shown.items():
        text = page.content.decode()
        assert page.status_code == 200, address
        assert "<script>alert" not in text, address
        assert "<img src=x" not in text, address
        assert " style=" not in text, address
        assert " onclick=" not in text, address
        assert "'unsafe" not in page["Content-Security-Policy"]
    seen = sum("&lt;script&gt;alert" in page.content.decode() for page in shown.values())
    assert seen >= 15
