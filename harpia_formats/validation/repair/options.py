"""The options of a repair, beside those of the validation that finds what to repair."""

from dataclasses import dataclass
from os import PathLike

from harpia_formats.model.errors import OptionError
from harpia_formats.validation.options import Options


@dataclass(frozen=True, slots=True)
class FixOptions:
    """The options of a repair; the defaults are those of the command line."""

    #: Make also repairs that can hide what was wrong.
    unsafe: bool = False
    #: Show the changes as a unified diff, and write nothing.
    diff: bool = False
    #: The file that is written in the place of the input, which is one file then.
    output: PathLike[str] | str | None = None
    #: Replace an existing output.
    overwrite: bool = False


def check_combination(options: Options, fix: FixOptions) -> None:
    """Raise `OptionError` for options that a repair cannot be combined with."""
    for name, value in (("limit", options.limit), ("fail-fast", options.fail_fast)):
        if value:
            raise OptionError(
                f"--{name} and --fix cannot be combined: a file is repaired whole"
            )
    if options.cross_check:
        raise OptionError(
            "--cross-check and --fix cannot be combined: repair first, and then "
            "validate with --cross-check"
        )
    if fix.diff and options.redact:
        raise OptionError(
            "--redact and --diff cannot be combined: a diff shows lines of the files"
        )
    if fix.diff and fix.output is not None:
        raise OptionError("--diff writes nothing; leave out --output or --diff")
