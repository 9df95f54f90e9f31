"""`harpia-formats judge`."""

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harpia_formats.cli.guard import (
    FOUND,
    OK,
    UNABLE,
    Terminated,
    complain,
    guarded,
    say,
    write_to,
)
from harpia_formats.cli.settings import columns_of
from harpia_formats.framing.limits import ROW_LIMIT
from harpia_formats.text.sanitize import safe

if TYPE_CHECKING:  # the page of help needs none of it
    from harpia_formats.llm_judge.run.file_job import FileJob
    from harpia_formats.llm_judge.run.llm_judge import LLMJudge
    from harpia_formats.llm_judge.run.verdicts import Verdict
    from harpia_formats.model.report import ValidationFailed

#: The parts of the help page.
ASKING, PAYING, READING = "Asking", "Paying once", "Reading"
#: Rows without a verdict that are told one by one.
_told = 5


def judge(  # noqa: PLR0913 - one parameter for each option of the command
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATHS]",
            help="Files, folders or patterns; standard input if none is given.",
            show_default=False,
        ),
    ] = None,
    *,
    definition: Annotated[
        Path,
        typer.Option(
            "--definition",
            "-d",
            metavar="FILE",
            help="What the judge is: YAML or JSON, or a component or pipeline that "
            "Haystack dumped.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to; - is standard output."
        ),
    ] = "-",
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            "-t",
            metavar="HOW",
            help="json, one object with results and meta, or jsonl, a line for each "
            "row; by the output's name if not given.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", metavar="", help="Replace an output that is there."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", metavar="", help="Print prompts and counts, and send nothing."
        ),
    ] = False,
    bind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="The field of a record that an input is, such as "
            "responses=outputs.text; again for each input.",
            rich_help_panel=READING,
        ),
    ] = None,
    component: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which definition, where the file has several.",
            rich_help_panel=READING,
        ),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            "-f",
            metavar="ID",
            help="Format of the inputs; recognised by content if not given.",
            rich_help_panel=READING,
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Columns of CSV or Haystack for these fields, with commas between.",
            rich_help_panel=READING,
        ),
    ] = None,
    max_row_bytes: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="A longer row is an error; 16 MiB if not given.",
            show_default=False,
            rich_help_panel=READING,
        ),
    ] = ROW_LIMIT,
    model: Annotated[
        str | None,
        typer.Option(
            "--judge-model",
            metavar="NAME",
            help="The model that judges; that of the definition if not given.",
            rich_help_panel=ASKING,
        ),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="An OpenAI-compatible endpoint, such as http://localhost:8000/v1.",
            rich_help_panel=ASKING,
        ),
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The variable that holds the key; OPENAI_API_KEY if not given.",
            rich_help_panel=ASKING,
        ),
    ] = None,
    concurrency: Annotated[
        int,
        typer.Option(
            min=1,
            max=256,
            metavar="N",
            help="Requests at a time.",
            rich_help_panel=ASKING,
        ),
    ] = 4,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            help="For one request; 30 if not given.",
            rich_help_panel=ASKING,
        ),
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Of a request that failed; 5 if not given.",
            rich_help_panel=ASKING,
        ),
    ] = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            metavar="",
            help="The very prompt of Haystack's LLMEvaluator, without marks around "
            "data, and its lenient reading of replies.",
            rich_help_panel=ASKING,
        ),
    ] = False,
    raise_on_failure: Annotated[
        bool | None,
        typer.Option(
            "--raise-on-failure/--no-raise-on-failure",
            help="Stop at the first row without a verdict, or give it null; as in the "
            "definition if not given.",
            show_default=False,
            rich_help_panel=ASKING,
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where replies are kept; beside the output if not given.",
            rich_help_panel=PAYING,
        ),
    ] = None,
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache",
            metavar="",
            help="Keep no replies, and ask for every row.",
            rich_help_panel=PAYING,
        ),
    ] = False,
    ask_again: Annotated[
        bool,
        typer.Option(
            "--ask-again",
            metavar="",
            help="Ask once more where the reply that is kept gives no verdict.",
            rich_help_panel=PAYING,
        ),
    ] = False,
    max_requests: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Send no more requests than that, retries included.",
            rich_help_panel=PAYING,
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Send no more requests once so many tokens were used.",
            rich_help_panel=PAYING,
        ),
    ] = None,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", metavar="", help="No summary and no progress."),
    ] = False,
) -> None:
    """Have a model judge each answer in some files, by a definition.

    All of the input is read before anything is asked. Replies are kept in a cache, so
    the same command goes on where it was stopped. The summary goes to standard error.

    Exit codes: 0 every row has a verdict, 1 some have none, or an invalid record, 2
    something could not be read, written or done, 3 a bug in harpia-formats.
    """
    with guarded():
        from harpia_formats.llm_judge.errors import JudgeError, RowError  # noqa: PLC0415 - help needs nothing
        from harpia_formats.llm_judge.run.write_verdicts import verdict_format  # noqa: PLC0415 - likewise
        from harpia_formats.model.report import ValidationFailed  # noqa: PLC0415 - likewise

        # What is given here takes the place of what the definition says.
        endpoint_given = {
            "model": model,
            "api_base_url": endpoint,
            "timeout": timeout,
            "max_retries": retries,
        }
        given = {
            "api_key_env": api_key_env,
            "raise_on_failure": raise_on_failure,
            "progress_bar": False if quiet else None,
        }
        file = _cache_beside(output, cache, unwanted=no_cache)
        try:
            job = _job(
                _judge_from(
                    definition,
                    component=component,
                    api_params=_given(endpoint_given),
                    guarded=not plain,
                    cache=file,
                    concurrency=concurrency,
                    max_requests=max_requests,
                    max_tokens=max_tokens,
                    ask_again=ask_again,
                    **_given(given),
                ),
                paths or ["-"],
                output,
                bind or [],
                shape=verdict_format(to, output),
                overwrite=overwrite,
                cache=file,
                reading={
                    "format_": from_,
                    "columns": columns_of(columns),
                    "max_row_bytes": max_row_bytes,
                },
            )
            code = _shown(job) if dry_run else _judged(job, quiet=quiet)
        except JudgeError as error:
            complain(str(error))
            code = FOUND if isinstance(error, RowError) else UNABLE
        except ValidationFailed as error:
            code = _refused(error)
        raise SystemExit(code)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in options.items() if each is not None}


