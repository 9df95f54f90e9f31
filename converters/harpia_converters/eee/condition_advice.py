"""Help for rows whose output or turns do not fit interaction_type (C201, C202)."""

from typing import Any

from harpia_formats.model.format import Advice
from harpia_formats.model.problem import Path

TURNS, METRICS = "C201", "C202"


def advise(branch: str, path: Path, record: Any, turns: str) -> Advice | None:
    """Return the rule and the help for the branch that `record` breaks at `path`.

    `turns` is the key of the list of turns. The first branch of the schema's allOf is
    the condition for single_turn, the second for multi_turn and agentic.
    """
    if path[:1] == ("metrics",):
        help_ = "move num_turns to evaluation.num_turns, and remove metrics"
        return Advice(METRICS, help_)
    if branch == "/allOf/0/then":
        return Advice(TURNS, _single_turn(path, record, turns))
    if branch == "/allOf/1/then":
        return Advice(TURNS, _several_turns(path, turns))
    return None


def _single_turn(path: Path, record: Any, turns: str) -> str:
    if path == (turns,):
        how = f"remove {turns} or set it to null"
    elif record.get(turns):
        how = f"move the answer from {turns} to output"
    else:
        how = "give the answer in output"
    return f'{how}, or set interaction_type to "multi_turn" or "agentic"'


def _several_turns(path: Path, turns: str) -> str:
    how = "set output to null" if path == ("output",) else f"give the turns in {turns}"
    return f'{how}, or set interaction_type to "single_turn"'
