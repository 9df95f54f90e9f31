"""Files with a text wherever data can have one, and commands that show them."""

import json
from pathlib import Path

import command_runs
from command_runs import TIMEOUT
from harpia_formats.reporters import REPORTERS

#: Names of the files that `write_files` makes.
VALID, BROKEN = "valid.jsonl", "broken.jsonl"
_SHOWS_BROKEN = f"validate {BROKEN} --from record --lint"
#: Commands whose output is text for people or programs, and no copy of rows.
COMMANDS = (
    *(f"{_SHOWS_BROKEN} --output-format {name}" for name in REPORTERS),
    f"{_SHOWS_BROKEN} --from nemo-output",
    f"validate {BROKEN} --schema schema.json",
    f"detect {VALID}",
    f"stats {VALID}",
    *(
        f"score {VALID} -m em --by category,model --output-format {name}"
        for name in ("table", "json", "markdown", "latex")
    ),
    f"convert {BROKEN} --to nemo -o out.jsonl --from record --overwrite",
    f"convert {VALID} --to harpia -o out.jsonl --from record --overwrite",
    f"roundtrip {VALID} --via nemo --from record",
    f"diff {VALID} {BROKEN} --from record",
    f"schema check {BROKEN}",
    "preflight expect.toml",
)
#: Commands that write a page, with the end of the name of its file left out.
PAGES = (
    _SHOWS_BROKEN,
    f"stats {VALID}",
    f"score {VALID} -m em --by category,model",
    f"convert {VALID} --to harpia -o out.jsonl --overwrite",
    f"roundtrip {VALID} --via nemo --from record",
)


def write_files(folder: Path, text: str) -> None:
    """Write files with a text as value, key, id, category and name of a model."""
    answer = {"model": text, "text": text}
    row = {
        "id": text,
        "prompt": text,
        "references": [text],
        "category": text,
        "source": text,
        "metadata": {text: text},
        "outputs": [answer],
    }
    other = row | {"id": f"{text} 2", "outputs": [answer | {"text": f"not {text}"}]}
    broken = [
        row | {text: text},
        row | {"prompt": 5, "references": text},
        row | {"outputs": [{text: text}], "id": [text]},
        {text: text, "id": text},
    ]
    rows = [json.dumps(each) for each in broken]
    # A line that is no JSON, with the text itself as far as lines can have it.
    rows += [f'{{"id": {text!r}', json.dumps(row)[:-9]]
    (folder / VALID).write_text(f"{json.dumps(row)}\n{json.dumps(other)}\n")
    (folder / BROKEN).write_text("\n".join(rows) + "\n", "utf-8", "surrogatepass")
    schema = {"properties": {"id": {"enum": [text]}, text: {"const": 1}}}
    (folder / "schema.json").write_text(json.dumps(schema))
    lines = (f'files = "{BROKEN}"', 'format = "record"', "min-records = 9")
    (folder / "expect.toml").write_text("\n".join(("[datasets.a]", *lines)))


#: The bar of a run that takes long is no text of the data.
_NO_BAR = (
    "from harpia_formats.cli import progress_and_problems as progress; "
    f"progress.DELAY = {2 * TIMEOUT}"
)


def on_terminal(command: str, cwd: Path, columns: int) -> tuple[int, str]:
    """Return exit code and text of a command whose output is a pseudo-terminal."""
    size = {"COLUMNS": str(columns), "LINES": "50"}
    words = command.split()
    code, shown, _ = command_runs.on_terminal(
        _NO_BAR, *words, cwd=cwd, output=None, **size
    )
    return code, shown.replace("\r\n", "\n")
