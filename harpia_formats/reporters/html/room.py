"""How many bytes the parts of an HTML report may take."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from markupsafe import Markup

Item = TypeVar("Item")


class Room:
    """A number of bytes that rendered pieces share; what does not fit is counted."""

    def __init__(self, size: int) -> None:
        self.left = size
        #: Pieces that did not fit.
        self.cut = 0

    def takes(self, piece: str) -> bool:
        """Take the bytes of a piece if there are as many; tell whether there are."""
        size = len(piece.encode())
        if size > self.left:
            self.cut += 1
            return False
        self.left -= size
        return True

    def kept(
        self, items: Iterable[Item], render: Callable[[Item], Markup]
    ) -> list[Markup]:
        """Return the first items that fit, rendered; count all behind them."""
        found = []
        for item in items:
            if self.cut:
                self.cut += 1
                continue
            piece = render(item)
            if self.takes(piece):
                found.append(piece)
        return found
