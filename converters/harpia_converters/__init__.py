"""The spokes: what each vendor's data looks like, one package a vendor."""

from harpia_converters import eee, harpia, haystack, hub, nemo, table, tencent

#: Every format, the one to take where nothing tells first in its family.
FORMATS = (
    eee.seed.FORMAT,
    eee.tag.FORMAT,
    eee.current.FORMAT,
    eee.aggregate.FORMAT,
    harpia.lab_input.FORMAT,
    harpia.output.FORMAT,
    harpia.log.FORMAT,
    nemo.input.FORMAT,
    nemo.output.FORMAT,
    nemo.results.FORMAT,
    nemo.config.FORMAT,
    tencent.messages.FORMAT,
    tencent.outputs.FORMAT,
    tencent.manual.FORMAT,
    tencent.table.FORMAT,
    haystack.columns.FORMAT,
    haystack.results.FORMAT,
    haystack.run.FORMAT,
    haystack.evaluator.FORMAT,
    hub.record.FORMAT,
    table.any_columns.FORMAT,
)

#: Every vendor's own rules.
RULES = (
    *eee.rules.RULES,
    *harpia.rules.RULES,
    *nemo.rules.RULES,
    *tencent.rules.RULES,
    *haystack.rules.RULES,
)

__all__ = ["FORMATS", "RULES"]
