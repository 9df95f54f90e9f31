"""The words that the reporters for people share."""

from collections import Counter

from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.report import FileCount, Group, Report
from harpia_formats.text.sanitize import safe

#: Code points; more than a sentence needs, and far less than a value can have.
SENTENCE = 500
#: Code points; a path that is cut cannot be clicked.
PATH = 4096


def counted(number: int, noun: str) -> str:
    """Return `number` with `noun`, in the plural where it is due."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def position(path: str, line: int, column: int) -> str:
    """Return a place as editors and terminals recognise it."""
    return f"{safe(path, PATH)}:{line}:{column}"


def label(problem: Problem) -> str:
    """Return the code of `problem`, behind its severity unless it is an error."""
    if problem.severity is Severity.ERROR:
        return safe(problem.code)
    return f"{problem.severity.value} {safe(problem.code)}"


def rule(group: Group) -> str:
    """Return the rule of `group` and the pointer that it speaks of."""
    return safe(f"{group.code} {group.name} {_where(group)}".rstrip())


def folded_file_line(path: str, count: int) -> str:
    """Return how many findings of a file are not told one by one."""
    further = counted(count, "further finding")
    return f"{safe(path, PATH)}: {further} folded under S201 other-shape"


def member_of(pointer: str) -> str:
    """Return the place at `pointer` as people write it: `input.choices[2]`."""
    name = ""
    for each in pointer.split("/")[1:]:
        step = each.replace("~1", "/").replace("~0", "~")
        name += f"[{step}]" if step.isdecimal() else f".{step}"
    return name.removeprefix(".") or "the record"


def statistics_lines(report: Report) -> list[str]:
    """Return the exact count of each rule at each pointer, the most frequent first."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for each in report.groups:
        counts[each.code, each.name, _where(each)] += each.count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = len(f"{ordered[0][1]:,}") if ordered else 0
    return [
        f"  {count:>{width},}  {safe(f'{code} {name}')}  {safe(where)}".rstrip()
        for (code, name, where), count in ordered
    ]


def _where(group: Group) -> str:
    """Return the pointer of a group, with the key that is missing there."""
    return f"{group.pointer} ({group.key})" if group.key else group.pointer


def summary_lines(report: Report) -> list[str]:
    """Return one line for each file, and a total where there are several."""
    read = [each for each in report.files if each.reason is None or each.records]
    lines = [_file_line(each) for each in read]
    if len(report.files) == 1:
        return lines
    total = f"{counted(len(report.files), 'file')}, {_verdict(report)}"
    if report.failures:
        total += f"; {counted(len(report.failures), 'file')} not read to the end"
    return [*lines, total]


def _file_line(file: FileCount) -> str:
    """Return what `file` came to, and whether it was read to the end."""
    found = _verdict(Report(files=(file,), groups=(), problems=()))
    name = ", ".join(safe(each) for each in (file.format, file.dialect) if each)
    parts = [f"{found} ({name})" if name else found]
    if not file.complete:
        parts.append("not read to the end" if file.reason else "stopped as asked")
    return f"{safe(file.path, PATH)}: {'; '.join(parts)}"


def _verdict(report: Report) -> str:
    """Return how many records of `report` are valid, and the problems found."""
    sums = report.summary()
    nouns = ("error", "warning", "note")
    problems = [counted(sums[f"{each}s"], each) for each in nouns if sums[f"{each}s"]]
    parts = [_validity(sums), ", ".join(problems)]
    return "; ".join(each for each in parts if each)


def _validity(sums: dict[str, int]) -> str:
    """Return how many records there are and how many of them are valid."""
    records = counted(sums["records"], "record")
    if not sums["records"]:
        return "no records"
    if sums["valid"] == sums["records"]:
        return f"{records}, valid" if sums["records"] == 1 else f"{records}, all valid"
    parts = [f"{sums[each]:,} {each}" for each in ("valid", "invalid", "undetermined")]
    return f"{records}: {', '.join(parts if sums['undetermined'] else parts[:2])}"
