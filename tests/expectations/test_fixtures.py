"""Laws over the fixtures of all formats."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

import harpia_formats
from harpia_formats.expectations.propose_preflight import preflight_file
from harpia_formats.formats.registry import adapter_of, format_of
from harpia_formats.model.report import State

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


def proposal_failures(path: Path, folder: Path) -> list[str]:
    """Return what is wrong with the preflight file that is written for a file."""
    proposal = preflight_file([str(path)], folder)
    reasons = [file.reason or "" for file in proposal.report.files]
    if any("nothing tells whether" in reason for reason in reasons):
        return []  # its answers may be expected ones, so that the format must be named
    text = proposal.text
    start = text.index("[datasets")
    target = folder / "preflight.toml"
    found = []
    for proposed in (text, text[start:].replace("\n# ", "\n")):
        target.write_text(proposed, encoding="utf-8")
        report = harpia_formats.preflight(target)
        if not report.ok:
            found.append(f"{path}: {report.problems} {report.checks}")
    return found


def test_proposed_files_are_met(tmp_path: Path) -> None:
    """The data of each format meets what is proposed for it, comments as well."""
    for path in fixtures("valid", FEW):
        assert proposal_failures(path, tmp_path) == []


@pytest.mark.long
def test_all_proposed_files_are_met(tmp_path: Path) -> None:
    """So does all other valid data."""
    for path in fixtures("valid"):
        assert proposal_failures(path, tmp_path) == []


def verdict_failures(path: Path, folder: Path) -> list[str]:
    """Return what a preflight finds otherwise than `validate`."""
    format_ = path.parents[1].name
    plain = harpia_formats.validate(path, format=format_)
    text = f'[datasets.a]\nfiles = "{path}"\nformat = "{format_}"\nmin-records = 0\n'
    limits = [""]
    adapter = adapter_of(format_of(format_)) if format_of(format_).adapter else None
    if adapter is not None and adapter.carries("prompt"):
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
        if limit and not plain.ok and State.MET in met:
            found.append(f"{path}: met although it is not valid")
    return found


def test_findings_in_all_formats_have_a_place(tmp_path: Path) -> None:
    """Each prompt of each format is placed in its file, in its row if it can be."""
    target, marked = tmp_path / "preflight.toml", 0
    for path in fixtures("valid", FEW):
        format_ = format_of(path.parents[1].name)
        if not (format_.adapter and adapter_of(format_).carries("prompt")):
            continue
        text = f'[datasets.a]\nfiles = "{path}"\nformat = "{format_.id}"\n'
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
