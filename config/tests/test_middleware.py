"""Addresses that no view should see."""

import pytest


@pytest.mark.parametrize(
    "address",
    [
        "/admin/audit/auditedthread/?agent=a%00b",
        "/admin/agentruntime/worker/%00/change/",
    ],
)
def test_an_address_with_a_nul_is_a_bad_request(client, address):
    answer = client.get(address)
    assert answer.status_code == 400
    assert "cannot be read" in answer.content.decode()


def test_a_percent_sign_is_no_nul(client, db):
    assert client.get("/admin/?next=%2500").status_code in {200, 302}
