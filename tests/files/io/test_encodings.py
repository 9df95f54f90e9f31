# ruff: noqa: RUF001 - the texts are in the languages whose marks these are
"""Text that is not UTF-8: recognised, never guessed, and read where it is named."""

import json
import re
from pathlib import Path

import pytest

from cases import for_each_case
from command_runs import run
from harpia_formats import validate

SIMPLIFIED = (
    "请回答下面的问题：中国的首都是哪里？我认为答案是北京，因为它是国家的政治中心。"
)
TRADITIONAL = (
    "請回答下面的問題：中國的首都是哪裡？我認為答案是北京，因為它是國家的政治中心。"
)
OTHERS = [
    ("Größe und Überfluß, naïve Café-Gäste: schöne Grüße aus Köln", "latin-1"),
    ("Größe – „schön“ – naïve Café-Gäste", "cp1252"),
    ("Столица России — Москва, а Франции — Париж", "cp1251"),
    ("Столица России - Москва, а Франции - Париж", "koi8-r"),
    ("日本の首都は東京です。正しい答えを選んでください。", "shift_jis"),
    ("日本の首都は東京です。正しい答えを選んでください。", "euc-jp"),
    ("대한민국의 수도는 서울입니다. 올바른 답을 고르십시오.", "euc-kr"),
    ("Η πρωτεύουσα της Ελλάδας είναι η Αθήνα", "iso8859-7"),
]
#: Commands that read the rows of a file, and write about them or copy them.
COMMANDS = [
    ("validate",),
    ("detect",),
    ("convert", "--to", "csv"),
    ("score", "-m", "em"),
    ("stats",),
    ("head",),
    ("sample", "1"),
    ("schema", "infer"),
    ("roundtrip", "--via", "csv"),
]


def rows(text: str) -> str:
    """Return two lines of records with a text."""
    record = {"prompt": text, "references": [text], "outputs": [{"text": text}]}
    return "".join(
        f"{json.dumps({**record, 'id': str(n)}, ensure_ascii=False)}\n" for n in (1, 2)
    )


def suggested(data: bytes) -> str | None:
    """Return the encoding of `data` that the reason for not reading it names."""
    (file,) = validate(data).files
    found = re.search(r"convert it with: iconv -f (\S+) ", file.reason or "")
    return found and found[1]


@for_each_case(
    "text, encoding, found",
    [
        (SIMPLIFIED, "gbk", "GB18030"),
        (SIMPLIFIED, "gb18030", "GB18030"),
        (SIMPLIFIED, "gb2312", "GB18030"),
        (TRADITIONAL, "big5", "Big5"),
        ("你好，世界。早上好", "gbk", "GB18030"),
    ],
)
def test_chinese_is_recognised(text: str, encoding: str, found: str) -> None:
    """Text of rows in an encoding of Chinese is recognised, wherever it is cut."""
    data = rows(text).encode(encoding)

    assert suggested(data) == found
    assert {suggested(data[:-n]) for n in range(1, 40)} == {found}


@for_each_case("text, encoding", OTHERS)
def test_other_encodings_are_not_taken_for_chinese(text: str, encoding: str) -> None:
    """Text of other languages is in no encoding of Chinese, nor is UTF-8."""
    assert suggested(rows(text).encode(encoding)) is None
    assert suggested(rows(text).encode()) is None


