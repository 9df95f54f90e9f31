"""Laws of what finds texts that repeat: by digests, roughly, and as a whole."""

import errno
import io
import os
import subprocess
import sys
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats.files.framing.container import frames
from harpia_formats.formats.rules import near_duplicates
from harpia_formats.plugins import SourceError
from harpia_formats.validation.dedup import repeated_digests
from harpia_formats.validation.dedup.digests import (
    Digests,
    RepeatedTexts,
    digest_of,
    digests_of,
)
from harpia_formats.validation.dedup.identity import IdentityReader
from harpia_formats.validation.dedup.repeated_digests import (
    DuplicateIdFinder,
    PairDigests,
    WholeTexts,
    missing_digest_batches,
)

STATUS = Path("/proc/self/status")
MEASURE = """
import re
from pathlib import Path
from harpia_formats.validation.dedup.digests import Digests

def fill(digests, count):
    for start in range(0, count, 100):
        digests.add(list(map(str, range(start, start + 100))))
    assert digests.repeated().surplus == 0
    digests.close()

for each in {fillings}:
    eval(f"fill({{each}})")
    print(*re.findall(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()))
"""
NUMBERS = [str(each) for each in range(40_000)]


def agreeing(bits: int) -> list[str]:
    """Return texts whose digests agree in so many low bits."""
    groups: dict[int, list[str]] = {}
    for each in NUMBERS:
        groups.setdefault(digest_of(each) % 2**bits, []).append(each)
    return max(groups.values(), key=len)


#: Few texts, so that they repeat, of one partition, of one share of it, and of any.
CROWDED = [*agreeing(8)[:20], *agreeing(16), *NUMBERS[:10], "", "ação", "\ud800"]
TEXTS = st.lists(st.sampled_from(CROWDED), max_size=60)
#: Digests held, looked at together, and named.
LIMITS = st.tuples(st.integers(1, 70), st.integers(0, 30), st.integers(0, 9))
ROOMY = (100, 100, 100)


def chunks(texts: Iterator[str], size: int = 50) -> Iterator[list[str]]:
    """Yield the texts in lists of some size."""
    while chunk := list(islice(texts, size)):
        yield chunk


def fill(digests: Digests, texts: list[str], size: int = 7) -> None:
    """Add the texts in small lists."""
    for each in chunks(iter(texts), size):
        digests.add(each)


def repeated(texts: list[str], **limits: int) -> RepeatedTexts:
    """Return what is repeated among some texts."""
    with Digests(**limits) as digests:
        fill(digests, texts)
        return digests.repeated()


@given(TEXTS, LIMITS)
@example(CROWDED * 2, (1, 0, 9))
def test_repeated_agrees_with_a_counter(
    texts: list[str], limits: tuple[int, int, int]
) -> None:
    """With any limits, the listed digests are repeated and the surplus is exact."""
    held, whole, limit = limits
    counts = Counter(map(digest_of, texts))
    again = {each for each, count in counts.items() if count > 1}
    with Digests(held, whole, limit) as digests:
        fill(digests, texts[:30])
        digests.repeated()  # which leaves the file where it has read last
        fill(digests, texts[30:])
        found = digests.repeated()

    assert found.surplus == len(texts) - len(counts)
    assert found.digests <= again
    assert len(found.digests) == min(limit, len(again))


@given(TEXTS, TEXTS, LIMITS, LIMITS)
@example(CROWDED, CROWDED[::2], (1, 0, 9), ROOMY)
@example(CROWDED[::2], CROWDED, ROOMY, (1, 0, 9))
def test_missing_agrees_with_a_difference_of_sets(
    mine: list[str],
    others: list[str],
    limits: tuple[int, int, int],
    other_limits: tuple[int, int, int],
) -> None:
    """With any limits, each digest that is missing is in one batch, and no other is."""
    known = set(map(digest_of, others))
    with Digests(*limits) as here, Digests(*other_limits) as there:
        fill(here, mine)
        fill(there, others)
        batches = list(missing_digest_batches(here, there, held=limits[2]))

    digests = {*map(digest_of, mine), *known}
    found = [each for batch in batches for each in digests if each in batch]
    assert sorted(found) == sorted(digests - known)
    assert sum(map(len, batches)) == len(found)


def peaks(*fillings: str) -> list[int]:
    """Return the most memory in KB that a new process has had after each filling."""
    result = subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, "-c", MEASURE.format(fillings=fillings)],
        check=True,
        capture_output=True,
    )
    return [int(each) for each in result.stdout.split()]


