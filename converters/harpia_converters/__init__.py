"""The format adapters, one package for each vendor: formats, rules, profiles."""

from harpia_converters import (
    alpaca,
    arrow,
    deepeval,
    eee,
    harpia,
    haystack,
    helm,
    hub,
    inspect_ai,
    llama_factory,
    lm_eval,
    mt_bench,
    nemo,
    openai,
    openai_evals,
    promptfoo,
    ragas,
    sharegpt,
    table,
    tencent,
)
from harpia_formats.files.io.unpacking import Unpacker

#: Every format; the first of a family is its default.
FORMATS = (
    eee.v0_2_0.FORMAT,
    eee.v0_2_0_tag.FORMAT,
    eee.v0_3_0.FORMAT,
    eee.aggregate.FORMAT,
    harpia.lab_input.FORMAT,
    harpia.output.FORMAT,
    harpia.log.FORMAT,
    nemo.input.FORMAT,
    nemo.output.FORMAT,
    nemo.results.FORMAT,
    nemo.config.FORMAT,
    tencent.messages.FORMAT,
    tencent.outputs.FORMAT,
    tencent.manual.FORMAT,
    tencent.table.FORMAT,
    haystack.columns.FORMAT,
    haystack.results.FORMAT,
    haystack.run.FORMAT,
    haystack.evaluator.FORMAT,
    lm_eval.samples.FORMAT,
    lm_eval.results.FORMAT,
    inspect_ai.log.FORMAT,
    inspect_ai.dataset.FORMAT,
    helm.run.FORMAT,
    openai.chat.FORMAT,
    openai.preference.FORMAT,
    openai.batch_input.FORMAT,
    openai.batch_output.FORMAT,
    openai_evals.samples.FORMAT,
    openai_evals.log.FORMAT,
    mt_bench.questions.FORMAT,
    mt_bench.answers.FORMAT,
    mt_bench.judgements.FORMAT,
    sharegpt.conversations.FORMAT,
    alpaca.instructions.FORMAT,
    ragas.samples.FORMAT,
    deepeval.cases.FORMAT,
    promptfoo.results.FORMAT,
    hub.record.FORMAT,
    hub.verdicts.FORMAT,
    table.any_columns.FORMAT,
    arrow.any_columns.FORMAT,
    hub.any_keys.FORMAT,
)

#: Every vendor's own rules.
RULES = (
    *eee.rules.RULES,
    *harpia.rules.RULES,
    *nemo.rules.RULES,
    *tencent.rules.RULES,
    *haystack.rules.RULES,
    *lm_eval.rules.RULES,
    *inspect_ai.rules.RULES,
    *helm.rules.RULES,
    *openai.rules.RULES,
    *openai_evals.rules.RULES,
    *mt_bench.rules.RULES,
    *sharegpt.rules.RULES,
    *alpaca.rules.RULES,
    *ragas.rules.RULES,
    *deepeval.rules.RULES,
    *promptfoo.rules.RULES,
)

#: The kinds of files that are told from the formats that they look like, and not read.
UNREAD = (
    *llama_factory.chats.UNREAD,
    *sharegpt.conversations.UNREAD,
    *alpaca.instructions.UNREAD,
    *promptfoo.results.UNREAD,
)

#: Where the `MetricProfile` of each name is, as `module:name`, loaded only to
#: score.
PROFILES: dict[str, str] = {
    "harpia": "harpia_converters.harpia.profile:HARPIA",
    "nemo": "harpia_converters.nemo.profile:NEMO",
    "nemo-custom": "harpia_converters.nemo.profile:NEMO_CUSTOM",
    "nemo-sdk": "harpia_converters.nemo.profile:NEMO_SDK",
    "nemo-evaluator": "harpia_converters.nemo.profile:NEMO_EVALUATOR",
    "haystack": "harpia_converters.haystack.profile:PROFILE",
    "tencent": "harpia_converters.tencent.profile:PROFILE",
    "lm-eval": "harpia_converters.lm_eval.profile:PROFILE",
    "inspect": "harpia_converters.inspect_ai.profile:PROFILE",
}

#: Functions that read definitions of LLM judges in a vendor's format, as
#: `module:name`, loaded only to read one.
DEFINITIONS = ("harpia_converters.haystack.judge_arguments:definitions_in",)

#: Where the included definition of an LLM judge of each name is, as `module:name`,
#: loaded only to use one.
JUDGES: dict[str, str] = {
    "faithfulness": "harpia_converters.haystack.judges:FAITHFULNESS",
    "context-relevance": "harpia_converters.haystack.judges:CONTEXT_RELEVANCE",
}

#: What makes text of files that are not text, and of folders that are one input; the
#: first that recognizes a file or folder reads it.
UNPACKERS: tuple[Unpacker, ...] = (
    helm.run.UNPACKER,
    inspect_ai.archive.UNPACKER,
    openai_evals.log.UNPACKER,
    arrow.unpacker.UNPACKER,
)

__all__ = [
    "DEFINITIONS",
    "FORMATS",
    "JUDGES",
    "PROFILES",
    "RULES",
    "UNPACKERS",
    "UNREAD",
]
