"""Find the one word among several that a misspelt word stands for."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache

#: Words with contrary meanings.
OPPOSITES = """
    min max, minimum maximum, minimal maximal, minimize maximize, minimise maximise,
    least most, less more, fewer more, lower upper, lower higher, low high,
    lowest highest, small large, smaller larger, short long, shorter longer, few many,
    before after, earlier later, early late, old new, older newer, oldest newest,
    previous next, prev next, prior later, past future, pre post, first last, begin end,
    start end, start stop, started ended, starting ending, open close, opened closed,
    head tail, top bottom, up down, above below, over under, on off, in out, to from,
    into from, at by, inner outer, inside outside, internal external, intern extern,
    interior exterior, input output, import export, imported exported, inbound outbound,
    incoming outgoing, include exclude, included excluded, inclusive exclusive,
    inclusion exclusion, implicit explicit, left right, source target, src dst, src tgt,
    source destination, sender receiver, send receive, sent received, read write,
    reader writer, load save, upload download, push pull, push pop, put get, get set,
    add remove, added removed, insert delete, inserted deleted, create delete,
    created deleted, increase decrease, increased decreased, increment decrement,
    increasing decreasing, ascending descending, asc desc, ascent descent, gain loss,
    win lose, wins losses, won lost, winner loser, credit debit, plus minus,
    positive negative, pos neg, true false, yes no, right wrong, correct wrong,
    good bad, better worse, best worst, pass fail, passed failed, success failure,
    succeeded failed, accept reject, accepted rejected, accept except, chosen rejected,
    allow deny, allowed denied, allowed blocked, enable disable, enabled disabled,
    active passive, lock unlock, visible hidden, show hide, public private,
    present absent, known unknown, safe unsafe, harmful harmless, helpful harmful,
    toxic benign, clean dirty, easy hard, easier harder, simple complex, strong weak,
    strict lenient, fast slow, light heavy, light dark, same different, single multi,
    single multiple, single several, one many, one two, any all, any none, all none,
    some none, always never, ever never, with without, useful useless, question answer,
    prompt response, prompt completion, request response, user assistant, human model,
    student teacher, client server, parent child, primary secondary, major minor,
    majority minority, superior inferior, row column, horizontal vertical, width height,
    numerator denominator, precision recall, hit miss, train test, train eval,
    online offline, sync async, static dynamic, manual auto, manual automatic, even odd,
    day night, male female, he she, rise fall, entry exit, attach detach, prefix suffix,
    prefixes suffixes, superset subset, typical atypical, symmetric asymmetric,
    approve disapprove, comply refuse, lossy lossless, macro micro, intra inter,
    normal abnormal, attacker defender, encode decode, encoded decoded, encoder decoder,
    encrypt decrypt, compress expand,
    loading unloading, load unload, upload unload, encoding decoding, ingress egress,
    moral amoral, moral immoral, social asocial, upstream downstream, uplink downlink,
    on in, onset offset, before behind, ascend descend, inflow outflow, mono multi,
    maximal minimum, minimal maximum, hyper hypo, overflow underflow, overfit underfit,
    overestimate underestimate, coding decoding, true untrue
