"""J3: rules on CSV files, independent of their columns."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

FORMULA_CELL = "J308"

RULES = (
    Rule(
        "J301",
        "unclosed-quote",
        Severity.ERROR,
        "A field that starts with a quote must end with one, and quotes inside it must "
        "be doubled.",
        "Otherwise the field ends too early, or continues into the following rows. If "
        "it continues, the place is the quote that opens it, and reading continues in "
        "the next line, so that no row is lost.",
        b'prompt,response\n"What is "1 + 1"?",2\n',
        b'prompt,response\n"What is ""1 + 1""?",2\n',
        "csv",
    ),
    Rule(
        "J302",
        "nul-byte",
        Severity.ERROR,
        "A CSV file must not contain NUL bytes outside of quotes.",
        "Many programs end the text there, or refuse the file. Usually the file is "
        "UTF-16, or was not written completely; save it as UTF-8. In a quoted field a "
        "NUL byte is read as text.",
        b"prompt,response\nWhat is 1\0+ 1?,2\n",
        b"prompt,response\nWhat is 1 + 1?,2\n",
        "csv",
    ),
    Rule(
        "J303",
        "lone-carriage-return",
        Severity.ERROR,
        "A row must end with LF or CRLF.",
        "Some programs end a row at a carriage return alone, as this one does; others "
        "do not. It is reported once for each line that ends with a line feed. Save "
        "the file with LF or CRLF, and quote fields that contain a carriage return.",
        b"prompt,response\rWhat is 1 + 1?,2\n",
        b"prompt,response\nWhat is 1 + 1?,2\n",
        "csv",
    ),
    Rule(
        "J304",
        "field-count",
        Severity.ERROR,
        "A row must have as many fields as the header.",
        "Usually a field contains a comma or a line end and is not quoted, so that the "
        "following fields are in the wrong columns.",
        b"prompt,response\nWhat is 1, and 1 more?,2\n",
        b'prompt,response\n"What is 1, and 1 more?",2\n',
        "csv",
    ),
    Rule(
        "J305",
        "repeated-column",
        Severity.ERROR,
        "The header must not name a column twice.",
        "Most programs keep one of the columns and silently drop the other, and they "
        "do not agree on which.",
        b"prompt,response,prompt\nWhat is 1 + 1?,2,What is 1 + 1?\n",
        b"prompt,response\nWhat is 1 + 1?,2\n",
        "csv",
    ),
    Rule(
        "J306",
        "other-delimiter",
        Severity.WARNING,
        "The fields of a CSV file must be separated by commas.",
        "A header with one column that contains semicolons, tabs or vertical bars "
        "usually means several columns with another delimiter.",
        b"prompt;response\n2+2?\n",
        b"prompt,response,note\n2+2?,4,\n",
        "csv",
    ),
    Rule(
        "J307",
        "wrong-delimiter",
        Severity.ERROR,
        "The fields of a table must be separated by the delimiter it is read with.",
        "The header is one column, and another delimiter cuts it and the first row "
        "into equally many fields: spreadsheets write semicolons or tabs, input "
        "methods full-width commas. No row was read. Name it with "
        "--delimiter; files called .tsv are read with tabs. "
        "--unsafe-fixes replaces a full-width one.",
        b"prompt;response\n2+2?;4\n",
        b"prompt,response,note\n2+2?,4,\n",
        "csv",
    ),
    Rule(
        FORMULA_CELL,
        "formula-cell",
        Severity.NOTE,
        "A cell should not begin like a formula, which a spreadsheet would run.",
        "Excel, LibreOffice and Google Sheets take a cell that begins with =, +, -, @, "
        "a tab or a carriage return for a formula, also one that sends what is in "
        "other cells to a web server (CSV injection). Numbers are no problem. Convert "
        "with --csv-safe, which writes an apostrophe before such a cell; "
        "--from-csv-safe takes it back.",
        b'prompt,response\nWhat is 1 + 1?,"=HYPERLINK(""http://x.example"")"\n',
        b"prompt,response\nWhat is 1 - 2?,-1\n",
        "csv",
        lint=True,
    ),
)
