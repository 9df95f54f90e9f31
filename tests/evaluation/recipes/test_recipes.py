"""Recipes of `score` and `score compare` say what options do, and nothing else."""

import json
import os
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from harpia_formats.api.apply_recipe import (
    apply_recipe,
    definitions_of,
    recipe_text,
    settled,
)
from harpia_formats.api.options import options_of
from harpia_formats.api.recipe_file import Recipe, from_toml, parse_recipe, to_toml
from harpia_formats.api.recipe_keys import (
    COMMANDS,
    COMPARE,
    OTHER_NAMES,
    SCORE,
    Command,
    ScoreRun,
    key_name,
)
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.select_metrics import select_metrics
from harpia_formats.files.toml import toml_name
from harpia_formats.model.problem import RecipeError
from in_process import InProcess

TOOLS = Path(__file__).parents[3] / "docs" / "tools"
if TOOLS.is_dir():  # not in a source distribution
    sys.path.insert(0, str(TOOLS))
schemas = pytest.importorskip("recipe_schemas", reason="docs/tools is not there")

ROWS = "".join(
    json.dumps(
        {
            "id": str(number),
            "prompt": f"question {number}",
            "references": ["the cat sat on the mat"],
            "category": "even" if number % 2 == 0 else "odd",
            "outputs": [{"model": "m", "text": f"the cats sat {'on ' * (number % 4)}"}],
        }
    )
    + "\n"
    for number in range(20)
)


