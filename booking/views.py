"""The portal's pages: the assistant, a person's own bookings, the language.

Reads through selectors, writes through services; no rule lives here.
"""

from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import check_for_language, get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.i18n import set_language

from agentruntime.access import thread_for
from agentruntime.exceptions import ThreadNotFound
from agentruntime.models import Message, Thread
from booking import services
from booking.exceptions import BookingError
from booking.forms import CancelForm
from booking.models import ACTIVE_STATUSES, Booking, Feature, Occurrence, Profile, Source
from booking.selectors import booking_of, occurrences_of
from booking.wording import assistant_texts, examples

AGENT = "booking"
THREADS_SHOWN = 20
BOOKINGS_A_PAGE = 20


class PersonRequest(HttpRequest):
    """A request behind `login_required`."""

    user: User


class SignIn(LoginView):
    """Django's sign-in, which also brings the person's language to a browser that has none."""

    redirect_authenticated_user = True

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        chosen = Profile.objects.filter(user_id=form.get_user().pk).values_list("language").first()
        is_open = settings.LANGUAGE_COOKIE_NAME not in self.request.COOKIES
        if is_open and chosen and check_for_language(chosen[0]):
            _remember_language(response, chosen[0])
        return response


def _remember_language(response: HttpResponse, language: str) -> None:
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Django's set_language; a signed-in person's choice is kept in the profile as well."""
    response: HttpResponse = set_language(request)
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        Profile.objects.update_or_create(user_id=request.user.pk, defaults={"language": language})
    return response


@login_required
@never_cache
@require_safe
def assistant(request: PersonRequest, thread_id: str = "") -> HttpResponse:
    """The chat page; the conversation itself comes over the socket."""
    user = request.user
    if thread_id:
        _own_thread_or_404(user, thread_id)
    language = get_language() or settings.LANGUAGE_CODE
    context = {
        "section": "assistant",
        "name": user.get_full_name() or user.get_username(),
        "threads": _recent_threads(user),
        "examples": examples(language),
        "config": {
            "user": user.pk,
            "thread": thread_id or None,
            "fresh": "new" in request.GET,
            "language": "zh-Hans" if language.startswith("zh") else language,
            "zone": settings.TIME_ZONE,
            "socket": f"/ws/agents/{AGENT}/",
            "address": reverse("assistant"),
            "signIn": f"{reverse('login')}?next={quote(request.path)}",
            "bookings": reverse("my-bookings"),
            "texts": assistant_texts(),
            "features": {feature.code: str(feature) for feature in Feature.objects.all()},
        },
    }
    return render(request, "booking/assistant.html", context)


def _own_thread_or_404(user: User, thread_id: str) -> Thread:
    try:
        return thread_for(user, thread_id, agent=AGENT)
    except ThreadNotFound as error:
        raise Http404 from error


def _recent_threads(user: User) -> QuerySet[Thread]:
    """The person's newest threads in which something was said."""
    said = Message.objects.filter(thread=OuterRef("pk")).order_by("pk")
    return (
        Thread.objects.filter(Exists(said), owner=user, agent=AGENT, sandbox=False)
        .annotate(first_words=Subquery(said.exclude(text="").values("text")[:1]))
        .order_by("-pk")[:THREADS_SHOWN]
    )


@login_required
@never_cache
@require_safe
def my_bookings(request: PersonRequest) -> HttpResponse:
    """A person's uses of rooms: those to come, or those that are over or were cancelled."""
    now = timezone.now()
    is_past = request.GET.get("show") == "past"
    found = _past(request.user, now) if is_past else occurrences_of(request.user, starts_at=now)
    page = Paginator(found, BOOKINGS_A_PAGE).get_page(request.GET.get("page"))
    context = {"section": "bookings", "is_past": is_past, "page": page, "now": now}
    return render(request, "booking/my_bookings.html", context)


def _past(user: User, now: datetime) -> QuerySet[Occurrence]:
    """What is over or was cancelled, latest first."""
    to_come = Q(status__in=ACTIVE_STATUSES, ends_at__gt=now)
    return occurrences_of(user, only_active=False).exclude(to_come).order_by("-during", "-pk")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: PersonRequest, booking_id: int) -> HttpResponse:
    """Ask first, then cancel: the booking, or with `?date=` one date of a series."""
    booking = booking_of(request.user, booking_id)
    occurrence = _chosen(booking, request.GET.get("date", "")) if booking else None
    if booking is None or occurrence is None:
        raise Http404
    form = CancelForm(request.POST or None, initial={"version": booking.version})
    if request.method != "POST" or not form.is_valid():
        context = {"section": "bookings", "booking": booking, "occurrence": occurrence}
        return render(request, "booking/cancel.html", {**context, "form": form})
    try:
        services.cancel_booking(
            booking.pk,
            by=request.user,
            now=timezone.now(),
            recurrence_date=occurrence.recurrence_date,
            source=Source.PORTAL,
            **form.cleaned_data,
        )
    except BookingError as error:
        messages.error(request, error.text())
    else:
        messages.success(request, _("The booking is cancelled. The room is free again."))
    return redirect("my-bookings")


def _chosen(booking: Booking, date: str) -> Occurrence | None:
    """The occurrence a page is about: the only one, or that of a series' date."""
    if not booking.is_series:
        return booking.occurrence
    found = (each for each in booking.occurrences.all() if str(each.recurrence_date) == date)
    return next(found, None)
