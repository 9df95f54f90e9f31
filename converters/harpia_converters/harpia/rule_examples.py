"""Builders of the examples of HarpIA's rules."""

BLEU = (
    b'"parameters": {"weights": [0.5, 0.5], "smoothing_function": "method1", '
    b'"auto_reweigh": false}'
)
METRIC = b'"id": "BLEU-NLTK", "enable": true, '


def instance(*fields: bytes) -> bytes:
    """Return an input of one instance that has these fields."""
    plain = b'"id": "1", "input": "Traduza: A ave canta."'
    return b'{"instances": [{' + b", ".join((plain, *fields)) + b"}]}\n"


def metrics(one: bytes, key: bytes = b"metrics") -> bytes:
    """Return an input with one metric."""
    return (
        b'{"instances": [{"id": "1", "input": "Traduza: A ave canta.", '
        b'"actual-output": "The bird sings."}], "' + key + b'": [{' + one + b"}]}\n"
    )


def output(*fields: bytes) -> bytes:
    """Return the output of one metric that has these fields."""
    return b"[{" + b", ".join((b'"score": 0.71', *fields)) + b"}]\n"


def log(instance: bytes) -> bytes:
    """Return one line of a log."""
    fields = (b'"id": "BLEU-NLTK"', BLEU, b'"result": 0.71', b'"instance_id": ')
    return b"{" + b", ".join(fields) + instance + b"}\n"


ANSWER = b'"actual-output": "The bird sings."'
NAMED, TIME = b'"id": "BLEU-NLTK"', b'"elapsed time": 0.02'
GOOD_OUTPUT = output(NAMED, BLEU, TIME)
