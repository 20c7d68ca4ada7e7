"""Pages that try things in copies: fork, talk to a fork, replay, variants, promotion."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agentruntime.agents import AgentSpec, get_agent
from agentruntime.exceptions import CheckpointNotFound
from agentruntime.models import Message
from agentruntime.timetravel import forks, history, promote, sandbox
from agentruntime.timetravel.diff import compare
from agentruntime.timetravel.variants import question_of
from audit import presenters, services
from audit.admin.pages import (
    back,
    language,
    page,
    refused,
    render,
    thread_or_404,
    thread_url,
    url,
)
from audit.exceptions import AuditError, RunFailed
from audit.forms import ForkForm, PromoteForm, ReasonForm, StateForm
from audit.models import FORK, PROMOTE, REPLAY, AuditedThread, Operation

COLUMNS = 4
WORDS_LENGTH = 2000


@page(FORK)
@require_http_methods(["GET", "HEAD", "POST"])
def fork(request: HttpRequest, thread: str, checkpoint: str) -> HttpResponse:
    """A form of the state's fields, a preview of what they change, then the fork."""
    found = thread_or_404(thread)
    opened = history.opened(found, checkpoint)
    form = ForkForm(
        request.POST or None,
        spec=get_agent(found.agent),
        values=opened.values,
        language=language(),
    )
    preview = None
    if request.method == "POST" and form.is_valid():
        preview = _preview(found, opened.values, form.changes)
        if "fork" in request.POST:
            return _fork(request, found, checkpoint, form)
    return render(
        request,
        "fork",
        title=_("Fork"),
        thread=found,
        point=opened.point,
        form=form,
        preview=preview,
        facts=presenters.facts(get_agent(found.agent), opened.point.described, language()),
    )


def _preview(
    thread: AuditedThread, values: Mapping[str, Any], changes: Mapping[str, Any]
) -> list[presenters.ShownChange]:
    if not changes:
        return []
    spec = get_agent(thread.agent)
    after = {**values, **(forks.edited(thread, values, changes).update or {})}
    found = compare(spec.redact(values), spec.redact(after)).changes
    return [presenters.change_words(spec, each, language()) for each in found]


def _fork(
    request: HttpRequest, thread: AuditedThread, checkpoint: str, form: ForkForm
) -> HttpResponse:
    try:
        copy = services.fork(
            thread,
            checkpoint,
            by=request.user,  # type: ignore[arg-type]
            reason=form.cleaned_data["reason"],
            changes=form.changes,
        )
    except AuditError as error:
        return refused(request, url("checkpoint", thread.pk, checkpoint), error)
    return back(request, url("sandbox", copy.pk), _("This is the fork; talk to it here."))


@page(FORK)
@require_http_methods(["GET", "HEAD", "POST"])
def talk(request: HttpRequest, thread: str) -> HttpResponse:
    """A fork's transcript and its open question; whoever may fork may answer it."""
    found = thread_or_404(thread)
    if not found.sandbox:
        raise Http404
    if request.method == "POST":
        try:
            services.speak(found, _say(request, found), by=request.user)  # type: ignore[arg-type]
        except AuditError as error:
            return refused(request, url("sandbox", thread), error)
        return HttpResponseRedirect(f"{url('sandbox', thread)}#open")
    asked = question_of(found)
    return render(
        request,
        "sandbox",
        title=_("Talk to the fork"),
        thread=found,
        facts=presenters.facts(get_agent(found.agent), found.summary, language()),
        messages_said=Message.objects.filter(thread=found).order_by("pk"),
        asked=presenters.question(asked) if asked else None,
        has_simulated=sandbox.has_simulated(found),
    )


def _say(request: HttpRequest, thread: AuditedThread) -> sandbox.Say:
    """A text; or a choice of those the open question offers, by its number."""
    choice = request.POST.get("choice", "")
    if not choice:
        text = request.POST.get("text", "").replace("\0", "").strip()
        if not text or len(text) > WORDS_LENGTH:
            raise RunFailed(
                _("Say something, in at most %(count)d characters.") % {"count": WORDS_LENGTH}
            )
        return sandbox.Say(text=text)
    asked = question_of(thread)
    choices = presenters.question(asked).choices if asked else []
    if not choice.isdecimal() or int(choice) >= len(choices):
        raise BadRequest
    return sandbox.Say(value=choices[int(choice)].value)


@page(REPLAY)
@require_POST
def replay(request: HttpRequest, thread: str, checkpoint: str) -> HttpResponse:
    """Run what happened after a checkpoint again."""
    found = thread_or_404(thread)
    history.require(found, checkpoint)
    form = ReasonForm(request.POST)
    try:
        reason = form.cleaned_data["reason"] if form.is_valid() else ""
        made = services.replay(found, checkpoint, by=request.user, reason=reason)  # type: ignore[arg-type]
    except AuditError as error:
        return refused(request, url("checkpoint", thread, checkpoint), error)
    return HttpResponseRedirect(url("replayed", thread, made.pk))


