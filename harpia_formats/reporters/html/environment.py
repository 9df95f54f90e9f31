"""The templates of HTML reports, and what makes values safe in them."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from harpia_formats.evaluation.plots import STYLE
from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.model.text.sanitize import escaped

try:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup
except ImportError as error:  # pragma: no cover - the extra is installed in the tests
    raise HarpiaFormatsError(
        "an HTML report needs jinja2: pip install 'harpia-formats[report]'"
    ) from error


def _text_of(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text("utf-8")


def _visible(value: Any) -> Any:
    """Return text with control and bidirectional characters as escapes."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return escaped(value)
    return value


def _source_of(text: str) -> str:
    """Return the source by which a content security policy allows an inline text."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def environment() -> Environment:
    """Return the environment of the templates, which escapes every value."""
    found = Environment(
        loader=FunctionLoader(_text_of),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["count"] = lambda number: f"{number:,}"
    style, script = STYLE + _text_of("style.css"), _text_of("script.js")
    found.globals.update(
        style=Markup(style),  # noqa: S704 - our own text
        script=Markup(script),  # noqa: S704 - our own text
        policy=(
            f"default-src 'none'; style-src {_source_of(style)}; "
            f"script-src {_source_of(script)}; base-uri 'none'; form-action 'none'"
        ),
    )
    return found


def render(template: str, **values: Any) -> Markup:
    """Return a template with its values, all of which are escaped."""
    return Markup(environment().get_template(template).render(values))  # noqa: S704 - autoescape


def macro(template: str, name: str) -> Any:
    """Return a macro of a template: a function that returns markup."""
    return getattr(environment().get_template(template).module, name)
