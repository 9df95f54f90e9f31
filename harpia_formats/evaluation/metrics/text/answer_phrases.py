"""Where a text says what its answer is: phrases and boxes, in six languages.

A phrase is such as `the answer is`, `die Antwort lautet`, `a resposta é`, and those of
Spanish, Chinese and Japanese. One is no statement of the answer in a question, behind
`if`, behind what others think, or where it is denied. What stands before a correction
(`Wait, ...`) that is followed by another statement is withdrawn.
"""

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

#: Letters of scripts that put no spaces between words, or join them to numbers.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\u3005"
)
#: A letter or digit of any other script.
WORD = rf"[^\W_{UNSPACED}]"


_notation = re.compile(r"(\\.|\[(?:\\.|[^\]\\])+\]|\(\?)|\n\s*|[ '(]")
_meaning = {" ": r"\s+", "'": "['\u2019]", "(": "(?:"}


def pattern(text: str) -> re.Pattern[str]:
    """Return a pattern that is written in lines, for capital and small letters.

    The end of a line and the indent of the next one mean nothing, a space is any white
    space, `'` is either apostrophe, and a group without a name is not captured.
    """
    plain = _notation.sub(lambda part: part[1] or _meaning.get(part[0], ""), text)
    return re.compile(plain, re.IGNORECASE)


