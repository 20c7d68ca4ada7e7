"""Requests that wait for my decision."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from booking import services
from booking.api.bookings import LARGEST, BookingSerializer
from booking.api.fields import Text, Whole, valid_body
from booking.api.paging import Pages
from booking.api.person import person_of
from booking.forms.cancelling import REASON_LENGTH
from booking.models import Booking, Source
from booking.selectors import requests_for, visible_booking


class Approval(serializers.Serializer[Any]):
    version = Whole(min_value=1, max_value=LARGEST, help_text="The one that was read.")
    reason = Text(required=False, max_length=REASON_LENGTH, allow_blank=True)


class Rejection(serializers.Serializer[Any]):
    version = Whole(min_value=1, max_value=LARGEST, help_text="The one that was read.")
    reason = Text(max_length=REASON_LENGTH)


class Approvals(APIView):
    pagination_class = Pages

    @extend_schema(responses=BookingSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The oldest first."""
        pages = Pages()
        waiting = requests_for(person_of(request), now=timezone.now())
        page = pages.paginate_queryset(waiting, request, view=self)
        return pages.get_paginated_response(BookingSerializer(page, many=True).data)


class Approve(APIView):
    @extend_schema(request=Approval, responses=BookingSerializer)
    def post(self, request: Request, booking_id: int) -> Response:
        """Make the request, as it was read, a booking."""
        return _decided(services.approve_booking, Approval, request, booking_id)


class Reject(APIView):
    @extend_schema(request=Rejection, responses=BookingSerializer)
    def post(self, request: Request, booking_id: int) -> Response:
        """Refuse the request, as it was read, and say why."""
        return _decided(services.reject_booking, Rejection, request, booking_id)


def _decided(
    decide: Any, kind: type[serializers.Serializer[Any]], request: Request, booking_id: int
) -> Response:
    if visible_booking(person_of(request), booking_id) is None:
        raise Http404
    booking: Booking = decide(
        booking_id,
        by=person_of(request),
        now=timezone.now(),
        source=Source.API,
        **valid_body(kind, request),
    )
    return Response(BookingSerializer(booking).data)
