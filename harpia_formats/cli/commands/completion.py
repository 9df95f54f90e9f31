"""`harpia-formats completion`, and the scripts that ask for completions.

The variable `REQUEST` has the name of the shell. The answer is one line with its
kind, `values`, `partial` (values that go on) or `files`, and then a line for each
value.
"""

import sys
from typing import TYPE_CHECKING

from harpia_formats.cli import REQUEST
from harpia_formats.cli.streams_and_exit_codes import ExitCode, text_writer

if TYPE_CHECKING:  # a shell waits for the answer, which needs no values of options
    from harpia_formats.cli.command_options import Given

#: The line up to the cursor, and the characters at which bash breaks words.
LINE, WORD_BREAKS = "_HARPIA_FORMATS_LINE", "_HARPIA_FORMATS_WORD_BREAKS"

_BASH = f"""\
_harpia_formats() {{
    local kind line
    COMPREPLY=()
    {{
        read -r kind
        while IFS= read -r line; do COMPREPLY+=("$line"); done
    }} < <({LINE}="${{COMP_LINE:0:COMP_POINT}}" \\
        {WORD_BREAKS}="$COMP_WORDBREAKS" {REQUEST}=bash "$1" 2>/dev/null)
    if [[ $kind == partial ]]; then compopt -o nospace; fi
    if [[ $kind == files && ${{#COMPREPLY[@]}} -gt 0 ]]; then
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$2")
    fi
}}
complete -o bashdefault -o default -F _harpia_formats harpia-formats
"""
_ZSH = f"""\
#compdef harpia-formats
_harpia-formats() {{
    local -a lines asked
    local kind
    asked=("${{(@Q)words[2,CURRENT]}}")
    lines=("${{(@f)$({REQUEST}=zsh $words[1] "${{asked[@]}}" 2>/dev/null)}}")
    kind=$lines[1]
    shift lines
    case $kind in
        files)
            (( $#lines )) && _describe -V value lines
            compset -P '--*='; _files ;;
        partial) _describe -V value lines -S '' ;;
        values) _describe -V value lines ;;
    esac
}}
if [[ "$funcstack[1]" == "_harpia-formats" ]]; then
    _harpia-formats "$@"
else
    compdef _harpia-formats harpia-formats
fi
"""
_FISH = f"""\
function __harpia_formats_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer (env {REQUEST}=fish $words "$current" 2>/dev/null)
    if test "$answer[1]" = files
        __fish_complete_path "$current"
        printf '%s\\n' $answer[2..-1]
    else
        printf '%s\\n' $answer[2..-1]
    end
end
complete -c harpia-formats -f -a '(__harpia_formats_complete)'
"""
#: The script of each shell.
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion(given: "Given") -> ExitCode:
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
