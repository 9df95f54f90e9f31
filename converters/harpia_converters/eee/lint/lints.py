"""All checks of `--lint` on rows of EvalEval, for each of the three shapes."""

from typing import Any

from harpia_converters.eee import versions
from harpia_converters.eee.lint import (
    across,
    answers,
    attribution,
    file_counts,
    identity,
    keys,
    results,
    texts,
    turns,
)
from harpia_converters.eee.versions import Version
from harpia_formats.formats.rules.samples import SCORED_EMPTY
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, SameMistake

#: Empty prompts and references, which E122 is on, and types of ids: E303.
_covered = frozenset({"V306", "V307", "X104"})


def lints_of(version: Version) -> Lints:
    """Return the checks of rows of `version`."""
    rows = (
        identity.lint(version),
        turns.lint(version),
        attribution.lint(version),
        results.LINT,
        texts.lint(version),
        keys.lint(version),
        answers.lint(version),
    )
    return Lints(
        rows,
        across.rules_of(version),
        file_counts.FILE_LINTS,
        same=(
            SameMistake(SCORED_EMPTY, texts.EMPTY, _are_of_no_answer),
            SameMistake(turns.NUM_TURNS, attribution.TURN, _are_of_lost_turns),
        ),
        covers=_covered,
    )


def _are_of_no_answer(_: Remark, empty: Remark, __: Any) -> bool:
    """Tell whether an empty text is what was extracted of an empty answer."""
    return empty.path[0] == "answer_attribution"


def _are_of_lost_turns(_: Remark, turn: Remark, row: Any) -> bool:
    """Tell whether the turn of an answer is not there because some turns are not.

    They are not in a row that is called single_turn, nor where the turn is one of
    those that num_turns counts.
    """
    if row["interaction_type"] == "single_turn":
        return True
    counted = row["evaluation"].get("num_turns")
    place = row["answer_attribution"][turn.path[1]]["turn_idx"]
    turns = row.get("interactions") or row.get("messages") or ()
    return counted is not None and len(turns) <= place < counted


V0_2_0 = lints_of(versions.V0_2_0)
V0_2_0_TAG = lints_of(versions.V0_2_0_TAG)
V0_3_0 = lints_of(versions.V0_3_0)
