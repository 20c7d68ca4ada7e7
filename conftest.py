"""Fixtures for every app: people."""

import pytest


@pytest.fixture
def person(django_user_model):
    return django_user_model.objects.create_user("mei", password="a long pass phrase")


@pytest.fixture
def stranger(django_user_model):
    return django_user_model.objects.create_user("tom", password="a long pass phrase")
