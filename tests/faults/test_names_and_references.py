"""Rows 29, 30, 36 and 37: names, addresses, code and ids that stand in data."""

import json
import pickle
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_runs import error_lines, run
from faults import Injections
from json_lines import jsonl
from object_store import Store, serving

#: Names that lead out of a folder, or that no file can have.
NAMES = {
    "a path upwards": "../../evil",
    "a path upwards, with backslashes": "..\\..\\evil",
    "an absolute path": "/tmp/evil-of-data",  # noqa: S108 - no such file is written
    "the folder itself": ".",
    "the folder above": "..",
    "no name": "",
    "a name with NUL": "a\0b",
    "a name of 300 letters": "x" * 300,
    "a name of 600 bytes": "\u6a21" * 200,
    "a name that a system keeps": "CON",
    "an encoded path": "%2e%2e%2fevil",
    "a link out of the folder": "link/evil",
    "a name with controls": "a\x1b[7777X\nb",
    "a hidden name": ".hidden",
}
NAMING = (
    "convert rows.jsonl --from record --to nemo -o OUT/{model}.jsonl",
    "convert rows.jsonl --from record --to eee@0.2.0 -o OUT/{model}/rows.jsonl",
    "split rows.jsonl --by id -o OUT/{value}.jsonl",
    "score rows.jsonl --from record -m em --to eee@0.2.0 -o OUT/result.json",
    "score rows.jsonl --from record -m em --to harpia-output -o OUT/result.json",
)


def row(text: str, **more: Any) -> dict[str, Any]:
    """Return a record with a text as its id and as the name of its model."""
    return {
        "id": text,
        "prompt": "q",
        "references": ["yes"],
        "outputs": [{"model": text, "text": "no"}],
        **more,
    }


def write(path: Path, *rows: Any) -> None:
    """Write rows as lines."""
    path.write_bytes(jsonl(*rows))


@pytest.mark.parametrize("command", NAMING)
def test_29_names_in_data_stay_in_the_folder(
    command: str, tmp_path: Path, fault: Injections
) -> None:
    """What is written lies in the folder of the output, whatever data is called."""
    for number, (kind, name) in enumerate(NAMES.items()):
        work = tmp_path / str(number) / "work"
        (work / "out").mkdir(parents=True)
        (work / "elsewhere").mkdir()
        (work / "out" / "link").symlink_to("../elsewhere")
        write(work / "rows.jsonl", row(name), row("other"))
        before = set((tmp_path / str(number)).rglob("*"))
        found = run(*command.replace("OUT", "out").split(), cwd=work)
        made = set((tmp_path / str(number)).rglob("*")) - before

        assert found.returncode in {0, 1, 2}, (kind, found.stderr)
        assert found.returncode == 0 or found.stderr
        assert b"Traceback" not in found.stderr, kind
        assert all((work / "out").resolve() in each.resolve().parents for each in made)
        assert all(len(each.name.encode()) <= 255 for each in made)
        assert not Path("/tmp/evil-of-data.jsonl").exists()  # noqa: S108 - none is made
        fault.add(f"{kind} as id and name of a model", "all files in the folder")


#: Schemas that name something outside, with URL for a server and FILE for a file.
SCHEMAS: dict[str, Any] = {
    "$ref to a server": {"$ref": "URL/a.json"},
    "$ref to a server, in an unused branch": {"definitions": {"a": {"$ref": "URL/a"}}},
    "$ref to a file": {"$ref": "file://FILE"},
    "$ref to a path": {"$ref": "FILE"},
    "$ref relative to an $id": {"$id": "URL/b.json", "$ref": "a.json"},
    "$schema of a server": {"$schema": "URL/meta.json"},
    "$ref by ftp": {"$ref": "ftp://127.0.0.1/a.json"},
    "$ref to data": {"$ref": "data:application/json,{}"},
}


@pytest.fixture
def server() -> Iterator[Store]:
    """Return a server that is asked for nothing."""
    with serving(Store({"/a.json": b"true", "/meta.json": b"{}"})) as found:
        yield found


