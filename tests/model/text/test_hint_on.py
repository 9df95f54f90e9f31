"""The end of a sentence on an unknown name."""

from harpia_formats.model.spelling import hint_on


def test_all_names_are_listed_only_if_none_is_near() -> None:
    """A misspelt name has one suggestion; any other one has the list."""
    names = ("alpha", "beta", "gamma")

    assert hint_on("alhpa", names) == "; did you mean alpha?"
    assert hint_on("zzz", names) == " (known: alpha, beta, gamma)"
    assert hint_on("zzz", names, word="it has", most=1, shown=repr) == (
        " (it has: 'alpha' and 2 more)"
    )
    assert not hint_on("zzz", ())