@page(REPLAY)
@require_safe
def replayed(request: HttpRequest, thread: str, operation: int) -> HttpResponse:
    """A replay beside its original, step by step."""
    found = thread_or_404(thread)
    made = _operation(found, operation, Operation.Kind.REPLAY)
    spec, spoken = get_agent(found.agent), language()
    steps = [
        {
            **step,
            "what": presenters.node_words(spec, step["nodes"], spoken) or "–",
            "what_replayed": presenters.node_words(spec, step["nodes_replayed"], spoken) or "–",
            "labels": [presenters.field_words(spec, each, spoken) for each in step["pointers"]],
        }
        for step in made.details["steps"]
    ]
    return render(
        request,
        "replayed",
        title=_("Replay"),
        thread=found,
        operation=made,
        steps=steps,
        first=next((step for step in steps if not step["same"]), None),
        stopped=presenters.stopped_words(made.details["stopped"]),
    )


@page(REPLAY)
@require_http_methods(["GET", "HEAD", "POST"])
def what_if(request: HttpRequest, thread: str, checkpoint: str) -> HttpResponse:
    """Up to four columns of fields; those that change something are tried."""
    found = thread_or_404(thread)
    opened = history.opened(found, checkpoint)
    columns = [
        StateForm(
            request.POST or None,
            prefix=f"v{number}",
            spec=get_agent(found.agent),
            values=opened.values,
            language=language(),
        )
        for number in range(1, COLUMNS + 1)
    ]
    reason = ReasonForm(request.POST or None)
    is_empty = False
    if request.method == "POST" and all(each.is_valid() for each in (*columns, reason)):
        variants = [changes for each in columns if (changes := each.changes)]
        is_empty = not variants
        if variants:
            if request.POST.get("baseline"):
                variants.insert(0, {})
            made = services.what_if(
                found,
                checkpoint,
                variants,
                by=request.user,  # type: ignore[arg-type]
                reason=reason.cleaned_data["reason"],
            )
            return HttpResponseRedirect(url("variants", thread, made.pk))
    return render(
        request,
        "what_if",
        title=_("What if"),
        thread=found,
        point=opened.point,
        columns=columns,
        reason=reason,
        is_empty=is_empty,
    )


@page(REPLAY)
@require_safe
def variants(request: HttpRequest, thread: str, operation: int) -> HttpResponse:
    """What came of each variant, in columns."""
    found = thread_or_404(thread)
    made = _operation(found, operation, Operation.Kind.WHAT_IF)
    spec, spoken = get_agent(found.agent), language()
    threads = AuditedThread.objects.in_bulk([each["thread"] for each in made.details["variants"]])
    shown = []
    for variant in made.details["variants"]:
        copy = threads.get(variant["thread"])
        asked = question_of(copy) if copy else None
        state = _state_of(copy, variant.get("head", "")) if copy else {}
        shown.append(
            {
                **variant,
                "copy": copy,
                "labels": [_changed(spec, path, state, spoken) for path in variant["changed"]],
                "has_moved": copy is not None and copy.head != variant.get("head", copy.head),
                "facts": presenters.facts(spec, copy.summary, spoken) if copy else [],
                "asked": presenters.question(asked) if asked else None,
                "what": presenters.node_words(spec, variant["steps"], spoken),
            }
        )
    return render(
        request, "variants", title=_("What if"), thread=found, operation=made, variants=shown
    )


def _state_of(copy: AuditedThread, checkpoint: str) -> Mapping[str, Any]:
    """The state a variant ended with, masked; nothing where it was pruned away since."""
    try:
        values = history.opened(copy, checkpoint or copy.head).values
    except CheckpointNotFound:
        return {}
    return get_agent(copy.agent).redact(values)


def _changed(spec: AgentSpec, path: str, state: Mapping[str, Any], spoken: str) -> str:
    """A changed field and what it was changed to; where the mask hides that, the field alone."""
    pointer, value = f"/{path.replace('.', '/')}", state
    label = presenters.field_words(spec, pointer, spoken)
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return label
        value = value.get(key, "–")
    return f"{label}: {presenters.told(spec, pointer, value, spoken)}"


def _operation(thread: AuditedThread, number: int, kind: str) -> Operation:
    found = Operation.objects.filter(pk=number, thread=thread.pk, kind=kind).first()
    if found is None:
        raise Http404
    return found


@page(PROMOTE)
@require_http_methods(["GET", "HEAD", "POST"])
def promoted(request: HttpRequest, thread: str) -> HttpResponse:
    """Make a fork the live thread, after a reason and the live thread's id."""
    found = thread_or_404(thread)
    original = found.forked_from
    if not found.sandbox or original is None:
        raise Http404
    form = PromoteForm(request.POST or None, initial={"expected_head": original.head})
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            services.promote(
                found,
                by=request.user,  # type: ignore[arg-type]
                reason=given["reason"],
                expected_head=given["expected_head"],
                typed=given["typed"],
            )
        except AuditError as error:
            return refused(request, url("promote", thread), error)
        return back(request, thread_url(original.pk), _("The fork is the live thread now."))
    return render(
        request,
        "promote",
        title=_("Make this fork the live thread"),
        thread=found,
        original=original,
        ending=original.pk[-8:],
        form=form,
        obstacle=presenters.obstacle_words(promote.obstacle(found)),
    )
