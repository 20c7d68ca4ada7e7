"""Who is behind a socket: their session, their language, their thread. Crosses into the ORM."""

from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.utils.module_loading import import_string
from django.utils.translation import get_supported_language_variant
from django.utils.translation.trans_real import parse_accept_lang_header

from agentruntime.access import new_thread, thread_for
from agentruntime.exceptions import ThreadNotFound
from agentruntime.persistence.pools import in_db_thread
from agentruntime.persistence.records import ThreadView

RECHECK_SECONDS = 30.0


def language_of(scope: dict[str, Any]) -> str:
    """`zh` or `en`: the portal's language choice (cookie), else the browser's."""
    wanted = [scope.get("cookies", {}).get(settings.LANGUAGE_COOKIE_NAME, "")]
    for name, value in scope.get("headers", []):
        if name == b"accept-language":
            header = value.decode("latin-1").lower()
            wanted.extend(code for code, _ in parse_accept_lang_header(header))
    for code in wanted:
        try:
            return "zh" if get_supported_language_variant(code).startswith("zh") else "en"
        except LookupError:
            continue
    return "en"


async def open_thread(user: Any, thread_id: str, *, agent: str, language: str) -> ThreadView:
    """The person's thread of that id; a new one without an id or with one that is not theirs."""

    def inside() -> ThreadView:
        try:
            thread = thread_for(user, thread_id, agent=agent)
        except ThreadNotFound:
            thread = new_thread(user, agent=agent, language=language)
            thread.refresh_from_db()
        return ThreadView(
            id=thread.id,
            agent=thread.agent,
            owner_id=thread.owner_id,
            language=thread.language,
            status=thread.status,
            run_version=thread.run_version,
            lease_owner=thread.lease_owner,
            turn=thread.turn,
            head=thread.head,
            interrupt=thread.interrupt,
            summary=thread.summary,
            title=thread.title,
        )

    return await in_db_thread(inside)


async def still_signed_in(scope: dict[str, Any]) -> bool:
    """Whether the socket's session exists, is the same person's, and they may still sign in."""
    key = scope["session"].session_key

    def inside() -> bool:
        store: type[SessionBase] = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
        request = HttpRequest()
        request.session = store(session_key=key)
        user = get_user(request)
        same = str(request.session.get(SESSION_KEY)) == str(scope["user"].pk)
        return bool(user.is_authenticated and user.is_active and same)

    return await in_db_thread(inside)