def test_nothing_added_is_nothing_found() -> None:
    """Without a text there is nothing repeated and nothing missing."""
    with Digests() as one, Digests() as other:
        one.add([])

        assert one.repeated() == RepeatedTexts(frozenset(), 0)
        assert list(missing_digest_batches(one, other)) == []


def test_asking_changes_nothing() -> None:
    """Results can be requested several times, with texts added between."""
    with Digests(held=3, whole=1) as digests:
        digests.add(["a", "b", "a", "c"])
        first = digests.repeated()
        again = digests.repeated()
        digests.add(["c", "d"])

        assert first == again == RepeatedTexts(frozenset([digest_of("a")]), 1)
        assert digests.repeated() == RepeatedTexts(
            frozenset([digest_of("a"), digest_of("c")]), 2
        )


def test_large_partition_is_looked_at_in_shares() -> None:
    """Digests that share a byte are still read in sets of bounded size."""
    texts = agreeing(8)
    with Digests() as digests:
        digests.add(texts)
        sizes = [len(each) for _, each, _ in digests.partitions.shares(10)]

    assert sum(sizes) == len(texts) > 100
    assert max(sizes) <= 10


def test_memory_is_made_free_before_sets_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once there is a file, digests in memory are written before reading."""
    files: list[io.BytesIO] = []

    def opened() -> IO[bytes]:
        files.append(io.BytesIO())
        return files[-1]

    monkeypatch.setattr("tempfile.TemporaryFile", opened)
    with Digests(held=3) as one, Digests(held=3) as other:
        for each in (one, other, one, other):
            each.add(["a", "b"])
            each.add(["c"])
        one.add(["d"])
        other.add(["d"])
        list(missing_digest_batches(one, other))
        sizes = [len(each.getvalue()) for each in files]

    assert sizes == [7 * 8, 7 * 8]


def test_the_first_repeated_ones_of_a_partition_are_named() -> None:
    """The listed digests depend on the texts, not on the memory."""
    texts = agreeing(8)[:20] * 2
    all_held = repeated(texts, limit=5)

    assert all_held.digests == frozenset(map(digest_of, texts[:5]))
    assert repeated(texts, held=9, limit=5) == all_held


@for_each_case("text", ["", "a", "ação", "模型", "\ud800", "a\udc00b", "\0"])
def test_added_text_has_the_digest_of_digest_of(text: str) -> None:
    """An added text has the digest that `digest_of` returns, also among other texts."""
    for company in ([], ["x"], ["\udfff"]):
        found = repeated([text, text, *company])

        assert found == RepeatedTexts(frozenset([digest_of(text)]), 1)


def test_lone_surrogates_have_different_digests() -> None:
    """Two halves of a surrogate pair differ from the character and from each other."""
    texts = ["\ud83d\ude00", "😀", "\ud83d", "\ude00", "?"]

    assert len({*map(digest_of, texts)}) == len(texts)


def test_digests_do_not_depend_on_the_process() -> None:
    """Another process, with another hash seed, has the same digests."""
    script = (
        "from harpia_formats.validation.dedup.digests import Digests, digest_of\n"
        "with Digests(held=9, limit=3) as digests:\n"
        "    digests.add([str(each % 50) for each in range(100)])\n"
        "    print(digest_of('ação'), sorted(digests.repeated().digests))"
    )
    found = {
        subprocess.run(  # noqa: S603 - the command is ours
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(found) == 1
    assert str(digest_of("ação")) in found.pop().decode()


def test_file_is_made_when_needed_and_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file is opened once, when the memory is full, and is closed at the end."""
    files: list[IO[bytes]] = []

    def opened() -> IO[bytes]:
        files.append((tmp_path / f"{len(files)}").open("w+b"))
        return files[-1]

    monkeypatch.setattr("tempfile.TemporaryFile", opened)
    with Digests(held=3) as digests:
        digests.add(["a", "b"])
        made_early = bool(files)
        fill(digests, list("abcdefgh"), size=2)

    assert not made_early
    assert [each.closed for each in files] == [True]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_a_source_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is a `SourceError` in adding and in results, not in closing."""

    def full() -> IO[bytes]:
        return Path("/dev/full").open("w+b")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with Digests(held=2) as digests:
        for each in (lambda: digests.add(["a", "b"]), digests.repeated):
            with pytest.raises(SourceError, match="temporary file: no space left"):
                each()


def test_no_temporary_folder_is_a_source_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary file that cannot be made is an error with the reason."""

    def refused() -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with (
        Digests(held=1) as digests,
        pytest.raises(SourceError, match="temporary file: no usable temporary"),
    ):
        digests.add(["a"])


