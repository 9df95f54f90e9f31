"""Validate what the inputs of the GitHub Action name, and set its outputs.

The inputs are environment variables, and go to the command as arguments: no shell reads
them. The only argument is where the JSON report goes. The exit code is that of
`harpia-formats validate`, and 2 for inputs that cannot be used.
"""

import json
import os
import re
import secrets
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

#: What the runner shows at a place in a file. It obeys other commands, too, and finds
#: some of them inside of lines, so everything else is shown while it obeys none.
_ANNOTATION = re.compile(rb"::(error|warning|notice) ")


class InputError(Exception):
    """An input of the action cannot be used; its text says why."""


def arguments_of(inputs: Mapping[str, str], report: str) -> list[str]:
    """Return the arguments of `harpia-formats`; raises `InputError`.

    `report` is the path of the JSON report.
    """
    paths = list(filter(None, map(str.strip, inputs["INPUT_PATHS"].splitlines())))
    if not paths:
        raise InputError("the input paths names no file")
    try:
        more = shlex.split(inputs.get("INPUT_ARGS", ""))
    except ValueError as error:
        raise InputError(
            f"the input args has a quote that is not closed: {error}"
        ) from None
    # The last one of an option counts, and annotations are what the action is for.
    arguments = [*more, "--output-format", "github", f"--report=json={report}"]
    if sarif := inputs.get("INPUT_SARIF_FILE"):
        arguments.append(f"--report=sarif={sarif}")
    if format_ := inputs.get("INPUT_FORMAT"):
        arguments.append(f"--format={format_}")
    return ["validate", *arguments, "--", *paths]


def environment_of(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the command, with a summary of the job if it is wanted.

    Raises `InputError` for a value that is neither true nor false.
    """
    wanted = inputs.get("INPUT_SUMMARY", "true")
    if wanted not in {"true", "false"}:
        raise InputError("the input summary is neither true nor false")
    found = dict(inputs)
    if wanted == "false":
        found.pop("GITHUB_STEP_SUMMARY", None)
    return found


def run(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Run the command, show what it prints byte for byte, and return its exit code."""
    command = [sys.executable, "-m", "harpia_formats", *arguments]
    annotations = []
    token = secrets.token_hex(16).encode()
    log = sys.stdout.buffer
    log.write(b"::stop-commands::%b\n" % token)
    log.flush()
    with subprocess.Popen(  # noqa: S603 - our own command, without a shell
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        for line in process.stdout or ():
            if _ANNOTATION.match(line):
                annotations.append(line)
            else:
                log.write(line)
                log.flush()
    log.write(b"::%b::\n" % token + b"".join(annotations))
    log.flush()
    return process.returncode


def write_outputs(report: Path, place: str) -> None:
    """Add the outputs of the step to the file at `place`, from the JSON report.

    There are no counts if no file was read.
    """
    lines = []
    if report.is_file():
        found = json.loads(report.read_bytes())
        files, summary = found["files"], found["summary"]
        if not files or any(one["records"] or not one["reason"] for one in files):
            lines += [f"{name}={summary[name]:d}" for name in ("errors", "warnings")]
        lines.append(f"report={report}")
    with Path(place).open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def main() -> int:
    """Return the exit code of the step."""
    report = Path(sys.argv[1])
    try:
        arguments = arguments_of(os.environ, str(report))
        environment = environment_of(os.environ)
    except InputError as error:
        print(f"::error title=harpia-formats::{error}")
        return 2
    code = run(arguments, environment)
    write_outputs(report, os.environ["GITHUB_OUTPUT"])
    if code == 0 and not report.is_file():  # as with --help
        print("::error title=harpia-formats::nothing was validated; see the input args")
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
