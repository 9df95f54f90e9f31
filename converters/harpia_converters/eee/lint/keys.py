"""Check keys that no schema knows, and integers written as fractions (E124-E128)."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from msgspec import UNSET, Struct
from msgspec.structs import fields

from harpia_converters.eee.lint.wording import quoted
from harpia_converters.eee.versions import Version
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint
from harpia_formats.model.problem import Path
from harpia_formats.model.text.spelling import nearest

METRICS, UNKNOWN, FRACTION = "E124", "E125", "E128"

_metrics = "metrics"
_turn_lists = frozenset({"interactions", "messages"})
#: The keys of the root in every version, but for the list of turns.
_root = frozenset(
    "schema_version evaluation_id model_id evaluation_name sample_id sample_hash "
    "evaluation_result_id interaction_type input output answer_attribution evaluation "
    "token_usage performance error metadata".split()
)
_counts = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "input_tokens_cache_write",
    "input_tokens_cache_read",
    "reasoning_tokens",
)
#: The keys of the objects in the root.
_members = {
    "input": frozenset({"raw", "formatted", "reference", "choices"}),
    "output": frozenset({"raw", "reasoning_trace"}),
    "evaluation": frozenset({"score", "is_correct", "num_turns", "tool_calls_count"}),
    "token_usage": frozenset(_counts),
    "performance": frozenset(
        "latency_ms time_to_first_token_ms generation_time_ms "
        "additional_details".split()
    ),
}
_step = frozenset(
    "turn_idx source extracted_value extraction_method is_terminal".split()
)
_turn = frozenset(
    "turn_idx role content reasoning_trace tool_calls tool_call_id".split()
)
_call = frozenset({"id", "name", "arguments"})
#: Integers in the objects of the root.
_integers = {"evaluation": ("num_turns", "tool_calls_count"), "token_usage": _counts}


def lint(version: Version) -> RowLint:
    """Return the check of the keys of a row of `version`."""
    check = _Check(version.turns)
    codes = METRICS, UNKNOWN, FRACTION
    return RowLint(codes, check.remarks, check.is_clean, takes_refused=True)


class _Check:
    """Checks the keys of a row whose turns are under one key."""

    def __init__(self, turns: str) -> None:
        self._turns = turns
        self._known = _root | {turns}
        #: Whether typed rows of a class cannot have any other members.
        self._plain: dict[type, bool] = {}
        #: The attributes of each class of typed objects that no schema knows.
        self._extras: dict[type, tuple[str, ...]] = {}

    def is_clean(self, row: Any) -> bool:
        """Tell whether a typed row has nothing that `remarks` yields.

        The typed decoder reads no fraction as an integer.
        """
        kind = type(row)
        if kind not in self._plain:
            if len(self._plain) > _classes:
                self._plain.clear()
            self._plain[kind] = _has_no_extras(kind, self._known)
        return self._plain[kind] or (
            self._has_known(row, self._known)
            and self._has_known(row.input, _members["input"])
            and self._has_known(row.output, _members["output"])
            and self._has_known(row.evaluation, _members["evaluation"])
            and self._has_known(row.token_usage, _members["token_usage"])
            and self._has_known(row.performance, _members["performance"])
            and self._have_known(row.answer_attribution, _step)
            and self._are_turns_known(getattr(row, self._turns))
        )

    def _are_turns_known(self, turns: Any) -> bool:
        if turns is UNSET or not turns:
            return True
        if not self._have_known(turns, _turn):
            return False
        for turn in turns:
            calls = turn.tool_calls
            if (
                calls is not UNSET
                and calls is not None
                and not self._have_known(calls, _call)
            ):
                return False
        return True

    def _have_known(self, values: list[Any], known: frozenset[str]) -> bool:
        """Tell whether typed objects of one list have known members only."""
        if not values:
            return True
        extras = self._extras_of(type(values[0]), known)
        return not extras or all(_lacks(value, extras) for value in values)

    def _has_known(self, value: Any, known: frozenset[str]) -> bool:
        """Tell whether a typed object, null or an absent one has known members only."""
        if value is None or value is UNSET:
            return True
        extras = self._extras_of(type(value), known)
        return not extras or _lacks(value, extras)

    def _extras_of(self, kind: type, known: frozenset[str]) -> tuple[str, ...]:
        found = self._extras.get(kind)
        if found is None:
            names = kind.__struct_fields__  # type: ignore[attr-defined]  # a msgspec class
            found = tuple(name for name in names if name not in known)
            if len(self._extras) > _classes:
                self._extras.clear()
            self._extras[kind] = found
        return found

    def remarks(self, row: Any) -> Iterator[Remark]:
        """Yield what is wrong with the keys and the integers of a row."""
        if type(row) is not dict:
            return
        if _metrics in row:
            yield Remark(
                METRICS,
                (_metrics,),
                "metrics is a key of an earlier version, which nothing reads",
                "move num_turns to evaluation.num_turns, and remove metrics",
                at_key=True,
            )
        yield from _unknown(row, self._known, (), {_metrics})
        yield from _fractions(row, ("sample_id",), ())
        for name, known in _members.items():
            member = row.get(name)
            if type(member) is dict:
                yield from _unknown(member, known, (name,))
                yield from _fractions(member, _integers.get(name, ()), (name,))
        for key, known in (("answer_attribution", _step), (self._turns, _turn)):
            for place, item in _objects_in(row.get(key)):
                yield from _unknown(item, known, (key, place))
                yield from _fractions(item, ("turn_idx",), (key, place))
                for number, call in _objects_in(item.get("tool_calls")):
                    path = (key, place, "tool_calls", number)
                    yield from _unknown(call, _call, path)


def _objects_in(values: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a list, each with its index; none of what is no list."""
    for number, value in enumerate(values if type(values) is list else ()):
        if type(value) is dict:
            yield number, value


