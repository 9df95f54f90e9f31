"""Tests of the table of faults: each of its rows has a test that is named by it."""

from faults import faults, injecting_tests, number_of


def test_numbers_of_faults_are_their_places() -> None:
    """The rows are numbered from 1 on, without a gap."""
    numbers = [fault.number for fault in faults()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_each_fault_has_a_test_and_each_test_a_fault() -> None:
    """No row is without a test, no test names a number that the table lacks."""
    tested = {number_of(name) for name in injecting_tests()}
    assert tested == {fault.number for fault in faults()}