@pytest.mark.parametrize("kind", SCHEMAS)
def test_30_a_schema_reaches_nothing_outside(
    kind: str, server: Store, tmp_path: Path, fault: Injections
) -> None:
    """A schema that names a server or a file is refused, and nothing is opened."""
    secret = tmp_path / "secret.json"
    secret.write_text('{"const": "CANARY"}')
    text = json.dumps(SCHEMAS[kind])
    text = text.replace("URL", server.url).replace("FILE", str(secret))
    (tmp_path / "schema.json").write_text(text)
    write(tmp_path / "rows.jsonl", {"a": 1})
    found = run("validate", "rows.jsonl", "--schema", "schema.json", cwd=tmp_path)
    checked = run("schema", "check", "schema.json", cwd=tmp_path)

    assert found.returncode == 2, found
    assert error_lines(found)
    assert checked.returncode in {0, 1, 2}
    written = found.stdout + found.stderr + checked.stdout + checked.stderr
    assert b"CANARY" not in written
    assert b"Traceback" not in written
    assert server.asked == []
    fault.add(kind, "refused, no connection, no file opened")


def test_30_addresses_in_data_are_not_opened(
    server: Store, tmp_path: Path, fault: Injections
) -> None:
    """No command opens what a row names as an address, a file or a schema."""
    address = f"{server.url}/a.json"
    names = ("$ref", "$schema", "$id", "files_url", "file_path", "image_url")
    more = dict.fromkeys(names, address)
    content = [{"type": "image_url", "image_url": {"url": address}}]
    message = {"role": "user", "content": content}
    write(
        tmp_path / "rows.jsonl",
        row("1", source=address, metadata=more, extra={"eee": more}),
    )
    write(tmp_path / "chat.jsonl", {"messages": [message], **more})
    summary = json.dumps({"detailed_evaluation_results": {"file_path": address}})
    (tmp_path / "result.json").write_text(summary)
    for command in (
        "validate rows.jsonl chat.jsonl result.json --lint",
        "detect rows.jsonl chat.jsonl result.json",
        "stats rows.jsonl",
        "score rows.jsonl -m em",
        "convert rows.jsonl --to eee -o out.jsonl",
        "schema check rows.jsonl",
        "schema infer rows.jsonl",
        "validate . --lint --report r.html",
    ):
        found = run(*command.split(), cwd=tmp_path)

        assert found.returncode in {0, 1, 2}
        assert b"Traceback" not in found.stderr
        assert server.asked == [], command
        fault.add("addresses in rows, a command", "no connection")


