"""Draw the pictures of the page of `harpia-formats view`, of answers that are made up.

`python docs/tools/view_pictures.py` needs Chromium, playwright and the extra `view`.
Look at the pictures before they are committed.
"""

import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from page_examples import ROOT, environment
from playwright.sync_api import Browser, expect, sync_playwright

FOLDER = ROOT / "docs" / "how-to"
#: Pixels of a picture.
SIZE = (1280, 820)
#: The file of each picture, what the page shows in it, and its colours.
PICTURES = (
    ("view-records.png", "/?view=records&correct=no&sort=score%3Af1", "light"),
    ("view-record.png", "/?view=records&file=2&rule=C201&open=12", "light"),
    ("view-compare.png", "/?view=compare&compared=f1&verdict=a-right&pair=10", "dark"),
)
#: Records of each file.
RECORDS = 480
#: The file that is a log, and how many of its lines there are for each with a fault.
LOG, FAULTY = "corvus.jsonl", 12
#: The systems: the file, the model, and the share of right answers.
SYSTEMS = (
    ("aurora.jsonl", "aurora-7b", 0.74),
    ("boreal.jsonl", "boreal-13b", 0.58),
    ("corvus.jsonl", "corvus-3b", 0.5),
)
CAPITALS = {
    "Mozambique": ("Maputo", "Beira"),
    "Australia": ("Canberra", "Sydney"),
    "Kazakhstan": ("Astana", "Almaty"),
    "Brazil": ("Brasília", "Rio de Janeiro"),
    "Türkiye": ("Ankara", "Istanbul"),
    "Morocco": ("Rabat", "Casablanca"),
    "Canada": ("Ottawa", "Toronto"),
    "Switzerland": ("Bern", "Zürich"),
}
QUESTIONS = (
    "What is the capital of {}?",
    "Which city is the seat of the government of {}?",
    "Name the capital of {} in one sentence.",
)
ANSWERS = (
    "The capital of {} is {}.",
    "I am fairly sure that the capital of {} is {}, which is in its south.",
    "The seat of the government of {} is in {}.",
)


def record(number: int, model: str, chosen: random.Random, share: float) -> Any:
    """Return an answer to a question, which is right with the chance `share`."""
    land, (right, wrong) = list(CAPITALS.items())[number % len(CAPITALS)]
    is_right = chosen.random() < share
    answer = chosen.choice(ANSWERS).format(land, right if is_right else wrong)
    f1 = chosen.uniform(0.55, 1) if is_right else chosen.betavariate(2, 5)
    question = f"{QUESTIONS[number % len(QUESTIONS)].format(land)} (Form {number})"
    scores = (("accuracy", float(is_right)), ("f1", round(f1, 3)))
    return {
        "id": f"capital-{number:04}",
        "prompt": question,
        "references": [right],
        "category": ("cities", "seats", "names")[number % len(QUESTIONS)],
        "outputs": [
            {
                "model": model,
                "text": answer,
                "scores": [
                    {
                        "metric": metric,
                        "value": value,
                        "is_correct": is_right,
                        "signature": f"{metric}|case:lower",
                    }
                    for metric, value in scores
                ],
            }
        ],
    }


def logged(number: int, answer: Any) -> Any:
    """Return an answer as a line of a log; some lines have a fault."""
    output = answer["outputs"][0]
    return {
        "schema_version": "instance_level_eval_0.2.0",
        "evaluation_id": f"capitals/{output['model']}/1770681600",
        "model_id": output["model"],
        "evaluation_name": "capitals",
        "sample_id": answer["id"],
        "sample_hash": hashlib.sha256(answer["prompt"].encode()).hexdigest(),
        "interaction_type": "single_turn" if number % FAULTY else "multi_turn",
        "input": {"raw": answer["prompt"], "reference": answer["references"][0]},
        "output": {"raw": output["text"]},
        "interactions": None,
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": answer["references"][0],
                "extraction_method": "regex",
                "is_terminal": True,
            }
        ],
        "evaluation": {
            "score": output["scores"][1]["value"],
            "is_correct": output["scores"][1]["is_correct"],
        },
    }


def write_answers(folder: Path) -> list[str]:
    """Write the answers of the systems, and return the names of the files."""
    chosen = random.Random(7)  # noqa: S311 - for made-up answers
    numbers = range(1, RECORDS + 1)
    files = {
        name: [record(at, model, chosen, share) for at in numbers]
        for name, model, share in SYSTEMS
    }
    files[LOG] = [logged(at, files[LOG][at - 1]) for at in numbers]
    for name, rows in files.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
    return list(files)


def draw(browser: Browser, address: str, path: Path, shown: str, scheme: Any) -> None:
    """Write a picture of what the page shows at an address."""
    width, height = SIZE
    viewport: Any = {"width": width, "height": height}
    page = browser.new_page(viewport=viewport, color_scheme=scheme)
    page.goto(address)
    page.goto(re.sub(r"/\?.*", shown, address))
    page.locator(".layer .row:not([hidden], .loading)").first.wait_for()
    expect(page.locator("#progress")).to_be_empty(timeout=30_000)
    page.wait_for_timeout(2_000)  # what the table of scores takes, which is not polled
    page.screenshot(path=path)
    page.close()


def draw_all(address: str) -> None:
    """Write all pictures, where the first address of a server is given."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, shown, scheme in PICTURES:
            draw(browser, address, FOLDER / name, shown, scheme)
        browser.close()


def main() -> None:
    """Draw all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        names = write_answers(Path(folder))
        words = [sys.executable, "-m", "harpia_formats", "view", "--no-browser"]
        with subprocess.Popen(  # noqa: S603 - our own command
            [*words, *names, "--notes", "notes.jsonl"],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            try:
                draw_all(process.stdout.readline().strip())
            finally:
                process.terminate()


if __name__ == "__main__":
    main()