@pytest.fixture
def main(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
) -> InProcess:
    """Return what runs the command in a folder with answers."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(ROWS)
    return InProcess(monkeypatch, capfdbinary)


def parsed(text: str, command: Command = SCORE) -> Recipe:
    """Return the recipe in a text, in the working folder."""
    return parse_recipe(text.encode(), "r.toml", command)


def applied(text: str, options: ScoreOptions | None = None, *names: str) -> Any:
    """Return options with those of a recipe; `names` are of those that are given."""
    return apply_recipe(
        parsed(text), SCORE, options or ScoreOptions(), ScoreRun(), names
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(), inner, max_size=3).filter(
            lambda one: one != {"null": True}
        )
    ),
    max_leaves=5,
)


@given(st.text(), json_values)
def test_values_are_the_same_after_toml(name: str, value: Any) -> None:
    """Every JSON value and every name can be written as TOML and read back."""
    text = f"{toml_name(name)} = {to_toml(value)}"

    ((key, found),) = tomllib.loads(text).items()

    assert (key, repr(from_toml(found))) == (name, repr(value))


texts = st.text(min_size=1, max_size=5)
paths = st.text("ab/.é '\"", min_size=1, max_size=5).map(lambda one: f"f{one}")
metric_lists = st.lists(
    st.sampled_from(
        ["em", "f1", "bleu", "rouge1", "x=em", "y=rouge1", "z=nltk-bleu", "pass@2"]
    ),
    unique=True,
    max_size=4,
).map(tuple)
some_parameters: dict[str, list[Any]] = {
    "em.scale": ["0-1", "0-100"],
    "x.normalisation": ["none", "squad"],
    "y.stemmer": [True, False],
    "z.smoothing_function": [None, "method1"],
    "bleu.lowercase": [True, False],
    "pass@2.threshold": [0.5, 1],
}


@st.composite
def settings(draw: st.DrawFn) -> tuple[ScoreOptions, ScoreRun]:
    """Return options and files as a command line may give them."""
    names = draw(metric_lists)
    own = {name.partition("=")[0] for name in names}
    parameters = {
        name: draw(st.sampled_from(values))
        for name, values in some_parameters.items()
        if name.partition(".")[0] in own and draw(st.booleans())
    }
    options = ScoreOptions(
        from_=draw(st.none() | st.just("record")),
        metrics=names,
        profile=draw(st.sampled_from([None, "default", "squad"])),
        parameters=parameters,
        by=tuple(draw(st.lists(texts, max_size=2))),
        skip_unknown=draw(st.booleans()),
        on_invalid=draw(st.sampled_from(["fail", "skip"])),
        missing=draw(st.sampled_from(["skip", "zero"])),
        reference_from=draw(st.sampled_from(["references", "gt"])),
        model=draw(st.none() | texts),
        delimiter=draw(st.none() | st.just(";")),
        constants=draw(st.dictionaries(texts, texts, max_size=2)),
        names=draw(st.dictionaries(texts, texts, max_size=2)),
        level=draw(st.floats(0.01, 0.99)),
        replicates=draw(st.integers(0, 2000)),
        seed=draw(st.integers(0, 2**64 - 1)),
        overwrite=draw(st.booleans()),
        companion=draw(st.none() | paths),
        jobs=draw(st.integers(0, 3)),
    )
    run = ScoreRun(
        inputs=tuple(draw(st.lists(paths, max_size=2))),
        to=draw(st.none() | st.just("csv")),
        output=draw(st.just("-") | paths),
        report=tuple(draw(st.lists(paths.map("json={}".format), max_size=1))),
    )
    return options, run


def meaning(options: ScoreOptions, run: ScoreRun) -> Any:
    """Return what options compute: the metrics with all parameters, and the others."""
    found = definitions_of(options, run.to)
    assert found is not None
    metrics = [
        (one.label, one.metric, json.dumps(settled(one, options.parameters)))
        for one in found.requests
    ]
    return (
        metrics,
        found.profile.id,
        replace(options, metrics=(), parameters={}, profile=None),
    )


@given(settings())
def test_a_shown_recipe_is_the_options(given_: tuple[ScoreOptions, ScoreRun]) -> None:
    """A recipe that is written with all defaults gives the same metrics and options."""
    options, run = given_
    text = recipe_text(SCORE, options, run)

    found = applied(text)

    assert meaning(found.options, found.run) == meaning(options, run)
    assert found.run == run
    assert recipe_text(SCORE, found.options, found.run) == text
    jsonschema.validate(tomllib.loads(text), schemas.schema_of(SCORE))


def test_signatures_survive_a_recipe() -> None:
    """Metrics of a recipe have the signatures that they have by the options."""
    options = ScoreOptions(
        metrics=("rouge1", "s=rouge1", "em"), parameters={"s.stemmer": True}
    )
    found = applied(recipe_text(SCORE, options, ScoreRun())).options

    for one in (options, found):
        definitions = definitions_of(one, None)
        assert definitions is not None
        measured = select_metrics(
            definitions.requests, one.parameters, skip_unknown=False
        ).measured
        assert [metric.measure.signature for metric in measured][1].count("stem:yes")
    assert found.parameters == options.parameters


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.name)
def test_the_schema_is_that_of_the_options(command: Command) -> None:
    """The schema for editors has the keys, types and comments of the dataclasses."""
    assert schemas.path_of(command).read_text(encoding="utf-8") == schemas.schema_text(
        command
    ), "bring it up to date: python docs/tools/recipe_schemas.py"
    jsonschema.Draft7Validator.check_schema(schemas.schema_of(command))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("metrcs = []", 1, "metrcs: there is no such key; did you mean metrics?"),
        ("\nmap = {}", 2, "map: there is no such key; did you mean columns?"),
        ("seed = 1\nseed = 2", 2, "is not TOML"),
        ("seed = true", 1, "seed: must be a whole number, not true"),
        ("metrics = 'em'", 1, 'metrics: must be several names, not "em"; did you mean'),
        ("seed = -1", 1, "seed: the seed must be an integer from 0"),
        ("seed = 1\nlevel = 2.0", 2, "level: the level must be between 0 and 1"),
        ("missing = 'zeros'", 1, "missing cannot be 'zeros'; did you mean 'zero'?"),
        ("by = []\nmetrics = ['emm']", 2, "metrics: no metric is called 'emm'; did"),
        ("profile = 'squat'", 1, "profile: no profile is called 'squat'; did you mean"),
        ("to = 'cvs'", 1, "to: "),
        (
            "metrics=['em']\n[parameters.em]\nscal = 1",
            3,
            "parameters.em.scal: the metric em has no parameter 'scal'",
        ),
        (
            "metrics=['em']\n\n[parameters.em]\nscale = 7",
            4,
            "parameters.em.scale: the parameter scale of the metric em is 7",
        ),
        (
            "metrics=['em']\n[parameters.rouge]\nstemmer = true",
            3,
            "parameters.rouge.stemmer: is a parameter of a metric that the recipe does",
        ),
        ("parameters = 1", 1, "parameters: must be a table for each metric"),
        ("[parameters]\nem = 1", 2, "parameters.em: must be a table of parameters"),
        ("[names]\ntask = 1", 2, "names.task: must be a text, not 1"),
        ("[constants]\nx = 1979-05-27", 1, "constants: 1979-05-27 is a date or time"),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, line: int, message: str) -> None:
    """A wrong key or value is refused at its line, with what may be meant."""
    with pytest.raises(RecipeError) as caught:
        applied(text)

    assert str(caught.value).startswith(f"r.toml:{line}: "), caught.value
    assert message in str(caught.value)


def test_paths_start_from_the_folder_of_the_recipe() -> None:
    """Inputs, outputs, reports and pictures do; URLs and - are as they are."""
    text = (
        'inputs = ["a.jsonl", "/b", "s3://c/d", "-"]\noutput = "o.csv"\n'
        'report = ["json=r.txt", "r.json"]\nplots = ["p.svg"]\ncompanion = "c"\n'
    )

    values = parse_recipe(text.encode(), "to/r.toml", SCORE).values

    assert values == {
        "inputs": ("to/a.jsonl", "/b", "s3://c/d", "-"),
        "output": "to/o.csv",
        "report": ("json=to/r.txt", "to/r.json"),
        "plots": ("to/p.svg",),
        "companion": "to/c",
    }


def test_options_replace_values_of_the_recipe() -> None:
    """What is given wins, tables are merged, and that is said."""
    text = (
        'metrics = ["em", "bleu"]\nseed = 7\nlevel = 0.9\n[names]\ntask = "a"\n'
        'run_name = "b"\n[parameters.bleu]\nlowercase = true\n'
    )
    options = ScoreOptions(metrics=("em",), seed=1, names={"task": "c"})

    found = applied(text, options, "metrics", "seed", "names")

    assert found.options == ScoreOptions(
        metrics=("em",), seed=1, level=0.9, names={"task": "c", "run_name": "b"}
    )
    assert found.notes == (
        "r.toml: options replace its metrics, seed, names.task",
        "r.toml: options leave out the metrics that its parameters of bleu are for",
    )


def test_two_runs_of_a_recipe_give_equal_bytes(main: InProcess) -> None:
    """Output, results and reports are equal for one file and one input."""
    pytest.importorskip("rapidfuzz", reason="the extra score is not installed")
    Path("r.toml").write_text(
        'inputs = ["a.jsonl"]\nmetrics = ["f1", "s=rouge1"]\nby = ["category"]\n'
        'replicates = 200\nto = "csv"\noutput = "o.csv"\noverwrite = true\n'
        "[parameters.s]\nstemmer = true\n"
    )

    runs = [main("score", "--recipe", "r.toml")]
    first = Path("o.csv").read_bytes()
    for jobs in (1, 2):
        runs.append(main("score", "--recipe", "r.toml", "--jobs", jobs))
        assert Path("o.csv").read_bytes() == first

    assert [run.code for run in runs] == [0, 0, 0]
    assert len({(run.out, run.err) for run in runs}) == 1


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--to", "harpia-output", "-o", "o.json", "--overwrite"],
        ["-m", "em,x=em", "--param", "x.normalisation=none", "--by", "category"],
        ["--profile", "squad", "--level", "0.9", "--seed", "3"],
        ["--metrics", "f1", "--missing", "zero", "--name", "task=t"][:4],
        ["--stored"],
    ],
)
def test_a_shown_recipe_gives_the_same_output(
    main: InProcess, options: list[str]
) -> None:
    """The recipe of a command line prints and writes what the command line does."""
    before = main("score", "a.jsonl", *options)
    result = Path("o.json")
    bytes_before = result.read_bytes() if result.exists() else b""
    shown = main("score", "a.jsonl", *options, "--show-recipe")
    Path("r.toml").write_text(shown.out)

    after = main("score", "--recipe", "r.toml")

    assert shown.code == 0, shown.err
    assert (after.code, after.out, after.err) == (before.code, before.out, before.err)
    assert (result.read_bytes() if result.exists() else b"") == bytes_before
    assert main("score", "--recipe", "r.toml", "--show-recipe").out == shown.out


def test_a_shown_recipe_holds_the_test_and_what_is_correct(main: InProcess) -> None:
    """Other defaults of either change no result; one test is not that of all scores."""

    def shown(metrics: str) -> Any:
        run = main("score", "compare", "a.jsonl", "-m", metrics, "--show-recipe")
        return tomllib.loads(run.out)

    found = shown("em,pass@1")
    assert found["test"] == "permutation"
    correct = found["parameters"]["pass@1"]
    assert correct["correct.normalisation"] == "squad"
    assert shown("kappa")["test"] == "bootstrap"
    assert "test" not in shown("em,kappa")


def test_what_is_correct_can_be_replaced(main: InProcess) -> None:
    """The parameters of the metric that told before are none of the other one."""
    words = ["--metrics", "pass@1", "--param", "pass@1.correct.normalisation=none"]
    Path("r.toml").write_text(main("score", "a.jsonl", *words, "--show-recipe").out)
    number = main(
        *("score", "--recipe", "r.toml", "--param", "pass@1.correct=number-match"),
        "--show-recipe",
    )

    assert "correct.normalisation" not in number.out
    Path("n.toml").write_text(number.out)
    assert "has no parameter" not in main("score", "--recipe", "n.toml").err
    assert (
        main("score", "--recipe", "r.toml").out == main("score", "a.jsonl", *words).out
    )


#: Options of the command line that are about no result, or about the recipe.
OF_THE_RUN = {
    "encoding",
    "quiet",
    "recipe",
    "show_progress",
    "show_recipe",
    "stdin_filename",
}


@pytest.mark.parametrize("command", [SCORE, COMPARE])
def test_every_option_is_a_key(command: Command) -> None:
    """A recipe can hold each option of its command, and no other."""
    names = {
        OTHER_NAMES.get(key_name(option.field), key_name(option.field))
        for option in options_of(command.name.replace(" ", "_"))
        if option.field not in OF_THE_RUN
    }

    assert command.all_keys().keys() == names


def compared(main: InProcess, *arguments: str) -> tuple[int, str, str]:
    """Return the exit code and the streams of a comparison."""
    run = main("score", "compare", *arguments)
    return run.code, run.out, run.err


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-m", "em,x=em", "--param", "x.normalisation=none", "--detect", "0.1"],
        ["--detect", "0.1", "--output-format", "markdown"],
        ["--test", "bootstrap", "--seed", "3", "--model", "1=m", "--model", "2=m"],
        ["--stored", "--force"],
        ["--output-format", "csv", "--csv-safe"],
    ],
)
def test_a_shown_recipe_compares_alike(main: InProcess, options: list[str]) -> None:
    """The recipe of a comparison prints what the command line does, for any jobs."""
    Path("b.jsonl").write_text(ROWS.replace("the cats sat", "the cat sat"))
    inputs = ["a.jsonl", "b.jsonl"]
    before = compared(main, *inputs, *options)
    code, text, error = compared(main, *inputs, *options, "--show-recipe")
    Path("r.toml").write_text(text)

    assert (code, error) == (0, "")
    for jobs in ([], ["--jobs", "1"], ["--jobs", "2"]):
        assert compared(main, "--recipe", "r.toml", *jobs) == before
    jsonschema.validate(tomllib.loads(text), schemas.schema_of(COMPARE))


def test_keys_of_the_other_command_are_named() -> None:
    """A key that only the other command has is refused with the name of that."""
    with pytest.raises(RecipeError, match="test: is a key of score compare"):
        parsed("test = 'bootstrap'")
    with pytest.raises(RecipeError, match="by: is a key of score, which"):
        parsed("by = []", COMPARE)


def test_nothing_to_compare_is_said(main: InProcess) -> None:
    """Without inputs on the command line and in the recipe nothing is compared."""
    Path("r.toml").write_text("seed = 1\n")

    code, _, error = compared(main, "--recipe", "r.toml")

    assert (code, error) == (2, "error: name the files whose answers are compared\n")


def test_python_compares_by_a_recipe(tmp_path: Path) -> None:
    """`compare_scores(recipe=...)` compares the inputs of the recipe by its options."""
    (tmp_path / "a.jsonl").write_text(ROWS)
    (tmp_path / "b.jsonl").write_text(ROWS.replace("the cats sat", "the cat sat"))
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        'inputs = ["a.jsonl", "b.jsonl"]\nmetrics = ["f1"]\nseed = 2\ndetect = 0.9\n'
        'plots = ["p.svg"]'
    )

    found = harpia_formats.compare_scores(recipe=recipe)
    other = harpia_formats.compare_scores(recipe=recipe, detect=0.01)

    assert [one.metric for one in found.compared] == ["f1"]
    assert (found.detect, other.detect) == (0.9, 0.01)
    needed = [one.compared[0].questions_needed or 0 for one in (found, other)]
    assert 0 < needed[0] < needed[1]
    assert found.said[0].endswith(
        "r.toml: its plots have no effect in Python, which returns the scores"
    )


def test_verdicts_have_no_metrics_in_their_recipe(main: InProcess) -> None:
    """Where the input selects the metrics, the recipe names none."""
    folder = Path(__file__).parents[3] / "fixtures" / "judge-verdicts" / "valid"
    path = next(iter(sorted(folder.glob("*.jsonl"))))

    shown = main("score", path, "--show-recipe")

    assert shown.code == 0, shown.err
    assert "metrics = []" in shown.out
    assert "# profile is not given" in shown.out


def test_the_command_line_replaces_values_and_says_so(main: InProcess) -> None:
    """Options win over the recipe, and a note names what they replace."""
    Path("r.toml").write_text('inputs = ["b.jsonl"]\nmetrics = ["em"]\nseed = 9\n')

    run = main("score", "a.jsonl", "--recipe", "r.toml", "--metrics", "f1")

    assert run.code == 0, run.err
    assert "signature: f1|" in run.out
    assert "r.toml: options replace its inputs, metrics\n" in run.err


def test_a_recipe_is_no_output(main: InProcess) -> None:
    """A result never replaces the recipe that it is made with."""
    text = 'inputs = ["a.jsonl"]\nto = "csv"\noutput = "r.toml"\noverwrite = true\n'
    Path("r.toml").write_text(text)

    run = main("score", "--recipe", "r.toml")

    assert run.code == 2
    assert "r.toml" in run.err
    assert Path("r.toml").read_text() == text


@pytest.mark.parametrize("data", [None, b"\xff", b"= 1"])
def test_a_recipe_that_cannot_be_read_ends_with_2(
    main: InProcess, data: bytes | None
) -> None:
    """The error names the file; there is no traceback."""
    if data is not None:
        Path("r.toml").write_bytes(data)

    run = main("score", "a.jsonl", "--recipe", "r.toml")

    assert run.code == 2
    assert run.err.startswith("error: r.toml")


def test_python_takes_a_recipe(tmp_path: Path) -> None:
    """`score(recipe=...)` gives the scores of the recipe; its arguments win."""
    (tmp_path / "a.jsonl").write_text(ROWS)
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        'inputs = ["a.jsonl"]\nmetrics = ["em", "f1"]\nreplicates = 0\n'
        'report = ["r.json"]\noutput-format = "csv"\ncsv-safe = true\n'
    )

    found = harpia_formats.score(recipe=recipe)
    other = harpia_formats.score(ROWS.encode(), recipe=recipe, metrics=["f1"])

    assert [one.name for one in found] == ["em", "f1"]
    assert found["f1"].interval is None or found["f1"].method.startswith("wilson")
    assert [one.value for one in other] == [found["f1"].value]
    unwritten = "its report, output-format have no effect in Python"
    assert unwritten in found.said[0]
    assert other.said[0].endswith("options replace its inputs, metrics")
    assert unwritten in other.said[1]

    alone = tmp_path / "one.toml"
    alone.write_text('inputs = ["a.jsonl"]\nmetrics = ["em"]\noutput-format = "csv"\n')
    (said, *_) = harpia_formats.score(recipe=alone).said
    assert "its output-format has no effect in Python" in said


@pytest.mark.parametrize(
    ("inputs", "names"),
    [
        (["x/a.jsonl", "b.jsonl"], ["--baseline", "b.jsonl"]),
        (["x/a.jsonl", "a.jsonl"], ["--baseline", "x/a.jsonl"]),
        (["b.jsonl", "b.jsonl"], ["--baseline", "b.jsonl #2"]),
        (["x/m.jsonl", "m.jsonl"], ["--baseline", "m (x/m.jsonl)"]),
        (["x/m.jsonl", "a.jsonl"], ["--model", "x/m.jsonl=m"]),
    ],
)
def test_systems_named_by_paths_are_found_from_other_folders(
    main: InProcess, inputs: list[str], names: list[str]
) -> None:
    """A recipe compares the same systems from another folder, and by given inputs."""
    rows = ROWS.replace('"model": "m", ', "")
    for folder in map(Path, ("sub", "sub/x")):
        folder.mkdir()
        (folder / "a.jsonl").write_text(rows)
        (folder / "b.jsonl").write_text(rows.replace("cats", "cat"))
        (folder / "m.jsonl").write_text(ROWS)
    parent = Path.cwd()
    os.chdir("sub")
    before = compared(main, *inputs, *names, "--output-format", "csv")
    shown = compared(main, *inputs, *names, "--output-format", "csv", "--show-recipe")
    Path("r.toml").write_text(shown[1])
    again = compared(main, "--recipe", "r.toml", *inputs)
    os.chdir(parent)

    after = compared(main, "--recipe", "sub/r.toml")

    assert before[0] == 0, before
    assert (again, after[0], after[2]) == (before, 0, before[2])
    # Names hold paths only where they are needed to tell systems apart.
    assert after[1].replace("sub/", "") == before[1]
