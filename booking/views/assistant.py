"""The chat page; the conversation itself comes over the socket."""

from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agentruntime.access import thread_for
from agentruntime.exceptions import ThreadNotFound
from agentruntime.models import Message, Thread
from booking.models import Feature
from booking.views.person import PersonRequest
from booking.wording import assistant_texts, examples

AGENT = "booking"
THREADS_SHOWN = 20


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
        Thread.objects.filter(Exists(said), owner=user, agent=AGENT)
        .annotate(first_words=Subquery(said.exclude(text="").values("text")[:1]))
        .order_by("-pk")[:THREADS_SHOWN]
    )