_boxed = re.compile(r"\\f?box(?:ed)?\s*\{")
_tagged = re.compile(r"(?is)<answer>(.*?)</answer>")
#: What an answer is about; one that is wrong is another phrase.
_about = r"""
    ( (to|for|of|that|which|auf|zu|zur|para|de|da|do|a) (?![^.\n]{0,40}?\b(wrong
    |incorrect|false|not|n[']t|least|worst|except|never|reject|eliminate|exclude|avoid
    |discard)\b)[^.\n:;?!,=]{1,60}?)?
"""
_denial = r"not\b|never\b|neither\b|nicht\b|kein\w*\b|weder\b|não\b|nao\b|nunca\b|no\b"
_fillers = r"""
    ((therefore|thus|hence|clearly|obviously|definitely|certainly|most|likely|probably
    |simply|just|then|actually|indeed|surely|exactly|about|around|roughly|approximately
    |equal|to|given|by|only|now|be|of|course|the|option|choice|letter|number|answer|also
    |however|though|aber|doch|jedoch|porém|pues|daher|somit|demnach|deshalb|folglich
    |eindeutig|etwa|ungefähr|genau|die|der|das|eine|buchstabe|antwort|möglichkeit
    |variante|zahl|nur|wohl|portanto|então|assim|logo|aproximadamente|cerca|exatamente
    |letra|opção|alternativa|item|número|por|tanto|entonces|la|el|opción|inciso
    |exactamente|sim|claramente|circa)(?=[\s*_:,])|(?-i:ca\.|an?|o|de)(?=\s))
"""
_filler = pattern(rf"[\s*_:,、]*(\b{_fillers}|选项|選項|選択肢|大约|约|約)[\s*_:,、]*")
_space = re.compile(r"[\s*_:、]*")
_english = r"""
    (answer|(correct|right|best|final|only) (option|choice|letter|one|solution|value
    |result|response|statement|alternative))
"""
_german = r"(?:antwort|lösung|(?:richtige|korrekte)\s+(?:option|möglichkeit|variante))"
#: The verb before its subject: `daher ist die richtige Antwort`.
_german_verb_first = r"""
    \b(also|daher|somit|damit|folglich|demnach|deshalb|deswegen|dann) (ist|lautet
    |wäre) (die )?((richtige|korrekte|beste|finale) )?(antwort|lösung)\b
"""
_portuguese = r"""
    (resposta|gabarito|(alternativa|opção|letra) (correta|certa))( (correta|certa
    |final))*
"""
_spanish = r"(respuesta|(opción|alternativa|letra) correcta)( (correcta|final))*"
_verbs = r"""
    ([*_\s]*(\b(is|was|would be|should be|must be|has to be|will be|can only be
    |could only be|appears to be|seems to be|ist|lautet|wäre|muss|é|será|seria|deve ser
    |só pode ser|es|sería|debe ser|sea)\b|[\"']?[:=：＝]|[-=]>|→|⇒|\s[-–]\s))
"""  # noqa: RUF001 - full-width marks, dashes
_denied_verbs = r"""
    ([*_\s]*\b((is|was|would|should|could|can)\s*n[o'\u2019]?t|cannot|(não|nao|no
    |nunca) (é|seria|pode ser|es|sería|puede ser))( be)?\b)
"""
_words = rf"""
    (?<!{WORD})({_english}|{_german}|{_portuguese}|{_spanish}){_about}({_denied_verbs}
    |{_verbs})
"""
_chinese = r"""
    (答案|(正确|正確|最佳)(的)?(选项|選項))(应该|應該|应当|应|應|就|显然|因此
    |只能)*(不[是为為]|不应?该?是|并不是|并非|绝不是|不可能是|[选選](?!项|項)择?
    |[是为為]|[:：=])+
"""
_japanese = r"""
    (?<!不)(?<!誤)(正しい(選択肢|もの)|正解|正答|解答|回答|答え|答)(としては|は|が
    |[:：=])+
"""
_phrase = pattern(rf"""
    (?P<final>(?<!{WORD})final )?({_words}|\b(richtig|korrekt) ist\b
    |{_german_verb_first})|(最终|最終的な)?({_chinese}|{_japanese})
    |【\s*(正确|正確|参考|最终|最終)?(答案|正解|回答)\s*】[:：]?
""")
_denied = re.compile(rf"(?i){_denial}|不[是为為]|并非|并不")
_denied_in = pattern(rf"{_denied_verbs}|不|并非")
_is_final = pattern("final|最终|最終")
#: Says that what a phrase names is one of several.
_also = pattern(r"""
    \s*(also|auch|também|también|either|both|between|among|entweder|sowohl|tanto|entre
    |not only)\b(?!\s*[,:])
""")
_clause = re.compile(
    r"[.!?,;:。!?,;、\n]|(?i:\b(?:but|however|so|aber|sondern|mas|porém|pero|sino)\b)|但|而"
)
#: What makes the phrase behind it no statement.
_unstated = pattern(r"""
    \b(if|whether|suppose|supposing|assuming|assume|unless|until|even though)\b[^,]*$
    |\b(not|never|hardly|cannot|\w+n't|doubt\w*|deny|disagree)\b
    |\bat first\b|\bfirst glance\b|\b(initially|originally|wrongly|mistakenly)\b
    |\b(might|may|could) (\w+ )?(think|say|guess|believe|assume|argue|claim)
    |\b(some|many|most|people|students|others|someone|they|he|she|you) (\w+ )?(think
    |thinks|say|says|said|guess|believe|believes|assume|argue|claim|claims)\b
    |\b(tempting|tempted|looks? like|wrong|mistaken|incorrect|false|instead of|thought
    |assumed|guessed)\b|\b(nobody|no one|the user|according to (you|him|her|them
    |some))\b|(\b(first|previous|prior|old|earlier|initial|original|given|proposed
    |suggested|his|her|their)|\w's) (\w+ )?$
    |\b(bad|worst|least \w+|opposite of( the)?)\s*$
    |\b(wenn|falls|ob|angenommen)\b[^,]*$|\b(nicht|kein\w*|niemals|bezweifle)\b
    |\b(viele|manche|einige|man)\b|\b(zunächst|anfangs|scheinbar)\b|\bfalsch\w*\b
    |\bniemand\b|\b(se|caso|si) (a|la)?\s*$|\b(não|nao|no|nunca|duvido|dudo)\b
    |\b(muitos|alguns|algumas|muchos|algunos|algunas|ninguém|nadie)\b
    |primeira vista|primera vista|\binicialmente\b|\b(errad|falso|equivocad)
    |如果|若|假如|假设|假設|要是|不认为|不認為|不觉得|不相信|怀疑|有人|很多人|许多人
    |人们|误以为|以为|乍一看|起初|是否|没有人|(错误|错|不正确)的?$
    |もし|仮に|一見|最初|思いがち|思われがち|(間違った|誤った|間違いの)$
""")
#: What others think, before the comma of a German clause.
_thought = pattern(r"""
    \b((viele|manche|einige|andere|man|jemand)\b[^.,;:]*
    |[^.,;:]*\bnicht),\s*(dass )?(die )?(richtige |korrekte )?$
""")
#: Words with which `_unstated` says nothing.
_certain = pattern(r"""
    \b(no|without (a )?|beyond (a )?)\s*doubt\b
    |\bohne (jeden )?zweifel\b|\bsem dúvida\b|\bsin duda\b|毫无疑问|間違いなく
""")
#: Withdraws what stands before it, if another statement of the answer follows.
_correction = pattern(r"""
    \bwait\b|\bactually\b|\bcorrection\b|\bor rather\b|\bscratch that\b|\boops\b
    |\b(on|upon) (second thought|reflection)\b|\bsorry\b|\bi mean\b|\bhmm+\b
    |\blet me (correct|double|re)\S*|\bmy mistake\b
    |\bi (made (a mistake|an error)|was (wrong|mistaken)|misread)\b
    |等等|等一下|不对|不對|更正|纠正|重新|我错了|说错了|算错了
    |待って|いや|訂正|間違え|失礼|やはり|やっぱり
    |\bmoment\b\s*[,:.!-]|\bkorrektur\b|\bwarte\b|\bgenauer gesagt\b|\bich habe mich\b
    |\bentschuldigung\b|\bbesser gesagt\b|\bespera\b|\bespere\b|\baliás\b|\bcorreção\b
    |\bcorrigindo\b|\bna verdade\b|\bou melhor\b|\bme enganei\b|\bcometi um erro\b
    |\bdesculpe\b|\bcorrección\b|\ben realidad\b|\bmejor dicho\b|\bme equivoqué\b
    |\bperdón\b
""")
#: Ends a sentence.
SENTENCE_END = re.compile(r"[.!?](?=\s|$|[*_\"')])|[。！？]|\n\s*\n|\n(?=\s*[-*#\d])")  # noqa: RUF001 - full-width marks


