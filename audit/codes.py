"""The runtime's own codes in people's words: rules, classes, kinds of questions. Pure."""

from django.utils.translation import gettext as _

WHILE_RUNNING = "_while_running"


def class_words(code: str) -> str:
    """What a message is beside a run (`policy.CLASSES`)."""
    words = {
        "correction": _("a correction"),
        "supplement": _("an addition"),
        "cancel": _("calling it off"),
        "restart": _("a fresh start"),
        "new_intent": _("a new wish"),
        "answer": _("an answer"),
        "text": _("words"),
    }
    return words.get(code, code)


def rule_words(code: str) -> str:
    """The rule by which a message was stored, or set aside later."""
    if code.endswith(WHILE_RUNNING):
        kind = class_words(code.removesuffix(WHILE_RUNNING))
        return _("%(kind)s, while a run was in progress") % {"kind": kind}
    words = {
        "text_on_idle_thread": _("words on a thread at rest: a run begins"),
        "text_answers_open_question": _("words on an open question: they answer it"),
        "answers_open_question": _("an answer to the open question"),
        "answers_another_question": _("an answer to a question that is not open"),
        "already_answered": _("an answer to a question that is being answered"),
        "stale_answer": _("an answer to a question that is not open any more"),
        "thread_archived": _("the thread is closed"),
        "rejected_while_running": _("not wanted while a run is in progress"),
        "enqueued_as_asked": _("to be read after the run, as its sender asked"),
        "interrupt_as_asked": _("the run begins again, as its sender asked"),
        "rollback_as_asked": _("read instead of what the run was to answer, as its sender asked"),
        "rolled_back": _("taken back by a later message"),
        "given_up": _("set aside: it ended its workers"),
        "retried": _("to be read again, by an administrator"),
        "sandbox": _("said in a fork by an administrator"),
        "sandbox_failed": _("said in a fork; its run failed"),
    }
    return words.get(code, code)


def question_words(kind: str) -> str:
    """What a question of a kind wants (kinds: docs/protocol.md)."""
    words = {
        "clarify": _("what is missing"),
        "select_room": _("which of these"),
        "confirm": _("a yes"),
    }
    return words.get(kind, kind)


def message_words(kind: str) -> str:
    """The kind of a message: what a person sent, or what the agent said."""
    words = {
        "text": _("words"),
        "answer": _("a click"),
        "complete": _("an outcome"),
        "notice": _("a notice"),
        "error": _("an error"),
        "clarify": _("a question: what is missing"),
        "select_room": _("a question: which of these"),
        "confirm": _("a question: a yes"),
    }
    return words.get(kind, kind)