class _Planted:
    """Would write a file when it is unpickled."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return exec, (f"open({str(self._place)!r}, 'w')",)


def test_36_nothing_that_is_planted_runs(tmp_path: Path, fault: Injections) -> None:
    """Pickles, YAML tags, templates and settings next to the data run nothing."""
    work, trap = tmp_path / "work", tmp_path / "ran"
    work.mkdir()
    code = f"open({str(trap)!r}, 'w')"
    call = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    planted = pickle.dumps(_Planted(trap))
    for name in ("rows.pkl", "model.pt", "cache.jsonl", "index.json"):
        (work / name).write_bytes(planted)
    (work / "setup.cfg").write_text(
        f"[entry_points]\nharpia_formats.formats=\n a={call}"
    )
    (work / "harpia-formats.toml").write_text(
        f'[validate]\nselect = ["{{{{{call}}}}}"]\n'
    )
    (work / "judge.yaml").write_text(
        f"instructions: !!python/object/apply:builtins.exec [{json.dumps(code)}]\n"
    )
    (work / "pipeline.json").write_text(
        json.dumps(
            {"type": "os.system", "init_parameters": {"command": f"touch {trap}"}}
        )
    )
    texts = (
        call,
        f"{{{{ {call} }}}}",
        f"${{{call}}}",
        f"$(touch {trap})",
        "{0.__class__}",
    )
    write(work / "rows.jsonl", *(row(text, category=text) for text in texts))
    for command in (
        "validate rows.jsonl --from record --isolated",
        "validate . --report r.html",
        "detect . rows.pkl",
        "stats rows.jsonl",
        "score rows.jsonl -m em --by category --report s.html",
        "convert rows.jsonl --to eee -o out.jsonl",
        "convert rows.pkl --to nemo",
        "judge rows.jsonl -d judge.yaml --dry-run",
        "judge rows.jsonl -d pipeline.json --dry-run",
        "validate rows.jsonl --schema rows.pkl",
        "preflight judge.yaml",
        "head rows.jsonl",
    ):
        found = run(*command.split(), cwd=work)

        assert found.returncode in {0, 1, 2}, (command, found.stderr)
        assert not trap.exists(), command
        assert b"Traceback" not in found.stderr
        fault.add("what would run as code, a command in its folder", "nothing runs")


def test_36_the_installed_command_imports_nothing_of_the_folder(
    tmp_path: Path, fault: Injections
) -> None:
    """The command that is installed imports no module next to the data."""
    command = Path(sys.executable).with_name("harpia-formats")
    if not command.exists():
        pytest.skip("the command is not installed beside the interpreter")
    trap = tmp_path / "ran"
    for name in ("json", "msgspec", "typer", "yaml", "rich", "fsspec", "jsonschema_rs"):
        (tmp_path / f"{name}.py").write_text(f"open({str(trap)!r}, 'w')")
    for name in ("harpia_converters", "harpia_formats", "sitecustomize", "conftest"):
        (tmp_path / f"{name}.py").write_text(f"open({str(trap)!r}, 'w')")
    write(tmp_path / "rows.jsonl", row("1"))
    (tmp_path / "judge.yaml").write_text("instructions: a\n")
    for words, code in (
        (["validate", "rows.jsonl"], 0),
        (["judge", "rows.jsonl", "-d", "judge.yaml", "--dry-run"], 2),
    ):
        done = subprocess.run(  # noqa: S603 - our own command
            [command, *words], cwd=tmp_path, capture_output=True, check=False
        )

        assert done.returncode == code, done.stderr
        assert not trap.exists()
        fault.add("modules next to the data, the command", "nothing is imported")


#: Pairs of ids that look alike, and are two.
ALIKE = {
    "composed and decomposed": ("caf\u00e9", "cafe\u0301"),
    "fullwidth and usual": ("\uff11\uff12", "12"),
    "with and without a zero-width space": ("a\u200bb", "ab"),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_37_ids_that_look_alike_are_two(
    kind: str, tmp_path: Path, fault: Injections
) -> None:
    """Each of two ids keeps its bytes, its record and its partner in a comparison."""
    ids = ALIKE[kind]
    assert unicodedata.normalize("NFKC", ids[0]).replace("\u200b", "") == ids[
        1
    ].replace("e\u0301", "\u00e9")
    write(tmp_path / "rows.jsonl", *(row(each) for each in ids))
    write(tmp_path / "turned.jsonl", *(row(each) for each in reversed(ids)))
    report = run(
        *"validate rows.jsonl --from record --lint --output-format json".split(),
        cwd=tmp_path,
    )
    problems = json.loads(report.stdout)["problems"]
    same = run("diff", "rows.jsonl", "turned.jsonl", cwd=tmp_path)
    written = run("convert", "rows.jsonl", "--to", "record", cwd=tmp_path)
    merged = run("merge", "rows.jsonl", "-o", "m.jsonl", cwd=tmp_path)

    assert report.returncode == 0, problems
    assert "X101" not in {each["code"] for each in problems}
    assert same.returncode == 0, same.stderr
    assert b"2 records matched by id, 0 differ" in same.stdout + same.stderr
    lines = written.stdout.decode().splitlines()
    assert [json.loads(line)["id"] for line in lines] == list(ids)
    assert merged.returncode == 0
    assert "X103" in {each["code"] for each in problems}
    fault.add(f"ids that are {kind}", "two ids, and a warning")
