"""Tests of many small cases, each of which is named in a failure.

Pytest spends as long on a test as most of these cases take, and collects each of them
in each process. So a set of cases is one test, with a subtest for each that fails.
"""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest


def for_each_case(
    names: str, cases: Iterable[Any], ids: Callable[[Any], str | None] = str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that makes a test of one case a test of all.

    It is given what `pytest.mark.parametrize` is given; there must be a case. A test
    with a `tmp_path` has another one in each case, and no other fixture.
    """
    arguments, known = [name.strip() for name in names.split(",")], list(cases)
    assert known

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        def run(subtests: pytest.Subtests, folders: Iterable[Path | None]) -> None:
            for case, folder in zip(known, folders, strict=False):
                values = case if len(arguments) > 1 else (case,)
                given = dict(zip(arguments, values, strict=True))
                own = {} if folder is None else {"tmp_path": folder}
                try:
                    check(**given, **own)
                except (Exception, pytest.fail.Exception):
                    shown = {name: ids(value) for name, value in given.items()}
                    with subtests.test(**shown):
                        raise

        def test(subtests: pytest.Subtests) -> None:
            run(subtests, [None] * len(known))

        def test_in_folder(subtests: pytest.Subtests, tmp_path: Path) -> None:
            run(subtests, _folders_in(tmp_path))

        parameters = inspect.signature(check).parameters
        made = test_in_folder if "tmp_path" in parameters else test
        made.__name__, made.__module__ = check.__name__, check.__module__
        made.__qualname__, made.__doc__ = check.__qualname__, check.__doc__
        return made

    return decorate


def _folders_in(parent: Path) -> Iterable[Path]:
    """Yield new folders without end."""
    number = 0
    while True:
        number += 1
        folder = parent / str(number)
        folder.mkdir()
        yield folder
