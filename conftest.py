"""Fixtures for every app: people, whose passwords need no strength here."""

import pytest
from django.utils import translation


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def no_language_left_behind():
    """A request leaves its language to its thread; no test begins with another's."""
    yield
    translation.deactivate()


@pytest.fixture
def person(django_user_model):
    return django_user_model.objects.create_user("mei", password="a long pass phrase")


@pytest.fixture
def stranger(django_user_model):
    return django_user_model.objects.create_user("tom", password="a long pass phrase")
