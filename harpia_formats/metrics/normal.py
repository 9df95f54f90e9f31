"""Text as SQuAD's evaluation compares it.

Source: the script of SQuAD v1.1: lower case, no ASCII punctuation, no English articles,
single spaces.
"""

import re
import string

_articles = re.compile(r"\b(a|an|the)\b")
_no_punctuation = str.maketrans("", "", string.punctuation)


def normal(text: str) -> str:
    """Return `text` as it is compared."""
    bare = text.lower().translate(_no_punctuation)
    return " ".join(_articles.sub(" ", bare).split())
