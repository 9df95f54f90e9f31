"""Files of other kinds, by name, which must not be taken for evaluation data."""

import json
from typing import Any

from json_lines import jsonl

_documents: dict[str, Any] = {
    "service-error": {"detail": ["Not authenticated"]},
    "validation-error": {
        "detail": [{"loc": ["body", "id"], "msg": "field required", "type": "missing"}]
    },
    "no-errors": {"errors": []},
    "errors": {"errors": [{"code": 404, "message": "Not found"}]},
    "graphql-reply": {"data": None, "errors": [{"message": "no", "path": ["me"]}]},
    "problem-details": {"type": "about:blank", "title": "Gone", "status": 410},
    "editor-settings": {
        "files.exclude": ["**/.git"],
        "cSpell.words": ["harpia"],
        "python.testing.pytestArgs": ["tests"],
    },
    "editor-tasks": {
        "version": "2.0.0",
        "tasks": [{"label": "test", "type": "shell", "command": "pytest"}],
    },
    "editor-launch": {
        "version": "0.2.0",
        "configurations": [{"type": "debugpy", "request": "launch", "args": []}],
    },
    "pandas-split": {"columns": ["a"], "index": [0, 1], "data": [[1], [2]]},
    "pandas-list": {"a": [1, 2], "b": [3, 4]},
    "pandas-columns": {"a": {"0": 1, "1": 2}, "b": {"0": 3, "1": 4}},
    "pandas-index": {"0": {"a": 1, "b": 3}, "1": {"a": 2, "b": 4}},
    "pandas-table": {
        "schema": {"fields": [{"name": "index", "type": "integer"}]},
        "data": [{"index": 0, "a": 1}],
    },
    "pandas-records": [{"a": 1, "b": 3}, {"a": 2, "b": 4}],
    "pandas-values": [[1, 3], [2, 4]],
    "geojson": {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"name": "Belém"},
                "geometry": {"type": "Point", "coordinates": [-48.5, -1.45]},
            }
        ],
    },
    "topojson": {"type": "Topology", "objects": {}, "arcs": [[[0, 0]]]},
    "package": {
        "name": "a",
        "version": "1.0.0",
        "scripts": {"test": "jest"},
        "dependencies": {"left-pad": "^1.0.0"},
        "files": ["dist"],
    },
    "package-lock": {"name": "a", "lockfileVersion": 3, "packages": {"": {}}},
    "type-script-settings": {
        "compilerOptions": {"target": "es2022", "lib": ["dom"]},
        "include": ["src"],
    },
    "notebook": {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": ["1 + 1"],
            }
        ],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    },
    "coco": {
        "images": [{"id": 1, "file_name": "1.jpg"}],
        "annotations": [{"id": 1, "image_id": 1, "bbox": [0, 0, 1, 1]}],
        "categories": [{"id": 1, "name": "cat"}],
    },
    "rpc-request": {"jsonrpc": "2.0", "id": 1, "method": "sum", "params": [1, 2]},
    "rpc-result": {"jsonrpc": "2.0", "id": 1, "result": {"sum": 3}},
    "rpc-error": {"jsonrpc": "2.0", "id": 1, "error": {"code": -32600}},
    "search-reply": {
        "took": 5,
        "timed_out": False,
        "hits": {"total": {"value": 1}, "hits": [{"_id": "1", "_source": {"a": 1}}]},
    },
    "search-request": {"query": {"match_all": {}}, "size": 1},
    "open-api": {
        "openapi": "3.1.0",
        "info": {"title": "a", "version": "1"},
        "paths": {"/": {"get": {"responses": {"200": {"description": "ok"}}}}},
        "components": {"schemas": {"A": {"type": "object"}}},
    },
    "json-schema": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"prompt": {"type": "string"}},
        "required": ["prompt"],
    },
    "dataset-info": {
        "features": {"question": {"dtype": "string", "_type": "Value"}},
        "splits": {"train": {"name": "train", "num_examples": 2}},
        "download_checksums": {},
    },
    "trainer-state": {"epoch": 1.0, "global_step": 2, "log_history": [{"loss": 1.0}]},
    "model-config": {"architectures": ["LlamaForCausalLM"], "hidden_size": 4096},
    "tokenizer": {"version": "1.0", "truncation": None, "added_tokens": [{"id": 0}]},
    "pages": {"count": 1, "next": None, "previous": None, "results": [{"id": 1}]},
    "empty-page": {"count": 0, "next": None, "previous": None, "results": []},
    "results-only": {"results": []},
    "results-of-names": {"results": [{"name": "a"}, {"name": "b"}]},
    "repositories": [
        {"id": 1, "name": "a", "full_name": "b/a", "owner": {"login": "b"}},
        {"id": 2, "name": "c", "full_name": "b/c", "owner": {"login": "b"}},
    ],
    "issues": [{"id": 1, "number": 7, "title": "a", "labels": [], "comments": 0}],
    "events": [
        {"id": "1", "type": "PushEvent", "actor": {"id": 1}, "payload": {"size": 1}}
    ],
    "click": {"type": "click", "target": "#send", "time": 17},
    "tracking": {"type": "track", "params": {"page": "/"}, "user": 1},
    "invitation": {"type": "invite", "groups": ["staff"]},
    "job-list": {"tasks": [{"id": 1, "title": "Wash the car", "done": False}]},
    "jobs-by-name": {"tasks": {"build": {"cmds": ["make"], "deps": []}}},
    "groups": {"groups": {"staff": {"members": [1, 2]}}},
    "prediction-request": {"instances": [[1.0, 2.0], [3.0, 4.0]]},
    "prediction-inputs": {"instances": [{"image_bytes": {"b64": "AA=="}}]},
    "machines": {"instances": [{"instanceId": "i-1", "state": {"name": "running"}}]},
    "machine": {"instance_id": "i-1", "parameters": {"size": "large"}},
    "metrics-scrape": {"metrics": [{"name": "cpu", "value": 0.5}]},
    "dashboard": {"panels": [{"type": "graph", "targets": []}], "tags": ["a"]},
    "function-result": {"result": "ok", "parameters": {"verbose": True}},
    "search-results": {"score": 0.9, "parameters": {"C": 1.0}},
    "workflow": {"inputs": {"a": 1}, "results": {"b": 2}},
    "run-record": {"run_name": "nightly", "results": ["passed", "failed"]},
    "recipe": {
        "name": "Pão de queijo",
        "instructions": ["mix", "bake"],
        "ingredients": ["cheese"],
    },
    "action": {"name": "build", "inputs": {"a": {}}, "outputs": {"b": {}}},
    "program": {"instructions": ["LOAD", "ADD"], "inputs": [1, 2], "outputs": [3]},
    "conversation-id": {"conversation": "c-17", "user": 1},
    "conversation-of-people": {"conversation": [{"from": "Ana", "text": "olá"}]},
    "mail-thread": {"messages": [{"id": 1, "subject": "Re: a", "to": ["b@c.org"]}]},
    "chat-export": {
        "name": "friends",
        "messages": [{"id": 1, "from": "Ana", "date": "2026-01-01", "text": "olá"}],
    },
    "empty-chat": {"messages": []},
    "lint-messages": [
        {"filePath": "a.js", "messages": [{"ruleId": "semi", "severity": 2}]}
    ],
    "reply-of-chat-api": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "4"}}],
        "usage": {"total_tokens": 9},
    },
    "alpaca-dpo": [{"instruction": "Add.", "chosen": "4", "rejected": "5"}],
    "alpaca-kto": [{"instruction": "Add.", "output": "4", "kto_tag": True}],
    "recipe-step": {"instruction": "Mix.", "output": {"bowls": 1}},
    "squad": {
        "version": "1.1",
        "data": [{"title": "a", "paragraphs": [{"context": "b", "qas": []}]}],
    },
    "promptfoo-2": {
        "evalId": "e",
        "results": {"version": 2, "results": [], "table": {"head": {}, "body": []}},
    },
    "product": {"id": 7, "input": "USB-C", "output": "5 V", "price": 9.5},
    "form-field": {"id": "email", "input": "text", "label": "E-mail"},
    "picture-prompt": {"prompt": "a cat", "source": "web", "image": "1.png"},
    "article": {"prompt": "Read on", "category": "sports", "url": "/a"},
    "survey": {"questions": [{"id": 1, "label": "Why?"}], "title": "A survey"},
    "quiz": {"questions": [{"q": "2+2?", "answers": ["3", "4"]}]},
    "survey-replies": {"responses": [{"id": 1, "email": "a@b.org"}]},
    "web-mocks": {"responses": {"GET /": {"status": 200}}},
    "contexts-of-clusters": {
        "contexts": [{"name": "dev", "context": {"cluster": "a"}}],
        "current-context": "dev",
    },
    "terraform": {"version": 4, "outputs": {}, "resources": [{"type": "a"}]},
    "build-outputs": {"outputs": ["dist/a.js"], "prompt": "building"},
    "sentry": {"event_id": "a", "level": "error", "tags": [["a", "b"]]},
    "feed": {"version": "https://jsonfeed.org/version/1", "items": [{"id": "1"}]},
    "har": {"log": {"version": "1.2", "entries": [{"time": 5}]}},
    "sarif": {"version": "2.1.0", "runs": [{"tool": {}, "results": []}]},
    "coverage": {"files": {"a.py": {"executed_lines": [1]}}, "totals": {}},
    "benchmark": {"benchmarks": [{"name": "a", "stats": {"mean": 1.0}}]},
    "lighthouse": {"audits": {"a": {"score": 1}}, "categories": {}},
    "grid-search": {"best_score": 0.9, "params": {"C": 1}, "cv_results": [0.9]},
    "object-of-objects": {"a": {"b": [1]}, "c": {"d": [2]}},
    "object-of-numbers": {"a": 1, "b": 2},
    "empty-object": {},
    "list-of-texts": ["a", "b"],
    "list-of-lists": [["a"], ["b"]],
    "number": 17,
    "text": "a text",
}

