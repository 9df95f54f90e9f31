import ast
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Importer = Callable[[str], ModuleType]
ROOT = Path(__file__).parents[2]
SOURCE = '''\
"""A module."""
LIMIT = 3


def first(rows: list[int], most: int = LIMIT) -> list[int]:
    """Return the first rows."""
    found: list[int] = []
    for row in rows:
        if row < 0 or not row:
            continue
        found.append(row + 1)
        if len(found) == most:
            break
    return found[:most]
'''


def test_each_mutant_is_another_module(modules: Importer) -> None:
    """A mutant differs from the module and from all other mutants, and compiles."""
    mutators = modules("mutation.mutators")
    texts = [
        ast.unparse(mutators.mutated(SOURCE, mutant.number))
        for mutant in mutators.mutants_of(SOURCE)
    ]
    for text in texts:
        compile(text, "mutant", "exec")

    assert len({*texts, ast.unparse(ast.parse(SOURCE))}) == len(texts) + 1


def test_what_is_changed(modules: Importer) -> None:
    """Comparisons, conditions, numbers, statements and results are changed."""
    found = modules("mutation.mutators").mutants_of(SOURCE)

    assert [(mutant.line, mutant.change) for mutant in found] == [
        (2, "3 to 4"),
        (2, "3 to 2"),
        (9, "not: row < 0 or not row"),
        (9, "or to and: row < 0 or not row"),
        (9, "< to <=: row < 0"),
        (9, "0 to 1"),
        (9, "without not: not row"),
        (10, "removed"),
        (11, "removed"),
        (11, "+ to -: row + 1"),
        (11, "1 to 2"),
        (11, "1 to 0"),
        (12, "== to !=: len(found) == most"),
        (13, "removed"),
        (14, "return None"),
        (14, "no upper: :most"),
    ]
    assert [mutant.is_loaded for mutant in found] == [True] * 2 + [False] * 14


def test_a_mutant_is_known_when_lines_move(modules: Importer) -> None:
    """What names a mutant, and whether it is drawn, does not depend on other code."""
    mutants = modules("mutants")
    others = "\n\nOTHER = 1\n\n\n" + SOURCE.partition("\n")[2]
    before, after = (
        {mutants.draw_of(1, "m.py", one) for one in mutants.mutants_of(text)}
        for text in (SOURCE, others)
    )

    assert before < after


def test_blocks_are_noted_as_they_run(modules: Importer) -> None:
    """Each block of a function is noted when it runs, and no other."""
    blocks = modules("mutation.blocks")
    tree = ast.parse(SOURCE)
    names, lines = blocks.blocks_of(tree)
    noted: list[str] = []
    space: dict[str, Any] = {blocks.NOTE: lambda number: noted.append(names[number])}
    exec(compile(blocks.noting(tree), "noting", "exec"), space)  # noqa: S102 - the text above
    space["first"]([5])

    assert set(noted) == {lines[line] for line in (7, 9, 11, 14)}
    assert lines[10] not in noted


@pytest.fixture(name="chosen")
def chosen_mutants(modules: Importer) -> list[Any]:
    """Return the mutants of the module above as those of a part."""
    mutants = modules("mutants")
    return [
        mutants.Chosen("framing", "m.py", mutant, ("a test",))
        for mutant in mutants.mutants_of(SOURCE)
    ]


def test_changes_that_change_nothing_are_left_out(modules: Importer) -> None:
    """A handler that raises again stays, and so do arguments that have no order."""
    source = (
        "try:\n    a = same or os.path.samefile(b, c)\nexcept A:\n    raise\n"
        "except B:\n    a = max(b, c)\nexcept C:\n    a = f(b, c)\n"
    )
    found = modules("mutation.mutators").mutants_of(source)

    assert [(each.line, each.change) for each in found if each.line > 2] == [
        (4, "removed"),
        (5, "raised again"),
        (7, "raised again"),
        (8, "swapped arguments: f(b, c)"),
    ]
    assert [each.change for each in found if "swapped" in each.change] == [
        "swapped arguments: f(b, c)"
    ]


def test_tests_of_what_runs_as_a_module_is_loaded(modules: Importer) -> None:
    """A function that only the loading of its module calls has all tests of that."""
    mutants = modules("mutants")
    module = "harpia_formats/validation/diagnosis/messages.py"
    source = (ROOT / module).read_text("utf-8")
    (mutant,) = [
        each
        for each in mutants.mutants_of(source)
        if each.function == "_plain" and each.text == "return make_text"
    ]
    tests = {"a test": mutants.Reached(0.1, frozenset({f"{module}\t._type:0"}))}

    for blocks, expected in (({f"{module}\t._plain:0"}, ("a test",)), (set(), ())):
        loading = mutants.Reached(0.0, frozenset(blocks))
        assert mutants._tests_of(module, mutant, tests, loading) == expected  # noqa: SLF001 - what decides it


def test_tests_of_a_module_that_only_holds_values(modules: Importer) -> None:
    """A change of a table, of which no test runs a block, has the tests of the part."""
    mutants = modules("mutants")
    module = "harpia_formats/formats/rules/json_rules.py"
    first, *_ = mutants.mutants_of((ROOT / module).read_text("utf-8"))
    reached = mutants.Reached(0.1, frozenset({"another module\tblock"}))
    loading = mutants.Reached(0.0, frozenset())

    found = mutants._tests_of(module, first, {"a test": reached}, loading)  # noqa: SLF001 - what decides it
    assert (first.is_loaded, found) == (True, ("a test",))


def test_survivors_that_are_not_listed(modules: Importer, chosen: list[Any]) -> None:
    """A survivor that is not listed is a fault, and too many of a part are another."""
    mutants = modules("mutants")
    few = mutants.Measured(100, 100, 0, tuple(chosen[:5]))
    assert mutants.faults({"framing": few}, {one.key for one in chosen}) == []
    assert mutants.share_faults({"framing": few}) == []

    many = {"framing": mutants.Measured(100, 100, 0, tuple(chosen[:6]))}
    assert mutants.share_faults(many) == ["framing: 6.0% survive, 5% may"]
    assert mutants.faults(many, {one.key for one in chosen[1:]}) == [
        "m.py:2: 3 to 4: LIMIT = 3"
    ]


def test_what_survives(modules: Importer, chosen: list[Any]) -> None:
    """A mutant survives that no test reaches, or whose tests all pass."""
    mutants = modules("mutants")
    killed = {"code": 1, "by": "too long"}
    found = {chosen[0]: killed, chosen[1]: {"code": 0, "by": None}}
    part = mutants.measured("framing", chosen[:3], found)

    assert (part.drawn, part.late, part.survivors) == (3, 1, tuple(chosen[1:3]))


def test_listed_survivors_are_mutants_of_our_modules(modules: Importer) -> None:
    """Each survivor of the list is a mutant of the code as it is, and has a reason."""
    mutants = modules("mutants")
    found = tomllib.loads((ROOT / "benchmarks" / "mutants.toml").read_text("utf-8"))
    keys = {
        mutants.Chosen(part, module, mutant, ()).key
        for part in {each["part"] for each in found["survivors"]}
        for module in mutants.modules_of(part)
        for mutant in mutants.mutants_of((ROOT / module).read_text("utf-8"))
    }
    listed = [mutants.key_of(each) for each in found["survivors"]]

    assert [each for each in listed if each not in keys] == []
    assert max(Counter(listed).values()) == 1
    assert [each for each in found["survivors"] if not each["reason"]] == []
