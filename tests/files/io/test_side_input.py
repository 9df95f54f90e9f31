"""Files that say how to work are read whole, and are never devices."""

import os
import threading
from pathlib import Path

import pytest

import command_runs
from harpia_formats import HarpiaFormatsError, LLMJudge, validate

DEVICE = Path("/dev/zero")
needs_device = pytest.mark.skipif(not DEVICE.exists(), reason="needs /dev/zero")


@pytest.mark.parametrize(
    ("size", "reason"),
    [(4_000_000, "is not JSON"), (4_000_001, "it has more than 4,000,000 bytes")],
)
def test_a_file_is_read_up_to_its_largest_size(
    tmp_path: Path, size: int, reason: str
) -> None:
    """A file of the largest size is read whole, and one of a byte more is refused."""
    (tmp_path / "a.json").write_bytes(b" " * size)
    with pytest.raises(HarpiaFormatsError) as failed:
        LLMJudge.from_definition(tmp_path / "a.json")

    assert reason in str(failed.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_read(tmp_path: Path) -> None:
    """A named pipe, as a shell makes for `<(...)`, is read to its end."""
    os.mkfifo(tmp_path / "pipe")
    schema = b'{"required": ["a"]}'
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(schema))
    writer.start()
    report = validate(b'{"a": 1}\n{}\n', schema=tmp_path / "pipe")
    writer.join()

    assert [(each.valid, each.invalid) for each in report.files] == [(1, 1)]


@needs_device
@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "--schema"],
        ["validate", "--with"],
        ["score", "--profile", "nemo", "--config"],
        ["judge", "--definition"],
    ],
    ids=" ".join,
)
def test_no_option_reads_a_device(tmp_path: Path, arguments: list[str]) -> None:
    """An option that names a device ends the run with 2 and the reason."""
    (tmp_path / "in.jsonl").write_bytes(b"{}\n")
    done = command_runs.run(*arguments, DEVICE, "in.jsonl", cwd=tmp_path, timeout=60)

    assert done.returncode == 2
    assert b"is a character device" in done.stderr
