"""Find faults in prompts and answers that show how a model was asked (V312-V315)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.formats.rules.damaged_values import is_code
from harpia_formats.formats.rules.lazy_pattern import lazy_pattern
from harpia_formats.formats.rules.row_texts import SampleTexts
from harpia_formats.formats.rules.sample_rules import (
    LOOP,
    PLACEHOLDER,
    REASONING,
    STACK_TRACE,
)
from harpia_formats.model.describe import short_json
from harpia_formats.model.exact_json import NOT_JSON
from harpia_formats.model.format import Remark

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
_beginnings = lazy_pattern("|".join(_forms), re.IGNORECASE)
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
#: The characters of an answer by which the most are passed over.
_start, _first = itemgetter(slice(4)), itemgetter(slice(1))
#: What Python writes before an error and where it was raised.
_traceback = "traceback (most recent call last):"
#: An error of a client, with or without its package, in such a text.
_raised = lazy_pattern(
    rf"(?:^|\s)(?:{_packages}(?:\.\w+)*\.(?:{_classes})\b|(?:{_classes})\s*[:(])"
)
#: White space and brackets, with which an error may begin, too.
_other_starts = frozenset("{< \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u3000")
_page = lazy_pattern(r"<(?:!doctype html|html)\b", re.IGNORECASE)
_page_title = lazy_pattern(
    rf"<(?:title|h1|center)>[^<]{{0,80}}?(?:\b{_code}\b|{_status}|cloudflare|"
    r"just a moment|access denied|sign in|log ?in\b|captcha)",
    re.IGNORECASE,
)
_about_pages = lazy_pattern(
    r"html|web|\bpage|\bsite|css|página|pagina|seite|网页|網頁|网站|ページ",
    re.IGNORECASE,
)
_number = lazy_pattern(rf"\b{_code}\b")
_is_asked = lazy_pattern(
    r"\bhttp\b|status|erro|exce|time-?out|traceback|错误", re.IGNORECASE
)
#: Keys of the bodies of errors; an answer in JSON with others is an answer.
_body_keys = frozenset(
    "error errors code status message detail details type object param request_id "
    "success title timestamp path trace_id error_code error_type".split()
)
_error_keys = frozenset({"message", "code", "type", "status"})


def api_error(
    answer: str, prompts: Iterable[str] = (), references: Sequence[str] = ()
) -> str:
    """Return what an answer is if it is no model's, such as "an error of an API".

    It is "" for all others: for those that the references expect, too, by their text or
    their number, and for those to prompts that ask for such a text.
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
    if any(map(_is_asked.search, asked)):
        return ""
    number = _number.search(text[:_head])
    if number is None:
        return kind
    named = re.compile(rf"(?<!\d){number[0]}(?!\d)")
    return "" if any(map(named.search, (*asked, *references))) else kind


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
    starts = list(map(str.lower, map(_start, answers)))
    begun = _first_letters.intersection(starts)
    marks = _other_starts.intersection(map(_first, starts))
    if not (begun or marks):
        return []
    return [
        place
        for place, start in enumerate(starts)
        if (start in begun or start[:1] in marks) and may_be_error(answers[place])
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
    is_traceback = begin[: len(_traceback)].lower() == _traceback
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


#: What languages write where a program fails: Python, Java, JavaScript, C#, Go, Rust.
_stack_trace = lazy_pattern(
    r"^Traceback \(most recent call last\):\s*(?:\n\s+File \"[^\"\n]+\", line \d+|\Z)"
    r"|^panic: [^\n]{1,500}\s+goroutine \d+ \[|^thread '[^'\n]{1,99}' panicked at "
    r"|^(?:Exception in thread \"[^\"\n]*\" |Unhandled exception\. )?"
    r"(?:[\w$]+\.)*\w*(?:Exception|Error)\b"
    r"[^\n]{0,500}\n(?:[ \t]+at [^\n]+[:(][^\n]*\)?\s*(?:\n|\Z))",
    re.MULTILINE,
)
_about_failures = lazy_pattern(
    r"traceback|stack|\berror|exception|\bbug|debug|\bfail|crash|log\b|fehler|absturz|"
    r"错误|异常|报错|堆栈|日志|erro\b|exceção",
    re.IGNORECASE,
)
_trace_begins = (b"Traceback (most", b"goroutine ", b"' panicked at ")
_frame_bytes = (
    lazy_pattern(rb"\\n(?:\\t| {2,8})at "),
    lazy_pattern(rb"\n(?:\t| {2,8})at "),
)

#: Marks around the reasoning of models, at the beginning of an answer or of its rest.
_marks = (
    "(?:seed:)?think(?:ing)?|Think(?:ing)?|THINK(?:ING)?|thought|reasoning|scratchpad"
)
_begun = lazy_pattern(
    rf"\s*(?:<(?:{_marks})>|\[THINK\]|\u25c1think\u25b7|"
    r"<\|begin_of_thought\|>|<\|channel\|>analysis)"
)
_ended = lazy_pattern(
    rf"(?<!`)(?:</(?:{_marks})>|<\|end_of_thought\|>|\[/THINK\]|\u25c1/think\u25b7)(?!`)"
)
_reasoning_bytes = lazy_pattern(
    rb"(?:<|\\u003[cC])(?:/?(?:(?:seed:)?think|T(?:hink|HINK)|thought>|thought\\|reasoning"
    rb"|scratchpad)|\|channel\||\|(?:begin|end)_of_thought)"
    rb"|\[/?THINK\]|\xe2\x97\x81/?think|\\u25[cC]1/?think"
)
_reasoning_starts = (
    *(b"think", b"Think", b"THINK"),
    *(b"thought", b"reasoning", b"scratchpad", b"|channel|"),
)

#: What places in a prompt are called that are filled from a row.
_names = (
    "questions?|prompts?|inputs?|contexts?|query|answers?|passage|documents?|article|"
    "choices|options?|option_?[a-eA-E1-5]|choice_?[a-eA-E1-5]|instructions?|response|"
    "references?|subject|topic|target|sentence_?[12]?|premise|hypothesis|text|"
    "user_input|chat_history|(?:few_?shot_)?examples|source_?text|problem|"
    "system_prompt|expected_output|actual_output|ideal_response|doc_to_text|"
    "frage|antwort|eingabe|kontext|aufgabe"
)
#: The same in Chinese, whose characters may be escapes in JSON.
_wide_names = (
    "\u95ee\u9898|\u9898\u76ee|\u8f93\u5165|"
    "\u4e0a\u4e0b\u6587|\u7b54\u6848|\u9009\u9879"
)
_rows = "items?|rows?|samples?|records?|examples?|docs?|inputs?|vars|data|instances?"
_member = r"(?:\.\w+|\[['\"]?\w+['\"]?\])"
_place = lazy_pattern(
    rf"\{{\{{-?\s*(?:(?:{_rows}){_member}+|(?:{_names}|{_wide_names}){_member}*)\s*"
    r"(?:\|[^{}\n]*)?-?\}\}"
    r"|(?<![\w\\$}\])^{])"
    rf"\$?\{{(?: ?(?:{_names})(?:{_member})* ?(?:[!:][^{{}}\n]{{0,12}})?"
    rf"|{_wide_names})\}}(?!\}})"
    rf"|%\((?:{_names})\)s(?![\"'])"
)
_place_bytes = lazy_pattern(
    (
        rf"\{{(?: ?(?:{_names})[ }}.\[!:]|\{{-?\s*(?:{_rows}|{_names})\b"
        rf"|\{{?\s*(?:{_wide_names}|(?:\\u[4-9][0-9a-fA-F]{{3}}){{2,3}}))|%\((?:{_names})\)s"
    ).encode()
)
#: How such a place begins, with "a" for a space and for what a name begins with: it is
#: quicker to find than all of the names.
_place_starts = (b"{a", b"{{", b"{\\a", b"%(")
_name_starts = b" acdefhikopqrstu" + bytes(
    name.encode()[0] for name in _wide_names.split("|")
)
_with_name_starts = bytes.maketrans(_name_starts, b"a" * len(_name_starts))
_about_templates = lazy_pattern(
    r"templat|placeholder|jinja|mustache|handlebars|f-string|format string|\.format\b|"
    r"\bvue\b|angular|jsx|react|\bvariables?\b|braces|latex|vorlage|platzhalter|"
    r"geschweift|模板|占位符|变量|花括号|\\(?:begin|frac|text|mathbb)\b",
    re.IGNORECASE,
)
#: What stands in lines of programs.
_code_line = lazy_pattern(
    r"[`=;]|\bf[\"']|\breturn\b|\bprint\b|\bdef\b|console\.|#include"
)

#: Characters at the end of an answer by which its last repetition is looked for.
_probe = 16
_end_of = itemgetter(slice(-_probe, None))
#: The longest part that is looked for as repeated, and the least that must repeat.
_longest_part = 600
_shortest_loop, _shortest_wide_loop = 240, 120
_fewest_times, _few_times_of_long = 8, 4
_long_loop = 1200
_asked_to_repeat = lazy_pattern(
    r"repeat|\btimes\b|again and again|forever|over and over|\blines?\b of|wiederhol|"
    r"\bmal\b|immer wieder|重复|重複|\d+\s*(?:次|遍)|repita|\bvezes\b|pattern|sequence",
    re.IGNORECASE,
)
_letters = lazy_pattern(r"[^\W\d_]")


def may_hold_stack_trace(data: bytes) -> bool:
    """Return whether there may be a stack trace in bytes of JSON or of a table."""
    if any(stringzilla.find(data, begin) >= 0 for begin in _trace_begins):
        return True
    if (
        stringzilla.find(data, b"Exception") < 0
        and stringzilla.find(data, b"Error") < 0
    ):
        return False
    return any(pattern.search(data) for pattern in _frame_bytes)


def may_hold_reasoning(data: bytes) -> bool:
    """Return whether there may be marks of reasoning in bytes of JSON or of a table."""
    return (
        any(stringzilla.find(data, start) >= 0 for start in _reasoning_starts)
        and _reasoning_bytes.search(data) is not None
    )


def may_hold_placeholder(data: bytes) -> bool:
    """Return whether there may be an open place in bytes of JSON or of a table."""
    rough = stringzilla.translate(data, _with_name_starts)
    return (
        any(stringzilla.find(rough, start) >= 0 for start in _place_starts)
        and _place_bytes.search(data) is not None
    )


def fault_remarks(texts: SampleTexts) -> Iterator[Remark]:
    """Yield remarks on stack traces and reasoning in answers, and on open places."""
    asked = [text for _, text in (*texts.prompts, *texts.references)]
    for path, prompt in texts.prompts:
        place = _open_place(prompt)
        if place:
            yield Remark(
                PLACEHOLDER,
                path,
                f"the prompt holds {short_json(place)}, which was to be replaced by a "
                "value of the row",
                "fill the template with the row, and ask the model again",
            )
    for path, answer in texts.answers:
        mark = _reasoning_mark(answer)
        if mark and not any(mark.strip("</>[]") in text for text in asked):
            yield Remark(
                REASONING,
                path,
                f"the answer holds {short_json(mark)}, with which a model marks its "
                "reasoning",
                "keep only what follows the reasoning, and store that in its own field",
            )
        trace = _trace_in(answer)
        if (
            trace
            and not any(is_code(text) or _about_failures.search(text) for text in asked)
            and not api_error(answer)
        ):
            yield Remark(
                STACK_TRACE,
                path,
                f"the answer holds a stack trace: {short_json(trace)}",
                "ask the model again, or leave the row out: a program failed",
            )


def loop_remarks(texts: SampleTexts) -> Iterator[Remark]:
    """Yield a remark on each answer that repeats a part to its end."""
    for path, answer in texts.answers:
        found = repeated_part(answer)
        if found is None or any(
            _asked_to_repeat.search(text) for _, text in texts.prompts
        ):
            continue
        part, times = found
        yield Remark(
            LOOP,
            path,
            f"the answer repeats {short_json(part)} to its end, {times} times",
            "ask the model again with another temperature or a penalty for repetition",
        )


def may_loop(answers: Sequence[str]) -> list[int]:
    """Return the places of answers that may repeat a part to their end."""
    answers = list(map(str.rstrip, answers))
    # stringzilla is quicker, and fails for what is no UTF-8.
    find = stringzilla.find if all(map(str.isascii, answers)) else str.find
    ends, begin = map(_end_of, answers), -_probe - _longest_part
    found = list(map(find, answers, ends, repeat(begin), repeat(-1)))
    if max(found, default=-1) < 0:
        return []
    return [
        place
        for place, at in enumerate(found)
        if at >= 0 and len(answers[place]) >= _shortest_wide_loop
    ]


def repeated_part(answer: str) -> tuple[str, int] | None:
    """Return the part that an answer repeats to its end, and how often; else None."""
    text = answer.rstrip()
    size = len(text)
    if size < _shortest_wide_loop:
        return None
    at = text.rfind(text[-_probe:], max(size - _probe - _longest_part, 0), size - 1)
    if at < 0:
        return None
    period = size - _probe - at
    length = _repeating_length(text, period)
    times = length // period
    part = text[size - period :]
    wide = not part.isascii() and max(part) > "\u2e80"
    least = _shortest_wide_loop if wide else _shortest_loop
    if _letters.search(part) is None:
        return None  # rulers, tables of numbers and digits
    is_loop = (times >= _fewest_times and length >= least) or (
        times >= _few_times_of_long and length >= _long_loop
    )
    return (part, times) if is_loop else None


def _repeating_length(text: str, period: int) -> int:
    """Return how many characters at the end of a text repeat with a period."""
    size = len(text)
    length, step = period, period
    # Compare ever longer pieces, then find where the first one that differs does.
    while length < size:
        step = min(step * 2, size - length)
        begin = size - length - step
        if text[begin : begin + step] != text[begin + period : begin + period + step]:
            while (
                length < size
                and text[size - length - 1] == text[size - length - 1 + period]
            ):
                length += 1
            return length
        length += step
    return length


def _open_place(prompt: str) -> str:
    """Return an open place in a prompt, "" if none is or the prompt is about some."""
    for found in _place.finditer(prompt):
        begin = prompt.rfind("\n", 0, found.start()) + 1
        end = prompt.find("\n", found.end())
        line = (
            prompt[begin : found.start()]
            + prompt[found.end() : None if end < 0 else end]
        )
        if _code_line.search(line) or prompt.count("```", 0, begin) % 2:
            continue
        return "" if _about_templates.search(prompt) else found[0]
    return ""


def _reasoning_mark(answer: str) -> str:
    found = _begun.match(answer) or _ended.search(answer)
    return found[0].strip() if found is not None else ""


def _trace_in(answer: str) -> str:
    """Return a stack trace in an answer, but not in a block of code; else ""."""
    found = _stack_trace.search(answer)
    if found is None or answer.count("```", 0, found.start()) % 2:
        return ""
    return found[0].strip()
