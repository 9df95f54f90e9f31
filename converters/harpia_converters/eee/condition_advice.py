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
        return Advice(TURNS, _several_turns(path, record, turns))
    return None


def _single_turn(path: Path, record: Any, turns: str) -> str:
    has_turns = bool(record.get(turns))
    if path != (turns,):
        how = f"move the answer from {turns} to output" if has_turns else _give_answer
    elif has_turns and isinstance(record.get("output"), dict):
        how = f"remove {turns} or set it to null, if the whole answer is in output"
    else:
        how = f"remove {turns} or set it to null"
    if not has_turns:
        return how
    return (
        f'{how}; or set interaction_type to "multi_turn" or "agentic" and output to '
        "null, if the record has several turns"
    )


def _several_turns(path: Path, record: Any, turns: str) -> str:
    has_turns, output = bool(record.get(turns)), record.get("output")
    if has_turns:
        if path == ("output",):
            return f"set output to null: the answer stands in {turns}"
        return f"give {turns} as a list of turns"
    how = f"give the turns in {turns}"
    if not isinstance(output, dict):
        return how
    return f'{how} and set output to null, or set interaction_type to "single_turn"'


_give_answer = "give the answer in output"