#: Classes of typed objects that are remembered.
_classes = 256


def _has_no_extras(kind: type, known: frozenset[str]) -> bool:
    """Tell whether a typed class and the classes of its members declare `known` only.

    A class at a key that `_known_in` does not name must declare nothing.
    """
    return all(
        field.encode_name in known
        and all(
            _has_no_extras(member, _known_in.get(field.encode_name, frozenset()))
            for member in _classes_in(field.type)
        )
        for field in fields(kind)
    )


def _classes_in(kind: Any) -> Iterator[type]:
    """Yield the typed classes in a type, such as that of a list of objects or null."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield kind
    for part in get_args(kind):
        yield from _classes_in(part)


#: The keys of the objects under each key.
_known_in = {
    **_members,
    "answer_attribution": _step,
    "interactions": _turn,
    "messages": _turn,
    "tool_calls": _call,
}


def _lacks(value: Any, names: tuple[str, ...]) -> bool:
    """Tell whether a typed object has none of these members."""
    return all(getattr(value, name) is UNSET for name in names)


def _unknown(
    value: Mapping[str, Any],
    known: frozenset[str],
    path: Path,
    passed: frozenset[str] | set[str] = frozenset(),
) -> Iterator[Remark]:
    """Yield a remark on each key of an object that is not known."""
    if known.issuperset(value):
        return
    for key in value:
        if key in known or key in passed:
            continue
        owner = path[0] if path else "a row"
        near = _meant(key, known, value)
        yield Remark(
            UNKNOWN,
            (*path, key),
            f"{quoted(key)} is no key of {owner} in any version",
            f"did you mean {near}?" if near else "put it into metadata, or remove it",
            at_key=True,
        )


def _meant(key: str, known: frozenset[str], value: Mapping[str, Any]) -> str:
    """Return the known key that an unknown one stands for, "" if none does."""
    if key in _turn_lists:
        return next(iter(_turn_lists & known), "")
    absent = [name for name in known if name not in value]
    alias = _aliases.get(key, "")
    return alias if alias in absent else nearest(key, absent)


#: Keys of other tools, and those that real files have by mistake.
_aliases = {
    "sample_idx": "sample_id",
    "raw_runs": "raw",
    "num_interactions": "num_turns",
}


def _fractions(
    value: Mapping[str, Any], keys: tuple[str, ...], path: Path
) -> Iterator[Remark]:
    """Yield a remark on each of these integers of an object that is a fraction."""
    for key in keys:
        number = value.get(key)
        if type(number) is float and number.is_integer():
            yield _fraction((*path, key), number)


def _fraction(path: Path, value: float) -> Remark:
    return Remark(
        FRACTION,
        path,
        f"{path[-1]} must be written as a whole number, found {value!r}",
        f"write {int(value)}: many readers take {value!r} for a fraction",
    )
