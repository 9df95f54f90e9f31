"""Laws over the fixtures of all formats."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

import harpia_formats
from in_process import InProcess
from known_formats import FORMATS, adapter_named

FIXTURES = Path(__file__).parents[2] / "fixtures"
#: Formats whose fixtures are in no format of their own.
OTHERS = {"json", "parquet"}
#: Files of each folder that are tried in short.
FEW = 1


def fixtures(kind: str, most: int | None = None) -> Iterator[Path]:
    """Yield the files of all formats that are valid or invalid, `most` of each."""
    for folder in sorted(FIXTURES.glob(f"*/{kind}")):
        if folder.parent.name not in OTHERS:
            yield from islice(sorted(folder.iterdir()), most)


def carries_prompts(format_id: str) -> bool:
    """Tell whether the records of a format have prompts."""
    is_read = FORMATS[format_id].adapter
    return bool(is_read and adapter_named(format_id).carries("prompt"))


def proposal_failures(path: Path, folder: Path, run: InProcess) -> list[str]:
    """Return what is wrong with the preflight file that is written for a file."""
    target = folder / "preflight.toml"
    done = run("preflight", "--init", path, "-o", target, "--overwrite")
    if "nothing tells whether" in done.err:
        return []  # its answers may be expected ones, so that the format must be named
    assert done.code == 0, done.err
    text = target.read_text(encoding="utf-8")
    start = text.index("[datasets")
    found = []
    for proposed in (text, text[start:].replace("\n# ", "\n")):
        target.write_text(proposed, encoding="utf-8")
        report = harpia_formats.preflight(target)
        if not report.ok:
            found.append(f"{path}: {report.problems} {report.checks}")
    return found


def test_proposed_files_are_met(tmp_path: Path, run: InProcess) -> None:
    """The data of each format meets what is proposed for it, comments as well."""
    for path in fixtures("valid", FEW):
        assert proposal_failures(path, tmp_path, run) == []


@pytest.mark.long
def test_all_proposed_files_are_met(tmp_path: Path, run: InProcess) -> None:
    """So does all other valid data."""
    for path in fixtures("valid"):
        assert proposal_failures(path, tmp_path, run) == []


def verdict_failures(path: Path, folder: Path) -> list[str]:
    """Return what a preflight finds otherwise than `validate`."""
    format_ = path.parents[1].name
    plain = harpia_formats.validate(path, format=format_)
    text = f'[datasets.a]\nfiles = "{path}"\nformat = "{format_}"\nmin-records = 0\n'
    limits = [""]
    if carries_prompts(format_):
        limits.append("max-prompt-bytes = 999999999")
    target, found = folder / "preflight.toml", []
    for limit in limits:
        target.write_text(text + limit, encoding="utf-8")
        report = harpia_formats.preflight(target)
        if "no record has a prompt" in str(report.checks):
            continue
        same = (report.files, report.groups, report.problems)
        if (*same, report.ok) != (plain.files, plain.groups, plain.problems, plain.ok):
            found.append(f"{path} {limit}: {report.checks}")
        met = [
            check.state
            for check in report.checks
            if check.key == "max-prompt-bytes"[:16]
        ]
        if limit and not plain.ok and "met" in met:
            found.append(f"{path}: met although it is not valid")
    return found


def test_findings_in_all_formats_have_a_place(tmp_path: Path) -> None:
    """Each prompt of each format is placed in its file, in its row if it can be."""
    target, marked = tmp_path / "preflight.toml", 0
    for path in fixtures("valid", FEW):
        format_ = path.parents[1].name
        if not carries_prompts(format_):
            continue
        text = f'[datasets.a]\nfiles = "{path}"\nformat = "{format_}"\n'
        target.write_text(f"{text}max-prompt-bytes = 0\n", encoding="utf-8")
        report = harpia_formats.preflight(target)
        found = [one for one in report.problems if one.code == "P301"]

        assert found or not report.ok or "longest has 0" in str(report.checks), path
        for one in found:
            assert one.place.path in {str(path), str(target)}
            marked += one.excerpt is not None
    assert marked > FEW


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_a_preflight_finds_what_a_validation_finds(kind: str, tmp_path: Path) -> None:
    """Problems, counts and verdict are the same, whether records are read or not."""
    for path in fixtures(kind, FEW):
        assert verdict_failures(path, tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", ["valid", "invalid", "lint"])
def test_a_preflight_finds_what_any_validation_finds(kind: str, tmp_path: Path) -> None:
    """So it is for all other fixtures."""
    for path in fixtures(kind):
        assert verdict_failures(path, tmp_path) == []
