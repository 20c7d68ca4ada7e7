"""How fast one socket may speak."""

from agentruntime.edges.rates import TokenBucket


def test_a_burst_and_then_a_steady_rate():
    now = [100.0]
    bucket = TokenBucket(rate=2, burst=3, clock=lambda: now[0])

    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] += 0.5
    assert [bucket.take() for _ in range(2)] == [True, False]
    now[0] += 60
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


def test_a_refusal_costs_nothing():
    now = [0.0]
    bucket = TokenBucket(rate=1, burst=1, clock=lambda: now[0])
    bucket.take()
    for _ in range(10):
        assert not bucket.take()

    now[0] += 1

    assert bucket.take()
