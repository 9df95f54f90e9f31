"""Scripts that convert between two formats by hand, as a user would write them.

Each has one loop and uses `json` or `csv` of the standard library only. It streams what
has lines, and loads what is one document. It carries the id, the prompt, the reference,
the category, the answer, its model and its score, where both formats have a place; from
one version of EvalEval to another it changes the row and carries all of it.
"""

from collections.abc import Mapping
from textwrap import indent

from data.source_files import AROUND, COLUMNS, LINES, TABLE, layout_of

from harness.script_readers import READERS
from harness.script_writers import WRITERS

#: The values of fields that a target needs and a source lacks, by `--set` of ours.
SET = {
    "response": "none",
    "model": "demo",
    "score": 1.0,
    "is_correct": True,
    "evaluation_id": "demo/run/1",
    "evaluation_name": "demo",
}
STEP = " " * 4
#: The statements that make a row of EvalEval one of another version.
_TO_LISTS = """\
row["input"]["reference"] = [row["input"]["reference"]]
row["output"]["raw"] = [row["output"]["raw"]]
"""
_TO_TEXTS = """\
row["input"]["reference"] = row["input"]["reference"][0]
row["output"]["raw"] = row["output"]["raw"][0]
"""
_TO_NEW = """\
row["schema_version"] = "0.3.0"
row["metadata"] = {key: str(value) for key, value in row["metadata"].items()}
"""
_TO_OLD = 'row["schema_version"] = "0.2.0"\n'
CHANGES = {
    ("eee@0.2.0", "eee@0.2.0-tag"): _TO_LISTS,
    ("eee@0.2.0", "eee@0.3.0"): _TO_NEW + _TO_LISTS,
    ("eee@0.2.0-tag", "eee@0.2.0"): _TO_TEXTS,
    ("eee@0.2.0-tag", "eee@0.3.0"): _TO_NEW,
    ("eee@0.3.0", "eee@0.2.0"): _TO_OLD + _TO_TEXTS,
    ("eee@0.3.0", "eee@0.2.0-tag"): _TO_OLD,
}


def set_fields(source: str, target: str) -> dict[str, str]:
    """Return the values that our command must be given by `--set`, by their fields."""
    missing = set(WRITERS[target].needed) - set(READERS[source].fields)
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in SET.items()
        if name in missing
    }


def script_of(source: str, target: str) -> str:
    """Return the text of a script that converts `source` into `target`."""
    reader, layout = READERS[source], layout_of(target)
    loops, fields = list(reader.loops), _fields(source, target)
    first = "line" if layout_of(source) == LINES else reader.row
    rows = "source" if layout_of(source) == LINES else reader.rows
    if fields.get("id") == "str(number)" and layout != TABLE:
        first, rows = f"number, {first}", f"enumerate({rows}, 1)"
    loops.insert(0, f"for {first} in {rows}:")
    if layout_of(source) == LINES:
        loops[0] += f"\n{STEP}row = json.loads(line)"
    change = CHANGES.get((source, target), "")
    body = _before(source, target, fields)
    for depth, line in enumerate(loops):
        body += indent(line, STEP * depth) + "\n"
    written = "row" if change else object_of(WRITERS[target].row, fields)
    body += indent(change + _statement(target, written, fields), STEP * len(loops))
    return _program(source, target, body + _after(target))


def _fields(source: str, target: str) -> Mapping[str, str]:
    """Return the expressions of all fields that the script can write, by name."""
    writer = WRITERS[target]
    constants = {name: repr(SET[name]) for name in writer.needed}
    return {**constants, **writer.defaults, **READERS[source].fields}


def object_of(template: object, fields: Mapping[str, str]) -> str:
    """Return an expression for a row; without what the source lacks, maybe ""."""
    if isinstance(template, dict):
        found = {key: object_of(value, fields) for key, value in template.items()}
        items = [f'"{key}": {value}' for key, value in found.items() if value]
        return _joined("{", items, "}")
    if isinstance(template, list):
        found = {str(n): object_of(value, fields) for n, value in enumerate(template)}
        return _joined("[", [value for value in found.values() if value], "]")
    assert isinstance(template, str)  # noqa: S101 - the tables have nothing else
    return fields.get(template[1:-1], "") if template.startswith("{") else template


def _joined(start: str, items: list[str], end: str) -> str:
    """Return a list or an object, over several lines if it is long."""
    if not items:
        return ""
    short = start + ", ".join(items) + end
    if len(short) <= 60 and "\n" not in short:
        return short
    return start + "\n" + indent("".join(f"{item},\n" for item in items), STEP) + end


def columns_of(target: str, fields: Mapping[str, str]) -> dict[str, str]:
    """Return the expressions of the columns of a table, or of Haystack's, by name."""
    row = WRITERS[target].row
    found = {name: object_of(value, fields) for name, value in row.items()}
    return {name: value for name, value in found.items() if value}


def _before(source: str, target: str, fields: Mapping[str, str]) -> str:
    """Return the statements in front of the loop."""
    lines = ["columns = json.load(source)"] if layout_of(source) == COLUMNS else []
    columns = columns_of(target, fields)
    match layout_of(target):
        case "table":
            lines.append("writer = csv.writer(target)")
            names = _joined("[", [f'"{name}"' for name in columns], "]")
            lines.append(f"writer.writerow({names})")
        case "columns":
            items = [f'"{name}": []' for name in columns]
            lines.append(f"found = {_joined('{', items, '}')}")
        case layout if layout != LINES:
            start, _, _ = AROUND[layout]
            lines += [f"target.write({start.rstrip()!r})", 'separator = "\\n"']
    return "".join(f"{line}\n" for line in lines)


def _statement(target: str, row: str, fields: Mapping[str, str]) -> str:
    """Return the statements that write a row."""
    columns = columns_of(target, fields)
    match layout_of(target):
        case "table":
            return f"writer.writerow({_joined('[', [*columns.values()], ']')})\n"
        case "columns":
            return "".join(
                f'found["{name}"].append({value})\n' for name, value in columns.items()
            )
        case "lines":
            made, name = ("", "row") if row == "row" else (f"new = {row}\n", "new")
            text = f"json.dumps({name}, ensure_ascii=False)"
            return f'{made}target.write({text} + "\\n")\n'
        case _:
            return (
                f"new = {row}\n"
                "target.write(separator + json.dumps(new, ensure_ascii=False))\n"
                'separator = ",\\n"\n'
            )


def _after(target: str) -> str:
    """Return the statement behind the loop."""
    layout = layout_of(target)
    if layout == COLUMNS:
        return "target.write(json.dumps(found, ensure_ascii=False))\n"
    end = AROUND[layout][2] if layout in AROUND and layout != LINES else ""
    return f"target.write({end!r})\n" if end else ""


def _program(source: str, target: str, body: str) -> str:
    """Return a whole script, given the statements between opening and closing files."""
    read = layout_of(source) == TABLE
    written = layout_of(target) == TABLE
    modules = [
        *(["csv"] if read or written else []),
        *([] if read and written else ["json"]),
        "sys",
    ]
    imports = "".join(f"import {name}\n" for name in modules)
    newline = ', newline=""'
    return f"""\
{imports}

def main():
    with (
        open(sys.argv[1], encoding="utf-8"{newline * read}) as source,
        open(sys.argv[2], "w", encoding="utf-8"{newline * written}) as target,
    ):
{indent(body, STEP * 2)}

main()
"""