def test_broken_disk_is_a_source_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary file that cannot be read again is an error."""

    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(errno.EIO, f"Input/output error in {size}")

    monkeypatch.setattr("tempfile.TemporaryFile", Broken)
    with Digests(held=1) as digests, Digests() as other:
        digests.add(["a"])
        missing = missing_digest_batches(digests, other)
        for each in (digests.repeated, lambda: list(missing)):
            with pytest.raises(SourceError, match="input/output error"):
                each()


def test_disk_that_has_room_again_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Digests that could not be written are written once by the next attempt."""

    class Narrow(io.BytesIO):
        room = 3

        def write(self, data: Any, /) -> int:
            if not self.room:
                self.room = 99
                raise OSError(errno.ENOSPC, "No space left on device")
            self.room -= 1
            return super().write(data)

    monkeypatch.setattr("tempfile.TemporaryFile", Narrow)
    texts = NUMBERS[:20]
    with Digests(held=20) as digests:
        with pytest.raises(SourceError):
            digests.add(texts)
        digests.add(texts[:2])

        assert digests.repeated() == RepeatedTexts(
            frozenset(map(digest_of, texts[:2])), surplus=2
        )


@pytest.mark.long
@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc")
def test_memory_is_bounded() -> None:
    """Three million texts take less than 64 MB, held and read."""
    before, after = peaks("Digests(), 100", "Digests(), 3_000_000")

    assert after - before < 64 * 1024


@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc")
def test_memory_does_not_grow_with_the_texts() -> None:
    """Ten times as many texts do not take more memory once there is a file."""
    digests = "Digests(held=50_000, whole=1_000, limit=100)"
    before, after = peaks(f"{digests}, 60_000", f"{digests}, 600_000")

    assert after - before < 2 * 1024


@given(st.lists(st.sampled_from(["a", "b", "\ud800", "é"]), max_size=20))
def test_adding_digests_equals_adding_texts(texts: list[str]) -> None:
    """Adding texts and adding their digests give the same result."""
    with Digests() as here, Digests() as there:
        here.add(texts)
        there.add_digests(digests_of(texts))

        assert here.repeated() == there.repeated()


