"""Records of several models, and readers of the tables that are published."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from markdown_it import MarkdownIt

from harpia_formats.model.result import Result
from harpia_formats.reporters.tables import Form, form_lines

#: Models, of which each gets other questions wrong.
FOUR = {"heron-7b": 9, "heron-13b": 11, "finch_3b": 3, "wren & co": 2}
#: What means something in Markdown, LaTeX, CSV or HTML.
NASTY = r"""a_b*c `d` <e> &amp; |f| \g {h} [i](j) $k$ 50% #1 ~m^n ,"o" --p"""

_KINDS = ("tabular", "longtable")


def rows_of(
    wrong: Mapping[str, int], questions: int = 40, category: str = "even"
) -> list[dict[str, Any]]:
    """Return records whose outputs are the answers of models."""
    return [
        {
            "id": number,
            "prompt": f"question {number}",
            "references": [f"the answer {number}"],
            "category": category if number % 2 == 0 else "odd",
            "outputs": [
                {
                    "model": model,
                    "text": f"the answer {number}" if number % every else "no",
                }
                for model, every in wrong.items()
            ],
        }
        for number in range(1, questions + 1)
    ]


def form_text(form: Form, result: Result, **options: Any) -> str:
    """Return a result in a form."""
    return "".join(f"{line}\n" for line in form_lines(result, form, **options))


def tables_in(markdown: str) -> list[list[list[str]]]:
    """Return the cells of the tables in Markdown as a reader sees them, with bold."""
    page = MarkdownIt("commonmark").enable("table").render(markdown)
    return [
        [
            [
                unescape(re.sub(r"</?code>", "", cell))
                for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", line)
            ]
            for line in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
        ]
        for table in re.findall(r"<table>(.*?)</table>", page, re.DOTALL)
    ]


def cells_of(markdown: str) -> list[list[str]]:
    """Return the cells of the only table in Markdown."""
    (table,) = tables_in(markdown)
    return table


def latex_rows(text: str) -> list[list[str]]:
    """Return the cells of the rows of a LaTeX table; they must be well-formed."""
    check_latex(text)
    end = min(text.find(f"\\end{{{kind}}}") % len(text) for kind in _KINDS)
    # A long table has its head twice.
    body = text[text.rindex("\\toprule", 0, end) : end]
    lines = [line for line in body.splitlines() if line.endswith("\\\\")]
    return [re.split(r"(?<!\\) & ", line.removesuffix(" \\\\")) for line in lines]


def check_latex(text: str) -> None:
    """Check braces, environments, and that no character is special unescaped."""
    text = re.sub(r"^% .*\n", "", text, flags=re.MULTILINE)
    commands = set(re.findall(r"\\([A-Za-z]+|.|\n)", text))
    known = "begin end centering caption toprule midrule bottomrule par medskip textbf"
    known += " linewidth footnotesize raggedright texttt allowbreak uparrow downarrow"
    known += " textbackslash textasciitilde textasciicircum textless textgreater dagger"
    known += " textbar textasciigrave leq endfirsthead endhead endfoot noindent"
    known += " shortstack scriptsize parbox strut addlinespace setlength tabcolsep"
    assert commands <= {*known.split(), *"&%_#{}$\\"}
    depth, opened = 0, []
    for found in re.finditer(r"\\(begin|end)\{(\w+)\}|\\.|[{}]", text, re.DOTALL):
        if found[1] == "begin":
            opened.append(found[2])
        elif found[1] == "end":
            assert opened.pop() == found[2]
        else:
            depth += {"{": 1, "}": -1}.get(found[0], 0)
        assert depth >= 0
    assert (depth, opened) == (0, [])
    bare = re.sub(r"\\.", "", text)
    assert not re.search(r"[%#~_]", bare)
    assert bare.count("$") % 2 == 0
    # A bracket or star behind the end of a row would be an argument of it.
    assert not re.search(r"\\\\\s*[\[*]", text)
    tables = re.findall(
        r"\\begin\{(?:tabular|longtable)\}\{(\w+)\}(.*?)\\end\{", text, re.DOTALL
    )
    for columns, body in tables:
        rows = re.findall(r"^(?!\\caption)(.*) \\\\$", body, re.MULTILINE)
        counts = {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows}
        assert counts == {len(columns)}
