"""Add up the samples of a task, to compare them with the results (A201, A202)."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.lm_eval.rules import OTHER_COUNT, OTHER_HASH
from harpia_formats.model.format import Remark

_hash_keys = ("doc_hash", "prompt_hash", "target_hash")
#: Ids below this are counted by a bit each, which takes 8 MB at most.
_dense = 1 << 26


class TaskTotals:
    """Counts the documents of samples, and joins the hashes of all rows."""

    def __init__(self, effective: Any, task_hash: Any) -> None:
        """Take what the results say: the number of documents, and the hash of all."""
        self._effective = effective if type(effective) is int else None
        self._hash = task_hash if isinstance(task_hash, str) else ""
        self._seen = bytearray()
        self._others: set[Any] = set()
        self._count = 0
        self._rows = 0
        self._digest: Any = hashlib.sha256(usedforsecurity=False)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        self._rows += 1
        self._count += self._is_new(row.get("doc_id"))
        if self._digest is None:
            return
        found = [row.get(key) for key in _hash_keys]
        hashes = [each for each in found if isinstance(each, str)]
        if len(hashes) == len(found):
            self._digest.update("".join(hashes).encode("utf-8", "replace"))
        else:
            self._digest = None

    def _is_new(self, id_: Any) -> bool:
        """Note an id; tell whether no row before had it."""
        if type(id_) is not int or not 0 <= id_ < _dense:
            size = len(self._others)
            self._others.add(repr(id_))
            return len(self._others) > size
        at, bit = id_ >> 3, 1 << (id_ & 7)
        if at >= len(self._seen):
            self._seen.extend(bytes(at + 1 - len(self._seen)))
        is_new = not self._seen[at] & bit
        self._seen[at] |= bit
        return is_new

    def remarks(self) -> Iterator[Remark]:
        """Yield a remark for a number of documents or a hash that is another one."""
        if self._effective is not None and self._effective != self._count:
            yield Remark(
                OTHER_COUNT,
                (),
                f"the samples have {self._count:,} different doc_id, the results say "
                f"that {self._effective:,} documents were evaluated",
                "give all samples of the run: scores of a part are not those of the "
                "task",
            )
        if self._hash and self._digest and self._digest.hexdigest() != self._hash:
            yield Remark(
                OTHER_HASH,
                (),
                f"the hashes of the {self._rows:,} rows do not give the task hash of "
                "the results",
                "rows are missing, were added or moved, or are of another run",
            )
