"""Places that cannot be written, or that are an input, a link or another run's."""

import errno
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from command_runs import COMMAND, Result, environment_with, error_lines, run
from command_server import BEFORE
from failing_calls import READS, WRITES, Call, needs_filter, run_deciding
from faults import Injections
from writing_commands import COMMANDS, WRONG, Place, WritingCommand, answers, some

#: The commands whose packages load fast.
_FAST = [each for each in COMMANDS if not each.asks]
#: Pairs of runs of the long test.
PAIRS = 100


def usable_namespace() -> bool:
    """Tell whether this user may make a file system that only one command sees."""
    if not (unshare := shutil.which("unshare")):
        return False
    mount = ["sh", "-c", "mount -t tmpfs none /mnt"]
    done = subprocess.run([unshare, "-rm", *mount], capture_output=True, check=False)  # noqa: S603 - our own words
    return done.returncode == 0


def run_on_file_system(folder: Path, mount: str, *words: str) -> Result:
    """Run a command in a folder whose `full` is a file system of its own.

    Behind standard output come the names and the contents of its files.
    """
    if not usable_namespace():
        pytest.skip("this user may not mount a file system")
    (folder / "full").mkdir()
    script = f'{mount}; "$@"; code=$?; ls -A full; cat full/*; exit $code'
    return subprocess.run(  # noqa: S603 - our own words
        ["unshare", "-rm", "sh", "-c", script, "sh", *COMMAND, *words],  # noqa: S607 - found above
        cwd=folder,
        env=environment_with({}),
        capture_output=True,
        check=False,
    )


def refused(result: Result, place: Place, fault: Injections, what: str) -> None:
    """Check that a run ended with 2 and a reason, and left each file as it was."""
    assert result.returncode == 2, result
    assert error_lines(result)
    assert place.files() == place.before
    fault.add(what, "exit code 2, every file as it was")


def place_of(command: WritingCommand, folder: Path) -> Place:
    """Return the place of a command whose outputs are known, with old outputs."""
    place = Place(folder, command)
    place.learn()
    place.prepare(is_new=False)
    return place


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of file sizes")
@pytest.mark.parametrize("command", some(_FAST, 4))
def test_04_file_size_limit(
    tmp_path: Path, command: WritingCommand, fault: Injections
) -> None:
    """A limit of the sizes of files is a reason to end, and no file is changed."""
    place = place_of(command, tmp_path)
    script = tmp_path.with_name(f"{tmp_path.name}-limit.py")
    script.write_text(
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))\n"
    )
    result = place.run(environment={BEFORE: str(script)})
    refused(result, place, fault, "a limit of 8 bytes for each file")


@needs_filter
def test_04_quota_is_used_up(tmp_path: Path, fault: Injections) -> None:
    """A quota that is used up is named, and no file is changed."""
    place = place_of(COMMANDS[0], tmp_path)

    def decide(call: Call) -> int:
        return errno.EDQUOT if call.name == "write" and _is_below(call, place) else 0

    result = place.run(lambda *words, **more: run_deciding(decide, *words, **more))
    assert b"quota" in result.stderr
    refused(result, place, fault, "a full quota")


def _is_below(call: Call, place: Place) -> bool:
    return call.path.startswith(f"{place.data}/")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["-o", "/dev/full", "--overwrite"], []])
