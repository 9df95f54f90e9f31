"""Which dialects Tencent's formats have, and what is said of columns of a table."""

import pytest

from harpia_formats import validate
from known_formats import FORMATS

OWN = {id_: each for id_, each in FORMATS.items() if each.vendor == "Tencent TI"}


@pytest.mark.parametrize("answers", ["response", "answer"])
def test_message_on_another_column_names_the_known_ones(answers: str) -> None:
    """The column of answers is called as it is in the dialect of the table."""
    table = f"system,prompt,{answers},id\n,p,r,1\n".encode()
    found = validate(table, format="tencent-csv", select=["T105"]).problems

    assert [answers in each.message for each in found] == [True]


def test_only_the_alias_is_undocumented() -> None:
    """The format's page documents every dialect but the table with answer."""
    dialects = [each for format_ in OWN.values() for each in format_.dialects]

    assert [each.name for each in dialects if not each.documented] == ["answer"]


def test_automated_evaluation_is_one_family() -> None:
    """Both kinds of automated evaluation are recognised for the name tencent."""
    family = {each.id for each in OWN.values() if each.family == "tencent"}

    assert family == {"tencent-messages", "tencent-outputs"}
