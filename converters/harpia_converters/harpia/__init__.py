"""HarpIA Lab: the input of an evaluation, its output and its log."""

from harpia_converters.harpia import companion, lab_input, log, output, rules

__all__ = ["companion", "lab_input", "log", "output", "rules"]