"""

#: Words that look alike, and have nothing to do with each other.
LOOK_ALIKES = """
    preference reference, deference reference, difference deference,
    difference reference, preferred referred, inference reference,
    inference interference, core score, core store, core code, score store, score scope,
    scored stored, scored sorted, sorted stored, raw row, raw rag, raw draw, raw law,
    row low, row now, content context, content contest, content intent, contest context,
    content comment, comment command, date data, date rate, date late, date state,
    data meta, rate race, rate ratio, rate grade, rating dating, text test, text next,
    test rest, test best, task ask, task mask, task rank, mark mask, mark rank,
    model mode, model module, mode node, mode code, node note, node code, note vote,
    note not, note name, name game, name same, quote vote, type tape, time tile,
    title tile, file tile, file field, file fill, file filed, field filed, field yield,
    line lint, line link, line list, link like, list last, list lint, list lost,
    last past, lost cost, lost last, cost post, host post, host cost, port post,
    port part, part path, part past, patch batch, batch match, batch bath, match math,
    match catch, map max, map cap, map gap, max mix, min mix, min mini, main min,
    mean men, mean meaning, mean median, medium median, count mount, count account,
    count country, count amount, amount mount, counts discount, discount count,
    state stage, state status, state stats, state stat, stats status, state static,
    step stop, stop top, start stat, chart start, char chart, char chat,
    chart chat, record report, record second, record reward, report repeat,
    repeated rejected, repeated reported, rejected selected, rejected projected,
    select detect, selected detected, reject project, project product, product predict,
    prediction production, production reduction, detect defect, effect affect,
    effect defect, expect except, expected excepted, expected accepted,
    expected inspected, accepted excepted, aspect expect, inspect expect, side size,
    side site, size site, valid invalid, evalid valid, evalid invalid, checks checksum,
    score stored, eval val, evaluation valuation,
    evaluation evolution, value valve, duplicate replicate, replica replicate,
    application replication, example sample, simple sample, simple single,
    simple example, temple template, level label, level lever, angle single,
    angle triangle, image imagine, image page, message massage, message passage,
    message usage, passage package, page age, page pace, stage page, usage page,
    age average, language luggage, person reason, reason season, region religion,
    region reason, relation ration, relation translation, ration ratio, version session,
    version conversion, session mission, permission mission, option opinion,
    option action, action fraction, action auction, action section, section selection,
    section session, section direction, function fraction, function junction,
    instruction construction, structure texture, extraction abstraction,
    extract abstract, extract exact, exact extra, attribute contribute,
    attribution distribution, attribution contribution, contribution distribution,
    attribute tribute, substitution institution, position petition,
    position composition, position opposition, repetition competition,
    condition addition, condition edition, edition addition, edit credit, edit audit,
    edit exit, adopt adapt, adapter adopter, advice advise, device advice,
    device devise, principal principle, ensure insure, loss less, loss lost, loss boss,
    loose lose, price prize, price slice, quite quiet, quality equality,
    quantity quality, quantile quartile, personal personnel, formal normal,
    format formal, format former, form from, form norm, trail trial, train trail,
    train brain, train rain, gold old, gold good, gold goal, gold god, told gold,
    hold gold, hold old, odd add, and end, send end, agent gent, parent patent,
    parent percent, percent recent, present prevent, present percent, user use,
    user uses, use case, case base, case cause, case cost, base phase, phase phrase,
    phrase praise, phase parse, pause parse, parse sparse, space spare, share spare,
    share shape, shard share, shard hard, hard card, card cart, clear clean, clean lean,
    learn clean, learn earn, rank bank, range change, range arrange, large range,
    change charge, change chance, exchange change, key keyed, bit bid, big bit, log lag,
    log long, flag lag, flag tag, tag lag, tag rag, tool pool, pool poll, poll roll,
    role roll, role rule, role pole, role hole, whole hole, scale sale, scale stale,
    table stable, table label, table tale, table able, turn tune, turn return,
    term team, term item, item stem, item time, stem stream, stream steam, string sting,
    string strong, signal single, sign signal, design assign, trace race, trace track,
    trace trade, trace grace, face fact, fact act, fact factor, factor actor, fast fact,
    fast last, pass past, pass path, pass class, pass case, class glass, class clash,
    grade trade, group soup, world word, word work, work world, word ward,
    reward forward, award reward, award ward, worse worst, house hour, hour our,
    hour four, four for, this these, that than, then than, then when, think thing,
    through though, thorough through, seed speed, seed need, speech speed, source sauce,
    source course, source force, source resource, course coarse, cover over,
    cover recover, cover hover, very every, ever every, query quarry, entry query,
    entry entity, entity identity, identify identity, dense sense, sentence sense,
    sequence essence, sequence consequence, subsequence sequence, confidence conference,
    conference reference, conversation conservation, conversion conversation,
    conversion inversion, convert revert, convert invert, reverse inverse,
    revise reverse, revision decision, revision division, revision precision,
    revision version, decision precision, division decision, provision revision,
    category categorical, metric matrix, metrics matrices, parameter perimeter,
    diameter parameter, counter encounter, mention intention, attention intention,
    attention retention, extension tension, extension intension, dimension mention,
    critic critical, criteria criterion, rubric fabric, topic tonic, basic basis,
    logic login, logit login, logit limit, edits limits, local focal, local vocal,
    global local, legal illegal, rational national, station notation, notation rotation,
    quotation notation, annotation notation, annotation connotation, annotator rotator,
    citation station, relevance reverence, guide guise, build built, judge budge,
    rater later, later letter, rated dated, beta data, beta delta, beta meta,
    theta beta, delta data, id kind, question request, file failed,
    content consent, content convent, premise promise, premise precise, causal casual,
    statue status, statue state, angel angle, desert dessert, dairy diary,
    martial marital, united untied, rating racing, rating ranting, rating raving,
    rating raging, ranking racking, ranking ranting, ranking ranging, ranking raking,
    ranking banking, learning leaning, learning earning, training trailing,
    training straining, pred prev, predicted predicated, month mouth, one none,
    weight height, weight eight, weights heights, assess access, right might,
    right fight, right bright, right night, right light, country county, county count,
    court count, depth death, event even, event evert, exact enact, expert export,
    expert expect, field fiend, filter filler, force forge, found fund, idea ideal,
    identifier identified, intent invent, intent intend, interval internal, label libel,
    lower loser, median media, order older, model modem, model modal, model motel,
    pair paris, contrast contract, complete compete, completed competed,
    computed competed, computed computer, price prime, price prince, price pride,
    pointer printer, pointer painter, project protect, quality qualify,
    rationale rational, redact react, reference reverence, repeated repealed,
    report resort, report repost, report deport, retries retires, rouge route,
    rouge rogue, rouge rough, safety safely, scale scare, schema scheme, score shore,
    score sore, score scorer, scored scorer, scored scared, score scare,
    scoring storing, scoring scaring, sample sampler, sampled sampler, trace tracer,
    retrieved retriever, retrieve retriever, judge judger, judge jude,
    provided provider, header reader, header headed, updated undated, split spit,
    split slit, speed spend, stats stars, stats seats, step stem, task talk, task tank,
    thinking thanking, thinking thinning, time timer, time tie, token taken,
    topic toxic, topic tropic, total tonal, train trait, trial triad, trial tribal,
    vote voter, voted voter, value vague, width with, word wood, working wording,
    order border, call cell, called caller, calls calms, case cage, case care,
    cause clause, command commando, color colon, evaluation evacuation,
    sentiment sentient, alias arias, pilot plot, size seize, judged judger,
    duplicated duplicator, annotated annotator, evaluated evaluator,
    predicted predictor, classified classifier, generated generator,
    translated translator, labeled labeler, speaker sneaker, found bound, bound round,
    sound bound, sound round, round ground, background foreground
