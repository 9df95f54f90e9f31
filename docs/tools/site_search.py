"""Rank the pages of the documentation site for a question, as its search does.

The search of the site is lunr with the index that MkDocs writes; here it is the same
program in Python. How-to pages and tutorials come first: there are ten times as many
pages of rules, and somebody who asks a question wants to do something.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

#: By the start of a path in the site: what the weight of its page is multiplied by.
WEIGHTS = {
    "how-to/": 3.0,
    "tutorials/": 3.0,
    "benchmarks/": 0.5,
    "reference/rules/": 0.3,
    "reference/python/": 0.3,
}
#: Questions, and the page that has to be among the first for them.
QUESTIONS = {
    "how do I convert to NeMo": "how-to/convert.html",
    "line number": "tutorials/validate.html",
    "duplicate ids": "how-to/validate.html",
    "score two systems": "how-to/score.html",
    "LaTeX table": "how-to/tables.html",
    "csv columns": "how-to/convert.html",
    "large files memory": "how-to/validate.html",
    "pre-commit hook": "how-to/pipelines.html",
    "what is lost": "how-to/convert.html",
    "install": "index.html",
}
#: How many pages somebody looks at.
FIRST = 3
_tag = re.compile(r"<[^>]+>")


def weight_of(path: str) -> float:
    """Return what the weight of a page of the site is multiplied by in a search."""
    return next((w for start, w in WEIGHTS.items() if path.startswith(start)), 1.0)


def with_weight(text: str, path: str) -> str:
    """Return the text of a page with its weight, as the search reads it."""
    weight = weight_of(path)
    return text if weight == 1 else f"---\nsearch:\n  boost: {weight}\n---\n\n{text}"


def unanswered(site: Path) -> Iterator[str]:
    """Yield each question whose page is not among the first that the search finds."""
    # The extra `docs` has it; the pages themselves are made without.
    from lunr import lunr  # noqa: PLC0415

    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    documents = [
        ({**each, "text": _tag.sub("", each["text"])}, {"boost": each.get("boost", 1)})
        for each in index["docs"]
    ]
    title = {
        "field_name": "title",
        "boost": index["config"]["fields"]["title"]["boost"],
    }
    found = lunr(ref="location", fields=[title, "text"], documents=documents)
    for question, page in QUESTIONS.items():
        places = (each["ref"].partition("#")[0] for each in found.search(question))
        first = list(dict.fromkeys(places))[:FIRST]
        if page not in first:
            yield f"search for {question!r}: {page} is not among {', '.join(first)}"