@pytest.mark.parametrize("text", [SIMPLIFIED, TRADITIONAL, OTHERS[0][0]])
def test_damaged_text_is_not_taken_for_another_encoding(text: str) -> None:
    """A damaged byte in UTF-8 is a finding at its place, and no other encoding."""
    data = rows(text).encode()
    for byte in (0x80, 0xC4, 0xFF):
        damaged = data.replace(data[12:13], bytes([byte]), 1)

        assert suggested(damaged) is None


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [(SIMPLIFIED, "gbk", "GB18030"), (TRADITIONAL, "big5", "Big5")],
)
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_the_ready_command_reads_the_file(
    text: str, encoding: str, name: str, suffix: str, tmp_path: Path
) -> None:
    """A file that is not UTF-8 is exit code 2, with the option that reads it."""
    content = rows(text) if suffix == "jsonl" else f"prompt,references\n{text},a\n"
    (tmp_path / f"rows.{suffix}").write_bytes(content.encode(encoding))
    refused = run("validate", f"rows.{suffix}", cwd=tmp_path)
    words = f"read it with `--encoding {name}`, or convert it with: iconv -f {name}"
    accepted = run("validate", f"rows.{suffix}", "--encoding", name, cwd=tmp_path)

    assert refused.returncode == 2
    assert words in refused.stderr.decode()
    assert accepted.returncode == 0


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_command_reads_a_named_encoding(
    command: tuple[str, ...], jobs: int, tmp_path: Path
) -> None:
    """What a command writes of a file in GBK is what it writes of it in UTF-8."""
    for folder, encoding in (("gbk", "gbk"), ("utf", "utf-8")):
        (tmp_path / folder).mkdir()
        for name in ("a.jsonl", "b.jsonl"):
            (tmp_path / folder / name).write_bytes(rows(SIMPLIFIED).encode(encoding))
    inputs = ["a.jsonl"]
    if command[0] in {"validate", "convert", "stats"}:
        inputs += ["b.jsonl", "--jobs", str(jobs)]
    words = [command[0], *inputs[:1], *command[1:], *inputs[1:]]
    if command[:2] == ("schema", "infer"):
        words = [*command, *inputs]
    plain = run(*words, cwd=tmp_path / "utf")
    named = run(*words, "--encoding", "gbk", cwd=tmp_path / "gbk")

    assert (named.returncode, named.stdout) == (plain.returncode, plain.stdout)
    assert plain.stdout or command[0] in {"validate", "roundtrip"}


def test_systems_and_standard_input_have_the_encoding(tmp_path: Path) -> None:
    """`NAME=FILE` and standard input are read in the encoding, too."""
    (tmp_path / "a.jsonl").write_bytes(rows(SIMPLIFIED).encode("gbk"))
    scored = run("score", "A=a.jsonl", "-m", "em", "--encoding", "gbk", cwd=tmp_path)
    data = rows(SIMPLIFIED).encode("gbk")
    piped = run("convert", "--to", "csv", "--encoding", "gbk", stdin=data)

    assert scored.returncode == 0
    assert SIMPLIFIED in piped.stdout.decode()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--encoding", "nonsense"), "no encoding of text is called 'nonsense'"),
        (("--encoding", "zlib"), "no encoding of text is called 'zlib'"),
        (("--encoding", "IDNA"), "no encoding of text is called 'IDNA'"),
        (("--encoding", "ascii"), "is not ascii: the byte 0x"),
        (("--encoding", "gbk", "--fix"), "`--fix` is for UTF-8"),
        (("--encoding", "gbk", "--unsafe-fixes"), "`--unsafe-fixes` is for UTF-8"),
    ],
)
def test_encodings_that_cannot_be_used(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    """A wrong encoding is exit code 2, and never another text."""
    (tmp_path / "a.jsonl").write_bytes(rows(SIMPLIFIED).encode("gbk"))
    done = run("validate", "a.jsonl", *words, cwd=tmp_path)

    assert done.returncode == 2
    assert message in done.stderr.decode()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_text_without_a_byte_order_mark_asks_for_the_order(
    encoding: str, tmp_path: Path
) -> None:
    """Where a mark should say the order of bytes and is not there, exit code 2."""
    (tmp_path / "a.jsonl").write_bytes(rows(SIMPLIFIED).encode(f"{encoding}-le"))
    done = run("validate", "a.jsonl", "--encoding", encoding, cwd=tmp_path)
    named = run("validate", "a.jsonl", "--encoding", f"{encoding}-le", cwd=tmp_path)

    assert done.returncode == 2
    assert f"{encoding}-le or {encoding}-be" in done.stderr.decode()
    assert named.returncode != 2
