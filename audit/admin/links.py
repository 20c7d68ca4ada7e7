"""Links between the rows of the admin, for anything that is registered there."""

from collections.abc import Iterator
from typing import Any

from django.db.models import CASCADE, Model
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from agentruntime.models import Thread
from audit.models import AuditedThread

# What has its page under another model.
_shown_as: dict[type[Model], type[Model]] = {Thread: AuditedThread}


def change_link(row: Model | None, text: str | None = None) -> str | SafeString:
    """A link to a row's page, or to the page of what it belongs to; its bare name where neither has
    one, "-" for none.
    """
    if row is None:
        return "-"
    name = text or str(row)
    pages = (_page_of(*key) for key in (_key(row), *_owners_of(row)))
    url = next(filter(None, pages), "")
    return format_html('<a href="{}">{}</a>', url, name) if url else name


def _key(row: Model) -> tuple[type[Model], Any]:
    return type(row), row.pk


def _page_of(model: type[Model], key: Any) -> str:
    meta = _shown_as.get(model, model)._meta
    try:
        return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[key])
    except NoReverseMatch:
        return ""


def _owners_of(row: Model) -> Iterator[tuple[type[Model], Any]]:
    """The rows with which this one would be deleted."""
    for field in row._meta.concrete_fields:
        relation = field.remote_field
        if relation is not None and getattr(relation, "on_delete", None) is CASCADE:
            yield relation.model, getattr(row, field.attname)


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
    """Links to every row elsewhere that points to this one, whatever app it is of; of a row and what
    belongs to it, to the row alone.
    """
    found = [
        each
        for relation in row._meta.related_objects
        for each in relation.related_model._default_manager.filter(
            **{relation.field.name: row}
        )
    ]  # fmt: skip
    known = {_key(each) for each in found}
    shown = [(change_link(each),) for each in found if known.isdisjoint(_owners_of(each))]
    return format_html_join(", ", "{}", shown) if shown else "-"
