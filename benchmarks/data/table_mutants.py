"""Seeded tables of drawn columns and fields."""

import csv
import io
import random
from collections.abc import Sequence

#: Fields that readers of CSV may get wrong.
_FIELDS = ("", " ", "a,b", 'say "x"', "two\nlines", "\U0001f99c", "1", '"')
#: Columns that formats know, and some that none does.
_KNOWN = ("system", "prompt", "response", "answer")
_OTHERS = ("notes", "Prompt", "respons")
#: The share of tables with all columns of their schema, and with none of them.
_WHOLE, _STRANGE = 0.4, 0.1


def table_mutants(
    named: Sequence[str], count: int, seed: str
) -> tuple[list[str], list[list[str]], bytes]:
    """Return columns, `count` rows of fields, and the table that Python writes of them.

    Most columns are among those `named` in a schema.
    """
    chance = random.Random(seed)
    known = list(dict.fromkeys([*named, *_KNOWN]))
    drawn = chance.random()
    if drawn < _WHOLE:
        columns = [*named] or [*_KNOWN]
    elif drawn < _WHOLE + _STRANGE:
        columns = [chance.choice(_OTHERS)]
    else:
        columns = chance.sample(known, chance.randint(1, len(known)))
    others = [each for each in _OTHERS if each not in columns]
    columns += chance.sample(others, chance.randint(0, 2))
    chance.shuffle(columns)
    rows = [[chance.choice(_FIELDS) for _ in columns] for _ in range(count)]
    text = io.StringIO()
    ending = chance.choice(("\n", "\r\n"))
    csv.writer(text, lineterminator=ending).writerows([columns, *rows])
    return columns, rows, text.getvalue().encode()
