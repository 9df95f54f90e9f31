"""Tests of the table of faults: each of its rows has a test that is named by it."""

import ast

from faults import FOLDER, faults, number_of


def _test_names() -> list[str]:
    """Return the names of all tests of faults."""
    return [
        node.name
        for path in sorted(FOLDER.glob("test_*.py"))
        if path.name != "test_fault_table.py"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def test_numbers_of_faults_are_their_places() -> None:
    """The rows are numbered from 1 on, without a gap."""
    numbers = [fault.number for fault in faults()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_each_fault_has_a_test_and_each_test_a_fault() -> None:
    """No row is without a test, no test names a number that the table lacks."""
    tested = {number_of(name) for name in _test_names()}
    assert tested == {fault.number for fault in faults()}


def test_names_of_tests_are_unique() -> None:
    """Results are kept by the name of a test, so no two tests share one."""
    names = _test_names()
    assert len(names) == len(set(names))
