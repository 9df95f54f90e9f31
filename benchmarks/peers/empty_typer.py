"""Start a typer program that takes a path and does nothing: the least start-up time."""

from typing import Annotated

import typer

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def nothing(path: Annotated[str, typer.Argument()]) -> None:
    """Accept `path` and do nothing."""
    del path


if __name__ == "__main__":
    app()
