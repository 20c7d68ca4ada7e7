from io import StringIO

import pytest
import time_machine
from django.core.management import call_command

from booking.models import Booking, Policy
from booking.tests import world
from booking.tests.world import TODAY, TOMORROW, at, book

pytestmark = pytest.mark.django_db


def test_the_command_writes_down_what_has_lapsed():
    world.build()
    Policy.objects.update(needs_check_in=True, request_hours=2)
    unused = book("A302", TODAY, "11:00", "12:00")
    undecided = book("A501", TOMORROW, "11:00", "12:00")
    out = StringIO()
    with time_machine.travel(at(TODAY, "13:00"), tick=False):
        call_command("run_chores", stdout=out)
    assert "1 released no-shows" in out.getvalue()
    assert "1 expired requests" in out.getvalue()
    statuses = {each.pk: each.status for each in Booking.objects.with_occurrences()}
    assert (statuses[unused.pk], statuses[undecided.pk]) == ("released", "expired")
