"""Registers the probe agent in the bench's server process."""

from django.apps import AppConfig


class BenchConfig(AppConfig):
    name = "tests.bench"
    label = "bench"

    def ready(self) -> None:
        from agentruntime.agents import register
        from agentruntime.testing import probe_spec

        register(probe_spec())
