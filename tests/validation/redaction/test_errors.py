"""With `redact`, errors show what holds no value of a record, and nothing else."""

import json
import zipfile
from pathlib import Path

import pytest

from canaries import run_here
from harpia_formats import HarpiaFormatsError, ScoreError, score, validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
LOG = FIXTURES / "inspect-log/valid/I102-cancelled.json"
ROW = (
    '{"id": "1", "prompt": "p", "outputs": '
    '[{"model": "ZQXm/1", "text": "a"}], "references": ["a"]}\n'
)


def broken_archive(place: Path) -> None:
    """Write a log of Inspect whose sample, called after its id, cannot be read."""
    log = json.loads(LOG.read_bytes())
    sample = log.pop("samples")[0] | {"id": "ZQXperu", "epoch": 1}
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("samples/ZQXperu 'ZQX_epoch_1.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(log))
    data = bytearray(place.read_bytes())
    data[200] ^= 1  # in the sample, so that its checksum does not match
    place.write_bytes(data)


def archive_outside(place: Path) -> None:
    """Write an archive with a member that leads outside of it."""
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("../ZQXpatient.json", "{}")
        archive.writestr("header.json", "{}")


#: The commands, with a file in the place of `A`.
OF_FILE = (
    "validate --isolated A",
    "stats A",
    "detect A",
    "detect A --output-format json",
    "score A",
    "convert A --to record -o OUT",
    "split A --valid OUT --invalid LEFT",
    "merge A -o OUT",
    "diff A A",
    "preflight PLAN",
)


@pytest.mark.parametrize("write", [broken_archive, archive_outside])
def test_members_that_cannot_be_read_are_not_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    write: object,
) -> None:
    """An archive that cannot be read tells why, without the name of the member."""
    assert callable(write)
    monkeypatch.chdir(tmp_path)
    write(Path("A.eval"))
    Path("PLAN.toml").write_text('[datasets.a]\nfiles = "A.eval"\n')
    places = {"A": "A.eval", "OUT": "o.jsonl", "LEFT": "l.jsonl", "PLAN": "PLAN.toml"}
    for command in OF_FILE:
        words = [places.get(word, word) for word in command.split()]
        code = run_here(*words, "--redact")
        shown = "".join(capsys.readouterr())

        assert code in {1, 2}, command
        assert "its member *" in shown, command
        assert "ZQX" not in shown, command


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("merge missing.eval -o o.jsonl", "missing.eval: does not exist"),
        ("split missing.jsonl --by id -o o-{value}.jsonl", "does not exist"),
        (
            "split a.jsonl --by id -o none/{value}.jsonl",
            "cannot write none/{value}.jsonl: its folder does not exist",
        ),
        ("roundtrip LOG --via record", "can be read but not written"),
        (
            "convert b.csv --to record -o o.jsonl --map prompt=ZPXsecret",
            "'ZPXsecret': b.csv has no such column",
        ),
        ("score a.jsonl --stored", "no answer has a stored score"),
        ("validate --isolated . --exclude *", "are left out by `--exclude`"),
    ],
)
def test_errors_of_paths_and_options_keep_their_text(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    reason: str,
) -> None:
    """An error about a path or about options says what is wrong with them."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(ROW)
    Path("b.csv").write_text("ZQXsecret,gold\nq,a\n")
    words = [str(LOG) if word == "LOG" else word for word in command.split()]
    code = run_here(*words, "--redact")
    shown = capsys.readouterr().err

    assert code == 2
    assert reason in shown
    assert "ZQX" not in shown


def test_hidden_errors_keep_no_other_error(tmp_path: Path) -> None:
    """In Python an error without values does not refer to the one with them."""
    (tmp_path / "a.jsonl").write_text(ROW)
    with pytest.raises(HarpiaFormatsError, match="of the model 'x'; the mod") as cut:
        score(tmp_path / "a.jsonl", metrics=["em"], model="x", redact=True)

    def fail(_: object) -> None:
        raise ScoreError("ZQXsecret")

    with pytest.raises(HarpiaFormatsError, match="may hold values") as hidden:
        validate(b"{}", redact=True, progress=fail)

    for found in (cut.value, hidden.value):
        assert found.__context__ is None
        assert found.__cause__ is None
        assert "ZQX" not in str(found)
