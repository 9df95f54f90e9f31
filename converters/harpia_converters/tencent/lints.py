"""The lints of Tencent's rows: messages and answers, and names of models (T2)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from msgspec import UNSET

from harpia_converters.tencent.formats import ROLES, texts_in
from harpia_formats.formats.rules.row_texts import text_columns
from harpia_formats.model.column import as_column
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    Disagreement,
    Lints,
    RowLint,
)
from harpia_formats.model.problem import Path

LATE_SYSTEM, REPEATED_MODEL = "T201", "T202"
OTHER_MODELS, MODEL_SPELLING, OTHER_COUNT = "T203", "T204", "T205"
TURN_ORDER, UNASKED_TURN = "T206", "T207"
EMPTY_REASONING, MODEL_NAME, REPEATED_ID = "T208", "T209", "T210"

_between_words = re.compile(r"[\W_]+")
_user, _system, _assistant = "user", "system", "assistant"


def message_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the roles of the messages of a row, in their order."""
    turns = list(texts_in(row, "messages", "role"))
    # A message of an unknown role may be anything.
    known = all(role in ROLES for _, role in turns)
    others = [(path, role) for path, role in turns if role != _system]
    for (_, before), (path, role) in pairwise(turns):
        if role == _system:
            yield Remark(
                LATE_SYSTEM,
                path,
                "a system message comes after another message",
                "put all system instructions into one message, the first",
            )
        elif role == before and known and path != others[-1][0]:
            yield _repeated_role(path, role)
    if others and known:
        yield from _first_and_last(others)


def _repeated_role(path: Path, role: str) -> Remark:
    return Remark(
        TURN_ORDER,
        path,
        f"two messages of the {role} follow each other",
        "join them, or put the message between them that is missing",
    )


def _first_and_last(others: list[tuple[Path, str]]) -> Iterator[Remark]:
    """Yield remarks on the first and on the last message but those of the system."""
    (path, role), last = others[0], len(others) - 1
    if role == _assistant and last:
        yield Remark(
            TURN_ORDER,
            path,
            "the assistant speaks first",
            "begin with the message of the user that it answers",
        )
    end, role = others[-1]
    if not last:
        return
    before = others[-2][1]
    if role == _assistant and before != _user:
        yield Remark(
            UNASKED_TURN,
            end,
            "the last message, which is data.gt, answers no message of the user",
            "put the user's question before it, or remove it",
        )
    elif role == before == _user:
        yield _repeated_role(end, role)


