"""The commands, each in a module of its name: parse, call, report, exit code."""
