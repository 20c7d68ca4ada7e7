import inspect
from datetime import UTC, datetime

import pytest

from booking import exceptions
from booking.exceptions import REFUSALS, BookingError, PolicyViolation, RoomUnavailable
from booking.policies import Refusal

ERRORS = [
    each
    for _name, each in inspect.getmembers(exceptions, inspect.isclass)
    if issubclass(each, BookingError)
]
PARAMS = {
    "days": 90,
    "last_date": "2027-02-28",
    "minutes": 15,
    "date": "2027-01-01",
    "name": {"en": "New Year", "zh": "元旦"},
    "hours": [["08:00", "12:00"], ["13:00", "21:00"]],
    "room": "A301",
    "seats": 8,
    "headcount": 9,
    "features": ["tv"],
    "building": "Z",
    "weekday": 5,
    "limit": 3,
    "reason": "Repainting",
    "until": "2026-12-01 13:00",
    "period": "week",
}
DATA = {
    "room": "A301",
    "field": "title",
    "status": "rejected",
    "opens_at": datetime(2026, 12, 1, 1, tzinfo=UTC),
    "dates": [{"date": "2026-12-09", "code": "taken", "text": None}],
    "date": "2027-03-28",
    "time": "02:30",
    "closed_at": datetime(2026, 12, 1, 2, tzinfo=UTC),
}


def test_codes_are_unique_and_data_are_attributes():
    codes = [each.code for each in ERRORS]
    assert len(set(codes)) == len(codes)
    error = RoomUnavailable(room="A301")
    assert (error.room, error.code) == ("A301", "taken")
    with pytest.raises(AttributeError):
        _ = error.nothing


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("error", ERRORS)
def test_every_error_speaks_both_languages(error, language):
    made = PolicyViolation(Refusal("past")) if error is PolicyViolation else error(**DATA)
    assert made.message(language)
    assert "%(" not in made.message(language)


@pytest.mark.parametrize("rule", sorted(REFUSALS))
def test_every_refusal_can_be_explained(rule):
    text = PolicyViolation(Refusal(rule, PARAMS)).message("en")
    assert text.endswith(".")
    assert "%(" not in text


def test_refusals_read_naturally():
    def says(rule, **more):
        return PolicyViolation(Refusal(rule, {**PARAMS, **more})).message("en")

    assert says("opening_hours") == "The rooms are open 08:00-12:00, 13:00-21:00 on that day."
    assert says("opening_hours", hours=[]) == "The rooms are closed on that weekday."
    assert says("holiday") == "The rooms are closed on 2027-01-01 (New Year)."
    holiday = PolicyViolation(Refusal("holiday", PARAMS))
    assert "元旦" in holiday.message("zh-hans")
    assert says("capacity") == "A301 seats 8, too few for 9 people."
