"""Admin pages that may be looked at by whoever has the view permission; changed by nobody."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


def instant(name: str, words: Any) -> Callable[[Any], str]:
    """A column of a list: a field's instant to the second, in the pages' zone."""

    def shown(row: Any) -> str:
        value = getattr(row, name)
        return f"{timezone.localtime(value):%Y-%m-%d %H:%M:%S}" if value else "–"

    shown.__name__ = name  # the column's class in the page
    return admin.display(description=words, ordering=name)(shown)


class ReadOnlyAdmin(ModelAdmin):
    """A list and pages without forms."""

    list_per_page = 50
    show_full_result_count = False

    class Media:
        css = {"all": ("audit/audit.css",)}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
