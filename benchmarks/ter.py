"""Compare the time of our edits of TER with sacrebleu's, on the same pairs of texts.

Prints a line for each length of text, with both times and sacrebleu's divided by ours.
Texts are words that sacrebleu's tokenizer has made already, a tenth of them replaced
and a phrase shifted; both must count the same edits. Ours is kept because texts of
some sentences take it less than half the time: with `--check`, the command ends with 1
if sacrebleu is not at least twice as slow on all texts of 20 words and more.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from sacrebleu.metrics.lib_ter import translation_edit_rate

from harpia_formats.evaluation.metrics.error_rates import translation_edits

#: Words of a text, and the pairs of such texts.
SIZES = ((5, 4000), (20, 400), (100, 20), (400, 2), (20, 4000))
#: The words from which on ours has to be twice as fast, and twice.
FROM, LEAST = 20, 2.0
#: Different words.
VOCABULARY = 500

Pair = tuple[list[str], list[str]]


def pair(words: int, chance: random.Random) -> Pair:
    """Return an answer and its reference of so many words."""
    reference = [f"w{chance.randrange(VOCABULARY)}" for _ in range(words)]
    answer = list(reference)
    for _ in range(max(1, words // 10)):
        answer[chance.randrange(words)] = f"w{chance.randrange(VOCABULARY)}"
    start = chance.randrange(words // 2)
    phrase = answer[start : start + 3]
    del answer[start : start + 3]
    target = chance.randrange(len(answer) + 1)
    answer[target:target] = phrase
    return answer, reference


def timed(
    edits: Callable[[list[str], list[str]], Any], pairs: Sequence[Pair]
) -> tuple[float, list[Any]]:
    """Return the processor time for all pairs, and what was found."""
    start = time.process_time()
    found = [edits(*one) for one in pairs]
    return time.process_time() - start, found


def main() -> int:
    """Print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="the fastest one counts")
    parser.add_argument("--check", action="store_true", help="fail if ours is slow")
    given = parser.parse_args()
    chance = random.Random(1)
    is_fast = True
    print("words  pairs  ours (s)  sacrebleu (s)  ratio")
    for words, count in SIZES:
        pairs = [pair(words, chance) for _ in range(count)]
        ours, theirs = [], []
        for _ in range(given.runs):
            mine, edits = timed(translation_edits, pairs)
            other, rates = timed(translation_edit_rate, pairs)
            if edits != [number for number, _ in rates]:
                print(f"texts of {words} words: the edits differ", file=sys.stderr)
                return 1
            ours.append(mine)
            theirs.append(other)
        ratio = min(theirs) / min(ours)
        is_fast = is_fast and (words < FROM or ratio >= LEAST)
        print(
            f"{words:5}  {count:5}  {min(ours):8.3f}  {min(theirs):13.3f}  {ratio:5.1f}"
        )
    return int(given.check and not is_fast)


if __name__ == "__main__":
    sys.exit(main())