def test_04_device_that_is_full(
    tmp_path: Path, words: list[str], fault: Injections
) -> None:
    """Named as the output or as standard output, /dev/full is a reason to end."""
    (tmp_path / "in.jsonl").write_bytes(answers(3))
    command = [*COMMAND, "convert", "in.jsonl", "--to", "record", *words]
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(  # noqa: S603 - the command is ours
            command,
            cwd=tmp_path,
            env=environment_with({}),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (result.returncode, len(error_lines(result))) == (2, 1)
    assert [each.name for each in tmp_path.iterdir()] == ["in.jsonl"]
    fault.add("/dev/full as the output" if words else "> /dev/full", "exit code 2")


def test_04_file_system_that_is_full(tmp_path: Path, fault: Injections) -> None:
    """On a file system that is full, the old file stays and no part is left."""
    (tmp_path / "in.jsonl").write_bytes(answers(5_000))
    mount = "mount -t tmpfs -o size=64k none full && printf old > full/out.jsonl"
    words = ("convert", "in.jsonl", "--to", "record", "-o", "full/out.jsonl")
    result = run_on_file_system(tmp_path, mount, *words, "--overwrite")

    assert (result.returncode, result.stdout) == (2, b"out.jsonl\nold")
    assert b"no space left on device" in result.stderr
    fault.add("a full file system of 64 KiB", "exit code 2, every file as it was")


#: Commands that write `OUT`.
_WRITING = [
    "convert in.jsonl --to record -o OUT",
    "merge in.jsonl -o OUT",
    "split in.jsonl --valid OUT --invalid no.jsonl",
    "score in.jsonl -m em --to nemo-results -o OUT --on-invalid skip",
    "score in.jsonl -m em --report json=OUT --on-invalid skip",
    "validate in.jsonl --report json=OUT",
    "validate in.jsonl --write-baseline OUT",
    "validate in.jsonl --fix -o OUT",
    "diff in.jsonl in.jsonl --report json=OUT --on-invalid skip",
    "schema infer in.jsonl -o OUT",
]


#: Root may write everywhere as long as it has its capabilities.
_NO_PRIVILEGES = """
import ctypes, os, struct
if not os.geteuid():
    library = ctypes.CDLL(None)
    assert not library.capset(struct.pack("Ii", 0x20080522, 0), bytes(24))
"""


def check_refused_unread(result: Result, reason: str) -> None:
    """Check that a run ended for this reason, and reported nothing of its rows."""
    assert result.returncode == 2, result
    message = result.stderr.decode().lower()
    assert reason in message, message
    assert re.search(r"cannot write (full|closed)/out.jsonl?: ", message), message
    assert b"S102" not in result.stdout + result.stderr


def test_07_file_system_that_is_read_only(tmp_path: Path, fault: Injections) -> None:
    """On a file system that is read-only a run ends with 2, and names the reason."""
    (tmp_path / "in.jsonl").write_bytes(answers(3) + WRONG)
    mount = "mount -t tmpfs none full && mount -o remount,ro none full"
    words = _WRITING[0].replace("OUT", "full/out.jsonl")
    result = run_on_file_system(tmp_path, mount, *words.split())

    check_refused_unread(result, "read-only file system")
    fault.add("a read-only file system", "exit code 2 before the input is read")


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux to give up root")
@pytest.mark.parametrize("words", some(_WRITING, 2))
def test_07_folder_that_is_read_only(
    tmp_path: Path, words: str, fault: Injections
) -> None:
    """No row is read for an output in a folder in which no file may be made."""
    (tmp_path / "in.jsonl").write_bytes(answers(3) + WRONG)
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    script = tmp_path / "user.py"
    script.write_text(_NO_PRIVILEGES)
    result = run(
        *words.replace("OUT", "closed/out.json").split(),
        cwd=tmp_path,
        environment={BEFORE: str(script)},
    )
    check_refused_unread(result, "permission denied")
    assert list(folder.iterdir()) == []
    fault.add("a folder that is read-only", "exit code 2 before the input is read")


@needs_filter
@pytest.mark.parametrize("name", some(["EROFS", "EACCES"], 2))
@pytest.mark.parametrize(
    "words", [["convert", "--to", "record"], ["head", "-n", "40000"], ["merge"]]
)
def test_07_input_is_not_read_for_a_read_only_output(
    tmp_path: Path, words: list[str], name: str, fault: Injections
) -> None:
    """Where the output cannot be made, at most the beginning of the input is read."""
    path = tmp_path / "in.jsonl"
    path.write_bytes(answers(40_000))
    reads: list[Call] = []

    def decide(call: Call) -> int:
        if call.path == str(path) and call.name != "openat":
            reads.append(call)
        is_output = call.path.startswith(f"{tmp_path}/") and call.name == "openat"
        return getattr(errno, name) if is_output and call.path != str(path) else 0

    command, *more = words
    result = run_deciding(
        decide,
        *(command, "in.jsonl", *more, "-o", "out.jsonl"),
        names=WRITES | READS - {"openat to read"},
        cwd=tmp_path,
    )
    assert (result.returncode, len(error_lines(result))) == (2, 1), result
    assert len(reads) <= 4, "it reads on"
    assert [each.name for each in tmp_path.iterdir()] == ["in.jsonl"]
    fault.add(f"{name} at the output", "exit code 2 before the input is read")


#: Commands that read `m.jsonl` and write `OUT`.
_REWRITING = [
    "convert m.jsonl --to nemo -o OUT --overwrite",
    "head m.jsonl -n 3 -o OUT --overwrite",
    "sample m.jsonl -n 3 -o OUT --overwrite",
    "merge m.jsonl other.jsonl -o OUT --overwrite",
    "score m.jsonl -m em --to nemo-results -o OUT --overwrite",
    "split m.jsonl --valid OUT --invalid no.jsonl --overwrite",
    "validate m.jsonl --report json=OUT",
    "validate m.jsonl --write-baseline OUT",
    "validate m.jsonl --fix -o OUT --overwrite",
    "convert other.jsonl --to nemo -o new.jsonl --loss-report OUT --with m.jsonl",
]


@pytest.mark.parametrize("words", some(_REWRITING, 3))
def test_05_the_output_is_the_input(
    tmp_path: Path, words: str, fault: Injections
) -> None:
    """Under any of its names, an input keeps its rows if it is named as the output."""
    rows = answers(9)
    (tmp_path / "other.jsonl").write_bytes(answers(4))
    (tmp_path / "m.jsonl").write_bytes(rows)
    (tmp_path / "link.jsonl").symlink_to("m.jsonl")
    (tmp_path / "hard.jsonl").hardlink_to(tmp_path / "m.jsonl")
    for name in ("m.jsonl", "./m.jsonl", "link.jsonl", "hard.jsonl"):
        result = run(*words.replace("OUT", name).split(), cwd=tmp_path)
        now = (tmp_path / "m.jsonl").read_bytes()
        if result.returncode == 2:
            assert now == rows
            assert error_lines(result)
            fault.add("the input as the output", "refused with exit code 2")
        else:
            assert (result.returncode, now.count(b"\n")) == (0, 9), result
            fault.add("the input as the output", "all rows there afterwards")
        (tmp_path / "m.jsonl").write_bytes(rows)


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
@pytest.mark.parametrize(
    "words",
    [
        "convert in.jsonl --to nemo -o OUT --overwrite",
        "head in.jsonl -n 3 -o OUT --overwrite",
        "merge in.jsonl other.jsonl -o OUT --overwrite",
        "score in.jsonl -m em --to nemo-results -o OUT --overwrite",
        "validate in.jsonl --report json=OUT",
    ],
)
@pytest.mark.parametrize("is_new", some([True, False], 2))
def test_06_the_output_is_a_link(
    tmp_path: Path, words: str, fault: Injections, *, is_new: bool
) -> None:
    """What a symbolic link leads to is written, and the link stays a link."""
    (tmp_path / "in.jsonl").write_bytes(answers(4))
    (tmp_path / "other.jsonl").write_bytes(answers(2))
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "real.json"
    plain = run(*words.replace("OUT", "plain.json").split(), cwd=tmp_path)
    wanted = (tmp_path / "plain.json").read_bytes()
    if not is_new:
        target.write_bytes(wanted + b"\n")
    (tmp_path / "link.json").symlink_to("elsewhere/real.json")
    result = run(*words.replace("OUT", "link.json").split(), cwd=tmp_path)

    assert result.returncode == plain.returncode == 0, result
    assert (tmp_path / "link.json").is_symlink()
    assert target.read_bytes().count(b"\n") == wanted.count(b"\n")
    assert [each.name for each in target.parent.iterdir()] == ["real.json"]
    fault.add("a link as the output", "its target written, still a link")


def two_runs(folder: Path, words: list[str]) -> tuple[list[int], str]:
    """Run a command at the same time on two inputs; return what came of both."""
    pair = ("1.jsonl", "2.jsonl")
    rows = [answers(400, ["first"]), answers(300, ["the second"])]
    for name, data in zip(pair, rows, strict=True):
        (folder / name).write_bytes(data)

    def begin(name: str) -> Result:
        return run("head", name, "-n", "400", "-o", "out.jsonl", *words, cwd=folder)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(begin, pair))
    written = (folder / "out.jsonl").read_bytes()
    (folder / "out.jsonl").unlink()
    assert written in rows
    assert sorted(each.name for each in folder.iterdir()) == list(pair)
    codes = [each.returncode for each in results]
    assert b"Traceback" not in results[0].stderr + results[1].stderr
    return codes, pair[rows.index(written)]


def both_runs(folder: Path, count: int, fault: Injections) -> None:
    """Let two runs write one file so often, with and without `--overwrite`."""
    for _ in range(count):
        codes, _ = two_runs(folder, ["--overwrite"])
        assert codes == [0, 0]
        fault.add("two runs with --overwrite", "one output, whole")
        codes, winner = two_runs(folder, [])
        assert codes == ([0, 2] if winner == "1.jsonl" else [2, 0])
        fault.add("two runs without it", "one output, whole; the other run ends with 2")


def test_08_two_runs_write_one_file(tmp_path: Path, fault: Injections) -> None:
    """Of two runs at once the output is that of one of them, and no part is left."""
    both_runs(tmp_path, 3, fault)


@pytest.mark.long
def test_08_many_pairs_of_runs_write_one_file(
    tmp_path: Path, fault: Injections
) -> None:
    """However two runs meet, the output is that of one of them, whole."""
    both_runs(tmp_path, PAIRS, fault)
