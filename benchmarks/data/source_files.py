"""Write the samples of `data.samples` as files of every record format."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from data.generate import Value
from data.samples import Sample, samples
from harpia_formats.formats.registry import adapter_of, writable_formats
from harpia_formats.model.format import Container

RUN, NAME = "demo/model/1751729998", "demo"
#: The kind of text whose files are ASCII, with \\u escapes.
ESCAPED = "escapes"


def eee(sample: Sample) -> Value:
    """Return a row of EvalEval 0.2.0."""
    return {
        "schema_version": "0.2.0",
        "evaluation_id": RUN,
        "model_id": sample.model,
        "evaluation_name": NAME,
        "sample_id": sample.id,
        "sample_hash": sha256(
            (sample.question + sample.reference).encode()
        ).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": sample.question, "reference": sample.reference},
        "output": {"raw": sample.answer},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": sample.reference,
                "extraction_method": "regex",
                "is_terminal": True,
            }
        ],
        "evaluation": {
            "score": sample.score,
            "is_correct": sample.is_correct,
            "num_turns": 1,
        },
        "token_usage": {
            "input_tokens": len(sample.question),
            "output_tokens": len(sample.answer),
            "total_tokens": len(sample.question) + len(sample.answer),
        },
        "performance": {"latency_ms": len(sample.answer) * 1.5},
        "metadata": {
            "subject": sample.subject,
            "difficulty": sample.difficulty,
            "split": "test",
        },
    }


def eee_tag(sample: Sample) -> Value:
    """Return a row of EvalEval as in the tag v0.2.0: the reference is a list."""
    row = eee(sample)
    row["schema_version"] = "instance_level_eval_0.2.0"
    row["input"]["reference"] = [sample.reference]
    row["output"]["raw"] = [sample.answer]
    return row


def eee_new(sample: Sample) -> Value:
    """Return a row of EvalEval 0.3.0: values of metadata are text."""
    row = eee_tag(sample)
    row["schema_version"] = "0.3.0"
    row["metadata"]["difficulty"] = str(sample.difficulty)
    return row


def harpia(sample: Sample) -> Value:
    """Return an instance of HarpIA."""
    return {
        "id": sample.id,
        "input": sample.question,
        "expected-output": [sample.reference],
        "actual-output": sample.answer,
    }


def nemo_input(sample: Sample) -> Value:
    """Return a question of NeMo."""
    return {
        "prompt": sample.question,
        "ideal_response": sample.reference,
        "category": sample.subject,
        "source": "demo.jsonl",
    }


def nemo_output(sample: Sample) -> Value:
    """Return a question and an answer of NeMo."""
    question = nemo_input(sample)
    return {"input": question, "response": sample.answer, "llm_name": sample.model}


def tencent_messages(sample: Sample) -> Value:
    """Return a chat of Tencent with its reference."""
    return {
        "id": sample.id,
        "messages": [{"role": "user", "content": sample.question}],
        "ref_answer": sample.reference,
    }


def tencent_outputs(sample: Sample) -> Value:
    """Return a chat of Tencent with an answer."""
    answers = {"model_name": sample.model, "responses": [{"content": sample.answer}]}
    return {**tencent_messages(sample), "model_outputs": [answers]}


def tencent_manual(sample: Sample) -> Value:
    """Return a prompt of Tencent's manual evaluation with the expected response."""
    turn = {"prompt": sample.question, "response": sample.reference}
    return {"conversation": [turn]}


def tencent_csv(sample: Sample) -> Value:
    """Return the cells of a row of Tencent's table."""
    return {"system": "", "prompt": sample.question, "response": sample.reference}


def haystack(sample: Sample) -> Value:
    """Return the items of one row of Haystack's columns."""
    return {
        "query_id": sample.id,
        "questions": sample.question,
        "ground_truth_answers": sample.reference,
        "predicted_answers": sample.answer,
    }


def record(sample: Sample) -> Value:
    """Return a row of the hub's own format."""
    return {
        "id": sample.id,
        "prompt": sample.question,
        "references": [sample.reference],
        "metadata": {"subject": sample.subject, "difficulty": sample.difficulty},
        "outputs": [
            {
                "model": sample.model,
                "text": sample.answer,
                "scores": [
                    {
                        "value": sample.score,
                        "is_correct": sample.is_correct,
                        "evaluation_id": RUN,
                        "evaluation_name": NAME,
                    }
                ],
            }
        ],
    }


def table(sample: Sample) -> Value:
    """Return the cells of a row of a table."""
    metadata = {"subject": sample.subject, "difficulty": sample.difficulty}
    return {
        "id": sample.id,
        "prompt": sample.question,
        "references": sample.reference,
        "metadata": json.dumps(metadata),
        "model": sample.model,
        "response": sample.answer,
        "score": sample.score,
        "is_correct": json.dumps(sample.is_correct),
        "evaluation_id": RUN,
        "evaluation_name": NAME,
    }


