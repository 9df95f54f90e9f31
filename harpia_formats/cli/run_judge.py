"""Run the LLM judge for the command `judge`; imported only when rows are judged."""

import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from harpia_formats.cli.progress_and_problems import (
    Progress,
    UnitsDone,
    When,
    print_failures,
)
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    Terminated,
    print_error,
    text_writer,
    write_stderr,
)
from harpia_formats.evaluation.llm_judge.judge import LLMJudge, resume_hint, summary_of
from harpia_formats.evaluation.llm_judge.judge_files import (
    FileJob,
    verdict_format,
)
from harpia_formats.evaluation.llm_judge.verdicts import (
    FAILED,
    OK,
    UNASKED,
    JudgeError,
    RowError,
    Verdict,
)
from harpia_formats.files.io.sink import standard_output
from harpia_formats.model.report import Report, ValidationFailed
from harpia_formats.model.safe_text import safe
from harpia_formats.validation.redaction import errors_shown, redacting

#: Rows without a verdict that are printed one by one; the others are counted.
_PRINTED_FAILURES = 5
#: What is printed of an error whose message may hold values of records.
_HIDDEN = "the rows cannot be judged; the reason is shown only without `--redact`"
#: Code points of the place of a row.
_PLACE = 200


def run_judge(  # noqa: PLR0913 - two groups of options and what the command adds
    definition: Path,
    judge_options: Mapping[str, Any],
    job_options: Mapping[str, Any],
    *,
    verdicts_as: str | None,
    dry_run: bool,
    redact: bool,
    quiet: bool,
    show_progress: bool,
) -> ExitCode:
    """Judge the rows of some files, or print their prompts if `dry_run`.

    `judge_options` are those of `LLMJudge.from_definition`, `job_options` those of
    `FileJob`, and `verdicts_as` is the name of the output format. With `redact`, no
    value of a record is printed. Returns the exit code, after errors are printed.
    """
    # Without it the judge shows a bar on a terminal, as its definition says.
    progress = Progress(quiet=True, when=When.ALWAYS if show_progress else When.NEVER)
    redaction = redacting(is_on=redact)
    try:
        judge = LLMJudge.from_definition(definition, **judge_options)
        shape = verdict_format(verdicts_as, job_options["output"])
    except JudgeError as error:  # no record is read yet
        print_error(str(error))
        return ExitCode.UNABLE
    with errors_shown(redaction):
        try:
            job = FileJob(judge, shape=shape, **job_options)
            if dry_run:
                return _print_prompts(job)
            return _judge_rows(job, progress, redact=redact, quiet=quiet)
        except JudgeError as error:
            print_error(_HIDDEN if redact else str(error))
            return ExitCode.FOUND if isinstance(error, RowError) else ExitCode.UNABLE
        except ValidationFailed as error:
            report = error.report
            shown = report if redaction is None else redaction.report(report)
            return _print_invalid_input(shown)


def _print_prompts(job: FileJob) -> ExitCode:
    """Print the prompt of each row and the counts; send nothing."""
    rows, _ = job.rows()
    counts = job.dry_run(rows, text_writer(sys.stdout))
    sys.stdout.flush()
    write_stderr(f"{counts}\n")
    _print_unpaired(job)
    return ExitCode.OK


def _judge_rows(
    job: FileJob, progress: Progress, *, redact: bool, quiet: bool
) -> ExitCode:
    """Judge the rows and write their verdicts; print failures and a summary."""
    job.check()
    # Without a key nothing needs to be read.
    job.judge.warm_up()
    rows, total = job.rows()
    nouns = "votes" if job.judge.votes > 1 else "rows"
    failed: list[Verdict] = []
    try:
        with progress, closing(job.run(rows, total, standard_output())) as verdicts:
            for number, verdict in enumerate(verdicts, 1):
                progress.update(UnitsDone("judged", nouns, number, total))
                if verdict.status != OK and len(failed) < _PRINTED_FAILURES:
                    failed.append(verdict)
    except (KeyboardInterrupt, Terminated, RowError) as error:
        hint = resume_hint(job.cache, error if isinstance(error, RowError) else None)
        write_stderr(f"{summary_of(job.judge)}\n{hint}\n")
        raise
    finally:
        job.judge.close()
    shown = [] if redact else failed
    for verdict in shown:
        write_stderr(f"{safe(verdict.row.place, _PLACE)}: {verdict.error}\n")
    tally = job.judge.tally
    others = tally[FAILED] + tally[UNASKED] - len(shown)
    if others:
        write_stderr(f"... and {others:,} more {nouns} without a verdict\n")
    if failed or not quiet:
        write_stderr(f"{summary_of(job.judge)}\n")
        _print_unpaired(job)
    if tally[UNASKED]:
        hint = resume_hint(job.cache, overwriting=job.must_overwrite)
        write_stderr(f"{hint}\n")
    return ExitCode.FOUND if failed else ExitCode.OK


def _print_unpaired(job: FileJob) -> None:
    """Print how many answers are in no pair, if there are any."""
    count = job.pairing.unpaired if job.pairing else 0
    if count:
        answers = "answer is" if count == 1 else "answers are"
        write_stderr(
            f"{count:,} {answers} left out: the other model has none in a record with "
            "the same id, prompt and references\n"
        )


def _print_invalid_input(report: Report) -> ExitCode:
    """Print what is wrong with the input; return the exit code."""
    from harpia_formats.reporters.concise import line_of  # noqa: PLC0415 - only for invalid input

    for problem in report.problems:
        write_stderr(f"{line_of(problem)}\n")
    failures = report.failures
    print_failures(failures)
    return ExitCode.UNABLE if failures else ExitCode.FOUND