#: How far the beginning and the end of a sentence are searched.
BACK, AHEAD = 400, 600
#: The most words like `the` behind a phrase.
FILLERS = 12
#: Runs that a text may have as lines or by mistake, and that patterns would try at
#: each of their places.
_struck = re.compile(r"~~[^~\n]{1,200}~~|\\x?b?cancel\s*\{[^{}]{0,200}\}")
_spaces = re.compile(r"\s{4,}")
_runs = re.compile(r"([*_.=~$-])\1{3,}")


_asking = ("吗", "嗎", "ですか", "ますか", "でしょうか")


class Kind(Enum):
    """How a text states its answer, the highest rank first."""

    BOX = 1
    FINAL = 2
    PHRASE = 3


class Statement(NamedTuple):
    """What a text states as its answer."""

    kind: Kind
    #: Where it begins and ends: what a box holds, or the sentence behind a phrase.
    start: int
    end: int
    #: Whether it is denied: `the answer is not ...`.
    is_denied: bool = False
    #: Whether it is asked for, a condition, or what others think.
    is_unstated: bool = False
    #: Whether it is one of several: `the answer is also ...`.
    is_one_of_several: bool = False
    #: Whether its verb denies it, and no word that may begin a text: `is not`.
    is_verb_denied: bool = False

    @property
    def is_stated(self) -> bool:
        """Whether it is stated, and not denied."""
        return not (self.is_denied or self.is_unstated)


