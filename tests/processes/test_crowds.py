"""A thousand idle sockets: their memory is bounded, and others do not feel them.

How a neighbour feels it: another person's turns are timed in rounds without and with the crowd, one
after the other, so that whatever else the machine does falls on both alike.
"""

import base64
import os
import socket
import statistics
import time
from contextlib import ExitStack

import psutil
import pytest

from tests.processes.pages import Page

IDLE = 1_000
TURNS = 12  # a round
PAGES = 6  # each may speak ten times a second
MOST_SLOWER = 1.5
MIB = 2**20


@pytest.fixture(scope="module")
def node(together):
    (node,) = together.start(1)
    return node


@pytest.fixture
def neighbour(together, node):
    """Time a round of turns of another person, who has several tabs."""
    cookie = node.sign_in("wangfang")
    pages = [Page(node, cookie) for _ in range(PAGES)]
    for page in pages:
        page.open()

    def turns(count=TURNS):
        took = []
        for number in range(count):
            page = pages[number % PAGES]
            began = time.perf_counter()
            page.say("show my bookings")
            page.until("complete")
            took.append(time.perf_counter() - began)
            time.sleep(0.02)
        return took

    turns(2 * PAGES)
    yield turns
    for page in pages:
        page.close()


def rss(node):
    return psutil.Process(node.process.pid).memory_info().rss


def p95(values):
    return statistics.quantiles(values, n=20)[-1]


def frame(text):
    """A text frame as a client masks it, with a mask of zeroes."""
    data = text.encode()
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
    return b"\x81" + size + bytes(4) + data


@pytest.fixture
def raw_socket(node):
    with ExitStack() as sockets:
        yield lambda **options: sockets.enter_context(connected(node, **options))


def connected(node, *, buffer=0):
    """A WebSocket without a client behind it: it sends what it is told and answers no ping."""
    connection = socket.socket()
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.connect(("127.0.0.1", node.port))
    lines = [
        "GET /ws/agents/booking/ HTTP/1.1",
        f"Host: 127.0.0.1:{node.port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Protocol: simple.v1",
        f"Origin: {node.url}",
        f"Cookie: {node.cookie}",
    ]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    assert b"101" in connection.recv(4096)
    return connection


def test_a_thousand_idle_sockets_are_not_felt(node, raw_socket, neighbour, figure):
    quiet = neighbour(4 * TURNS)
    before = rss(node)
    sockets = []
    for _ in range(IDLE):
        sockets.append(raw_socket())
        sockets[-1].sendall(frame('{"type": "init"}'))
        assert b"welcome" in sockets[-1].recv(65536)
    grown = rss(node) - before
    loud = neighbour(8 * TURNS)
    for each in sockets:
        each.close()
    time.sleep(2)
    quiet += neighbour(4 * TURNS)

    ratio = p95(loud) / p95(quiet)
    figure(
        f"{IDLE} idle sockets",
        f"p95 of a neighbour's turn {p95(quiet) * 1000:.0f} -> {p95(loud) * 1000:.0f} ms"
        f" ({ratio:.2f}x; quiet before and after); {grown / IDLE / 1024:.0f} KiB a socket",
        promise=f"at most {MOST_SLOWER}x, under 100 KiB each",
    )
    assert grown < IDLE * 100 * 1024
    assert ratio <= MOST_SLOWER
