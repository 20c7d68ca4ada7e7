"""The ASGI application: HTTP by Django, WebSockets by the runtime's consumers."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.asgi import get_asgi_application

_http = get_asgi_application()

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import OriginValidator
from django.conf import settings
from django.urls import path, re_path

from agentruntime.edges.consumers import AgentConsumer, NoSuchSocket

application = ProtocolTypeRouter(
    {
        "http": _http,
        "websocket": OriginValidator(
            AuthMiddlewareStack(
                URLRouter(
                    [
                        path("ws/agents/<slug:agent>/", AgentConsumer.as_asgi()),
                        re_path(r"", NoSuchSocket.as_asgi()),
                    ]
                )
            ),
            settings.ALLOWED_ORIGINS,
        ),
    }
)
