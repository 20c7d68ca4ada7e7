"""The admin's pages about agents, as an administrator walks them."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from agentruntime.access import new_thread
from agentruntime.models import Effect, Message, Run


@pytest.fixture
def rows(db, person):
    thread = new_thread(person, agent="booking", language="en")
    run = Run.objects.create(thread=thread, version=1, kind="start", worker="w", status="done")
    message = Message.objects.create(
        thread=thread, role="user", status="consumed", kind="answer", text="<b>Yes</b>"
    )
    effect = Effect.objects.create(
        thread=thread,
        run=run,
        run_version=1,
        name="book_room",
        intent="i",
        task="t",
        checkpoint="c",
        message=message,
        arguments={"room": "<script>alert(1)</script>"},
        result={"booking_id": 1},
    )
    return {"thread": thread, "run": run, "message": message, "effect": effect}


@pytest.mark.parametrize("name", ["run", "message", "effect"])
def test_every_page_opens_and_shows_words_as_text(admin_client, rows, name):
    row = rows[name]
    listed = admin_client.get(reverse(f"admin:agentruntime_{name}_changelist"))
    shown = admin_client.get(reverse(f"admin:agentruntime_{name}_change", args=[row.pk]))

    assert (listed.status_code, shown.status_code) == (200, 200)
    assert b"<b>Yes</b>" not in listed.content + shown.content
    assert b"<script>alert" not in listed.content + shown.content


def test_an_effect_leads_to_its_thread_its_run_and_what_was_said(admin_client, rows):
    page = admin_client.get(
        reverse("admin:agentruntime_effect_change", args=[rows["effect"].pk])
    ).content.decode()

    for name in ("run", "message"):
        assert reverse(f"admin:agentruntime_{name}_change", args=[rows[name].pk]) in page
    assert reverse("admin:audit_auditedthread_change", args=[rows["thread"].pk]) in page
    assert reverse("admin:audit_checkpoint", args=[rows["thread"].pk, "c"]) in page
    assert "&lt;b&gt;Yes&lt;/b&gt;" in page


@pytest.mark.parametrize("name", ["run", "message", "effect"])
def test_nobody_changes_anything(admin_client, rows, name):
    row = rows[name]
    change = reverse(f"admin:agentruntime_{name}_change", args=[row.pk])
    delete = reverse(f"admin:agentruntime_{name}_delete", args=[row.pk])

    assert admin_client.post(change, {}).status_code == 403
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    assert admin_client.get(reverse(f"admin:agentruntime_{name}_add")).status_code == 403


def test_a_person_without_the_permission_is_turned_away(client, rows, person):
    client.force_login(person)

    page = client.get(reverse("admin:audit_auditedthread_changelist"))

    assert page.status_code == 302


@pytest.mark.parametrize("may_read_raw", [True, False])
def test_what_a_person_wrote_into_an_effect_is_for_who_may_read_raw_states(
    client, rows, django_user_model, may_read_raw
):
    effect = rows["effect"]
    effect.arguments = {"room": "A302", "title": "Layoffs", "parts": [{"title": "Layoffs"}]}
    effect.result = {"booking_id": 1, "title": "Layoffs"}
    effect.save()
    auditor = django_user_model.objects.create_user("auditor", is_staff=True)
    names = ["view_effect", "view_raw_state"] if may_read_raw else ["view_effect"]
    auditor.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(auditor)
    page = client.get(
        reverse("admin:agentruntime_effect_change", args=[effect.pk])
    ).content.decode()
    assert page.count("Layoffs") == (3 if may_read_raw else 0)
    assert page.count("•••") == (0 if may_read_raw else 3)
    assert "A302" in page
