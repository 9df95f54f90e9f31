"""The bounds of a result hold for the samples that are named by it, too (E207)."""

import json
from pathlib import Path

from cases import for_each_case
from harpia_formats import validate
from known_formats import RULES


@for_each_case(
    "score, bounds, codes",
    [
        (87.5, (0, 1), ["E207"]),
        (-0.5, (0, 1), ["E207"]),
        (0.5, (0, 1), []),
        (87.5, (0, 100), []),
        (87.5, (None, None), []),
        (87.5, ("-Infinity", "Infinity"), []),
    ],
)
def test_score_of_a_sample_is_within_the_bounds_of_its_result(
    tmp_path: Path, score: float, bounds: tuple[object, object], codes: list[str]
) -> None:
    """A score outside of min_score and max_score of the aggregate is found."""
    row = json.loads(RULES["E205"].good)
    row["evaluation"] = {"score": score, "is_correct": False}
    aggregate = json.loads(RULES["E207"].good)
    aggregate["evaluation_results"][0]["metric_config"].update(
        min_score=bounds[0], max_score=bounds[1]
    )
    companion = tmp_path / "aggregate.json"
    companion.write_text(json.dumps(aggregate))

    report = validate(
        json.dumps(row).encode() + b"\n",
        format="eee@0.3.0",
        companion=companion,
        select=["E207"],
    )

    assert not report.failures
    assert [(each.code, each.place.pointer) for each in report.problems] == [
        (code, "/evaluation/score") for code in codes
    ]


@for_each_case(
    "score, has_unknown, codes",
    [(-1, True, []), (-1, False, ["E207"]), (-2, True, ["E207"])],
)
def test_unknown_level_of_a_sample_is_within_the_bounds(
    tmp_path: Path, *, score: float, has_unknown: bool, codes: list[str]
) -> None:
    """Where a level may be unknown, -1 is found neither in a sample nor as a result."""
    row = json.loads(RULES["E205"].good)
    row["evaluation"] = {"score": score, "is_correct": False}
    aggregate = json.loads(RULES["E207"].good)
    result = aggregate["evaluation_results"][0]
    result["score_details"]["score"] = score
    result["metric_config"] = {
        "lower_is_better": False,
        "score_type": "levels",
        "level_names": ["no", "yes"],
        "has_unknown_level": has_unknown,
        "min_score": 0,
        "max_score": 1,
    }
    companion = tmp_path / "aggregate.json"
    companion.write_text(json.dumps(aggregate))
    text = json.dumps(row).encode() + b"\n"

    of_row = validate(
        text, format="eee@0.3.0", companion=companion, select=["E207"]
    ).problems
    alone = validate(companion, select=["E207"]).problems

    assert [each.code for each in of_row] == codes
    assert [each.code for each in alone] == codes