"""

#: Units, currencies, languages and metrics: each word of a row means another thing than
#: its neighbours. Codes of languages that are words of names (id, is, no) are left out.
KINDS = """
    ns us ms s sec min h hr, b kb mb gb tb pb, kib mib gib tib, mm cm dm m km,
    mg g kg, hz khz mhz ghz, w kw mw,
    usd eur gbp cny jpy krw inr brl chf cad aud, cents euros dollars,
    ar bg bn ca cs da de el en es et eu fa fi fr ga gl gu he hi hr hu hy it ja ka kk km
    kn ko lt lv mk ml mn mr ms ne nl pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk
    ur uz vi zh,
    wer cer ter mer der per, mse mae rmse, acc auc, bleu gleu
"""


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Return the words with a contrary meaning of each word that has some."""
    return _partners(OPPOSITES)


@cache
def look_alikes() -> dict[str, frozenset[str]]:
    """Return the words that look like each word, and have nothing to do with it."""
    return _partners(LOOK_ALIKES)


@cache
def other_kinds() -> dict[str, frozenset[str]]:
    """Return the other units, languages and so on for each word that is one."""
    return _partners(KINDS)


def _partners(listed: str) -> dict[str, frozenset[str]]:
    """Return the partners of each word in a list of groups with commas between them."""
    found: dict[str, set[str]] = {}
    for words in map(str.split, listed.split(",")):
        for word in words:
            found.setdefault(word, set()).update({*words} - {word})
    return {word: frozenset(others) for word, others in found.items()}


