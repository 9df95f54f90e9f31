"""Verdicts on mutants are compared, and a wrong one would be found."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from effort import drawn
from harpia_formats.formats.schema.bundled_schemas import schema_validator_of
from harpia_formats.formats.schema.typed_decoder import typed_decoder_of
from harpia_formats.validation.unit import row_validator

Modules = Callable[[str], ModuleType]
COMMAND = Path(__file__).parents[2] / "benchmarks" / "verdicts.py"


@pytest.fixture
def verdicts(modules: Modules) -> Iterator[ModuleType]:
    """Yield the module of the comparison, which forgets the decoders of the test."""
    yield modules("verdicts")
    modules("harness.mutant_verdicts").brief_decoder.cache_clear()


def names_of(verdicts: ModuleType) -> list[str]:
    """Return the names of the formats and dialects that are compared."""
    return [name for name, among in verdicts.streams().items() if among]


def check(verdicts: ModuleType, names: list[str], count: int) -> None:
    """Assert that no verdict differs, and that a fifth of the mutants is valid."""
    for row in verdicts.compared(dict.fromkeys(names, count), seed=1):
        assert not row.outcome.difference
        assert row.outcome.mutants == count
        assert row.share >= verdicts.LEAST_VALID, row.name


def test_verdicts_are_those_of_the_schema_validator(verdicts: ModuleType) -> None:
    """Of some formats, each of a few mutants has the verdict of its schema."""
    check(verdicts, names_of(verdicts)[::6], drawn(100))


@pytest.mark.long
def test_verdicts_are_those_of_the_schema_validator_long(verdicts: ModuleType) -> None:
    """2,500 mutants of every format and dialect have the verdict of their schema."""
    check(verdicts, names_of(verdicts), 2_500)


def loose_decoder(schema: Any, *given: Any, **options: Any) -> Any:
    """Return the decoder of a schema that has forgotten what most members must be."""
    loose = {
        key: member if {"enum", "const"} & member.keys() else {}
        for key, member in schema["properties"].items()
    }
    return typed_decoder_of({**schema, "properties": loose}, *given, **options)


def loose_without_texts(schema: Any, *given: Any, **options: Any) -> Any:
    """Return a loose decoder if it leaves texts undecoded, else the right one."""
    wrong = bool(options["undecoded"])
    return (loose_decoder if wrong else typed_decoder_of)(schema, *given, **options)


@pytest.mark.parametrize(
    ("decoder", "name", "who"),
    [
        (loose_decoder, "eee@0.2.0", "validate"),
        (loose_decoder, "nemo-output", "validate"),
        (loose_decoder, "harpia", "validate"),
        (loose_without_texts, "eee@0.2.0", "the decoder"),
    ],
)
def test_wrong_decoder_is_found(
    verdicts: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    decoder: Callable[..., Any],
    name: str,
    who: str,
) -> None:
    """A decoder that accepts too much is found, with a mutant that shows it."""
    monkeypatch.setattr(row_validator, "typed_decoder_of", decoder)

    (row,) = verdicts.compared({name: 400}, seed=1)

    expected = f"the schema validator says invalid, {who} says valid: {{"
    assert expected in row.outcome.difference


@pytest.mark.parametrize("name", ["nemo-results", "haystack-results"])
def test_wrong_verdict_on_documents_is_found(
    verdicts: ModuleType, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """So is one of `validate` on documents, which have no decoder."""
    anything = schema_validator_of(True)
    monkeypatch.setattr(row_validator, "schema_validator_of", lambda *_, **__: anything)

    (row,) = verdicts.compared({name: 400}, seed=1)

    assert "validate says valid" in row.outcome.difference


def test_command_writes_a_page(tmp_path: Path) -> None:
    """The command writes how many mutants were valid, and its commit and seed."""
    output = tmp_path / "page.md"
    command = [sys.executable, str(COMMAND), "--count", "60", "--output", str(output)]
    command += ["--formats", "harpia-log", "csv"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command

    page = output.read_text(encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert "No verdict differs." in page
    assert "| harpia-log " in page
    assert "| all " in page
    assert "Seed: 1." in page
