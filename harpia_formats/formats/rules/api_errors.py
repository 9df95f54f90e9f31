"""Recognise answers that are no model's: errors of an API or a proxy, and its pages.

A pattern must fit where an answer begins, so that an answer that speaks of such an
error is not taken for one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from harpia_formats.model.exact_json import NOT_JSON

#: Characters of the longest answer that may be an error.
LONGEST = 20_000
#: Characters of an answer in which an error is looked for, unless it is JSON or HTML.
_head = 400

_status = (
    r"(?:too many requests|bad gateway|service (?:temporarily )?unavailable|"
    r"internal server error|gateway time-?out|unauthorized|payload too large|"
    r"request time-?out|bad request|forbidden|not found|payment required)"
)
_codes = [*range(400, 420), *range(422, 430), *range(500, 510), *range(520, 530)]
_code = f"(?:{'|'.join(map(str, _codes))})"
_end = r"(?=\s*(?:[.:;!,(\[{<\n]|$|for\b|on\b|please\b|try\b|after\b|- ))"
#: Names of errors in the clients of vendors.
_classes = (
    r"(?:RateLimit|API(?:Connection|Timeout|Status|Response(?:Validation)?)?|"
    r"InternalServer|BadRequest|Authentication|PermissionDenied|NotFound|"
    r"ServiceUnavailable|InvalidRequest|Overloaded|UnprocessableEntity|Conflict|"
    r"ContextWindowExceeded|ContentPolicyViolation|BudgetExceeded|HTTPStatus|HTTP|"
    r"Connection|Connect|ClientConnector|ClientResponse|ServerDisconnected|"
    r"MaxRetry|RemoteProtocol|JSONDecode|Throttling)(?:Error|Exception)"
    r"|(?:Read|Connect|Write|Pool|Connection)Timeout(?:Error)?|TimeoutError"
    r"|ResourceExhausted|DeadlineExceeded|ThrottlingException|ModelTimeoutException"
)
_packages = (
    r"(?:openai|anthropic|litellm|httpx|requests|aiohttp|urllib3|botocore|groq|"
    r"mistralai|cohere|google|together|replicate|huggingface_hub|httpcore)"
)
#: What an error says, where its name or a mark such as "Error:" stands before it.
_matter = (
    r"(?:rate.?limit|quota|tim(?:e|ed)[ -]?out|overloaded|unavailable|bad gateway|"
    r"too many requests|connection (?:refused|reset|error|aborted|closed)|api.?key|"
    r"unauthori[sz]ed|context (?:length|window)|internal server error|"
    r"content (?:filter|management) policy|max(?:imum)? retries)"
)
#: Statuses that are no answer to any other question.
_plain_status = (
    r"(?:too many requests|bad gateway|service (?:temporarily )?unavailable|"
    r"internal server error|gateway time-?out)"
)
_marked = r"(?:(?:api|request|server|upstream|llm|model)\s+)?error"
_marked_at = rf"(?:{_marked}\s*[:,-]|\[{_marked}\]|\*\*{_marked}:?\*\*|\({_marked}\))"
_forms = (
    rf"error code:\s*{_code}\b",
    rf"{_packages}(?:\.\w+)*\.(?:{_classes})\b",
    rf"(?:{_classes})\s*[:(]",
    rf"(?:HTTP(?:/[\d.]+)?\s+)?(?:(?:error|status)\s+)?{_code}[\s:,-]+{_status}\b",
    rf"{_plain_status}\s*$",
    rf"{_marked_at}[^\n]{{0,200}}?(?:{_matter}|\b{_code}\b)",
    rf"(?:your )?(?:request|api call) failed\b[^\n]{{0,200}}?(?:{_matter}|\b{_code}\b)",
    rf"rate limit (?:has been )?(?:reached|exceeded){_end}",
    rf"too many requests{_end}",
    r"you(?:'ve| have)? exceeded your (?:current|monthly|daily|api) ",
    r"the server had an error (?:while )?process",
    r"(?:that|this|the) (?:model|engine) is (?:currently )?overloaded",
    r"the model [`'\"][^`'\"]+[`'\"] (?:does not exist|has been deprecated)",
    r"this model's maximum context length is \d",
    r"the response was filtered due to the prompt",
    rf"(?:incorrect|invalid) api key(?: provided)?{_end}",
    r"upstream (?:connect error or disconnect|request timeout)",
    r"no healthy upstream",
    r"connection error\.?\s*$",
    r"https?connectionpool\(host=",
    r"request timed out\.?\s*$",
    r"(?:\d{3} )?RESOURCE_EXHAUSTED\b",
    r"error code:? 10\d\d\b",
)
_beginnings = re.compile("|".join(_forms), re.IGNORECASE)
#: The first four letters of all texts that `_beginnings` fits, in lower case.
_first_letters = frozenset(
    "erro|open|anth|lite|http|requ|aioh|urll|boto|groq|mist|cohe|goog|toge|repl|hugg|"
    "rate|apic|apit|apis|apir|apie|inte|badr|auth|perm|notf|serv|inva|over|unpr|conf|"
    "cont|budg|conn|clie|maxr|remo|json|thro|read|writ|pool|time|reso|dead|mode|stat|"
    "too |bad |gate|api |llm |upst|your|you'|you |the |that|this|inco|no h|[err|[api|"
    "[req|[ser|[ups|[llm|[mod|**er|**ap|**re|**se|**up|**ll|**mo|(err|(api|(req|(ser|"
    "(ups|(llm|(mod|trac".split("|")
    + [f"{code}{mark}" for code in _codes for mark in " :,-\t\n"]
)
#: What Python writes before an error and where it was raised.
_traceback = "traceback (most recent call last):"
#: An error of a client, with or without its package, in such a text.
_raised = re.compile(
    rf"(?:^|\s)(?:{_packages}(?:\.\w+)*\.(?:{_classes})\b|(?:{_classes})\s*[:(])"
)
#: White space and brackets, with which an error may begin, too.
_other_starts = frozenset("{< \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u3000")
_page = re.compile(r"<(?:!doctype html|html)\b", re.IGNORECASE)
_page_title = re.compile(
    rf"<(?:title|h1|center)>[^<]{{0,80}}?(?:\b{_code}\b|{_status}|cloudflare|"
    r"just a moment|access denied|sign in|log ?in\b|captcha)",
    re.IGNORECASE,
)
_about_pages = re.compile(
    r"html|web|\bpage|\bsite|css|página|pagina|seite|网页|網頁|网站|ページ",
    re.IGNORECASE,
)
_number = re.compile(rf"\b{_code}\b")
_is_asked = re.compile(
    r"\bhttp\b|status|erro|exce|time-?out|traceback|错误", re.IGNORECASE
)
#: Keys of the bodies of errors; an answer in JSON with others is an answer.
_body_keys = frozenset(
    "error errors code status message detail details type object param request_id "
    "success title timestamp path trace_id error_code error_type".split()
)
_error_keys = frozenset({"message", "code", "type", "status"})


def api_error(
    answer: str, prompts: Iterable[str] = (), references: Iterable[str] = ()
) -> str:
    """Return what an answer is if it is no model's, such as "an error of an API".

    It is "" for all others: for those that the references expect, too, and for those
    to prompts that ask for such a text.
    """
    kind = _kind_of(answer)
    if not kind:
        return ""
    text = answer.strip()
    if any(text in reference or reference.strip() == text for reference in references):
        return ""
    asked = [*prompts]
    if kind == _a_page:
        return "" if any(map(_about_pages.search, asked)) else kind
    number = _number.search(text[:_head])
    for prompt in asked:
        if _is_asked.search(prompt) or (number and number[0] in prompt):
            return ""
    return kind


_an_error, _a_body = "the text of an API's error", "the JSON body of an API's error"
_an_error_page, _a_page = "the HTML page of an error", "an HTML page"


def may_be_error(answer: str) -> bool:
    """Return whether an answer has the form of an error or a page."""
    start = answer[:4]
    if start[:1] in _other_starts or start.lower() in _first_letters:
        return bool(_kind_of(answer))
    return False


def possible_errors(answers: Sequence[str]) -> list[int]:
    """Return the places of the answers that have the form of an error or a page."""
    starts = [answer[:4].lower() for answer in answers]
    return [
        place
        for place, start in enumerate(starts)
        if (start in _first_letters or start[:1] in _other_starts)
        and may_be_error(answers[place])
    ]


def _kind_of(answer: str) -> str:  # noqa: PLR0911 - one form after another
    begin = answer[:_head].lstrip()
    if not begin or len(answer) > LONGEST:
        return ""
    if begin[0] == "{":
        return _a_body if _is_body(answer) else ""
    if begin[0] == "<":
        if not _page.match(begin):
            return ""
        if _page_title.search(answer):
            return _an_error_page
        return _a_page if answer.rstrip()[-7:].lower() == "</html>" else ""
    if begin[:4].lower() not in _first_letters:
        return ""
    is_traceback = begin.lower().startswith(_traceback)
    found = _raised.search(answer) if is_traceback else _beginnings.match(begin)
    return _an_error if found else ""


def _is_body(answer: str) -> bool:
    """Return whether a text is the JSON object in which an API reports an error."""
    if '"error' not in answer and '"object"' not in answer:
        return False
    try:
        body = msgspec.json.decode(answer)
    except NOT_JSON:
        return False
    if not isinstance(body, Mapping) or not body.keys() <= _body_keys:
        return False
    return _is_error(body.get("error"), body)


def _is_error(error: Any, body: Mapping[str, Any]) -> bool:
    if isinstance(error, Mapping):
        return "message" in error and bool(error.keys() & _error_keys - {"message"})
    if body.get("object") == "error":
        return "message" in body
    # A tool or a task may answer with an error of its own.
    return isinstance(error, str) and bool(
        _beginnings.match(error) or re.search(_matter, error, re.IGNORECASE)
    )
