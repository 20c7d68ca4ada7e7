"""Probes for load balancers and supervisors."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from agentruntime.exceptions import StorageUnavailable
from agentruntime.operations.host import get_host


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """The database answers and is migrated; 503 when not. The channel layer is told of: without it
    a process goes on, and hears of others later.
    """
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return JsonResponse({"database": "unreachable"}, status=503)
    state = {
        "database": "ok",
        "migrations": "missing" if missing else "ok",
        "channel_layer": _channel_layer(),
    }
    return JsonResponse(state, status=503 if missing else 200)


def _channel_layer() -> str:
    try:
        relay = get_host().delivery.relay
    except StorageUnavailable:
        return "none"
    if relay.is_alone:
        return "none"
    return "ok" if relay.is_well else "lost"
