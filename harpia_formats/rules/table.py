"""J3: rules on tables, whatever their columns."""

from harpia_formats.model.problem import Severity
from harpia_formats.rules import Rule

RULES = (
    Rule(
        "J301",
        "unclosed-quote",
        Severity.ERROR,
        "A field that begins with a quote must end with one, and double those inside.",
        "Otherwise a field ends too early, or runs on into the rows below it. Where a "
        "field runs on, the quote that opens it is marked, in the line where it went "
        "wrong; reading goes on in the next line, so that no row is swallowed.",
        b'prompt,response\n"What is "1 + 1"?",2\n',
        b'prompt,response\n"What is ""1 + 1""?",2\n',
        "csv",
    ),
    Rule(
        "J302",
        "nul-byte",
        Severity.ERROR,
        "A table must not hold NUL bytes, except in quotes.",
        "Many programs end the text there, or refuse the file. Usually the file is "
        "UTF-16, or was not written to its end; save it as UTF-8. In a quoted field it "
        "is taken for the text that it is.",
        b"prompt,response\nWhat is 1\0+ 1?,2\n",
        b"prompt,response\nWhat is 1 + 1?,2\n",
        "csv",
    ),
    Rule(
        "J303",
        "lone-carriage-return",
        Severity.ERROR,
        "A row must end with LF or CRLF.",
        "Some programs end a row at a carriage return alone, as is done here, others "
        "do not. It is said once for each line that a line feed ends. Save the file "
        "with LF or CRLF, and put a field that holds a carriage return in quotes.",
        b"prompt,response\rWhat is 1 + 1?,2\n",
        b"prompt,response\nWhat is 1 + 1?,2\n",
        "csv",
    ),
    Rule(
        "J304",
        "field-count",
        Severity.ERROR,
        "A row must have as many fields as the header.",
        "Nearly always a field has a comma or a line end and is not in quotes, so that "
        "the fields behind it stand in the wrong columns.",
        b"prompt,response\nWhat is 1, and 1 more?,2\n",
        b'prompt,response\n"What is 1, and 1 more?",2\n',
        "csv",
    ),
    Rule(
        "J305",
        "repeated-column",
        Severity.ERROR,
        "The header must not name a column twice.",
        "Most programs keep one of the columns and drop the other without a word, and "
        "not all of them the same one.",
        b"prompt,response,prompt\nWhat is 1 + 1?,2,What is 1 + 1?\n",
        b"prompt,response\nWhat is 1 + 1?,2\n",
        "csv",
    ),
    Rule(
        "J306",
        "other-delimiter",
        Severity.WARNING,
        "The fields of a table must be set apart by commas.",
        "A header of one column that holds semicolons, tabs or bars is nearly always "
        "one of several columns, written for another convention.",
        b"prompt;response\n2+2?;4\n",
        b"prompt,response,note\n2+2?,4,\n",
        "csv",
    ),
)
