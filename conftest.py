"""Fixtures for every app: people, whose passwords need no strength here."""

import pytest


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def person(django_user_model):
    return django_user_model.objects.create_user("mei", password="a long pass phrase")


@pytest.fixture
def stranger(django_user_model):
    return django_user_model.objects.create_user("tom", password="a long pass phrase")