def openai_chat(sample: Sample) -> Value:
    """Return a chat of a question and its answer, as for fine-tuning."""
    asked = {"role": "user", "content": sample.question}
    return {"messages": [asked, {"role": "assistant", "content": sample.answer}]}


#: The function that makes a row of a sample, by the id of the format.
ROWS: Mapping[str, Callable[[Sample], Value]] = {
    "eee@0.2.0": eee,
    "eee@0.2.0-tag": eee_tag,
    "eee@0.3.0": eee_new,
    "harpia": harpia,
    "nemo-input": nemo_input,
    "nemo-output": nemo_output,
    "tencent-messages": tencent_messages,
    "tencent-outputs": tencent_outputs,
    "tencent-manual": tencent_manual,
    "tencent-csv": tencent_csv,
    "haystack": haystack,
    "record": record,
    "csv": table,
}
#: The same for formats of tools.
TOOL_ROWS: Mapping[str, Callable[[Sample], Value]] = {"openai-chat": openai_chat}
_ROWS = {**ROWS, **TOOL_ROWS}
#: The formats of the vendors of evaluation data, CSV and our own, in the order of all
#: formats: those that records are read from and written to, without those of tools.
FORMATS = tuple(format_ for format_ in writable_formats() if format_ in ROWS)
#: The layouts of files: how rows are put together.
ARRAY, LINES, WRAPPED, COLUMNS, TABLE = "array", "lines", "wrapped", "columns", "table"


def layout_of(format_: str) -> str:
    """Return how a format is written: array, lines, or the name of its container."""
    found = writable_formats()[format_]
    container = found.dialects[0].container
    if container is not Container.ROWS:
        return container.name.lower()
    return ARRAY if adapter_of(found).written_as_array else LINES


def suffix_of(format_: str) -> str:
    """Return the extension of the files of a format."""
    return {LINES: ".jsonl", TABLE: ".csv"}.get(layout_of(format_), ".json")


def source_file(  # noqa: PLR0913 - what a file holds
    format_: str,
    text: str,
    count: int,
    folder: Path,
    *,
    changed: bool = False,
    size: float = 1,
) -> Path:
    """Return a file of `count` records, which is written if it is not there yet.

    With `changed`, one reference in a hundred is another one; `size` is that of texts,
    as `samples` takes it.
    """
    start = repr([_ROWS[format_](one) for one in samples(text, 3, size=size)])
    digest = sha256(start.encode()).hexdigest()[:8]
    kind = f"{text}-changed" if changed else text
    name = f"{format_}-{kind}-{count}-{digest}{suffix_of(format_)}".replace(" ", "-")
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        found = samples(text, count, size=size)
        write_rows(unfinished, format_, text, _changed(found) if changed else found)
        unfinished.replace(path)
    return path


def _changed(of: Iterable[Sample]) -> Iterator[Sample]:
    """Yield samples, each hundredth from the first one on with another reference."""
    for number, sample in enumerate(of):
        other = sample.reference + " or not"
        yield sample if number % 100 else sample._replace(reference=other)


def write_rows(path: Path, format_: str, text: str, of: Iterable[Sample]) -> None:
    """Write samples as a file of a format."""
    rows = map(_ROWS[format_], of)
    layout = layout_of(format_)
    with path.open("w", encoding="utf-8", newline="") as file:
        if layout == TABLE:
            _write_table(file, rows)
        elif layout == COLUMNS:
            _write_columns(file, rows, text)
        else:
            start, between, end = AROUND[layout]
            file.write(start)
            for number, row in enumerate(rows):
                file.write((between if number else "") + _json(row, text))
            file.write(end)


#: What stands before the rows, between them and behind them, by the layout.
AROUND = {
    LINES: ("", "\n", "\n"),
    ARRAY: ("[\n", ",\n", "\n]\n"),
    WRAPPED: ('{"instances": [\n', ",\n", "\n]}\n"),
}


def _write_table(file: IO[str], rows: Iterator[Value]) -> None:
    first = next(rows)
    writer = csv.DictWriter(file, list(first))
    writer.writeheader()
    writer.writerow(first)
    writer.writerows(rows)


def _write_columns(file: IO[str], rows: Iterator[Value], text: str) -> None:
    first = next(rows)
    columns: dict[str, list[Any]] = {key: [value] for key, value in first.items()}
    for row in rows:
        for key, value in row.items():
            columns[key].append(value)
    file.write(_json(columns, text) + "\n")


def _json(value: Any, text: str) -> str:
    return json.dumps(value, ensure_ascii=text == ESCAPED)
