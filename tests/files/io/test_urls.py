"""URLs: which names are URLs, and how secrets in them are hidden."""

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.io.urls import (
    all_masked,
    file_name_of,
    is_same_place,
    is_url,
    masked,
    sibling_of,
)

#: Text that stands in no other part of the addresses below.
secrets = st.text("!$&'()*+,;=KLMNOP", min_size=6, max_size=20)


@for_each_case(
    "text, expected",
    [
        ("s3://bucket/key", True),
        ("HTTPS://host/x", True),
        ("memory://x", True),
        ("data/x.jsonl", False),
        ("C:/data", False),
        ("c://data", False),
        ("-", False),
        ("a:b", False),
        ("", False),
    ],
)
def test_an_address_has_a_scheme(text: str, expected: bool) -> None:
    """A scheme of two letters or more makes a URL; a drive letter does not."""
    assert is_url(text) == expected


@given(secret=secrets, scheme=st.sampled_from(["s3", "https", "sftp", "memory"]))
def test_no_password_is_shown(secret: str, scheme: str) -> None:
    """User and password are removed from a URL anywhere in a text."""
    url = f"{scheme}://u:{secret}@host/a/b.jsonl"

    assert masked(url) == f"{scheme}://***@host/a/b.jsonl"
    assert secret not in masked(url)


def test_a_text_of_many_addresses_is_masked_in_linear_time() -> None:
    """No address is read again for each one that stands before it."""
    text = "http://a:b" * 100_000

    assert all_masked(text) == text


@given(secret=secrets)
def test_no_signature_is_shown(secret: str) -> None:
    """A query and a fragment are removed; the name of the file is kept."""
    url = f"https://host/a/b.jsonl.gz?X-Amz-Signature={secret}#{secret}"

    assert masked(url) == "https://host/a/b.jsonl.gz"
    assert all_masked(f"no: '{url}' ({url})") == (
        "no: 'https://host/a/b.jsonl.gz' (https://host/a/b.jsonl.gz)"
    ) or any(each in secret for each in "'()")


@given(secret=secrets, name=st.sampled_from(["X-Amz-Signature", "sig", "token"]))
def test_no_signature_of_a_store_is_shown(secret: str, name: str) -> None:
    """A query with a secret is removed from the URL of a store."""
    value = secret.replace("&", "")
    url = f"s3://bucket/x.jsonl?a=1&{name}={value}&b=2"

    assert masked(url) == "s3://bucket/x.jsonl"


@for_each_case(
    "text, shown",
    [
        ("https:user:hunter2@h/x.jsonl?a=1", "https:***@h/x.jsonl"),
        ("HTTPS:/user:hunter2@h/x.jsonl", "HTTPS:***@h/x.jsonl"),
        ("s3:user:hunter2@b/x.jsonl", "s3:***@b/x.jsonl"),
        ("data/s3:a@b.jsonl", "data/s3:a@b.jsonl"),
        ("C:/a@b.jsonl", "C:/a@b.jsonl"),
    ],
)
def test_no_password_of_a_mistyped_address_is_shown(text: str, shown: str) -> None:
    """Without its slashes a URL has the same secrets; other paths stay."""
    assert masked(text) == shown
    assert "hunter2" not in all_masked(f"no '{text}'")


@for_each_case(
    "url, shown",
    [
        ("https://u:p/a@host/x.jsonl", "https://***@host/x.jsonl"),
        ("s3://u:p/a/b@bucket/x.jsonl", "s3://***@bucket/x.jsonl"),
        ("https://host:8080/a@b.jsonl", "https://host:8080/a@b.jsonl"),
        ("https://[::1]:8080/a@b.jsonl", "https://[::1]:8080/a@b.jsonl"),
        ("s3://bucket/a:b/c@d.jsonl", "s3://bucket/a:b/c@d.jsonl"),
        ("https://host?a:b/c@d.jsonl", "https://host"),
        ("https://host#a:b/c@d.jsonl", "https://host"),
        ("https://a:b,https://u:p@host/x", "https://a:b,https://***@host/x"),
    ],
)
def test_no_password_with_a_slash_is_shown(url: str, shown: str) -> None:
    """A slash that should have been `%2F` does not end a password; a port is none."""
    assert masked(url) == shown
    assert all_masked(f"no '{url}'") == f"no '{shown}'"


def test_a_query_of_a_store_is_part_of_the_name() -> None:
    """The key of an object store is shown as it is, with any characters."""
    assert masked("s3://bucket/a?b#c@d.jsonl") == "s3://bucket/a?b#c@d.jsonl"
    assert masked("s3://bucket/a.jsonl?page=2") == "s3://bucket/a.jsonl?page=2"
    assert masked("s3://bucket/y?/key=1/a.jsonl") == "s3://bucket/y?/key=1/a.jsonl"


def test_a_file_next_to_another_keeps_both_slashes() -> None:
    """The sibling of a URL is a URL, and that of a path is a path."""
    assert sibling_of("s3://bucket/a/b.jsonl", "c.json") == "s3://bucket/a/c.json"
    assert sibling_of("a/b.jsonl", "c.json").replace("\\", "/") == "a/c.json"
    assert file_name_of("s3://bucket/a/b.jsonl") == "b.jsonl"
    assert file_name_of("a/b.jsonl") == "b.jsonl"


def test_addresses_are_not_taken_for_paths() -> None:
    """Two URLs are the same if they are equal, two paths if they lead to one file."""
    assert is_same_place("s3://b/x", "s3://b/x")
    assert not is_same_place("s3://b/x", "s3:/b/x")
    assert is_same_place("a/../b", "b")


def test_the_time_to_mask_does_not_grow_with_the_square_of_a_text() -> None:
    """A text of a megabyte without an address is looked through at once."""
    text = "a" * 1_000_000

    assert all_masked(f"{text} x:/") == f"{text} x:/"
    assert all_masked(f"{text}://u:p@h/k") == f"{text}://***@h/k"
    many = "s3:x " * 200_000
    assert all_masked(many) == many
