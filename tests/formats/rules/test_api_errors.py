"""Answers that are errors of an API, and answers that only speak of such errors."""

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.formats.rules.request_faults import api_error, may_be_error

ERRORS = [
    "Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
    "  openai.RateLimitError: Error code: 429",
    "google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded",
    "litellm.exceptions.APIConnectionError: no route",
    "RateLimitError: slow down",
    "APITimeoutError('Request timed out.')",
    "429 Too Many Requests",
    "HTTP 503 Service Unavailable",
    "HTTP/1.1 401 Unauthorized",
    "502 Bad Gateway",
    "Internal Server Error",
    "Rate limit exceeded. Please try again in 20s.",
    "Rate limit reached for gpt-4 in organization org-1 on tokens per min",
    "Too many requests",
    "upstream connect error or disconnect/reset before headers",
    "Error: 429 Too Many Requests",
    "[ERROR] Request timed out",
    "API error: rate limit",
    "Request failed with status code 503",
    "Connection error.",
    "That model is currently overloaded with other requests.",
    "Traceback (most recent call last): ... openai.APITimeoutError: Request timed out.",
    "Traceback (most recent call last):\n  ...\nrequests.exceptions.ReadTimeout: x",
    "HTTPSConnectionPool(host='api.x.org', port=443): Read timed out.",
    "You exceeded your current quota, please check your plan and billing details.",
    "The response was filtered due to the prompt triggering a policy.",
    "This model's maximum context length is 4097 tokens.",
    '{"error": {"message": "Rate limit", "type": "requests", "code": null}}',
    '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
    '{"object": "error", "message": "too long", "code": 400}',
    '{"error": "Model is overloaded, please wait"}',
    "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
    "<!DOCTYPE html>\n<html><title>Just a moment...</title>",
    "<!doctype html><html><body>Olá</body></html>\n",
]
ANSWERS = [
    "",
    " ",
    "Rate limits are set by the server.",
    "Rate limit exceeded means that a client sent too many requests.",
    "Too many requests were sent, so the server answered 429.",
    "The error code 429 means Too Many Requests.",
    "404 is my answer.",
    "500 Internal medicine doctors",
    "Forbidden love is the theme.",
    "Not found",
    "Connection errors are common in such networks.",
    "Error bars show the variance.",
    "Error: the two numbers differ.",
    "Timeout: a pause in a game.",
    "I'm sorry, but I can't help with that.",
    '{"error": "no such city"}',
    '{"error": {"line": 3}}',
    '{"answer": 4, "error": {"message": "x", "code": 1}}',
    '{"error": {"message": "cut',
    "<p>Rate limit</p>",
    "Traceback (most recent call last):\nZeroDivisionError: division by zero",
    "A traceback (most recent call last): openai.APITimeoutError",
    "<html> is the root element of a page.",
]


@for_each_case("answer", ERRORS)
def test_error_is_recognised(answer: str) -> None:
    """The text, the JSON body and the page of an API's error are no answers."""
    assert api_error(answer, ["Qual é a capital do Brasil?"], ["Brasília"])


@for_each_case("answer", ANSWERS)
def test_answer_about_an_error_is_none(answer: str) -> None:
    """An answer that merely speaks of an error, or begins like one, is an answer."""
    assert not api_error(answer)


@for_each_case(
    "answer, prompt, reference",
    [
        ("429 Too Many Requests", "Which status is 429?", "x"),
        ("Error: 503 unavailable", "What does this HTTP call print?", "x"),
        (
            "Traceback (most recent call last):\nTimeoutError: timed out",
            "Which exception does it raise?",
            "x",
        ),
        ("502 Bad Gateway", "What does nginx say?", "502 Bad Gateway"),
        ("<html><body>Hi</body></html>", "Write a web page.", "x"),
    ],
)
def test_error_that_is_asked_for(answer: str, prompt: str, reference: str) -> None:
    """A text that the prompt asks for, or that is expected, is an answer."""
    assert may_be_error(answer)
    assert not api_error(answer, [prompt], [reference])


@given(st.text())
def test_any_text_is_decided(answer: str) -> None:
    """Any text is decided, and none is an error that has not the form of one."""
    assert may_be_error(answer) or not api_error(answer)
