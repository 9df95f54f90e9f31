"""`harpia-formats completion`."""

import sys

from harpia_formats.cli.completion.scripts import SCRIPTS
from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.streams import text_writer


def completion(given: Given) -> ExitCode:
    """Print a script for a shell that completes commands, options and values.

    For bash, add this line to ~/.bashrc:

    eval "$(harpia-formats completion bash)"

    For zsh, add this line to ~/.zshrc, below compinit:

    eval "$(harpia-formats completion zsh)"

    For fish, write the script to a file that fish reads:

    harpia-formats completion fish > ~/.config/fish/completions/harpia-formats.fish
    """
    text_writer(sys.stdout)(SCRIPTS[given.shell])
    return ExitCode.OK
