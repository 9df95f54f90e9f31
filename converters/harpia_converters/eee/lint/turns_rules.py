"""E10 and E12: rules on the turns of a conversation and what is counted of them."""

from harpia_converters.eee.lint.example_rows import AGENTIC, agentic
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_shape = "eee@0.2.0"

RULES = (
    Rule(
        "E104",
        "turn-index",
        Severity.ERROR,
        "turn_idx must be the place of the turn, counted from 0 without gaps.",
        "answer_attribution names turns by it. The first wrong turn is reported, with "
        "the number of others.",
        agentic(b'"turn_idx": 2', b'"turn_idx": 5'),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E105",
        "unknown-turn-role",
        Severity.WARNING,
        "The role of a turn must be system, user, assistant or tool.",
        "The schema takes any text. developer and function are reported as notes "
        "(E129).",
        agentic(b'"role": "user"', b'"role": "human"'),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E106",
        "dangling-tool-reference",
        Severity.ERROR,
        "tool_call_id must name a tool call of an earlier turn.",
        "Otherwise nobody can tell which call the turn answers.",
        agentic(b'"tool_call_id": "c1"', b'"tool_call_id": "c2"'),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E107",
        "tool-call-answer",
        Severity.WARNING,
        "Tool calls must have different ids and an answer each, by tool_call_id.",
        "A turn of role tool names the call that it answers. A call without an answer "
        "is one that did not run, or the conversation was cut off.",
        agentic(b', "tool_call_id": "c1"', b""),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E108",
        "type-consistency",
        Severity.WARNING,
        "interaction_type must be that of the turns.",
        "agentic: a turn calls a tool or is of role tool. multi_turn: none does, and "
        "the user or the assistant has more than one turn. single_turn: all others, "
        "with the answer in output.",
        agentic(b'"agentic"', b'"multi_turn"'),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E109",
        "num-turns",
        Severity.WARNING,
        "num_turns must be the number of all turns.",
        "Turns of the system and of tools count, too. A row with turns must have it: "
        "the schema means to require it and does not. In a row of single_turn it is 1 "
        "or absent.",
        agentic(b'"num_turns": 4', b'"num_turns": 2'),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E110",
        "tool-calls-count",
        Severity.WARNING,
        "tool_calls_count must be the number of tool calls in all turns.",
        "A turn can have several. In a row of single_turn it is 0 or absent.",
        agentic(b'"tool_calls_count": 1', b'"tool_calls_count": 2'),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E129",
        "other-turn-role",
        Severity.NOTE,
        "The role of a turn should not be developer or function.",
        "Some providers' interfaces have them for system and tool. Readers of rows "
        "know system, user, assistant and tool.",
        agentic(
            b'"interactions": [{"turn_idx": 0, "role": "user"',
            b'"interactions": [{"turn_idx": 0, "role": "developer"',
        ),
        AGENTIC,
        _shape,
        lint=True,
    ),
)
