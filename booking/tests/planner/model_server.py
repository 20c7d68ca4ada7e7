"""A language model's server that does what it is told: OpenAI's protocol on a loopback port."""

import json
import threading
from collections.abc import Callable
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49}


def way_of(body):
    """How the request wants its structure."""
    if body.get("tools"):
        return "function_calling"
    wanted = (body.get("response_format") or {}).get("type")
    return {"json_schema": "json_schema", "json_object": "json_mode"}[wanted]


def situation_of(body):
    """What the planner told of the conversation: the first message after the rules."""
    return json.loads(body["messages"][1]["content"])


class Reply:
    """One answer: an HTTP status, and the message or the error in it.

    cut: only so much of the body is sent (0.0 to 1.0) before the connection is closed.
    """

    def __init__(self, message=None, *, status=200, finish="stop", error="", cut=None):
        self.status, self.message, self.finish, self.error = status, message, finish, error
        self.cut = cut

    def payload(self):
        if self.status != 200:
            return {"error": {"message": self.error or "no", "type": "x", "code": None}}
        choice = {"index": 0, "finish_reason": self.finish, "message": self.message}
        return {
            "id": "c1", "object": "chat.completion", "created": 1, "model": "stub",
            "choices": [choice], "usage": USAGE,
        }  # fmt: skip


def saying(content, *, finish="stop", **more):
    return Reply({"role": "assistant", "content": content, **more}, finish=finish)


def planning(body, plan):
    """A plan in the way that was asked for."""
    text = plan if isinstance(plan, str) else json.dumps(plan, ensure_ascii=False)
    if way_of(body) != "function_calling":
        return saying(text)
    name = body["tools"][0]["function"]["name"]
    call = {"id": "t1", "type": "function", "function": {"name": name, "arguments": text}}
    return Reply({"role": "assistant", "content": None, "tool_calls": [call]}, finish="tool_calls")


class ModelServer:
    """answer: from a request's body to a Reply; `requests` keeps the bodies."""

    def __init__(self, url, answer: Callable):
        self.url, self.answer = url, answer
        self.requests = []
        self.leave = threading.Event()

    def slowly(self, body):
        """Does not answer before the test is over."""
        self.leave.wait(30)
        return Reply(status=500)


def use(settings, server, *, seconds=8.0):
    """Let this process plan by that server's model."""
    model = {"name": "openai:stub", "url": server.url, "key": "k", "seconds": seconds}
    settings.ROOMWISE = {**settings.ROOMWISE, "planner": "llm", "model": model}


@contextmanager
def model_server(answer=None):
    """A running server; set `answer` to make it do something else."""
    served = None

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            served.requests.append(body)
            reply = served.answer(body)
            data = json.dumps(reply.payload()).encode()
            if reply.cut == 0:
                self.close_connection = True
                return
            self.send_response(reply.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(data[: int(len(data) * (reply.cut or 1))])
            self.close_connection = True

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = ModelServer(f"http://127.0.0.1:{server.server_port}/v1", answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.leave.set()
        server.shutdown()
        server.server_close()
        thread.join()
