"""The plug-in for pytest: collects data files as tests, and has a fixture.

pytest imports this module in every run of an environment that has harpia-formats, so
it imports nothing of harpia-formats until a test needs it.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # only tests of data need it
    from harpia_formats.model.report import Report

#: The marker of collected files, to select them or leave them out.
MARKER = "harpia_formats"
#: The most code points of a path that pytest shows.
PATH = 4096
#: Patterns of the files that are collected, split into steps.
_patterns = pytest.StashKey[list[tuple[str, ...]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the patterns of data files, as an option and as a setting."""
    meaning = "Validate files that match as tests, such as 'data/*.jsonl'"
    parser.getgroup("harpia-formats").addoption(
        "--harpia-files",
        action="append",
        default=[],
        metavar="PATTERN",
        help=f"{meaning} (repeatable).",
    )
    parser.addini("harpia_files", f"{meaning}.", type="linelist", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Read the patterns, and declare the marker."""
    given = [*config.getini("harpia_files"), *config.getoption("--harpia-files")]
    patterns = [tuple(filter(None, pattern.split("/"))) for pattern in given]
    config.stash[_patterns] = [pattern for pattern in patterns if pattern]
    config.addinivalue_line("markers", f"{MARKER}: data files that are validated.")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "DataFile | None":
    """Return what collects a file if it matches a pattern."""
    patterns = parent.config.stash[_patterns]
    if not patterns:
        return None
    from harpia_formats.files.io.discovery import matches  # noqa: PLC0415 - only with patterns
    from harpia_formats.model.safe_text import safe  # noqa: PLC0415 - only with patterns

    root = parent.config.rootpath
    is_below = file_path.is_relative_to(root)
    parts = file_path.relative_to(root).parts if is_below else (file_path.name,)
    if not any(matches(parts, pattern) for pattern in patterns):
        return None
    path = "/".join(parts) if is_below else os.fspath(file_path)
    names: dict[str, Any] = {"name": safe(file_path.name), "nodeid": safe(path, PATH)}
    # pytest writes names as they are: to terminals, logs of runners, and UTF-8 files.
    is_safe = names["nodeid"] == path
    return DataFile.from_parent(parent, path=file_path, **({} if is_safe else names))


class DataFile(pytest.File):
    """A data file, collected as one test."""

    def collect(self) -> Iterator["DataTest"]:
        """Yield the test."""
        yield DataTest.from_parent(self, name="valid")


class DataTest(pytest.Item):
    """The validation of a data file under the settings that apply to it."""

    def __init__(self, **arguments: Any) -> None:
        """Take the arguments of an item."""
        super().__init__(**arguments)
        self.add_marker(MARKER)

    def runtest(self) -> None:
        """Fail if the file is not valid, as `harpia-formats validate` does."""
        from harpia_formats.api.run_settings import RunSettings  # noqa: PLC0415 - only if a file is collected
        from harpia_formats.api.testing.assertion import findings_text, is_failed  # noqa: PLC0415 - only if a file is collected
        from harpia_formats.validation.options import Options  # noqa: PLC0415 - only if a file is collected
        from harpia_formats.validation.run import Validation  # noqa: PLC0415 - only if a file is collected

        settings = RunSettings()
        # Tests may run in several processes already.
        options = settings.apply(Options(jobs=1, allow_no_files=True), {"jobs"})
        run = Validation([self._shown_path()], options, settings.file_options)
        problems = tuple(run)
        report = run.report()
        _skip_without_data(report)
        on_warning = bool(settings.value("error-on-warning", False, ()))  # noqa: FBT003 - the value without settings
        if is_failed(report, error_on_warning=on_warning):
            text = findings_text(report, problems, error_on_warning=on_warning)
            raise InvalidData(text)

    def _shown_path(self) -> str:
        """Return the path from the working folder if the file is below it."""
        folder = Path.cwd()
        is_below = self.path.is_relative_to(folder)
        return os.fspath(self.path.relative_to(folder) if is_below else self.path)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:
        """Return the findings, or the message of an option that cannot be used."""
        from harpia_formats.model.problem import HarpiaFormatsError  # noqa: PLC0415 - only for a failure

        if isinstance(excinfo.value, (InvalidData, HarpiaFormatsError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file and the name of the test."""
        from harpia_formats.model.safe_text import safe  # noqa: PLC0415 - only if a file is collected

        return Path(safe(os.fspath(self.path), PATH)), None, self.nodeid


class InvalidData(Exception):  # noqa: N818 - it never leaves the test
    """A data file is not valid; the text of the error lists the findings."""


def _skip_without_data(report: "Report") -> None:
    """Skip the test of a file that settings leave out or pass over."""
    if report.excluded:
        pytest.skip("left out by the setting exclude")
    for file in report.skipped:
        pytest.skip(str(file.reason))


@pytest.fixture(scope="session")
def assert_valid(pytestconfig: pytest.Config) -> "Callable[..., Report]":
    """Return `assert_valid` of `api.testing` with paths from the root folder."""
    from harpia_formats.api.testing.assertion import assert_valid as check  # noqa: PLC0415 - only if a test asks for it

    def assert_valid_below_root(data: Any, *arguments: Any, **options: Any) -> "Report":
        __tracebackhide__ = True
        is_path = isinstance(data, os.PathLike) or (
            isinstance(data, str) and data != "-" and "://" not in data
        )
        return check(
            pytestconfig.rootpath / data if is_path else data, *arguments, **options
        )

    return assert_valid_below_root
