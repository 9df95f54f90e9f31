"""Pairs of words that are spelt alike, or stand in each other's place, in names.

Neither is the other one misspelt: a repair never writes one for the other, and no
advice does.
"""

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
    """Return the units, languages and so on beside each word that is one."""
    return _partners(KINDS)


def _partners(listed: str) -> dict[str, frozenset[str]]:
    """Return the partners of each word in a list of groups with commas between them."""
    found: dict[str, set[str]] = {}
    for words in map(str.split, listed.split(",")):
        for word in words:
            found.setdefault(word, set()).update({*words} - {word})
    return {word: frozenset(others) for word, others in found.items()}
