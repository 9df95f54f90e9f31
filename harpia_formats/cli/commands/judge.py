"""`harpia-formats judge`."""

from pathlib import Path
from typing import Any

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import When
from harpia_formats.cli.streams_and_exit_codes import ExitCode, UsageError


def judge(given: Given) -> ExitCode:
    """Let an LLM judge each answer in some files, as a definition says.

    All input is read before the first request. Replies are kept in a cache, so
    that the same command continues a run that was stopped. The summary goes to
    standard error.

    Exit codes:
    - 0: every row has a verdict
    - 1: some rows have none, or a record is invalid
    - 2: something could not be read, written or done
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats judge rows.jsonl -d judge.yaml -o verdicts.json
    - harpia-formats judge rows.jsonl -d faithfulness --dry-run
    - harpia-formats judge rows.jsonl -d judge.yaml --endpoint http://localhost:8000/v1
    """
    if given.redact and given.dry_run:
        raise UsageError(
            "`--redact` and `--dry-run` cannot be combined: a dry run prints "
            "the prompts"
        )
    _check_models(given.models, pairwise=given.pairwise)
    cache_file = _cache_file(given.output, given.cache, is_off=given.no_cache)
    judge_options = {
        "component": given.component,
        "guarded": not given.plain,
        "cache": cache_file,
        "votes": given.votes,
        "concurrency": given.concurrency,
        "max_requests": given.max_requests,
        "max_tokens": given.max_tokens,
        "ask_again": given.ask_again,
        "api_params": _given(
            model=given.judge_model,
            api_base_url=given.endpoint,
            timeout=given.timeout,
            max_retries=given.retries,
        ),
        **_given(
            api_key_env=given.api_key_env,
            raise_on_failure=given.raise_on_failure,
            progress_bar=None
            if given.show_progress == When.AUTO and not given.quiet
            else False,
        ),
    }
    job_options = {
        "paths": given.paths or ["-"],
        "output": given.output,
        "binds": given.bind,
        "models": given.models if given.pairwise else None,
        "overwrite": given.overwrite,
        "cache": cache_file,
        "reading": {
            "from_": given.from_,
            "columns": given.columns,
            "delimiter": given.delimiter,
            "max_row_bytes": given.max_row_bytes,
        },
    }
    from harpia_formats.cli.run_judge import run_judge  # noqa: PLC0415 - the help page needs no judge

    return run_judge(
        given.definition,
        judge_options,
        job_options,
        verdicts_as=given.to,
        dry_run=given.dry_run,
        redact=given.redact,
        quiet=given.quiet,
        show_progress=given.show_progress == When.ALWAYS,
    )


def _check_models(models: list[str] | None, *, pairwise: bool) -> None:
    """Raise `UsageError` unless `models` are the two of a pair, if there are any."""
    if models and not pairwise:
        raise UsageError("`--model` is for `--pairwise`")
    if models and (len(models), len(set(models))) != (2, 2):
        raise UsageError(
            "`--pairwise` needs two different models: give `--model` twice"
        )


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that were given; the definition decides on the others."""
    return {name: value for name, value in options.items() if value is not None}


def _cache_file(output: str, cache: Path | None, *, is_off: bool) -> Path | None:
    """Return the file that keeps replies, None if no replies are kept.

    It is next to the output if no file is given. Raises `UsageError` if a file is given
    although the cache `is_off`.
    """
    if is_off and cache is not None:
        raise UsageError(
            "`--cache` and `--no-cache` cannot be combined; use one of them"
        )
    if is_off or (cache is None and output == "-"):
        return None
    return cache or Path(f"{output}.judge-cache")
