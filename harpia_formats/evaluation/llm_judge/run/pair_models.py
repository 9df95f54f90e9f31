"""The two models whose answers are judged in pairs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harpia_formats.conversion.mapping.select_model import (
    LISTED_MODELS,
    REMEMBERED_MODELS,
)
from harpia_formats.evaluation.llm_judge.errors import JudgeError
from harpia_formats.evaluation.llm_judge.run.pair_verdicts import TIE
from harpia_formats.model.record import Record

#: How many answers make a pair.
_BOTH = 2


@dataclass(frozen=True, slots=True)
class PairModels:
    """The names of two models, and which of them an answer is of."""

    names: tuple[str, str]
    #: Whether each input is a model, whatever its answers say.
    are_inputs: bool = False

    def side(self, source: int, model: str) -> int | None:
        """Return 0 or 1 for an answer of one of the models, None for any other.

        `source` is the number of the input from 0, and `model` is "" if unknown.
        """
        if self.are_inputs:
            return source
        return self.names.index(model) if model in self.names else None


def models_in(
    sources: Sequence[tuple[str, Iterable[Record]]], wanted: Sequence[str]
) -> PairModels:
    """Return the two models whose answers some named sources of records have.

    They are those that are `wanted`, else the only two; or two sources with answers of
    one model each, that are called as the sources. Raises `JudgeError` for anything
    else.
    """
    seen: list[dict[str, None]] = []
    for _, records in sources:
        models: dict[str, None] = {}
        for record in records:
            for output in record.outputs:
                model = output.model or ""
                if len(models) < REMEMBERED_MODELS or model in wanted:
                    models[model] = None
        seen.append(models)
    found = _chosen([name for name, _ in sources], seen, wanted)
    if TIE in found.names:
        raise JudgeError(f"a model is called {TIE}, which is a verdict on pairs")
    return found


def _chosen(
    names: Sequence[str], seen: Sequence[dict[str, None]], wanted: Sequence[str]
) -> PairModels:
    everyone = list(dict.fromkeys(model for models in seen for model in models))
    listed = _listed([model for model in everyone if model])
    missing = next((model for model in wanted if model not in everyone), None)
    if missing is not None:
        raise JudgeError(f"no answer is of the model {missing!r} ({listed})")
    known = list(wanted) or everyone
    if len(known) == _BOTH and "" not in known:
        return PairModels((known[0], known[1]))
    if len(names) == _BOTH and all(len(models) == 1 for models in seen):
        if names[0] == names[1]:
            raise JudgeError(f"both inputs are {names[0]}: a pair needs two")
        return PairModels((names[0], names[1]), are_inputs=True)
    if len(everyone) > _BOTH:
        raise JudgeError(
            f"pairs need two models: choose two with --model, given twice ({listed})"
        )
    raise JudgeError(
        "pairs need the answers of two models in the input, or two inputs with the "
        f"answers of one model each ({listed})"
    )


def _listed(models: Sequence[str]) -> str:
    if not models:
        return "no answer names its model"
    rest = len(models) - LISTED_MODELS
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"there are: {', '.join(map(repr, models[:LISTED_MODELS]))}{more}"
