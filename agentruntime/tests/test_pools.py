"""The connections of one process."""

from django.db import connection
from psycopg.conninfo import conninfo_to_dict

from agentruntime.persistence import pools


def test_a_database_url_with_options_of_its_own_keeps_them(monkeypatch):
    options = {"application_name": "site", "options": "-c search_path=rooms", "sslmode": "prefer"}
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {**options, "pool": True})

    found = conninfo_to_dict(pools.conninfo(worker="w1"))

    assert found["application_name"] == "roomwise:w1"
    assert found["options"].startswith("-c search_path=rooms -c transaction_timeout=")
    assert found["sslmode"] == "prefer"
    assert "pool" not in found
