from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from booking.intervals import Interval, busy_until, gaps, is_free, merge

START = datetime(2026, 11, 30, tzinfo=UTC)


def span(first, last):
    return Interval(START + timedelta(minutes=first), START + timedelta(minutes=last))


def minutes_of(intervals):
    """The set of whole minutes the intervals cover: the model the code is held against."""
    return {
        minute
        for each in intervals
        for minute in range(
            int((each.starts_at - START).total_seconds() // 60),
            int((each.ends_at - START).total_seconds() // 60),
        )
    }


spans = st.builds(
    lambda first, length: span(first, first + length),
    st.integers(0, 200),
    st.integers(1, 60),
)


def test_back_to_back_shares_no_instant():
    assert not span(0, 60).overlaps(span(60, 120))
    assert span(0, 61).overlaps(span(60, 120))


def test_the_ends_are_aware_and_in_order():
    with pytest.raises(ValueError, match="ends after"):
        span(10, 10)
    with pytest.raises(ValueError, match="aware"):
        Interval(datetime(2026, 1, 1), datetime(2026, 1, 2, tzinfo=UTC))  # noqa: DTZ001


def test_an_hour_that_the_clocks_repeat_has_its_true_length():
    berlin = ZoneInfo("Europe/Berlin")
    night = Interval(
        datetime(2026, 10, 25, 2, tzinfo=berlin), datetime(2026, 10, 25, 4, tzinfo=berlin)
    )
    assert night.duration == timedelta(hours=3)


@given(spans, spans)
def test_overlap_is_a_shared_minute(one, other):
    shared = bool(minutes_of([one]) & minutes_of([other]))
    assert one.overlaps(other) == other.overlaps(one) == shared


@given(spans, spans)
def test_covering_is_containing_every_minute(one, other):
    assert one.covers(other) == (minutes_of([other]) <= minutes_of([one]))


@given(st.lists(spans))
def test_merging_keeps_the_minutes_and_leaves_gaps_between(intervals):
    merged = merge(intervals)
    assert minutes_of(merged) == minutes_of(intervals)
    assert all(one.ends_at < other.starts_at for one, other in pairwise(merged))


@given(st.lists(spans), spans)
def test_gaps_are_what_is_left(busy, within):
    left = gaps(busy, within)
    assert minutes_of(left) == minutes_of([within]) - minutes_of(busy)
    assert left == merge(left)


@given(st.lists(spans), spans)
def test_free_is_sharing_no_minute(busy, wanted):
    assert is_free(wanted, busy) == (not minutes_of([wanted]) & minutes_of(busy))


@given(st.lists(spans), st.integers(0, 270))
def test_busy_until_is_the_first_free_minute_after(busy, minute):
    until = busy_until(START + timedelta(minutes=minute), busy)
    taken = minutes_of(busy)
    if minute not in taken:
        assert until is None
        return
    first_free = next(each for each in range(minute, 1000) if each not in taken)
    assert until == START + timedelta(minutes=first_free)


@given(spans, st.integers(0, 30), st.integers(0, 30))
def test_padding_adds_to_both_ends(one, before, after):
    padded = one.padded(timedelta(minutes=before), timedelta(minutes=after))
    assert padded.covers(one)
    assert padded.duration == one.duration + timedelta(minutes=before + after)