def test_equal_digests_are_no_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Different ids that share a digest are no duplicates."""
    digest = digest_of("a")
    monkeypatch.setattr(repeated_digests, "digest_of", lambda _: digest)
    unique = DuplicateIdFinder(
        IdentityReader((("id",),)),
        lambda: frames([b'{"id": "a"}\n{"id": "b"}\n{"id": "a"}']),
    )
    unique.add(["a", "a", "a"])
    found = [(each.record.number, each.first) for each in unique.repeats(3)]
    unique.close()

    assert found == [(3, 1)]


def test_nothing_is_read_again_where_all_differ() -> None:
    """A file without duplicates is read once."""

    def again() -> Any:
        raise AssertionError

    unique = DuplicateIdFinder(IdentityReader((("id",),)), again)
    unique.add(["a", "b"])
    unique.add([])

    assert list(unique.repeats(2)) == []
    unique.close()


#: Pairs of a rough text and a whole one: a whole text belongs to one rough text.
PAIRS = st.lists(st.integers(0, 19).map(lambda whole: (whole // 3, whole)), max_size=60)


@given(pairs=PAIRS, held=st.integers(1, 80), most=st.integers(1, 8))
def test_each_repeated_text_is_known_or_compared(
    pairs: list[tuple[int, int]], held: int, most: int
) -> None:
    """A rough text of several rows has one whole text that is known, or is another."""
    store = PairDigests(held=held, whole=4)
    for rough, whole in pairs:
        # All of them are in one partition, which is cut by the second byte.
        store.add_digests(array("Q", (rough << 8, whole)))
    found = WholeTexts(store, lambda _: 0, most)
    others = {
        rough
        for rough in range(7)
        if any(rough << 8 in part for part in found.others())
    }
    known = {whole for whole in range(20) if whole in found.repeated}
    store.close()

    repeated = {
        rough for rough, times in Counter(r for r, _ in pairs).items() if times > 1
    }
    wholes = {rough: {w for r, w in pairs if r == rough} for rough in repeated}
    assert others | {whole // 3 for whole in known} == repeated
    assert not others & {whole // 3 for whole in known}
    assert all(len(wholes[whole // 3]) == 1 for whole in known)
    assert found.count == len(known) <= most
    surplus = sum(sum(pair[1] == whole for pair in pairs) - 1 for whole in known)
    assert sum(found.left.values()) == surplus


alphabet = st.sampled_from(
    "aAbBsS19 .,!-—“”+#*(`'\u00b2\u2212ßſKİǰẖéΩяД中文字。，（Ａ１\u0301\u200b한글ก้"  # noqa: RUF001 - letters that look alike
)
#: What texts begin with: nothing, or so many letters that Chinese ones do not count.
BEGINNINGS = st.sampled_from(["", "bcd " * near_duplicates.FEW * 2])
LETTERS_AND_MARKS = st.tuples(BEGINNINGS, st.text(alphabet, max_size=80)).map("".join)


def rough_digest(compared: near_duplicates.ComparedTexts, text: str) -> int | None:
    """Return the digest of what a row with one text says roughly."""
    return next(iter(compared.roughly([[text]]).rough), None)


@given(LETTERS_AND_MARKS, LETTERS_AND_MARKS)
@examples(100)
def test_rough_comparison_finds_all_that_is_alike(one: str, other: str) -> None:
    """Texts that are the same exactly are the same roughly."""
    compared = near_duplicates.ComparedTexts(0, 1, ((),))
    if compared.exactly(one) == compared.exactly(other):
        assert rough_digest(compared, one) == rough_digest(compared, other)
    louder = one.upper().replace(" ", " - ") + "!"
    if compared.exactly(one) == compared.exactly(louder):
        assert rough_digest(compared, one) == rough_digest(compared, louder)


#: Texts with what is between texts that are compared at once, with characters that
#: begin as it does, with what is normalized, and with a surrogate without its pair.
COMPANY = st.text(
    st.sampled_from(
        "aB1 é中文。，…「＋㼁\u30ac\1\ue001\ue002\uefff\uf001\ud800😺𠀀"  # noqa: RUF001 - wide marks
    ),
    max_size=60,
)
BESIDE_OTHERS = st.tuples(BEGINNINGS, COMPANY | st.text("aB1 \1")).map("".join)


@given(st.lists(BESIDE_OTHERS, min_size=1, max_size=5))
def test_rough_comparison_of_a_text_is_the_same_in_any_company(
    texts: list[str],
) -> None:
    """The digest of a text does not depend on the texts that are read with it."""
    compared = near_duplicates.ComparedTexts(0, 1, ((),))
    asked = [text for text in texts if text]
    found = compared.roughly([texts])

    assert found.rough == [rough_digest(compared, text) for text in asked]
    assert found.whole == [compared.roughly([[text]]).whole[0] for text in asked]


def test_texts_of_the_same_letters_in_other_marks_are_compared() -> None:
    """Wide and narrow punctuation make no difference to Chinese texts of some size."""
    compared = near_duplicates.ComparedTexts(0, 1, ((),))
    text = "\u6570\u636e\u96c6" * near_duplicates.FEW
    marked = [
        f"{text}{mark}{text}" for mark in "\uff0c\u3002\u300c\u3000\uff08\u201c\u2026, "
    ]

    assert len({rough_digest(compared, each) for each in marked}) == 1


@pytest.mark.parametrize(
    "codes",
    [
        range(0x800),
        pytest.param(
            [*range(0x800, 0xD800), *range(0xE000, 0x110000)], marks=pytest.mark.long
        ),
    ],
)
def test_no_letter_folds_to_one_that_is_compared_roughly(codes: Iterable[int]) -> None:
    """Bytes that count in the rough comparison are those of the folded text, too."""
    compared = near_duplicates.ComparedTexts(0, 1, ((),))
    enough = "中" * near_duplicates.FEW
    for code in codes:
        normal = near_duplicates.normal_bytes(chr(code)).decode()
        expected = rough_digest(compared, enough + normal.casefold())
        assert rough_digest(compared, enough + chr(code)) == expected
        if not any(unicodedata.category(each)[0] in "LMN" for each in normal):
            assert rough_digest(compared, enough) == expected
