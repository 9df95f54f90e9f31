"""A small log that is a zip archive, and what may happen to the records of one."""

import io
import json
import sys
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

from harness.candidates import ROOT
from unpack import HEADER, sample

from damage.damages import Change

sys.path.append(str(ROOT / "tests" / "files" / "io" / "helpers"))
from damaged_archives import DAMAGES

#: Samples of a log.
SAMPLES = 5
#: The damages of the records of archives; those of any bytes are in `damages`.
_of_records = (
    *("wrong member count", "hidden entries"),
    *("header of a member", "entry of the directory"),
)


def eval_archive(random: Random) -> bytes:
    """Return a log of Inspect as its archive."""
    file = io.BytesIO()
    counts = {"total_samples": SAMPLES, "completed_samples": SAMPLES}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, value: Any) -> None:
            archive.writestr(name, json.dumps(value))

        add("_journal/start.json", {key: HEADER[key] for key in ("eval", "plan")})
        for number in range(SAMPLES):
            add(f"samples/{number}_epoch_1.json", sample(number, random))
        add("header.json", {**HEADER, "results": HEADER["results"] | counts})
    return file.getvalue()


def _by_random_first(damage: Callable[[bytes, Random], bytes]) -> Change:
    """Return a damage that takes its arguments as those of any file do."""
    return lambda random, data: damage(data, random)


#: The damages of zip archives only, by what the table calls them.
OF_ARCHIVES: dict[str, Change] = {
    name: _by_random_first(DAMAGES[name]) for name in _of_records
}
