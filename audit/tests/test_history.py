"""The reading pages, as an administrator walks them."""

import re

import pytest
from django.urls import reverse

from agentruntime.models import Effect, Message, uuid7
from agentruntime.timetravel import history
from audit.models import Operation, Pin


def page(client, name, *args, **query):
    return client.get(reverse(f"admin:audit_{name}", args=args), query)


def test_the_list_finds_threads_by_status_question_and_owner(desk, converse):
    waiting = converse(1)
    listed = reverse("admin:audit_auditedthread_changelist")

    for query, is_there in (
        ({"status": "waiting"}, True),
        ({"question": "select_room"}, True),
        ({"question": "confirm"}, False),
        ({"question": "none"}, False),
        ({"kind": "live"}, True),
        ({"kind": "forked"}, False),
        ({"stuck": "any"}, False),
        ({"q": "mei"}, True),
        ({"q": waiting.pk}, True),
        ({"q": "nobody"}, False),
    ):
        found = desk.get(listed, query)
        assert (waiting.pk in found.content.decode()) is is_there, query


def test_a_thread_tells_where_it_stands(desk, booked):
    text = page(desk, "auditedthread_change", booked.pk).content.decode()

    assert "BOOKED" in text
    assert "a room for six" in text
    effect = Effect.objects.get()
    assert reverse("admin:agentruntime_effect_change", args=[effect.pk]) in text
    assert reverse("admin:audit_checkpoint", args=[booked.pk, booked.head]) in text


def test_the_timeline_leads_from_step_to_step(desk, booked):
    text = page(desk, "timeline", booked.pk).content.decode()

    rows = re.findall(r'<tr id="c-([0-9a-f-]+)"', text)
    assert len(rows) == 7
    assert rows[0] == booked.head
    for label in ("Booking", "Searching", "Reading"):
        assert label in text
    assert "audit-badge-effect" in text
    assert text.count("with parent") == 6
    assert text.count("with head") == 6


def test_pages_of_a_timeline_are_keyset_pages(desk, booked, monkeypatch):
    monkeypatch.setattr(history.timeline, "__kwdefaults__", {"before": None, "limit": 3})
    first = page(desk, "timeline", booked.pk).content.decode()
    older = re.search(r"\?before=([0-9a-f-]+)", first)[1]
    second = page(desk, "timeline", booked.pk, before=older).content.decode()

    ids = [re.findall(r'<tr id="c-([0-9a-f-]+)"', text) for text in (first, second)]
    assert [len(each) for each in ids] == [3, 3]
    assert not set(ids[0]) & set(ids[1])


def test_a_checkpoint_shows_state_changes_and_what_was_said(desk, booked):
    text = page(desk, "checkpoint", booked.pk, booked.head).content.decode()

    assert "/draft/phase" not in text  # the probe masks its draft to the names of its keys
    assert "BOOKED" in text
    assert "What was said in this turn" in text
    assert (
        reverse(
            "admin:agentruntime_message_change",
            args=[Message.objects.filter(role="user").last().pk],
        )
        in text
    )


def test_comparing_names_what_differs_and_folds_the_rest(desk, booked):
    points = history.timeline(booked).points

    text = page(desk, "compare", booked.pk, a=points[-1].id, b=points[0].id).content.decode()

    assert "/result" not in text or "added" in text
    assert "Nothing differs" not in text
    same = page(desk, "compare", booked.pk, a=points[0].id, b=points[0].id).content.decode()
    assert "Nothing differs" in same


@pytest.mark.parametrize("bad", ["x", "..", "%00", "1" * 300, str(uuid7())])
def test_what_does_not_exist_is_a_404_and_leaves_no_trace(desk, booked, bad):
    for name, args in (
        ("checkpoint", (booked.pk, bad)),
        ("timeline", (bad,)),
        ("auditedthread_change", (bad,)),
    ):
        assert page(desk, name, *args).status_code == 404
    for query in ({"a": bad, "b": booked.head}, {"a": booked.head, "b": bad}, {}):
        assert page(desk, "compare", booked.pk, **query).status_code == 404
    assert page(desk, "timeline", booked.pk, before=bad).status_code in {200, 404}
    answer = desk.post(reverse("admin:audit_raw", args=[booked.pk, bad]), {"reason": "r"})
    assert answer.status_code == 404
    assert not Operation.objects.exists()


def test_a_checkpoint_of_another_thread_is_not_found(desk, converse):
    one, other = converse(1), converse(1)

    assert page(desk, "checkpoint", one.pk, other.head).status_code == 404
    assert (
        page(desk, "compare", one.pk, a=one.head, b=other.head, other=other.pk).status_code == 404
    )


def test_raw_state_takes_a_reason_and_is_recorded(desk, booked, boss):
    address = reverse("admin:audit_raw", args=[booked.pk, booked.head])
    refused = desk.post(address, {"reason": "  "}, follow=True)
    assert b"Please say why" in refused.content
    assert not Operation.objects.exists()

    shown = desk.post(address, {"reason": "complaint \x0017"})

    assert b"&quot;approved&quot;: true" in shown.content
    assert "no-store" in shown["Cache-Control"]
    [operation] = Operation.objects.all()
    assert (operation.kind, operation.by, operation.reason) == ("read_raw", boss, "complaint 17")
    assert (operation.thread, operation.checkpoint) == (booked.pk, booked.head)


def test_without_the_permission_raw_state_is_refused(client, staff, booked):
    client.force_login(staff("view_auditedthread"))

    assert page(client, "checkpoint", booked.pk, booked.head).status_code == 200
    answer = client.post(reverse("admin:audit_raw", args=[booked.pk, booked.head]), {"reason": "r"})

    assert answer.status_code == 403
    assert b"Show the raw state" not in page(client, "checkpoint", booked.pk, booked.head).content


def test_a_pin_is_marked(desk, booked, boss):
    Pin.objects.create(thread=booked, checkpoint=booked.head, reason="court", by=boss)

    assert "pinned" in page(desk, "timeline", booked.pk).content.decode()
