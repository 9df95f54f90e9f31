"""The rules G2 of Alpaca's instructions, for rows that their schema allows."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_bad = '{"instruction": "%s", "input": "%s", "output": "rio"}\n'


def _row(instruction: str, given: str) -> bytes:
    """Return a row with an instruction and an input."""
    return (_bad % (instruction, given)).encode()


RULES = (
    Rule(
        "G201",
        "input-alone",
        Severity.WARNING,
        "An instruction should not be empty if there is an input.",
        "The input is what the instruction is about. Without an instruction the prompt "
        "does not say what is to be done.",
        _row("", "river"),
        _row("Traduza para o português.", "river"),
        "alpaca",
    ),
    Rule(
        "G202",
        "input-says-none",
        Severity.WARNING,
        "An input that is not there should be empty text.",
        "The generator of the first such set wrote <noinput> where an instruction has "
        "none, and removed it at the end. Where it is left, it is read as an input, "
        "and the model gets it in its prompt.",
        _row("Diga uma palavra que rime com frio.", "<noinput>"),
        _row("Diga uma palavra que rime com frio.", ""),
        "alpaca",
    ),
)
