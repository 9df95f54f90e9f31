"""A file that is converted to its own format keeps its content, and loses nothing."""

from pathlib import Path

import harpia_formats
from cases import for_each_case
from harpia_formats.plugins import Outcome
from known_formats import WRITABLE

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = [
    (name, path)
    for name in WRITABLE
    for path in sorted((FIXTURES / name / "valid").glob("*"))
    if path.is_file()
]
NEMO = ("nemo-input", "nemo-output")


@for_each_case("name, path", FILES)
def test_a_fixture_is_the_same_in_its_own_format(
    name: str, path: Path, tmp_path: Path
) -> None:
    """Every valid file has the same records again, with lists and further keys."""
    output = tmp_path / f"x{path.suffix}"
    report = harpia_formats.convert(
        path, from_=name, to=name, output=output, keep_extra=True
    )
    lost = [
        outcome
        for file in report.losses
        for outcome in file.losses.counts
        if outcome.outcome is not Outcome.NULL
    ]
    before, after = (
        list(harpia_formats.read(each, format=name)) for each in (path, output)
    )

    # Rows of NeMo that lack a required key are tolerated, and get it.
    assert {outcome.outcome for outcome in lost} <= {Outcome.DEFAULTED}
    assert after == before or (lost and name in NEMO)
    assert not lost or name in NEMO


def test_a_list_of_answers_is_expanded_on_request(tmp_path: Path) -> None:
    """HarpIA to HarpIA keeps a list of answers unless an instance each is asked for."""
    path = FIXTURES / "harpia" / "valid" / "H102-several-answers.json"
    output = tmp_path / "x.json"
    kept = harpia_formats.convert(path, to="harpia", output=output)
    split = harpia_formats.convert(
        path, to="harpia", output=output, responses="expand", overwrite=True
    )

    assert (kept.rows, split.rows) == (3, 4)
    assert kept.lossless
    assert not split.lossless
