"""The exceptions that a user can mend; imported only after a command has failed."""

from harpia_formats.cli.exit_codes import UsageError
from harpia_formats.extensions.entry_points import PluginError
from harpia_formats.io.sink import SinkError
from harpia_formats.mapping.columns import MapError
from harpia_formats.mapping.requirements import ConversionError
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.registry import UnknownFormat
from harpia_formats.reporters import UnknownReporter
from harpia_formats.rules import NoRuleLeft, UnknownRule
from harpia_formats.schema.load import SchemaError
from harpia_formats.validation.companion_error import CompanionError
from harpia_formats.workers.engine import EngineError

#: Their text is a complete message: no traceback is needed to act on it.
USER_ERRORS = (
    CompanionError,
    ConversionError,
    EngineError,
    MapError,
    NoRuleLeft,
    PluginError,
    SchemaError,
    ScoreError,
    SinkError,
    UnknownFormat,
    UnknownReporter,
    UnknownRule,
    UsageError,
)
