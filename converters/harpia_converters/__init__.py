"""The spokes: what each vendor's data looks like, one package a vendor."""

from harpia_converters import eee

#: Every format, the one to take where nothing tells first in its family.
FORMATS = (
    eee.seed.FORMAT,
    eee.tag.FORMAT,
    eee.current.FORMAT,
)

#: Every vendor's own rules.
RULES = (*eee.rules.RULES,)

__all__ = ["FORMATS", "RULES"]