_lines: dict[str, list[Any]] = {
    "log-lines": [
        {"time": "2026-01-01T00:00:00Z", "level": "info", "message": "started"},
        {"time": "2026-01-01T00:00:01Z", "level": "info", "message": "ended"},
    ],
    "tweets": [{"id": 1, "text": "olá", "lang": "pt"}] * 2,
    "pre-training": [{"text": "Once upon a time", "meta": {"source": "web"}}] * 2,
    "embeddings": [{"id": "1", "vector": [0.1, 0.2]}] * 2,
    "lists": [{"detail": ["a"]}, {"detail": ["b"]}],
    "tool-calls": [{"id": "1", "result": "ok", "parameters": {"a": 1}}] * 2,
    "transcripts": [{"conversation": [{"speaker": "A", "text": "olá"}]}] * 2,
}

_texts = {
    "log": (
        "2026-01-01 00:00:00,123 INFO started\n2026-01-01 00:00:01,456 INFO ended\n"
    ),
    "letter": "Dear Ana,\nthank you for your letter, which came today,\n\nYours, B\n",
    "list-of-names": "Ana, Bruno, Carla\nDavi, Elisa, Flor\nGil, Hugo, Inês\n",
    "picture": (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0,0,9,9">\n'
        '<path d="M1,1 L2,2 L3,3 Z"/>\n</svg>\n'
    ),
    "page": "<!doctype html>\n<title>a, b</title>\n<p>c, d</p>\n",
    "yaml": "openapi: 3.1.0\ninfo:\n  title: a, b\n",
    "toml": '[tool.ruff]\nselect = ["A", "B"]\nignore = ["C", "D"]\n',
    "ini": "[a]\nb = 1\n",
    "source": "def a(b, c):\n    return d(b, c)\n",
    "markdown": "# A title, with a comma\n\nA text, with another one\n",
    "semicolons": "a;b\n1;2\n",
    "tabs": "a\tb\n1\t2\n",
    "numbers": "1,2,3\n4,5,6\n",
    "unknown-columns": "city,country\nLima,Peru\n",
    "one-line": "only one line, with a comma",
    "python-dictionary": "{'prompt': '2+2?', 'response': '4'}\n",
}


def _names_and_contents() -> dict[str, bytes]:
    files = {
        f"{name}.json": json.dumps(value, indent=2).encode()
        for name, value in _documents.items()
    }
    files |= {f"{name}.jsonl": jsonl(*rows) for name, rows in _lines.items()}
    return files | {f"{name}.txt": text.encode() for name, text in _texts.items()}


#: The bytes of each file, by its name.
LOOK_ALIKES = _names_and_contents()
