"""Find templates in a text that Jinja certainly cannot read."""

import re

_begin = re.compile(r"\{[{%#]")
_ends = {"{{": "}}", "{%": "%}", "{#": "#}"}
_end_of_raw = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
#: The tags of Jinja and of Haystack's extensions.
_tags = frozenset(
    "autoescape block break call continue debug do elif else endautoescape endblock "
    "endcall endfilter endfor endif endmacro endmessage endraw endset endtrans endwith "
    "extends filter for from if import include insert macro message now pluralize "
    "print raw set trans with".split()
)


def broken_template(text: str) -> str:
    """Return the first template in `text` that has no end or no meaning, or "".

    Not all that Jinja refuses is found: only what cannot be read by any version of it.
    """
    at = 0
    while begin := _begin.search(text, at):
        end = text.find(_ends[begin[0]], begin.end())
        if end < 0:
            return begin[0]
        shown = text[begin.start() : end + 2]
        inner = text[begin.end() : end].strip(" \t\r\n+-")
        at = end + 2
        if begin[0] == "{{" and not inner:
            return shown
        if begin[0] == "{%":
            word = re.match(r"\w*", inner)
            tag = word[0] if word else ""
            if tag not in _tags:
                return shown
            if tag == "raw":
                closing = _end_of_raw.search(text, at)
                if closing is None:
                    return shown
                at = closing.end()
    return ""
