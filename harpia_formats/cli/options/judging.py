"""Options of `judge`."""

from pathlib import Path
from typing import Annotated

import typer

from harpia_formats.cli.options.declare import READING, flag, number, text

REQUESTS, FAILURES, COSTS = "Requests", "Failures", "Cache and limits"

Definition = Annotated[
    Path,
    text(
        "FILE",
        "Definition of the judge: YAML or JSON, a component or pipeline that Haystack "
        "dumped, or an included one: faithfulness, context-relevance.",
        "--definition",
        "-d",
    ),
]
VerdictsAs = Annotated[
    str | None,
    text(
        "NAME",
        "json (one object with results and meta) or jsonl (one line per row); by the "
        "name of the output if not given.",
        "--to",
        "-t",
    ),
]
DryRun = Annotated[
    bool, flag("--dry-run", "Print the prompts and their number; send nothing.")
]
Bindings = Annotated[
    list[str] | None,
    text(
        "NAME=PATH",
        "Field of a record for an input of the judge, such as responses=outputs.text "
        "(repeatable).",
        "--bind",
        panel=READING,
    ),
]
Pairwise = Annotated[
    bool,
    flag(
        "--pairwise",
        "Judge pairs of answers of two models to one question, in both orders.",
        panel=READING,
    ),
]
PairedModels = Annotated[
    list[str] | None,
    text(
        "NAME",
        "One of the two models of --pairwise, if there are more (given twice).",
        "--model",
        panel=READING,
    ),
]
Component = Annotated[
    str | None,
    text("NAME", "Definition to use if the file has several.", panel=READING),
]
JudgeModel = Annotated[
    str | None,
    text(
        "NAME",
        "Model that judges; that of the definition if not given.",
        "--judge-model",
        panel=REQUESTS,
    ),
]
Endpoint = Annotated[
    str | None,
    text(
        "URL",
        "OpenAI-compatible endpoint, such as http://localhost:8000/v1.",
        panel=REQUESTS,
    ),
]
ApiKeyVariable = Annotated[
    str | None,
    text(
        "NAME",
        "Environment variable that holds the API key; OPENAI_API_KEY if not given.",
        panel=REQUESTS,
    ),
]
Concurrency = Annotated[
    int, number("Requests at the same time.", least=1, most=256, panel=REQUESTS)
]
Votes = Annotated[
    int,
    number(
        "Replies that are asked for each row, each with another seed.",
        least=1,
        most=100,
        panel=REQUESTS,
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        metavar="SECONDS",
        help="Time limit of one request; 30 if not given.",
        rich_help_panel=REQUESTS,
    ),
]
Retries = Annotated[
    int | None,
    number("Retries of a failed request; 5 if not given.", panel=REQUESTS),
]
Plain = Annotated[
    bool,
    flag(
        "--plain",
        "Send exactly the prompt of Haystack's LLMEvaluator, without marks around "
        "data, and parse replies as leniently.",
        panel=REQUESTS,
    ),
]
RaiseOnFailure = Annotated[
    bool | None,
    typer.Option(
        "--raise-on-failure/--no-raise-on-failure",
        metavar="",
        help="Stop at the first row without a verdict, or write null for it; as in the "
        "definition if not given.",
        show_default=False,
        rich_help_panel=FAILURES,
    ),
]
Cache = Annotated[
    Path | None,
    text(
        "FILE", "File that keeps replies; beside the output if not given.", panel=COSTS
    ),
]
NoCache = Annotated[
    bool,
    flag("--no-cache", "Keep no replies, and send a request per row.", panel=COSTS),
]
AskAgain = Annotated[
    bool,
    flag(
        "--ask-again",
        "Repeat requests whose reply in the cache gives no verdict.",
        panel=COSTS,
    ),
]
MaxRequests = Annotated[
    int | None,
    number("Send at most N requests, including retries.", panel=COSTS),
]
MaxTokens = Annotated[
    int | None,
    number("Send no more requests once N tokens are used.", panel=COSTS),
]
