"""`manage.py serve`: the web server and one worker of the runtime, in one process."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.module_loading import import_string

from agentruntime.operations.host import HostSettings, RuntimeHost
from agentruntime.operations.server import RuntimeServer

FRAME_BYTES = 64 * 1024


class Command(BaseCommand):
    help = "Serve the portal, the admin and the WebSockets, and run agents. SIGTERM drains."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help="address to listen on")
        parser.add_argument("--port", type=int, default=settings.PORT, help="port to listen on")

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        application = import_string(settings.ASGI_APPLICATION)
        server = RuntimeServer(
            application,
            host=RuntimeHost(HostSettings(**settings.ROOMWISE["runtime"])),
            endpoints=[f"tcp:port={port}:interface={host.replace(':', chr(92) + ':')}"],
            ping_interval=15,
            ping_timeout=10,
            websocket_max_message_size=FRAME_BYTES,
            websocket_max_frame_size=FRAME_BYTES,
            application_close_timeout=10,
            server_name="",
            verbosity=0,
            ready_callable=lambda: self.stdout.write(f"Listening on http://{host}:{port}/"),
        )
        server.run()
        if server.failed:
            raise CommandError(f"Port {port} cannot be used; set PORT to another one.")
        sys.stdout.flush()