#: Edits between two spellings of one word, for words of at least six letters.
EDITS = 2
#: Letters of the longest word that is compared letter by letter.
LONGEST = 100
#: Letters of the shortest word that may have an edit; shorter ones are near everything.
SHORTEST = 3
#: Letters of the shortest name of which a name with one edit is the same, misspelt.
SHORTEST_NAME = 5

#: Prefixes, and words, that turn the meaning of what follows into the contrary.
NEGATIONS = ("in", "un", "non", "not", "no", "dis", "il", "im", "ir", "de", "mis")
#: Words without which, whatever else differs, a name is another one.
_telling_words = frozenset({*NEGATIONS, "anti", "never", "without", "id", "ids", "idx"})
#: Words that may be before a name without changing what it means.
_auxiliaries = ("is", "are", "was", "has")
#: Letters of the shortest word that may have a negating prefix, and of the shortest one
#: of which a misspelt negation is looked for.
_shortest_negated, _shortest_misspelt = 3, 4


def nearest(wanted: str, candidates: Iterable[str]) -> str:
    """Return the one candidate that is near `wanted`, "" if none or several are.

    Near is: equal but for case, hyphens, spaces and underscores, or at most two edits
    away (one for short words), where an edit adds, drops or changes a letter or swaps
    two neighbours (the optimal string alignment distance). A candidate with another
    meaning is passed over.
    """
    near = [
        word
        for word in candidates
        if is_near(wanted, word) and not differ_in_meaning(wanted, word)
    ]
    same = [word for word in near if _letters(word) == _letters(wanted)]
    if len(same) == 1:
        return same[0]
    return near[0] if len(near) == 1 else ""


def hint_on(
    wanted: str,
    candidates: Iterable[str],
    *,
    word: str = "known",
    most: int = 0,
    shown: Callable[[str], str] = str,
) -> str:
    """Return the end of a sentence on an unknown name: what it may be misspelt of.

    If nothing is near, that are all candidates, or the first `most` and the number of
    the others; `word` says what they are, and `shown` returns how a name is written.
    """
    names = list(candidates)
    near = nearest(wanted, names)
    if near:
        return f"; did you mean {shown(near)}?"
    left = len(names) - most if most else 0
    more = f" and {left:,} more" if left > 0 else ""
    listed = ", ".join(map(shown, names[: most or None]))
    return f" ({word}: {listed}{more})" if names else ""


def is_near(wanted: str, found: str) -> bool:
    """Tell whether `found` is near `wanted`, without being the same word."""
    if wanted == found or abs(len(wanted) - len(found)) > LONGEST:
        return False
    one, other = _letters(wanted), _letters(found)
    if one == other:
        return True
    shorter, longer = sorted((len(one), len(other)))
    allowed = EDITS if shorter >= 3 * EDITS else 1
    if longer > LONGEST or shorter < SHORTEST or longer - shorter > allowed:
        return False
    return edits_between(one, other) <= allowed


def is_slip(given: str, known: str) -> bool:
    """Tell whether `given` can only be the name `known` with a slip of the keyboard.

    So it is if they differ in case, hyphens, spaces and underscores only, or in one
    edit of a name of at least five letters that leaves its first letter, its numbers
    and letters that stand alone as they are, and does not change its meaning.
    """
    one, other = _letters(given), _letters(known)
    if given == known or not one:
        return False
    if one == other:
        return not differ_in_meaning(given, known)
    if sum(map(str.isalpha, other)) < SHORTEST_NAME or one[:1] != other[:1]:
        return False
    ours, theirs = _words(given), _words(known)
    if ours[-1:] != theirs[-1:] and any(len(end[-1]) == 1 for end in (ours, theirs)):
        return False
    is_edit = abs(len(one) - len(other)) <= 1 and edits_between(one, other) == 1
    return is_edit and not differ_in_meaning(given, known)


def differ_in_meaning(given: str, known: str) -> bool:
    """Tell whether `given` is another name than `known`, rather than it misspelt.

    So it is if they differ in a number, in a letter that stands alone, in a whole word
    that is there or not, or by a pair of words that are opposites or look alike; and if
    `given` may as well be a misspelt opposite of `known`. The names are near ones.
    """
    if re.findall(r"\d+", given) != re.findall(r"\d+", known):
        return True
    one, other = _letters(given), _letters(known)
    if one == other:
        return False
    return (
        _has_other_ideographs(one, other)
        or _are_joined_pair(one, other)
        or _have_other_words(_words(given), _words(known))
    )


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case: `["max", "len"]` of `maxLen2`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", spaced)]


