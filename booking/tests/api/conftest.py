"""The API as lilei's script sees it: Monday 30 November 2026, ten in Shanghai."""

import pytest
import time_machine
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from booking.tests import world
from booking.tests.world import NOW, user


@pytest.fixture(autouse=True)
def _world(db, settings):
    world.build()
    with time_machine.travel(NOW, tick=False):
        yield


def script_of(username):
    client = APIClient()
    token, _ = Token.objects.get_or_create(user=user(username))
    client.credentials(HTTP_AUTHORIZATION=f"Token {token.key}")
    return client


@pytest.fixture
def lilei(_world):
    return script_of("lilei")