def output_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the messages and on the outputs of models of a row."""
    yield from message_remarks(row)
    seen: Counter[str] = Counter()
    for path, name in texts_in(row, "model_outputs", "model_name"):
        seen[name] += 1
        if seen[name] > 1:
            yield Remark(
                REPEATED_MODEL,
                path,
                "model_outputs has an earlier entry of this model",
                "put all responses of the model into one entry",
            )
        if not name or name != name.strip():
            yield Remark(
                MODEL_NAME,
                path,
                f"the name of the model is {_blank(name)}",
                "give the same name in the whole set, without spaces around it",
            )
    for number, output in enumerate(_list_in(row, "model_outputs")):
        path = ("model_outputs", number)
        for inner, text in texts_in(output, "responses", "reasoning_content"):
            if not text.strip():
                yield Remark(
                    EMPTY_REASONING,
                    (*path, *inner),
                    "reasoning_content is empty",
                    "leave the key out if there is no reasoning",
                )


def _blank(name: str) -> str:
    return f"{short_json(name)}, with spaces around it" if name.strip() else "empty"


def _list_in(row: Any, key: str) -> list[Any]:
    items = row.get(key) if isinstance(row, Mapping) else None
    return items if isinstance(items, list) else []


#: The names of the models in model_outputs, each with the number of its responses.
_Entries = tuple[tuple[str, int], ...]


def _entries(outputs: Any) -> _Entries:
    """Return the entries of model_outputs, decoded or as the typed decoder reads it."""
    if type(outputs) is not list:
        return ()
    try:
        return tuple([(each.model_name, len(each.responses)) for each in outputs])
    except AttributeError:
        pairs = (
            (each.get("model_name"), len(_list_in(each, "responses")))
            for each in outputs
            if isinstance(each, Mapping)
        )
        return tuple((name, count) for name, count in pairs if isinstance(name, str))


def _bare(name: str) -> str:
    """Return a name in lower case, with one mark between its words."""
    return _between_words.sub("-", name.casefold()).strip("-") or name


@lru_cache(maxsize=1024)
def _names(entries: _Entries) -> str | None:
    """Return the names of the models, None without any."""
    return ", ".join(sorted({name for name, _ in entries})) or None


@lru_cache(maxsize=1024)
def _bare_names(entries: _Entries) -> str | None:
    """Return the bare names of the models, None without any."""
    return ", ".join(sorted({_bare(name) for name, _ in entries})) or None


@lru_cache(maxsize=1024)
def _counts(entries: _Entries) -> str | None:
    """Return how many responses each model has, None without any model."""
    found: Counter[str] = Counter()
    for name, count in entries:
        found[name] += count
    return ", ".join(f"{found[name]} of {name}" for name in sorted(found)) or None


@lru_cache(maxsize=1024)
def _are_usual(roles: tuple[str, ...]) -> bool:
    """Return whether messages with these roles have no remark."""
    row = {"messages": [{"role": role} for role in roles]}
    return not any(True for _ in message_remarks(row))


@lru_cache(maxsize=1024)
def _are_good(names: tuple[str, ...]) -> bool:
    """Return whether the names of the models in a row have no remark."""
    row = {"model_outputs": [{"model_name": name} for name in names]}
    return not any(True for _ in output_remarks(row))


def _is_clean_chat(row: Any) -> bool:
    """Return whether the messages of a typed row have certainly no remark."""
    return _are_usual(tuple([message.role for message in row.messages]))


def _is_clean_set(row: Any) -> bool:
    """Return whether a typed row with outputs has certainly no remark."""
    if not _is_clean_chat(row):
        return False
    outputs = row.model_outputs
    if not _are_good(tuple([output.model_name for output in outputs])):
        return False
    for output in outputs:
        for response in output.responses:
            text = getattr(response, "reasoning_content", UNSET)
            if text is not UNSET and not text.strip():
                return False
    return True


def _suspect_chats(rows: Sequence[Any]) -> set[int] | None:
    """Return no numbers if all typed rows have usual messages, else None."""
    lists = as_column(rows).member("messages")
    roles = text_columns(lists, ("role",), ())
    if roles is None or type(lists[0]) is not list or len(roles) != len(lists[0]):
        return None
    return set() if all(map(_are_usual, set(zip(*roles, strict=True)))) else None


def _suspect_sets(rows: Sequence[Any]) -> set[int] | None:
    """Return no numbers if all typed rows are alike and have no remark, else None."""
    outputs = as_column(rows).member("model_outputs")
    names = text_columns(outputs, ("model_name",), ())
    if names is None or type(outputs[0]) is not list or len(names) != len(outputs[0]):
        return None
    reasoning = text_columns(outputs, ("responses", "reasoning_content"), ())
    if reasoning is None or not all(
        all(texts) and not any(map(str.isspace, texts)) for texts in reasoning
    ):
        return None
    is_good = all(map(_are_good, set(zip(*names, strict=True))))
    return _suspect_chats(rows) if is_good else None


def _shown(text: str) -> str:
    return short_json(text) if text else "others"


def _message(what: str) -> Any:
    def message(found: Disagreement) -> str:
        return (
            f"this row has {what} {_shown(found.value)}, but {found.owner} has "
            f"{_shown(found.earlier)}"
        )

    return message


_outputs: tuple[Path, ...] = (("model_outputs",),)
_ids = AcrossRows(
    REPEATED_ID,
    Agreement.UNIQUE,
    (("id",),),
    lambda found: f"{found.owner} has the same id {_shown(found.value)}",
    "give each row an id of its own: results are found by it",
)

MESSAGES = Lints(
    rows=(
        RowLint(
            (LATE_SYSTEM, TURN_ORDER, UNASKED_TURN),
            message_remarks,
            is_clean=_is_clean_chat,
            suspects=_suspect_chats,
        ),
    ),
    across=(_ids,),
)
OUTPUTS = Lints(
    rows=(
        RowLint(
            (
                LATE_SYSTEM,
                TURN_ORDER,
                UNASKED_TURN,
                REPEATED_MODEL,
                MODEL_NAME,
                EMPTY_REASONING,
            ),
            output_remarks,
            is_clean=_is_clean_set,
            suspects=_suspect_sets,
        ),
    ),
    across=(
        _ids,
        AcrossRows(
            OTHER_MODELS,
            Agreement.ONE_VALUE,
            _outputs,
            _message("answers of the models"),
            "give the answers of the same models in each row",
            value_text=_bare_names,
            takes_typed=True,
            prepare=_entries,
        ),
        AcrossRows(
            MODEL_SPELLING,
            Agreement.BY_KEY,
            _outputs,
            _message("the names of models"),
            "give the same name to the same model in the whole set",
            key=_outputs,
            value_text=_names,
            key_text=_bare_names,
            takes_typed=True,
            prepare=_entries,
        ),
        AcrossRows(
            OTHER_COUNT,
            Agreement.BY_KEY,
            _outputs,
            _message("as responses"),
            "give as many responses of a model in each row",
            key=_outputs,
            value_text=_counts,
            key_text=_names,
            takes_typed=True,
            prepare=_entries,
        ),
    ),
)
