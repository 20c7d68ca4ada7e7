"""A small company in which lilei is signed in: Monday 30 November 2026, ten in Shanghai."""

import pytest
import time_machine

from booking.tests import world
from booking.tests.world import NOW, user


@pytest.fixture(autouse=True)
def _world(db, settings):
    settings.WHITENOISE_AUTOREFRESH = True  # no collected files in a test
    world.build()
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def lilei(client):
    client.force_login(user("lilei"))
    return client
