"""Rows 38 and 39: the locale, the encoding and the time zone of the environment."""

from pathlib import Path

import pytest

import command_server
from command_runs import environment_with, run
from faults import Injections

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
LOCALES = {
    "the locale C, without UTF-8 mode": {
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
    },
    "streams of ASCII": {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
    "streams of UTF-16": {"LANG": "tr_TR", "PYTHONIOENCODING": "utf-16"},
}
ZONES = ("Pacific/Kiritimati", "America/St_Johns")
_answers = "answers.jsonl"
COMMANDS = (
    "validate rows.jsonl --from record",
    "validate rows.jsonl --from record --output-format json --report r.html",
    f"convert {_answers} --to csv -o a.csv",
    f"convert {_answers} --to eee@0.3.0 -o eee.jsonl",
    f"score {_answers} -m em,rouge --by model --output-format markdown",
    f"score {_answers} -m em --to harpia-log -o log.json",
    f"score {_answers} -m em --to eee@0.3.0 -o result.json",
    f"stats {_answers}",
    "head rows.jsonl",
    "detect a.csv",
    "convert log.eval --to record -o log.jsonl",
)
TEXT = "avaliação 模型 🙂 İıß é"
ROW = (
    f'{{"id":"{TEXT}","prompt":"{TEXT}","references":["é"],"category":"{TEXT}",'
    f'"outputs":[{{"model":"{TEXT}","text":"é"}}]}}\n'
)


def _outcome(folder: Path, variables: dict[str, str]) -> list[object]:
    """Return all that the commands wrote in a new folder, and how they ended."""
    folder.mkdir()
    (folder / _answers).write_text(ROW, encoding="utf-8")
    (folder / "rows.jsonl").write_text(f'{ROW}{{"{TEXT}": 1}}\n', encoding="utf-8")
    log = next(iter(sorted((FIXTURES / "inspect-log" / "valid").glob("*.eval"))), None)
    if log is not None:
        (folder / "log.eval").write_bytes(log.read_bytes())
    environment = environment_with({"SOURCE_DATE_EPOCH": "1700000000", **variables})
    if command_server.can_prepare():
        command_server.prepare(environment)
    ended: list[object] = []
    for command in COMMANDS:
        found = run(*command.split(), cwd=folder, environment=environment)
        assert b"Traceback" not in found.stderr, (command, found.stderr)
        ended.append((command, found.returncode, found.stdout, found.stderr))
    files = sorted(folder.iterdir())
    return ended + [(each.name, each.read_bytes()) for each in files]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """Return the outcome in the environment of the tests."""
    return _outcome(tmp_path_factory.mktemp("usual") / "a", {})


@pytest.mark.parametrize("name", LOCALES)
def test_38_outputs_do_not_depend_on_the_locale(
    name: str, usual: list[object], tmp_path: Path, fault: Injections
) -> None:
    """Streams and files have the same bytes in any locale and encoding."""
    for one, other in zip(_outcome(tmp_path / "a", LOCALES[name]), usual, strict=True):
        assert one == other
    fault.add(f"{name}, a command", "the same bytes", len(COMMANDS))


@pytest.mark.parametrize("zone", ZONES)
def test_39_outputs_do_not_depend_on_the_time_zone(
    zone: str, usual: list[object], tmp_path: Path, fault: Injections
) -> None:
    """Streams and files have the same bytes in any time zone."""
    for one, other in zip(_outcome(tmp_path / "a", {"TZ": zone}), usual, strict=True):
        assert one == other
    fault.add(f"the time zone {zone}, a command", "the same bytes", len(COMMANDS))
