"""Seeded tables of drawn columns and fields."""

import csv
import io
import random
from collections.abc import Sequence

#: Fields that readers of CSV may get wrong.
_FIELDS = ("", " ", "a,b", 'say "x"', "two\nlines", "\U0001f99c", "1", '"')
#: Columns that no format knows.
_OTHERS = ("notes", "Prompt", "respons")
#: The share of tables without any of the columns that a format knows.
_STRANGE = 0.1


def table_mutants(
    named: Sequence[str], count: int, seed: str
) -> tuple[list[str], list[list[str]], bytes]:
    """Return columns, `count` rows of fields, and the table that Python writes of them.

    Most columns are among those `named` in a schema.
    """
    chance = random.Random(seed)
    known = [*named, "system", "prompt", "response", "answer"]
    known = list(dict.fromkeys(known))
    columns = chance.sample(known, chance.randint(1, len(known)))
    columns += chance.sample(_OTHERS, chance.randint(0, 2))
    if chance.random() < _STRANGE:
        columns = [*_OTHERS]
    chance.shuffle(columns)
    rows = [[chance.choice(_FIELDS) for _ in columns] for _ in range(count)]
    text = io.StringIO()
    ending = chance.choice(("\n", "\r\n"))
    csv.writer(text, lineterminator=ending).writerows([columns, *rows])
    return columns, rows, text.getvalue().encode()
