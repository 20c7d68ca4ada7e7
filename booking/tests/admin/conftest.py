"""A small company whose administrator is signed in: Monday 30 November 2026, ten in Shanghai."""

import pytest
import time_machine
from django.utils import translation

from booking.tests import world
from booking.tests.world import NOW, user


@pytest.fixture(autouse=True)
def _world(db, client, settings, tmp_path):
    settings.STATIC_ROOT = tmp_path  # WhiteNoise warns of a folder that nobody has collected into
    with time_machine.travel(NOW, tick=False):
        world.build()
        client.force_login(user("admin"))
        with translation.override(None):  # a request leaves its language behind in this thread
            yield
