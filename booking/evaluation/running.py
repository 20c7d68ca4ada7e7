"""Plays cases and scores them, one after the other."""

from collections.abc import Sequence

from booking.evaluation import judging, report
from booking.evaluation.cases import Case
from booking.evaluation.judging import Fault
from booking.evaluation.playing import CaseFailed, Player, playing


async def run(cases: Sequence[tuple[str, Case]]) -> list[report.Result]:
    """A result for each `(file, case)`, in their order. Raises BadCase for an impossible world."""
    async with playing() as player:
        return [await _result(player, file, case) for file, case in cases]


async def _result(player: Player, file: str, case: Case) -> report.Result:
    classes: list[str] = []
    try:
        played, world = await player.play(case)
        faults, classes = judging.judge(case, played, world), played.classification
    except CaseFailed as error:
        faults = [Fault(check="played to the end", got=str(error))]
    rules = [str(rule) for rule in case.expect.get("must_not", ())]
    return report.Result(
        id=case.id,
        file=file,
        lang=case.lang,
        family=case.family,
        faults=faults,
        classes=report.pairs(case.expect["classification"], classes),
        unread=[rule for rule in rules if not judging.is_checked(rule)],
    )
