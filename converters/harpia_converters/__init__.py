"""The format adapters, a package for each vendor: formats, rules, profiles."""

from harpia_converters import (
    deepeval,
    eee,
    fine_tuning,
    harpia,
    haystack,
    helm,
    hub,
    inspect_ai,
    lm_eval,
    mt_bench,
    nemo,
    openai,
    openai_evals,
    promptfoo,
    ragas,
    tencent,
)
from harpia_formats.files.io.file_kinds import Unpacker

#: Every format; the first of a family is its default.
FORMATS = (
    eee.formats.V0_2_0_FORMAT,
    eee.formats.V0_2_0_TAG_FORMAT,
    eee.formats.V0_3_0_FORMAT,
    eee.formats.AGGREGATE_FORMAT,
    harpia.formats.LAB_INPUT_FORMAT,
    harpia.formats.OUTPUT_FORMAT,
    harpia.formats.LOG_FORMAT,
    nemo.formats.INPUT_FORMAT,
    nemo.formats.OUTPUT_FORMAT,
    nemo.formats.RESULTS_FORMAT,
    nemo.formats.CONFIG_FORMAT,
    tencent.formats.MESSAGES_FORMAT,
    tencent.formats.OUTPUTS_FORMAT,
    tencent.formats.MANUAL_FORMAT,
    tencent.formats.TABLE_FORMAT,
    haystack.formats.COLUMNS_FORMAT,
    haystack.formats.RESULTS_FORMAT,
    haystack.formats.RUN_FORMAT,
    haystack.formats.EVALUATOR_FORMAT,
    lm_eval.formats.SAMPLES_FORMAT,
    lm_eval.formats.RESULTS_FORMAT,
    inspect_ai.formats.LOG_FORMAT,
    inspect_ai.formats.DATASET_FORMAT,
    helm.formats.FORMAT,
    openai.formats.CHAT_FORMAT,
    openai.formats.PREFERENCE_FORMAT,
    openai.formats.BATCH_INPUT_FORMAT,
    openai.formats.BATCH_OUTPUT_FORMAT,
    openai_evals.formats.SAMPLES_FORMAT,
    openai_evals.formats.LOG_FORMAT,
    mt_bench.formats.QUESTIONS_FORMAT,
    mt_bench.formats.ANSWERS_FORMAT,
    mt_bench.formats.JUDGEMENTS_FORMAT,
    fine_tuning.formats.SHAREGPT_FORMAT,
    fine_tuning.formats.ALPACA_FORMAT,
    ragas.formats.FORMAT,
    deepeval.formats.FORMAT,
    promptfoo.formats.FORMAT,
    hub.formats.RECORD_FORMAT,
    hub.formats.VERDICTS_FORMAT,
    hub.formats.CSV_FORMAT,
    hub.formats.PARQUET_FORMAT,
    hub.formats.JSON_FORMAT,
)

#: Every vendor's own rules.
RULES = (
    *eee.rules.RULES,
    *harpia.rules.RULES,
    *nemo.rules.RULES,
    *tencent.formats.RULES,
    *haystack.rules.RULES,
    *lm_eval.rules.RULES,
    *inspect_ai.formats.RULES,
    *helm.formats.RULES,
    *openai.formats.RULES,
    *openai_evals.formats.RULES,
    *mt_bench.formats.RULES,
    *fine_tuning.formats.SHAREGPT_RULES,
    *fine_tuning.formats.ALPACA_RULES,
    *ragas.formats.RULES,
    *deepeval.formats.RULES,
    *promptfoo.formats.RULES,
)

#: The kinds of files that look like known formats, are recognised, and not read.
UNREAD = (
    *fine_tuning.formats.LLAMA_FACTORY_UNREAD,
    *fine_tuning.formats.SHAREGPT_UNREAD,
    *fine_tuning.formats.ALPACA_UNREAD,
    *promptfoo.formats.UNREAD,
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
DEFINITIONS = ("harpia_converters.haystack.judges:definitions_in",)

#: Where the included definition of an LLM judge of each name is, as `module:name`,
#: loaded only to use one.
JUDGES: dict[str, str] = {
    "faithfulness": "harpia_converters.haystack.judges:FAITHFULNESS",
    "context-relevance": "harpia_converters.haystack.judges:CONTEXT_RELEVANCE",
}

#: What makes text of files that are not text, and of folders that are one input; the
#: first that recognizes a file or folder reads it.
UNPACKERS: tuple[Unpacker, ...] = (
    helm.formats.UNPACKER,
    inspect_ai.formats.UNPACKER,
    openai_evals.formats.UNPACKER,
    hub.formats.UNPACKER,
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
