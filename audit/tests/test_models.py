"""The ledger is written, never changed."""

import pytest
from django.db import DatabaseError, transaction

from audit.models import Operation


@pytest.mark.parametrize(
    "act",
    [
        lambda row: Operation.objects.filter(pk=row.pk).update(reason="another"),
        lambda row: row.delete(),
    ],
)
def test_the_database_refuses_to_change_or_delete_an_operation(db, act):
    row = Operation.objects.create(kind="pin", reason="first", outcome="done")

    with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
        act(row)

    row.refresh_from_db()
    assert row.reason == "first"