def without_thoughts(text: str) -> str:
    """Return what stands behind the last `</think>`, with shorter runs of one mark.

    What is struck out is left out.

    It is the whole text without such a tag.
    """
    return _runs.sub(
        r"\1\1\1", _spaces.sub(_fewer, _struck.sub(" ", text.rpartition("</think>")[2]))
    )


def _fewer(match: re.Match[str]) -> str:
    return "\n\n" if "\n" in match.group() else "  "


def statements(text: str) -> list[Statement]:
    """Return what a text states as its answer, in its order, without withdrawn ones."""
    found = sorted((*_boxes(text), *_phrases(text)), key=lambda one: one.start)
    claims = [one for one in found if one.is_stated]
    if not claims:
        return found
    corrections = _correction.finditer(text, 0, claims[-1].start)
    end = max((match.end() for match in corrections), default=0)
    later = [one for one in claims if one.start >= end]
    # What is also right withdraws nothing.
    return later if end and not later[0].is_one_of_several else found


def _boxes(text: str) -> Iterator[Statement]:
    for match in _boxed.finditer(text):
        yield Statement(Kind.BOX, match.end(), _closing(text, match.end()))
    for match in _tagged.finditer(text):
        yield Statement(Kind.BOX, *match.span(1))


def _closing(text: str, start: int) -> int:
    depth = 1
    last = min(len(text), start + AHEAD)
    for place in range(start, last):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return place
    return last


def _phrases(text: str) -> Iterator[Statement]:
    for match in _phrase.finditer(text):
        places = list(places_of_name(text, match.end()))
        end = sentence_end(text, places[-1])
        kind = Kind.FINAL if _is_final.search(match.group()) else Kind.PHRASE
        is_verb_denied = _denied_in.search(match.group()) is not None
        yield Statement(
            kind,
            places[0],
            end,
            is_verb_denied or any(_denied.match(text, place) for place in places),
            is_unstated(text, match.start()) or is_asked(text, end),
            any(_is_one_of_several(text, place) for place in places),
            is_verb_denied,
        )


def _is_one_of_several(text: str, place: int) -> bool:
    """Tell whether `also` or `either` is at a place; German `ist also` is `is so`."""
    if _also.match(text, place) is None:
        return False
    before = text[max(0, place - 10) : place].rstrip().casefold()
    return not before.endswith(("ist", "lautet", "wäre"))


def places_of_name(text: str, start: int) -> Iterator[int]:
    """Yield where what is stated may begin: at once, or behind words like `the`."""
    space = _space.match(text, start)
    place = start if space is None else space.end()
    yield place
    for _ in range(FILLERS):
        filler = _filler.match(text, place)
        if filler is None:
            return
        place = filler.end()
        yield place


def is_unstated(text: str, start: int) -> bool:
    """Tell whether a phrase is a condition, a denial or what others think."""
    return _ends_unstated(text[max(0, start - 120) : start])


@lru_cache(256)
def _ends_unstated(before: str) -> bool:
    clause = _clause.split(before)[-1]
    is_unstated = _unstated.search(_certain.sub("", clause)) is not None
    return is_unstated or _thought.search(before) is not None


def sentence_start(text: str, place: int) -> int:
    """Return where the sentence begins that holds a place, at most `BACK` before it."""
    start = max(0, place - BACK)
    for match in SENTENCE_END.finditer(text, start, place):
        start = match.end()
    return start


def sentence_end(text: str, start: int) -> int:
    """Return where the sentence ends that holds a place, at most `AHEAD` behind it."""
    last = min(len(text), start + AHEAD)
    match = SENTENCE_END.search(text, start, last)
    return last if match is None else match.start()


def is_asked(text: str, end: int) -> bool:
    """Tell whether the sentence that ends at `end` is a question."""
    return text[end : end + 1] in {"?", "？"} or text.endswith(_asking, 0, end)
