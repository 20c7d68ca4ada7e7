"""Whatever the schema allows and whatever it forbids: an answer that the schema describes."""

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from rest_framework.throttling import UserRateThrottle

EXAMPLES = 30
# 422: well formed, and yet no booking can be that; the schema cannot tell an end from its start.
ACCEPTED = ["2xx", "401", "403", "404", "409", "422"]
SCHEMA = schemathesis.openapi.from_dict(
    SchemaGenerator().get_schema(public=True),
    config=schemathesis.Config.from_dict(
        {"checks": {"positive_data_acceptance": {"expected-statuses": ACCEPTED}}}
    ),
)
SCHEMA.app = get_wsgi_application()
OPERATIONS = {each.ok().label: each.ok() for each in SCHEMA.get_all_operations()}


@pytest.fixture
def headers(lilei, monkeypatch):
    """As Django's test client does: the end of a request does not end the test's transaction."""
    monkeypatch.setattr(UserRateThrottle, "allow_request", lambda *_: True)
    ends = (request_started, request_finished)
    for signal in ends:
        signal.disconnect(close_old_connections)
    yield {"Authorization": lilei._credentials["HTTP_AUTHORIZATION"]}
    for signal in ends:
        signal.connect(close_old_connections)


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_answer_is_the_one_described(headers, name, mode):
    @trying(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=OPERATIONS[name].as_strategy(generation_mode=mode))
    def tried(case):
        case.call_and_validate(headers=headers)

    tried()
