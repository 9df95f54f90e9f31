"""The budget of one run: limits and counts of requests and tokens."""

from dataclasses import dataclass, field
from threading import Lock


class BudgetExhausted(BaseException):
    """The budget is spent, so that no further request is sent.

    It is not an `Exception`, because clients catch those and send the request again.
    """


@dataclass(slots=True)
class Budget:
    """Counts requests and tokens, and stops requests at the limits."""

    #: The limits; None for no limit.
    max_requests: int | None = None
    max_tokens: int | None = None
    #: The number of requests, and how many of them were retries.
    requests: int = 0
    retries: int = 0
    tokens: int = 0
    #: Why no further request is sent, "" as long as some are allowed.
    exhausted_reason: str = ""
    #: Set when a run is interrupted.
    stopped: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def count_request(self, *, is_retry: bool = False) -> None:
        """Count a request before it is sent; raises `BudgetExhausted` at a limit."""
        with self._lock:
            if self.stopped:
                raise BudgetExhausted
            if self.max_requests is not None and self.requests >= self.max_requests:
                self.exhausted_reason = f"{self.max_requests:,} requests were sent"
            elif self.max_tokens is not None and self.tokens >= self.max_tokens:
                self.exhausted_reason = f"{self.tokens:,} tokens were used"
            if self.exhausted_reason:
                raise BudgetExhausted
            self.requests += 1
            self.retries += is_retry

    def add(self, tokens: int) -> None:
        """Add the tokens of a reply."""
        with self._lock:
            self.tokens += tokens
