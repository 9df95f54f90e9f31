"""`harpia-formats judge`."""

from pathlib import Path
from typing import Any

from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.options.common import (
    ColumnsOrKeys,
    Delimiter,
    InputFormat,
    MaxRowBytes,
    Output,
    Overwrite,
    Paths,
    Quiet,
    Redact,
    ShowProgress,
)
from harpia_formats.cli.options.judging import (
    ApiKeyVariable,
    AskAgain,
    Bindings,
    Cache,
    Component,
    Concurrency,
    Definition,
    DryRun,
    Endpoint,
    JudgeModel,
    MaxRequests,
    MaxTokens,
    NoCache,
    PairedModels,
    Pairwise,
    Plain,
    RaiseOnFailure,
    Retries,
    Timeout,
    VerdictsAs,
    Votes,
)
from harpia_formats.cli.options.values import column_map
from harpia_formats.cli.output.progress import When
from harpia_formats.files.framing.limits import ROW_LIMIT


def judge(  # noqa: PLR0913 - a parameter for each option, which also makes it long
    paths: Paths = None,
    *,
    definition: Definition,
    output: Output = "-",
    to: VerdictsAs = None,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    bind: Bindings = None,
    pairwise: Pairwise = False,
    models: PairedModels = None,
    component: Component = None,
    from_: InputFormat = None,
    columns: ColumnsOrKeys = None,
    delimiter: Delimiter = None,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    judge_model: JudgeModel = None,
    endpoint: Endpoint = None,
    api_key_env: ApiKeyVariable = None,
    votes: Votes = 1,
    concurrency: Concurrency = 4,
    timeout: Timeout = None,
    retries: Retries = None,
    plain: Plain = False,
    raise_on_failure: RaiseOnFailure = None,
    cache: Cache = None,
    no_cache: NoCache = False,
    ask_again: AskAgain = False,
    max_requests: MaxRequests = None,
    max_tokens: MaxTokens = None,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Let an LLM judge each answer in some files, as a definition says.

    All input is read before the first request. Replies are kept in a cache, so
    that the same command continues a run that was stopped. The summary goes to
    standard error.

    Exit codes:
    - 0: every row has a verdict
    - 1: some rows have none, or a record is invalid
    - 2: something could not be read, written or done
    - 3: a bug in harpia-formats
    """
    if redact and dry_run:
        raise UsageError(
            "--redact and --dry-run cannot be combined: a dry run prints the prompts"
        )
    _check_models(models, pairwise=pairwise)
    cache_file = _cache_file(output, cache, is_off=no_cache)
    judge_options = {
        "component": component,
        "guarded": not plain,
        "cache": cache_file,
        "votes": votes,
        "concurrency": concurrency,
        "max_requests": max_requests,
        "max_tokens": max_tokens,
        "ask_again": ask_again,
        "api_params": _given(
            model=judge_model,
            api_base_url=endpoint,
            timeout=timeout,
            max_retries=retries,
        ),
        **_given(
            api_key_env=api_key_env,
            raise_on_failure=raise_on_failure,
            progress_bar=None if show_progress is When.AUTO and not quiet else False,
        ),
    }
    job_options = {
        "paths": paths or ["-"],
        "output": output,
        "binds": bind or [],
        "models": (models or ()) if pairwise else None,
        "overwrite": overwrite,
        "cache": cache_file,
        "reading": {
            "format_": from_,
            "columns": column_map(columns),
            "delimiter": delimiter,
            "max_row_bytes": max_row_bytes,
        },
    }
    from harpia_formats.cli.run_judge import run_judge  # noqa: PLC0415 - the help page needs no judge

    return run_judge(
        definition,
        judge_options,
        job_options,
        verdicts_as=to,
        dry_run=dry_run,
        redact=redact,
        quiet=quiet,
        show_progress=show_progress is When.ALWAYS,
    )


def _check_models(models: list[str] | None, *, pairwise: bool) -> None:
    """Raise `UsageError` unless `models` are the two of a pair, if there are any."""
    if models and not pairwise:
        raise UsageError("--model is for --pairwise")
    if models and (len(models), len(set(models))) != (2, 2):
        raise UsageError("--pairwise needs two different models: give --model twice")


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that were given; the definition decides on the others."""
    return {name: value for name, value in options.items() if value is not None}


def _cache_file(output: str, cache: Path | None, *, is_off: bool) -> Path | None:
    """Return the file that keeps replies, None if no replies are kept.

    It is beside the output if no file is given. Raises `UsageError` if a file is given
    although the cache `is_off`.
    """
    if is_off and cache is not None:
        raise UsageError("--cache and --no-cache cannot be combined; use one of them")
    if is_off or (cache is None and output == "-"):
        return None
    return cache or Path(f"{output}.judge-cache")
