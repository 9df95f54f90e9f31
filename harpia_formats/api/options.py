"""Every option of the commands and of the Python functions, each declared once.

From this table come the parameters of commands (`cli.command_options`), the keyword
arguments of functions and their stub (`api.signatures`), the keys of settings
(`api.settings_file`), completion, the pages of reference, and how messages name an
option. What `Option.values` lists is in `api.option_values`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

#: What an option takes on the command line, and what becomes of it: whether it is
#: given, one text or number, several texts (the option is given again for each),
FLAG, TEXT, WHOLE, NUMBER, PATH, TEXTS = "flag text whole number path texts".split()
#: names with commas between them, one of some words, the number of processes, a
#: character, the name of a reporter,
NAMES, CHOICE, WORKERS = "names choice workers".split()
DELIMITER, REPORTER = "delimiter reporter".split()
#: and several texts with an equals sign: a mapping.
MAP, CONSTANTS, PAIRS, PARAMETERS = "map constants pairs parameters".split()
METRICS = "metrics"
_REPEATED = {TEXTS, NAMES, MAP, CONSTANTS, PAIRS, PARAMETERS, METRICS}
#: The default of what must be given.
REQUIRED = ...
#: The functions of commands, where they are called otherwise or are several.
FUNCTIONS = {
    "validate": "validate iter_problems fix",
    "convert": "convert write",
    "score": "score score_answers",
    "score_compare": "compare_scores",
    "schema_check": "check_schema",
    "schema_infer": "infer_schema",
}
#: The names of files with settings; in one folder the first counts.
OWN_FILE, PYPROJECT = "harpia-formats.toml", "pyproject.toml"
#: Words that are no options, by what takes their place.
INSTEAD = {
    "--column": "--map FIELD=COLUMN",
    "--input": "the path alone",
    "--recipe": "`score --plan FILE`, a plan of systems and benchmarks",
    "--show-recipe": "`score --print-plan`",
    "--skip-invalid": "--on-invalid skip",
    "skip_invalid": 'on_invalid="skip"',
    "with_": "companion",
}
#: The options that a benchmark of a plan may have, and those of a whole plan.
OF_BENCHMARKS = frozenset(
    "metrics profile parameters skip_unknown stored from_ columns delimiter companion "
    "reference_from pool from_csv_safe on_invalid missing max_row_bytes".split()
)
OF_PLANS = frozenset(
    "level replicates seed exclude jobs engine cluster_timeout".split()
)
PLANNED = OF_BENCHMARKS | OF_PLANS
_NO_FUNCTION = frozenset("judge view formats schema rule config completion".split())


class Option(NamedTuple):
    """One option or argument, or one of several with the same name and other words.

    A tuple, and no dataclass, because making it takes a fifth of the time.
    """

    #: How functions and the options of a run call it.
    field: str
    #: How the command line calls it, with the noun of its value: `--output -o FILE`. An
    #: argument is a noun alone; "" for what only functions have.
    names: str
    #: What it takes.
    kind: str
    #: The modules of the commands that have it.
    commands: str
    #: A sentence. `{}` are its choices or values, `{all}` the same without "or".
    help: str
    #: The value if it is not given, None for most.
    default: Any = None
    #: The words of a choice.
    choices: str = ""
    #: Which of the lists below of what is installed its values include.
    values: str = ""
    #: The range of a number.
    least: float | None = None
    most: float | None = None
    #: Whether most runs need it, or think of it: `--help` shows it.
    usual: bool = False
    #: The heading of the help page that it stands below.
    panel: str = ""
    #: Whether the help page shows the default.
    shows_default: bool = True
    #: A line of TOML that sets it, if it is a setting. A flag then has --no-NAME, too.
    setting: str = ""
    #: The functions that have it; after a `+`, in addition to those of its commands.
    functions: str = "+"
    #: The type of the argument, where its kind does not say it.
    type: str = ""
    #: Further names of the argument.
    aliases: str = ""
    #: The default of functions, if it is another one.
    python_default: Any = REQUIRED

    @property
    def words(self) -> list[str]:
        """The names on the command line, the long one first."""
        return [word for word in self.names.split() if word.startswith("-")]

    def all_words(self) -> list[str]:
        """Return the names on the command line, with --no-NAME for a flag that has it.

        A flag that is a setting has one, so that it can be turned off.
        """
        found = [each for word in self.words for each in word.split("/")]
        if self.setting and self.kind == FLAG:
            found.append(f"--no-{found[0].removeprefix('--')}")
        return found

    @property
    def is_repeated(self) -> bool:
        """Whether it may be given several times."""
        return self.kind in _REPEATED

    @property
    def noun(self) -> str:
        """The noun of the value, "" for a flag."""
        last = self.names.rpartition(" ")[2]
        return "" if last.startswith("-") else last

    def all_functions(self) -> list[str]:
        """Return the names of the Python functions that have it."""
        own, plus, more = self.functions.partition("+")
        if "score" in self.commands.split() and self.field in PLANNED:
            own, more = f"{own} score_plan", f"{more} score_plan"
        if not plus or (self.names and not self.words):
            return own.split()
        called = [FUNCTIONS.get(one, one) for one in self.commands.split()]
        named = " ".join(one for one in called if one not in _NO_FUNCTION)
        return f"{named} {more}".split()


def _under(panel: str, *options: Option) -> Iterator[Option]:
    """Yield options that stand below one heading of the help pages."""
    return (option._replace(panel=panel) for option in options)


#: Every option, in the order of the help pages.
# A table is read by its rows, so that each is kept together.
# fmt: off
OPTIONS = (
    # The arguments.
    Option("paths", "PATHS", TEXTS, "validate detect schema_infer",
           "Files, folders or patterns; - is standard input.", default=REQUIRED),
    Option("paths", "PATHS", TEXTS, "convert roundtrip stats judge",
           "Files, folders or patterns; standard input if none is given."),
    Option("paths", "PATHS", TEXTS, "score",
           "Files, folders or patterns; 'NAME=PATTERN' names a system; standard input "
           "if none is given."),
    Option("paths", "FILES", TEXTS, "merge",
           "Files, folders or patterns; - is standard input.", default=REQUIRED),
    Option("paths", "FILES", TEXTS, "view", "Files, folders or patterns.",
           default=REQUIRED),
    Option("paths", "PATHS", TEXTS, "schema_check",
           "Schemas: files, folders or patterns; - is standard input.",
           default=REQUIRED),
    Option("inputs", "INPUTS", TEXTS, "score_compare",
           "Files, folders or patterns, each with the answers of one system or of "
           "several models; 'NAME=PATTERN' names the system whose answers they "
           "hold."),
    Option("inputs", "INPUTS", TEXTS, "score_agreement",
           "Two files with the labels of the same answers, or one file with two "
           "fields."),
    Option("left", "A", TEXT, "diff", "A file, folder or pattern.", default=REQUIRED),
    Option("right", "B", TEXT, "diff", "Another file, folder or pattern.",
           default=REQUIRED),
    Option("path", "FILE", TEXT, "head split", "A file or a URL; - is standard input.",
           default="-"),
    Option("path", "FILE", TEXT, "sample", "A file or a URL; - is standard input.",
           default=REQUIRED),
    Option("path", "PATH", TEXT, "config",
           "A file or folder; if not given, the working folder.", default="."),
    Option("count", "N", WHOLE, "sample", "The same as --rows N.", least=1),
    Option("files", "FILE", TEXTS, "preflight",
           "The preflight file, preflight.toml if not given; with --init the data "
           "files."),
    Option("id_", "ID", TEXT, "schema", "A format, or a schema such as report-1.",
           default=REQUIRED, values="formats only"),
    Option("names", "RULES", TEXTS, "rule", "Codes, prefixes or names of rules.",
           values="rules"),
    Option("shell", "SHELL", CHOICE, "completion", "{}.", default=REQUIRED,
           choices="bash zsh fish"),
    # Below no heading of a page.
    Option("definition", "--definition -d FILE", PATH, "judge",
           "Definition of the judge: YAML or JSON, a component or pipeline that "
           "Haystack dumped, or an included one: faithfulness, context-relevance.",
           default=REQUIRED, usual=True),
    Option("via", "--via FORMAT", TEXT, "roundtrip", "Format to convert into and back.",
           default=REQUIRED, values="written formats", usual=True),
    Option("plan", "--plan FILE", TEXT, "score",
           "Score what this plan states, as one table.",
           functions="", usual=True),
    Option("print_plan", "--print-plan", FLAG, "score",
           "Print the plan that the command line means, and stop.", functions=""),
    Option("variables", "--var NAME=VALUE", PAIRS, "preflight",
           "Value of ${NAME} in the texts of the preflight file (repeatable)."),
    Option("init", "--init", FLAG, "preflight",
           "Write a preflight file that the data files meet, to edit it.",
           functions=""),
    Option("dry_run", "--dry-run", FLAG, "preflight",
           "Show files and expectations, and check nothing.", functions=""),
    Option("dry_run", "--dry-run", FLAG, "judge",
           "Print the prompts and their number; send nothing."),
    Option("to", "--to -t FORMAT", TEXT, "convert",
           "Format to write; .csv, .tsv, .parquet, .arrow and .feather at the end of "
           "the output's name say it, too.", values="written formats", usual=True),
    Option("to", "--to -t NAME", TEXT, "judge",
           "json (one object with results and meta) or jsonl (one line per row); by "
           "the name of the output if not given.", usual=True),
    Option("to", "--to -t FORMAT", TEXT, "score",
           "Format of results to write: {}; a table if not given.",
           values="result formats", functions="score", usual=True),
    Option("rows", "--rows -n N", WHOLE, "head", "Rows that are copied.", default=10,
           least=1, usual=True),
    Option("size", "--rows -n N", WHOLE, "sample", "Rows that are chosen.", least=1,
           usual=True),
    Option("seed", "--seed SEED", TEXT, "sample split",
           "A number or text; the same one chooses the same rows.", default="0",
           type="int | str", python_default=0, usual=True),
    Option("dialect", "--dialect DIALECT", TEXT, "schema",
           "Print the schema of this dialect of the format.", values="dialects"),
    Option("strict", "--strict", FLAG, "schema",
           "Print the schema that accepts only what the vendor's document describes.",
           usual=True),
    Option("as_python", "--as-python", FLAG, "schema",
           "Print a Python module that validates with the standard library only."),
    Option("pairs", "--pairs", FLAG, "formats",
           "List what is lost between each two formats instead."),
    Option("mapping", "--mapping", FLAG, "formats",
           "List which key of each format holds which field instead, in Markdown."),
    Option("every", "--all", FLAG, "rule",
           "List all rules; (--lint) marks those that must be asked for."),
    Option("port", "--port N", WHOLE, "view",
           "Port of 127.0.0.1 at which the page is served; a free one if not given.",
           default=0, least=0, most=65535, shows_default=False, usual=True),
    Option("no_browser", "--no-browser", FLAG, "view",
           "Open no browser, and print the address only.", usual=True),
    Option("notes", "--notes FILE", TEXT, "view",
           "File of the notes on records, one line for each, as verdicts that `score` "
           "reads; without it none are taken.", usual=True),
    Option("query", "--query QUERY", TEXT, "view",
           "Which rows are shown or written, as the address of the page says it, such "
           "as 'text=error&sort=length'.", default="", shows_default=False,
           usual=True),
    Option("top", "--top N", WHOLE, "stats",
           "List the N most frequent models, categories, and other values.", default=10,
           least=1, most=1000, usual=True),
    Option("on_duplicate", "--on-duplicate NAME", CHOICE, "merge",
           "If two rows have one id: {}. Skip leaves out the later one.",
           default="fail", choices="fail skip keep", usual=True),
    Option("names", "--name WHAT=NAME", PAIRS, "score",
           "Name in the results, such as task=qa or run_name=baseline (repeatable)."),
    Option("output", "--output -o NAME", TEXT, "split",
           "Files to write, with {value} in the name.", type="Path | None", usual=True),
    Option("output", "--output -o FILE", TEXT, "convert",
           "File to write; - is standard output. Names that end in {all} are "
           "compressed; {model} in the name writes one file per model.", default="-",
           values="compressions", type="Output", python_default=None, usual=True),
    Option("output", "--output -o FILE", TEXT,
           "score judge head sample merge schema_infer",
           "File to write; - is standard output.", default="-",
           functions="head merge sample score", type="Output", python_default=None,
           usual=True),
    Option("output", "--output -o FILE", TEXT, "view",
           "Write the rows of `--query` to this file, and serve no page; - is "
           "standard output.", usual=True),
    Option("output", "--output -o FILE", TEXT, "preflight",
           "File to write; - is standard output. Only with --init.", functions="",
           usual=True),
    Option("output_format", "--output-format NAME", CHOICE, "stats",
           "What is written: {}.", default="text", choices="text json", functions="",
           usual=True),
    Option("output_format", "--output-format NAME", CHOICE, "detect formats config",
           "{}.", default="text", choices="text json", functions="", usual=True),
    Option("output_format", "--output-format NAME", CHOICE,
           "score score_compare score_agreement",
           "What is printed: a table for people, or one for programs or papers: {}.",
           default="table", choices="table json csv markdown latex", functions="",
           usual=True),
    Option("overwrite", "--overwrite", FLAG,
           "preflight convert score judge head sample split merge schema_infer view",
           "Replace an existing output.",
           functions="convert head merge sample score score_answers split write",
           usual=True),
    Option("csv_safe", "--csv-safe", FLAG,
           "convert score score_compare score_agreement",
           "Mark cells of CSV that a spreadsheet would run as formulas.",
           functions="convert score score_answers write"),
    Option("config", "--config FILE|KEY=VALUE", TEXTS, "validate config",
           "Use the settings in this file, and no others; or set one setting, such as "
           "max-row-bytes=1048576 (repeatable).", functions=""),
    Option("isolated", "--isolated", FLAG, "validate config",
           "Use no settings of any file.", functions=""),
    Option("redact", "--redact", FLAG,
           "validate preflight convert roundtrip diff score score_compare "
           "score_agreement stats judge split merge detect schema_infer view",
           "Show no value of a record, only its type and its length.",
           functions="+ from_table head read sample", setting="redact = true"),
    Option("quiet", "--quiet -q", FLAG,
           "validate preflight convert roundtrip diff score score_compare "
           "score_agreement stats judge head sample split merge schema_check "
           "schema_infer", "Print no summary and no progress bar.", functions=""),
    Option("show_progress", "--progress auto|always|never", CHOICE,
           "validate preflight convert roundtrip diff score score_compare "
           "score_agreement stats judge head sample split merge detect schema_check "
           "schema_infer",
           "Show how far the run is, how fast, and how long the rest takes: on a "
           "terminal, or always (in a pipe a line on standard error every 5 seconds), "
           "or never.", default="auto", choices="auto always never", functions=""),
    *_under("Validation",
    Option("format", "--from --format -f FORMAT", TEXT, "validate",
           "Format of the files; detected from their content if not given.",
           values="formats", functions="+ from_table read", aliases="from_",
           usual=True),
    Option("schema", "--schema FILE", PATH, "validate split",
           "Validate against this JSON Schema (draft-07) instead of a format.",
           type="dict[str, Any] | bool | Path | None"),
    Option("strict", "--strict", FLAG, "validate",
           "Accept only what the vendor's document describes.",
           setting="strict = true", usual=True),
    Option("companion", "--with --aggregate FILE", TEXT, "validate",
           "Also check the files against this one: an aggregate, HarpIA's input, or "
           "lm-eval's results.", aliases="with"),
    Option("assert_formats", "--assert-formats", FLAG, "validate",
           "Report values that break the keyword `format` of a schema.",
           setting="assert-formats = true"),
    Option("select", "--select RULES", NAMES, "validate split schema_check",
           "Check only these rules: codes, prefixes or names, comma-separated.",
           values="rules", setting='select = ["J", "S", "missing-key"]', usual=True),
    Option("ignore", "--ignore RULES", NAMES, "validate split schema_check",
           "Skip these rules (same syntax).", values="rules",
           setting='ignore = ["J202"]'),
    Option("lint", "--lint", FLAG, "validate split schema_check",
           "Add the optional checks.", setting="lint = true"),
    Option("cross_check", "--cross-check", FLAG, "validate",
           "Also ask a second schema engine (slow); exit with 3 if the two disagree."),
    Option("row_timeout", "--row-timeout SECONDS", NUMBER, "validate",
           "Time that each row may take with a schema whose references or patterns "
           "can multiply its work.", default=5.0, least=0.001, most=86400,
           setting="row-timeout = 2.5"),
    ),
    *_under("By validity",
    Option("valid", "--valid FILE", TEXT, "split", "Where valid rows go.", usual=True),
    Option("invalid", "--invalid FILE", TEXT, "split", "Where all other rows go.",
           usual=True),
    Option("findings", "--findings FILE", TEXT, "split",
           "Where all findings go, as JSON Lines."),
    ),
    *_under("By a field",
    Option("by", "--by FIELD", TEXT, "split",
           "Write a file for each value of a field: category, source, model, "
           "evaluation_name, metadata.NAME, id or prompt.", usual=True),
    ),
    *_under("By shares",
    Option("ratio", "--ratio SHARES", TEXT, "split",
           "Write rows at random, such as 0.8/0.2 or train=0.8,test=0.2; rows with "
           "one prompt are never on two sides.",
           type="Mapping[str, float] | Sequence[float] | str | None", usual=True),
    Option("key", "--key FIELD", TEXT, "split",
           "Keep rows with one value of this field together."),
    ),
    *_under("Metrics",
    Option("metrics", "--metrics -m METRICS", METRICS, "score score_compare",
           "Metrics, comma-separated: em, accuracy, f1, f1-label, rouge, bleu, chrf, "
           "ter, wer, number-match, multiple-choice, pass@k, maj@k, documents, and "
           "more by `score --list-metrics`; those of the input or profile if not "
           "given. NAME=METRIC renames one, to have it twice.",
           values="metrics", usual=True),
    Option("list_metrics", "--list-metrics", FLAG, "score",
           "Print all metrics, with a line on each, and score nothing.", functions=""),
    Option("profile", "--profile PROFILE", TEXT, "score score_compare",
           "Definitions of the metrics: {}; those of the output format if not given.",
           values="profiles"),
    Option("config", "--config FILE", PATH, "score",
           "A vendor's configuration file that selects metrics and names.",
           functions="+ compare_scores", type="Path | Mapping[str, Any] | None"),
    Option("parameters", "--param METRIC.NAME=VALUE", PARAMETERS, "score score_compare",
           "Set a parameter of a metric, such as rouge.stemmer=true (repeatable).",
           values="metric parameters"),
    Option("skip_unknown", "--skip-unknown", FLAG, "score score_compare",
           "Skip metrics that cannot be computed."),
    Option("stored", "--stored", FLAG, "score",
           "Show the scores that the answers hold already, and compute none."),
    Option("stored", "--stored", FLAG, "score_compare",
           "Compare the scores that the records hold already."),
    Option("force", "--force", FLAG, "score_compare",
           "Compare stored scores even if they were computed differently."),
    Option("are_systems", "--systems", FLAG, "score score_compare",
           "Take each of the folders that are given as one system, called as it is.",
           functions=""),
    Option("pool", "--pool", FLAG, "score score_compare",
           "Take all files without model names as parts of one system, also those "
           "that share questions."),
    ),
    *_under("Labels",
    Option("fields", "--field NAME", TEXTS, "score_agreement",
           "The value of verdicts, such as score, or the field of records that holds "
           "labels, such as references or metadata.label; twice if the two differ.",
           usual=True),
    Option("labels", "--labels LABELS", NAMES, "score_agreement",
           "The labels that count, comma-separated, in their order.",
           type="Sequence[object]", usual=True),
    Option("definition", "--definition FILE", PATH, "score_agreement",
           "The definition of the judge, whose choices, or integers from minimum to "
           "maximum, are the labels.", functions="", usual=True),
    Option("weights", "--weights NAME", CHOICE, "score_agreement",
           "What kappa counts a pair of labels for by their distance: {}.",
           default="none", choices="none linear quadratic"),
    ),
    *_under("Reading",
    Option("bind", "--bind NAME=PATH", TEXTS, "judge",
           "Field of a record for an input of the judge, such as "
           "responses=outputs.text (repeatable).", usual=True),
    Option("pairwise", "--pairwise", FLAG, "judge",
           "Judge pairs of answers of two models to one question, in both orders."),
    Option("limit", "--limit N", WHOLE, "validate stats schema_infer",
           "Read at most N records of each file.", least=1),
    Option("from_", "--from --format -f FORMAT", TEXT, "diff",
           "Format of A; detected from the content if not given.", values="formats",
           aliases="format", usual=True),
    Option("columns", "--map --columns FIELD=COLUMN", MAP, "validate",
           "Columns of a CSV file, such as prompt=question,gt=answer, "
           "quoted as in CSV.", aliases="map"),
    Option("to", "--to -t FORMAT", TEXT, "diff",
           "Format of B; detected from the content if not given.", values="formats",
           usual=True),
    Option("from_", "--from --format -f FORMAT", TEXT,
           "convert roundtrip score score_compare score_agreement stats judge",
           "Format of the inputs; detected from the content if not given.",
           values="formats",
           functions="compare_scores convert roundtrip score score_agreement "
           "score_answers stats", aliases="format", usual=True),
    Option("models", "--model NAME", TEXTS, "judge",
           "One of the two models of --pairwise, if there are more (given twice)."),
    Option("component", "--component NAME", TEXT, "judge",
           "Definition to use if the file has several."),
    Option("from_", "--from --format -f FORMAT", TEXT, "head sample split merge",
           "Format of the input; detected from the content if not given.",
           values="formats", aliases="format", usual=True),
    Option("format", "--from --format -f FORMAT", TEXT, "view",
           "Format of the files; detected from their content if not given.",
           values="formats", functions="", usual=True),
    Option("exclude", "--exclude PATTERN", TEXTS,
           "validate convert roundtrip diff score score_compare stats detect "
           "schema_check schema_infer view",
           "Leave out files and folders that match, such as logs or 'old/**/*.json', "
           "below the given folders (repeatable).",
           functions="+ from_table read score_agreement",
           setting='exclude = ["logs", "old/**/*.json"]'),
    Option("skip_unrecognised", "--skip-unrecognised", FLAG,
           "validate convert score stats",
           "Pass over files in no known format, and say how many.",
           functions="+ compare_scores from_table read score_agreement",
           setting="skip-unrecognised = true"),
    Option("model", "--model NAME", TEXT, "convert roundtrip diff score",
           "Use only the answers of this model.", functions="+ compare_scores"),
    Option("reference_from", "--reference-from NAME", CHOICE,
           "convert score score_compare",
           "Where a record's reference is from: {}, which ends the conversation "
           "itself.", default="references", choices="references gt"),
    Option("models", "--model [INPUT=]NAME", TEXTS, "score_compare",
           "Compare only this model, of the input with this path or number from 1 if "
           "it is named (repeatable)."),
    Option("companion", "--with FILE", TEXT, "convert score score_compare stats",
           "Read rows with this file, such as lm-eval's results for its samples; "
           "one in the same folder or among the inputs is found by its name.",
           functions="+ from_table read score_agreement", aliases="with"),
    Option("columns", "--map --columns FIELD=COLUMN", MAP, "diff",
           "Columns of a CSV or Haystack file, such as prompt=question,gt=answer, "
           "quoted as in CSV.", aliases="map"),
    Option("min_records", "--min-records N", WHOLE, "validate convert score stats",
           "Fail if all files together have fewer than N records.", default=0, least=0,
           functions="+ compare_scores from_table read score_agreement"),
    Option("columns", "--map --columns FIELD=COLUMN", MAP,
           "convert roundtrip score score_compare score_agreement stats judge",
           "Columns of a CSV or Haystack file, or other keys of JSON rows, such as "
           "prompt=question,gt=answer, quoted as in CSV.",
           functions="+ from_table read", aliases="map"),
    Option("delimiter", "--delimiter CHAR", DELIMITER,
           "validate convert roundtrip diff score score_compare score_agreement stats "
           "judge head sample split merge detect schema_infer view",
           "Character between the fields of tables, such as ';', or tab. If not "
           "given: tab in files called .tsv, else a comma.",
           functions="+ from_table read", setting='delimiter = "tab"'),
    Option("encoding", "--encoding NAME", TEXT,
           "validate convert roundtrip diff score score_compare score_agreement stats "
           "judge head sample split merge detect schema_infer",
           "Encoding of the inputs, such as gb18030 or big5; UTF-8 if not given.",
           functions=""),
    Option("stdin_filename", "--stdin-filename NAME", TEXT,
           "validate convert roundtrip diff score score_compare score_agreement stats "
           "judge head sample split merge detect schema_infer",
           "Name of what is piped in, which places show, and whose suffix decides as "
           "that of a file.", functions=""),
    Option("from_csv_safe", "--from-csv-safe", FLAG,
           "validate convert roundtrip diff score score_compare score_agreement stats",
           "Take back the marks of tables that were written with `--csv-safe`.",
           functions="+ from_table read"),
    Option("allow_no_files", "--allow-no-files", FLAG, "validate",
           "Succeed also if every file is left out or passed over, as in a commit "
           "hook."),
    Option("fail_fast", "--fail-fast", FLAG, "validate", "Stop at the first error."),
    Option("on_invalid", "--on-invalid NAME", CHOICE,
           "roundtrip diff score score_compare score_agreement stats",
           "Rows that are not valid: {}.", default="fail", choices="fail skip",
           usual=True),
    Option("on_invalid", "--on-invalid NAME", CHOICE, "convert",
           "Rows that are not valid or cannot be converted: {}.", default="fail",
           choices="fail skip quarantine", usual=True),
    Option("quarantine", "--quarantine FILE", TEXT, "convert",
           "File for quarantined rows; next to the output if not given."),
    Option("max_row_bytes", "--max-row-bytes N", WHOLE,
           "validate convert score stats judge head sample split merge schema_infer "
           "view",
           "Report longer rows as errors; 16 MiB if not given.", default=16 * 2 ** 20,
           least=1, shows_default=False,
           functions="+ compare_scores diff from_table read roundtrip score_agreement",
           setting="max-row-bytes = 1048576"),
    ),
    *_under("Conversion",
    Option("references", "--references NAME", CHOICE, "convert roundtrip",
           "Records with several references, if a row holds only one: {}.",
           default="first", choices="first expand fail"),
    Option("responses", "--responses NAME", CHOICE, "convert roundtrip",
           "Records with several answers, if a row holds only one: {}. By default "
           "expand, and the list where a format is converted to itself.",
           choices="expand first list fail"),
    Option("turns", "--turns NAME", CHOICE, "convert roundtrip",
           "Conversations, if a row holds only one prompt: {}.", default="last",
           choices="last transcript fail"),
    Option("prompt", "--prompt NAME", CHOICE, "convert roundtrip",
           "The prompt that is written: {}, where a record has what the model got.",
           default="question", choices="question formatted"),
    Option("filter", "--filter NAME", TEXT, "convert roundtrip",
           "Convert the scores and extractions of this filter of a harness, or of all "
           "of them; the first one if not given, where a row has room for one."),
    Option("metric", "--metric METRIC", TEXT, "convert roundtrip",
           "Convert the scores of this metric only: its name, or METRIC|filter:NAME."),
    Option("group", "--group FIELD", TEXT, "convert",
           "Combine rows with the same id, prompt or other field, and the same input, "
           "into one record."),
    Option("container", "--container NAME", CHOICE, "convert",
           "{}; if not given, by the name of the output (.json, .jsonl) or the format.",
           choices="array lines"),
    Option("ids", "--ids NAME", CHOICE, "convert",
           "Ids of records: {}. A hash is of the input: the same for the same "
           "question. `--group id` groups by these hashes, but numbers what it has "
           "grouped by the old ids.", default="keep", choices="keep number hash"),
    Option("prefix_ids", "--prefix-ids", FLAG, "convert",
           "Put the name of the file before each id."),
    Option("keep_extra", "--keep-extra", FLAG, "convert roundtrip",
           "Keep fields that have no place in the format, in its free fields."),
    ),
    *_under("Missing values",
    Option("constants", "--set FIELD=VALUE", CONSTANTS, "convert roundtrip score",
           "Set a missing field (repeatable).", aliases="set"),
    Option("score", "--score METRIC", TEXT, "convert roundtrip",
           "Score answers that have no score: {}.", values="filling metrics",
           type='Literal["em", "f1"] | None'),
    Option("correct_from", "--correct-from NUMBER", NUMBER, "convert roundtrip",
           "An answer is correct from this score on, where scores do not say it."),
    ),
    *_under("Losses",
    Option("on_loss", "--on-loss NAME", CHOICE, "convert",
           "If something is lost: {}. To fail is to write nothing and exit with 1.",
           default="report", choices="report fail ignore"),
    Option("loss_report", "--loss-report FILE", PATH, "convert",
           "Write the losses to this file, as JSON."),
    ),
    *_under("Groups and intervals",
    Option("by", "--by FIELDS", NAMES, "score",
           "Score groups of answers, too, comma-separated: by category, source, "
           "model, evaluation_name or metadata.NAME.", values="fields", usual=True),
    Option("baseline", "--baseline NAME", TEXT, "score_compare",
           "Compare each system with this one only, and not all pairs."),
    Option("missing", "--missing NAME", CHOICE, "score score_compare",
           "What a missing answer counts as, nothing or a score of 0: {}.",
           default="skip", choices="skip zero", python_default=None),
    Option("test", "--test TEST", TEXT, "score_compare",
           "Test of the difference: {}; permutation for means and bootstrap for other "
           "scores if not given.", values="tests"),
    Option("detect", "--detect DIFFERENCE", NUMBER, "score_compare",
           "Tell how many questions detect this difference with 80 percent power."),
    Option("level", "--level SHARE", NUMBER, "score score_agreement",
           "Confidence level of the intervals.", default=0.95),
    Option("level", "--level SHARE", NUMBER, "score_compare",
           "Confidence level of the intervals; differences are significant with p "
           "below 1 - SHARE.", default=0.95),
    Option("replicates", "--replicates N", WHOLE, "score score_agreement",
           "Bootstrap replicates; 0 for no intervals.", default=1000, least=0),
    Option("replicates", "--replicates N", WHOLE, "score_compare",
           "Bootstrap replicates, at least 400 for each score that is compared.",
           default=1000, least=1),
    Option("seed", "--seed N", WHOLE, "score score_compare score_agreement",
           "Seed of the random draws.", default=12345, least=0),
    ),
    *_under("Schema",
    Option("enum_limit", "--enum-limit N", WHOLE, "schema_infer",
           "List the texts of a key as an enum if there are at most N different ones, "
           "each seen 10 times; 0 for no enum.", default=10, least=0, most=50),
    Option("map_keys", "--map-keys N", WHOLE, "schema_infer",
           "Describe objects with more than N different keys, of which each object "
           "has few, as maps.", default=100, least=1),
    Option("closed", "--closed", FLAG, "schema_infer",
           "Forbid keys that were not seen."),
    ),
    *_under("Requests",
    Option("judge_model", "--judge-model NAME", TEXT, "judge",
           "Model that judges; that of the definition if not given.", usual=True),
    Option("endpoint", "--endpoint URL", TEXT, "judge",
           "OpenAI-compatible endpoint, such as http://localhost:8000/v1.", usual=True),
    Option("api_key_env", "--api-key-env NAME", TEXT, "judge",
           "Environment variable that holds the API key; OPENAI_API_KEY if not given."),
    Option("votes", "--votes N", WHOLE, "judge",
           "Replies that are asked for each row, each with another seed.", default=1,
           least=1, most=100),
    Option("concurrency", "--concurrency N", WHOLE, "judge",
           "Requests at the same time.", default=4, least=1, most=256),
    Option("timeout", "--timeout SECONDS", NUMBER, "judge",
           "Time limit of one request; 30 if not given.", least=0.001),
    Option("retries", "--retries N", WHOLE, "judge",
           "Retries of a failed request; 5 if not given.", least=0),
    Option("plain", "--plain", FLAG, "judge",
           "Send exactly the prompt of Haystack's LLMEvaluator, without marks around "
           "data, and parse replies as leniently."),
    ),
    *_under("Failures",
    Option("raise_on_failure", "--raise-on-failure/--no-raise-on-failure", FLAG,
           "judge",
           "Stop at the first row without a verdict, or write null for it; as in the "
           "definition if not given.", default=None, shows_default=False),
    ),
    *_under("Cache and limits",
    Option("cache", "--cache FILE", PATH, "judge",
           "File that keeps replies; next to the output if not given."),
    Option("no_cache", "--no-cache", FLAG, "judge",
           "Keep no replies, and send a request per row."),
    Option("ask_again", "--ask-again", FLAG, "judge",
           "Repeat requests whose reply in the cache gives no verdict."),
    Option("max_requests", "--max-requests N", WHOLE, "judge",
           "Send at most N requests, including retries.", least=0),
    Option("max_tokens", "--max-tokens N", WHOLE, "judge",
           "Send no more requests once N tokens are used.", least=0),
    ),
    *_under("Processes",
    Option("jobs", "--jobs N", WORKERS,
           "validate preflight convert diff score score_compare stats split",
           "Worker processes; 0 is one per processor. The command line takes auto for "
           "0, which is its default.",
           default=0, shows_default=False, setting="jobs = 4", python_default=1),
    Option("engine", "--engine URL", TEXT,
           "validate preflight convert score score_compare stats",
           "Cluster that does the work: dask://HOST:PORT."),
    Option("cluster_timeout", "--cluster-timeout SECONDS", NUMBER,
           "validate preflight convert score score_compare stats",
           "How long to wait for a cluster that has no workers.", default=600.0,
           least=0.001, most=604800),
    ),
    *_under("Reporting",
    Option("output_format", "--output-format REPORTER", REPORTER,
           "validate preflight schema_check",
           "How findings are printed: {all}; or the name of a plug-in. If not given: "
           "full on a terminal, concise in a pipe or file.", values="reporters",
           functions="", setting='output-format = "concise"', usual=True),
    Option("report", "--report [NAME=]FILE", TEXTS,
           "validate preflight convert roundtrip diff score score_compare stats "
           "schema_check",
           "Also write the whole report to FILE, by the reporter NAME; if not named, "
           "by the suffix of FILE (repeatable).", functions="",
           setting='report = ["report.json"]', usual=True),
    Option("examples", "--examples N", WHOLE, "validate preflight schema_check",
           "Print at most N findings of the same kind; 0 for all.", default=5, least=0,
           setting="examples = 3"),
    Option("max_problems", "--max-problems N", WHOLE, "validate preflight schema_check",
           "Print at most N findings in total; 0 for all.", default=1000, least=0,
           setting="max-problems = 100"),
    Option("statistics", "--statistics", FLAG, "validate schema_check",
           "Add the number of findings of each rule.", functions="",
           setting="statistics = true"),
    Option("baseline", "--baseline FILE", TEXT, "validate",
           "Report only the findings that this baseline does not hold.",
           setting='baseline = "baseline.json"'),
    Option("plots", "--plot [KIND=]FILE", TEXTS, "score_compare",
           "Also draw a picture into FILE, an .svg, .png or .pdf (repeatable). "
           "KIND is the first of these if not named: {}.",
           values="pictures of score compare", functions=""),
    Option("write_baseline", "--write-baseline FILE", TEXT, "validate",
           "Write the findings as a baseline and exit with 0 if it holds them all; "
           "with `--baseline`, write only what is still found of it."),
    Option("plots", "--plot [KIND=]FILE", TEXTS, "score",
           "Also draw a picture into FILE, an .svg, .png or .pdf (repeatable). "
           "KIND is the first of these if not named: {}.", values="pictures of score",
           functions=""),
    Option("error_on_warning", "--error-on-warning", FLAG, "validate schema_check",
           "Exit with 1 also if there are warnings.", functions="",
           setting="error-on-warning = true"),
    Option("exit_zero", "--exit-zero", FLAG, "validate schema_check",
           "Exit with 0 even if errors are found.", functions=""),
    ),
    *_under("Repairs",
    Option("fix", "--fix", FLAG, "validate",
           "Repair what can be without hiding anything, rewrite the files, and "
           "validate them then.", functions="", usual=True),
    Option("unsafe", "--unsafe-fixes", FLAG, "validate",
           "Repair also what may hide what was wrong, such as counts and hashes.",
           functions="fix"),
    Option("diff", "--diff", FLAG, "validate",
           "Write nothing, and show the repairs as a unified diff; exit with 1 if "
           "there are any.", functions="fix"),
    Option("output", "--output -o FILE", TEXT, "validate",
           "Write the repaired file here; the input stays as it is.", functions="fix",
           usual=True),
    Option("overwrite", "--overwrite", FLAG, "validate", "Replace an existing output.",
           functions="fix", usual=True),
    ),
    # What only functions have.
    Option("severity", "", PAIRS, "",
           "Other severities of rules: error, warning or note.",
           functions="validate iter_problems fix"),
    Option("row_lengths", "", FLAG, "", "Whether the report tells the lengths of rows.",
           functions="validate iter_problems fix"),
    Option("systems", "", PAIRS, "",
           "By the path of an input the name of its system, or names of its models.",
           functions="score score_answers compare_scores"),
    Option("executor", "", TEXT, "",
           "Runs the work of large inputs, `jobs` pieces at once if that is set.",
           type="Executor | None",
           functions="validate iter_problems fix preflight convert write stats score "
           "score_answers compare_scores"),
    Option("progress", "", TEXT, "",
           "Called now and then with how far the current file is read.",
           type="Progress | None",
           functions="validate iter_problems fix preflight infer_schema convert write "
           "roundtrip diff stats score score_answers compare_scores score_agreement "
           "head sample split merge"),
)
# fmt: on


def options_of(command: str) -> list[Option]:
    """Return the options of the command with a module of this name, in their order."""
    return [option for option in OPTIONS if command in option.commands.split()]


def arguments_of(function: str) -> list[Option]:
    """Return the keyword arguments of the Python function with this name."""
    return [option for option in OPTIONS if function in option.all_functions()]


def fields_of(function: str) -> frozenset[str]:
    """Return the names of the options of the Python function with this name."""
    return frozenset(option.field for option in arguments_of(function))
