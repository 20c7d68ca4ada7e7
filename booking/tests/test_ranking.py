from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from booking import ranking
from booking.alternatives import SHIFT, Prospect, alternatives
from booking.intervals import Interval
from booking.policies import Rules
from booking.ranking import RoomFacts, RoomRequest
from booking.tests.test_policies import WORKDAYS

NOW = datetime(2026, 11, 30, 2, tzinfo=UTC)
NINE = datetime(2026, 12, 1, 1, tzinfo=UTC)
RULES = Rules(zone=ZoneInfo("Asia/Shanghai"), hours=WORKDAYS)
FEATURES = ("projector", "tv", "whiteboard")

facts = st.builds(
    RoomFacts,
    code=st.text("ABC123", min_size=1, max_size=4),
    name_en=st.just("Room"),
    name_zh=st.just("会议室"),
    building=st.sampled_from("AB"),
    floor=st.integers(1, 3),
    seats=st.integers(1, 120),
    features=st.frozensets(st.sampled_from(FEATURES)),
    needs_approval=st.booleans(),
    is_home=st.booleans(),
)
rooms = st.lists(facts, max_size=8, unique_by=lambda room: room.code)
requests = st.builds(
    RoomRequest,
    starts_at=st.integers(0, 40).map(lambda n: NINE + timedelta(minutes=15 * n)),
    ends_at=st.just(NINE),
    headcount=st.integers(1, 30),
    building=st.sampled_from([None, "A", "B"]),
    floor=st.sampled_from([None, 1, 2]),
    features=st.lists(st.sampled_from(FEATURES), max_size=2, unique=True).map(tuple),
).map(lambda r: RoomRequest(**{**vars(r), "ends_at": r.starts_at + timedelta(hours=1)}))


@given(rooms, requests)
def test_only_rooms_that_meet_every_wish_are_candidates(found, request):
    by_code = {room.code: room for room in found}
    for each in ranking.candidates(found, request):
        assert each.seats >= request.headcount
        assert request.building in {None, each.building}
        assert request.floor in {None, each.floor}
        assert set(request.features) <= by_code[each.room].features


@given(rooms, requests)
def test_candidates_stand_in_the_agreed_order(found, request):
    by_code = {room.code: room for room in found}
    shown = [by_code[each.room] for each in ranking.candidates(found, request)]
    keys = [
        (
            room.needs_approval,
            request.building is None and not room.is_home,
            room.seats - request.headcount,
            len(room.features - set(request.features)),
            room.code,
        )
        for room in shown
    ]
    assert keys == sorted(keys)
    assert len(shown) <= ranking.OFFERED


@given(rooms, requests, st.randoms())
def test_the_order_of_the_rooms_read_makes_no_difference(found, request, random):
    offered = ranking.candidates(found, request)
    random.shuffle(found)
    assert ranking.candidates(found, request) == offered


@given(rooms, requests)
def test_an_oversized_room_never_stands_beside_a_fitting_one(found, request):
    sizes = {
        each.seats > 4 * request.headcount and each.seats >= request.headcount + 20
        for each in ranking.candidates(found, request)
    }
    assert len(sizes) <= 1


@given(rooms, requests)
def test_every_candidate_that_needs_approval_says_so(found, request):
    for each in ranking.candidates(found, request):
        assert ("needs_approval" in each.reasons) == each.needs_approval
        assert each.reasons


def test_a_named_oversized_room_is_shown():
    hall = RoomFacts(
        code="H",
        name_en="Hall",
        name_zh="厅",
        building="A",
        floor=1,
        seats=100,
        features=frozenset(),
        needs_approval=False,
    )
    small = RoomFacts(**{**vars(hall), "code": "S", "seats": 4})
    wish = RoomRequest(starts_at=NINE, ends_at=NINE + timedelta(hours=1), headcount=2)
    assert [each.room for each in ranking.candidates([hall, small], wish)] == ["S"]
    named = RoomRequest(**{**vars(wish), "room": "H"})
    [only] = ranking.candidates([hall, small], named)
    assert only.reasons == ("named_room", "larger_than_needed:100", "no_unasked_features")


busy = st.lists(st.tuples(st.integers(0, 44), st.integers(1, 12)), max_size=5).map(
    lambda spans: tuple(
        Interval(
            NINE + timedelta(minutes=15 * first),
            NINE + timedelta(minutes=15 * (first + length)),
        )
        for first, length in spans
    )
)
prospects = st.lists(
    st.builds(Prospect, facts, st.just(RULES), busy),
    max_size=6,
    unique_by=lambda prospect: prospect.room.code,
)
ORDER = ["other_time", "other_room", "without_wish", "approval"]


@given(prospects, requests)
def test_alternatives_can_be_had_and_never_shrink_the_wish(found, request):
    by_code = {each.room.code: each for each in found if each.room.seats >= request.headcount}
    during = Interval(request.starts_at, request.ends_at)
    offered = ranking.candidates((p.room for p in by_code.values() if p.is_free(during)), request)
    shown = [each.room for each in offered]
    others = alternatives(by_code.values(), request, shown=shown, now=NOW)
    assert len(others) <= ranking.OFFERED
    kinds = [ORDER.index(each.kind) for each in others]
    assert kinds == sorted(kinds)
    for each in others:
        assert (each.room, each.starts_at) not in {(code, request.starts_at) for code in shown}
        assert by_code[each.room].is_free(Interval(each.starts_at, each.ends_at))
        assert each.ends_at - each.starts_at == during.duration
        assert abs(each.starts_at - request.starts_at) <= SHIFT
        assert each.starts_at.astimezone(RULES.zone).date() == RULES.local(request.starts_at).date()
        assert (each.kind == "approval") == by_code[each.room].room.needs_approval
        missing = set(request.features) - by_code[each.room].room.features
        assert len(missing) == (1 if each.kind == "without_wish" else 0)


@given(prospects, requests)
def test_the_nearest_other_time_comes_first(found, request):
    seating = [each for each in found if each.room.seats >= request.headcount]
    others = alternatives(seating, request, shown=(), now=NOW)
    shifts = [
        abs(each.starts_at - request.starts_at) for each in others if each.kind == "other_time"
    ]
    assert shifts == sorted(shifts)
