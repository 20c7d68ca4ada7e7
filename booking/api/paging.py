"""Long lists come in pages."""

from typing import Any

from rest_framework import serializers
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

from booking.api.fields import valid_query

PAGE_SIZE, LARGEST = 50, 200


class PagesQuery(serializers.Serializer[Any]):
    page = serializers.IntegerField(min_value=1, required=False, default=1)
    page_size = serializers.IntegerField(
        min_value=1, max_value=LARGEST, required=False, default=PAGE_SIZE
    )


class Pages(PageNumberPagination):
    """`?page=` and `?page_size=`; what is no number is an error, not the first page."""

    page_size = PAGE_SIZE
    page_size_query_param = "page_size"
    max_page_size = LARGEST

    def paginate_queryset(
        self, queryset: Any, request: Request, view: Any = None
    ) -> list[Any] | None:
        valid_query(PagesQuery, request, only=("page", "page_size"))
        return super().paginate_queryset(queryset, request, view)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        bounds = {"page": {"minimum": 1}, "page_size": {"minimum": 1, "maximum": LARGEST}}
        parameters = super().get_schema_operation_parameters(view)
        for each in parameters:
            each["schema"].update(bounds[each["name"]])
        return parameters