def _has_other_ideographs(one: str, other: str) -> bool:
    """Tell whether names differ in a character that is a word by itself."""
    ours, theirs = Counter(one), Counter(other)
    differing = (ours - theirs) + (theirs - ours)
    return any("\u3400" <= letter <= "\u9fff" for letter in differing)


def _have_other_words(given: list[str], known: list[str]) -> bool:
    """Tell whether the words that only one of two names has make it another name."""
    ours, theirs = _left_of(given, known), _left_of(known, given)
    if not (ours and theirs):
        return any(word not in _auxiliaries for word in ours + theirs)
    if len(ours) == len(theirs):
        if all(len(word) == 1 for word in ours + theirs):
            return True
    elif _telling_words.intersection(ours + theirs):
        return True
    return any(
        _are_pair(word, meant)
        or _are_pair(_singular(word), _singular(meant))
        or _may_be_opposite(word, meant)
        for word in ours
        for meant in theirs
    )


def _left_of(words: list[str], others: list[str]) -> list[str]:
    """Return the `words` that are not among the `others`, singular or plural."""
    left, found = Counter(map(_singular, others)), []
    for word in words:
        if left[_singular(word)]:
            left[_singular(word)] -= 1
        else:
            found.append(word)
    return found


def _singular(word: str) -> str:
    """Return a word without the ending of a plural."""
    is_plural = len(word) > SHORTEST and word.endswith("s") and word[-2] not in "su"
    return word[:-1] if is_plural else word


def _are_pair(one: str, other: str) -> bool:
    """Tell whether two words are opposites, look alike, negated, or other units."""
    return (
        other in opposites().get(one, ())
        or other in look_alikes().get(one, ())
        or other in other_kinds().get(one, ())
        or other in _negated(one)
        or one in _negated(other)
    )


def _negated(word: str) -> set[str]:
    """Return a word with each negating prefix."""
    if len(word) < _shortest_negated:
        return set()
    return {prefix + word for prefix in NEGATIONS}


def _may_be_opposite(given: str, known: str) -> bool:
    """Tell whether a word is as near to an opposite of `known` as to `known`."""
    edits = edits_between(given, known)
    contrary = opposites().get(known, frozenset())
    if len(known) >= _shortest_misspelt:
        contrary |= _negated(known)
    return edits <= EDITS and any(
        edits_between(given, word) <= edits for word in contrary
    )


def _are_joined_pair(one: str, other: str) -> bool:
    """Tell whether names that are compared as one word each are a pair.

    Such are `minlen` and `maxlen`, or `isunsafe` and `issafe`.
    """
    if any(
        _are_pair(bare, meant)
        for bare in _without_auxiliary(one)
        for meant in _without_auxiliary(other)
    ):
        return True
    return any(changed == other for changed in _with_opposites(one))


def _without_auxiliary(name: str) -> Iterator[str]:
    """Yield a name, and what follows the auxiliary that it begins with."""
    yield name
    for word in _auxiliaries:
        if name.startswith(word):
            yield name.removeprefix(word)


def _with_opposites(name: str) -> Iterator[str]:
    """Yield a name with its first or last word replaced by an opposite."""
    for word, others in opposites().items():
        if name.startswith(word):
            yield from (other + name.removeprefix(word) for other in others)
        if name.endswith(word):
            yield from (name.removesuffix(word) + other for other in others)


def _letters(word: str) -> str:
    """Return `word` without case, hyphens, spaces and underscores."""
    return word.casefold().replace("_", "").replace("-", "").replace(" ", "")


def edits_between(one: str, other: str) -> int:
    """Return the optimal string alignment distance of two words.

    The time grows with the product of their lengths.
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, against in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != against))
            swapped = (
                i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against
            )
            row.append(min(cost, before[j - 2] + 1) if swapped else cost)
        before, last = last, row
    return last[-1]
