"""Links between the rows of the admin, for anything that is registered there."""

from typing import Any

from django.db.models import Model
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from agentruntime.models import Thread
from audit.models import AuditedThread

# What has its page under another model.
_shown_as: dict[type[Model], type[Model]] = {Thread: AuditedThread}


def change_link(row: Model | None, text: str | None = None) -> str | SafeString:
    """A link to a row's page; its bare name where that model has no admin, "-" for none."""
    if row is None:
        return "-"
    meta = _shown_as.get(type(row), type(row))._meta
    name = text or str(row)
    try:
        url = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    except NoReverseMatch:
        return name
    return format_html('<a href="{}">{}</a>', url, name)


def checkpoint_link(thread: str, checkpoint: str) -> str | SafeString:
    """A link to a checkpoint's page, "-" for none."""
    if not checkpoint:
        return "-"
    url = reverse("admin:audit_checkpoint", args=[thread, checkpoint])
    return format_html('<a href="{}">{}</a>', url, checkpoint)


def list_link(model: type[Model], text: str, **filters: Any) -> SafeString:
    """A link to a model's list, filtered."""
    meta = model._meta
    url = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    return format_html('<a href="{}?{}">{}</a>', url, urlencode(filters), text)


def caused(row: Model) -> str | SafeString:
    """Links to every row elsewhere that points to this one, whatever app it is of."""
    found = [
        (change_link(each),)
        for relation in row._meta.related_objects
        for each in relation.related_model._default_manager.filter(
            **{relation.field.name: row}
        )
    ]  # fmt: skip
    return format_html_join(", ", "{}", found) if found else "-"
