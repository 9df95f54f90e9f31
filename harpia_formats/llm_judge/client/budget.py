"""How much may be asked for in one run, and how much was."""

from dataclasses import dataclass, field
from threading import Lock


class BudgetExhausted(BaseException):  # no error: a run stops asking, as it was told
    """The budget is spent: nothing more is sent.

    It is no `Exception` so that a client which retries after any of those lets it pass.
    """


@dataclass(slots=True)
class Budget:
    """Counts requests and tokens, and says when there are enough."""

    #: None is no limit.
    max_requests: int | None = None
    max_tokens: int | None = None
    #: Requests that were sent, and how many of them were not the first for a prompt.
    requests: int = 0
    retries: int = 0
    tokens: int = 0
    #: Why there is nothing more, "" while there is.
    spent: str = ""
    #: Set when a run is broken off.
    stopped: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def take(self, *, is_retry: bool = False) -> None:
        """Count a request that is about to be sent; raises `Spent`."""
        with self._lock:
            if self.stopped:
                raise BudgetExhausted
            if self.max_requests is not None and self.requests >= self.max_requests:
                self.spent = f"{self.max_requests:,} requests were sent"
            elif self.max_tokens is not None and self.tokens >= self.max_tokens:
                self.spent = f"{self.tokens:,} tokens were used"
            if self.spent:
                raise BudgetExhausted
            self.requests += 1
            self.retries += is_retry

    def add(self, tokens: int) -> None:
        """Count the tokens of a reply."""
        with self._lock:
            self.tokens += tokens
