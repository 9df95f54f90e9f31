"""The lints of instructions: an empty input means that there is none."""

from harpia_formats.model.lint import Lints

#: Empty prompts: `input` is a part of the prompt, and mostly empty. An input without an
#: instruction is reported as G201.
LINTS = Lints(covers=frozenset({"V306"}))