def _cache_beside(output: str, cache: Path | None, *, unwanted: bool) -> Path | None:
    """Return the file for replies; beside the output if there is one."""
    if unwanted and cache is not None:
        complain("--cache and --no-cache exclude each other")
        raise SystemExit(UNABLE)
    if unwanted or (cache is None and output == "-"):
        return None
    return cache or Path(f"{output}.judge-cache")


def _judge_from(definition: Path, **options: Any) -> "LLMJudge":
    from harpia_formats.llm_judge.run.llm_judge import LLMJudge  # noqa: PLC0415 - help needs nothing

    return LLMJudge.from_definition(definition, **options)


def _job(*given: Any, **more: Any) -> "FileJob":
    from harpia_formats.llm_judge.run.file_job import file_job  # noqa: PLC0415 - help needs nothing

    return file_job(*given, **more)


def _shown(job: "FileJob") -> int:
    """Print prompts and counts; return the exit code."""
    rows, _ = job.rows()
    said = job.show(rows, write_to(sys.stdout))
    sys.stdout.flush()
    say(f"{said}\n")
    return OK


def _judged(job: "FileJob", *, quiet: bool) -> int:
    """Judge, and say what came of it; return the exit code."""
    from harpia_formats.llm_judge.errors import RowError  # noqa: PLC0415 - help needs nothing
    from harpia_formats.llm_judge.run.summary import resume_hint, summary_of  # noqa: PLC0415 - likewise

    job.check()
    # Without a key nothing needs to be read.
    job.judge.warm_up()
    rows, total = job.rows()
    failed: list[Verdict] = []
    try:
        with closing(job.run(rows, total, sys.stdout.buffer)) as verdicts:
            for each in verdicts:
                if each.status != "ok":
                    failed.append(each)
                    del failed[_told:]
    except (KeyboardInterrupt, Terminated, RowError):
        say(f"{summary_of(job.judge)}\n{resume_hint(job.cache)}\n")
        raise
    finally:
        job.judge.close()
    for each in failed:
        say(f"{safe(each.row.place, 200)}: {each.error}\n")
    tally = job.judge.tally
    rest = tally.failed + tally.unasked - len(failed)
    if rest:
        say(f"... and {rest:,} more rows without a verdict\n")
    if failed or not quiet:
        say(f"{summary_of(job.judge)}\n")
    if tally.unasked:
        say(f"{resume_hint(job.cache, overwriting=job.is_in_the_way)}\n")
    return FOUND if failed else OK


def _refused(error: "ValidationFailed") -> int:
    """Say what is wrong with the input; return the exit code."""
    from harpia_formats.reporters.concise import line_of  # noqa: PLC0415 - only where something is wrong

    for problem in error.report.problems:
        say(f"{line_of(problem)}\n")
    for each in error.report.failures:
        complain(f"{each.path}: {each.reason}")
    return UNABLE if error.report.failures else FOUND
