r"""The choice that an answer to a multiple-choice question names, by stated rules.

A choice is named by its letter (A, B, C, ...), its text, or its number if it is known
what the number of the first one is. Where an answer is marked, the marked choice counts
whatever else is named. The marks, the highest rank first:

1. the whole answer is a name: `B`, `(b)`, `**B. Paris**`, `Paris`;
2. a `\boxed{...}` holds one;
3. one stands behind `final answer is`;
4. one stands behind another phrase of
   `harpia_formats.evaluation.metrics.text.answer_phrases`;
5. one stands in `I choose B`, `B is the correct answer`, `so it is B`, or ends a
   sentence behind `therefore,`, `=>` or `✅`;
6. one stands in bold;
7. one begins the answer or a line: `B. Paris`, `(B) since ...`, or is a line.

Two marks of the highest rank that differ, or one that names several choices, name none.
An answer without a mark names the only choice whose text is among its words, or whose
letter stands in brackets or behind `option`, unless its sentence denies it.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from string import ascii_uppercase
from typing import NamedTuple

from harpia_formats.evaluation.metrics.text.answer_phrases import (
    AHEAD,
    UNSPACED,
    WORD,
    Kind,
    Statement,
    is_asked,
    is_unstated,
    pattern,
    places_of_name,
    sentence_end,
    sentence_start,
    statements,
    without_thoughts,
)

#: The names of a choice.
KINDS = ("letter", "text", "index")
#: What may stand around a name.
_AROUND = " \t\r\n*_`\"'“”‘’«»「」『』.,;:!?()[]{}$。、"  # noqa: RUF001 - quotation marks
_bold_latex = re.compile(r"\\textbf\s*\{([^{}]*)\}")
_latex = re.compile(r"\\(?:text|mathrm|mathbf|mathsf|mbox)\s*\{([^{}]*)\}")
_latex_space = re.compile(r"\\(?:[,;:! ()\[\]]|q?quad\b)|~(?!~)")
#: What may stand before a name that begins a text.
_before = re.compile(r"[\s*_`\"'“”‘’«»「」『』(\[{$]*")  # noqa: RUF001 - quotation marks
_kind_of_name = (
    r"(?:(?-i:[Tt]he|a|[Ll]a|[Dd]ie)[ \t]+)?(?:correct[ \t]+)?"
    r"(?:options?|choice|letter|answer|letra|alternativa|opção|opción|antwort|buchstabe|respuesta|resposta|item|inciso|选项|"
    r"選項|選択肢)[ \t:]*"
)
_prefix = re.compile(rf"(?i){_kind_of_name}[*_(\[]*")
_letter = re.compile(
    rf"[A-Za-z](?!{WORD}|['\u2019]|[-–—](?![A-Z](?!\w))\w|\.[A-Za-z]|\s*[+#^=<>~%@×→↔]|/(?![A-Z]\b)"  # noqa: RUF001 - an apostrophe, a dash, the sign of multiplication
    r"|\s?\*(?!\*)\s*\w)"
)
_letters = re.compile(rf"([A-Z])(?:\s?[A-Z])+(?!{WORD}|[.'\u2019-])")
_number = re.compile(r"(\d{1,3})(?![\w]|[.,/:]\d|\s*[-+*/^=%×])")  # noqa: RUF001 - the sign of multiplication
#: What may stand behind a letter so that it is a name and no word or part of one.
_ends_letter = pattern(rf"""
    \s*($|[^\w\s]|\n)|\s*[{UNSPACED}]| (because|since|as|is|was|isn|can|could|cannot
    |would|should|must|or|and|with|which|that|for|due|not|but|rather|while|whereas|in|on
    |by|from|based|given|according|at|here|instead|again|too|only|definitely|although
    |though|if|when|where|according|according|seems|fits|also|alone|weil|da|denn|ist|und
    |oder|mit|für|aufgrund|laut|nach|nicht|aber|wegen|also|falsch|richtig|sondern|bzw
    |sowie|porque|pois|já|uma|visto|dado|devido|com|por|e|ou|é|está|não|mas|já|ya|pues
    |debido|que|con|y|o|u|es|no|pero|según|correct|wrong|incorrect)\b
""")
_no_word = re.compile(r" *(?!\w)")
#: Joins a name to another one, so that several are named.
_joint = pattern(r"""
    (?-i:[\s*_)\]}$\"']*(?P<stop>[.,;、]*)[\s*_$\"'({\[]*((?P<any>(?i:\band\s*/\s*or\b
    |\bor\b|\belse\b|\botherwise\b|\balong with\b|\btogether with\b|\bthrough\b|\bbis\b
    |\bvs\b\.?|\bbut also\b|\bpossibly\b|\bmaybe\b|\bperhaps\b)|\bto\b(?= [A-Z]\b)
    |[-–—?]\s*(?=[A-Z](?![\w'\u2019]))|(?i:\boder\b|\bbzw\.?|\balternatively\b
    |\bas well as\b)|\b(ou|o|u\.?|como|quanto)(?!\w)|/|\||\\mid\b|或者?|还是|还有|か
    |または|もしくは|あるいは)|(?P<all>(?i:\band\b|\bund\b|\bsowie\b|\bplus\b|\bu\.)
    |\b[ey]\b|&|\+|和|与|與|及|と|および|や))?[\s,*_$\"'({\[]*(?i:(either|maybe|perhaps
    |possibly|probably|also|even|else|vielleicht|auch|talvez|também|quizás?|también|也许
    |可能|是)\s*)*)
""")  # noqa: RUF001 - dashes
_too = pattern(r"[^.\n。]{0,40}\b(also|too|as well|equally|both|auch|também|también)\b")
_but = pattern(r"""
    \s*[,;]?\s*(but( rather)?|rather|sondern|mas( sim)?|e sim|sino|而是|(では
    |じゃ)なく(て)?[、,]?|く[、,]?|instead)\s*
""")
#: Follows a name that is one of several, or a condition.
_or_else = pattern(r"""
    [\s*_)\]}$\"',]*(\bor\b(?! (else|otherwise|rather|in other|equivalently|more))
    |\boder\b(?! (besser|genauer))|\b(if|when|unless|wenn|falls)\b|如果|或|还是)
""")
#: Stands before another name that may be the answer as well.
_other = pattern(r"""
    \b(or|else|otherwise|possibly|perhaps|maybe|alternatively|(could|might
    |may) (also |well )*be|also be|so (is|are)|in some \w+ and|oder|vielleicht|ou|talvez
    |quizás?) (option )?|(也|还)(可能|可以)是?|或者?是?
""")
#: Stands before another name that is the answer instead.
_instead = pattern(r"""
    \b(no,|(no,? )?wait,?( no)?,?|scratch that\.?|sorry,?|kidding,?( it'?s)?) (option )?
""")
#: Follows the sentence of an answer that is taken back.
_retracted = pattern(r"""
    [\s.!?。*_]*(hmm+,?\s*)?(no[.!]|no, that|nope\b|wrong[.!,]|(just )?kidding\b
    |scratch that|(that|this|it|which)('s| is| was) (wrong|incorrect|false|not (right
    |correct|true|it))|nein[.!]|falsch[,.!]|não[.!]|errado\b|incorrecto\b|不对[。,.]
    |错了|いいえ|違います)
""")
#: Follows a name that is denied.
_wrong = r"""
    (wrong|incorrect|false\b|invalid|impossible|ruled out|eliminated|excluded|falsch
    |inkorrekt|unrichtig|ausgeschlossen|errad|incorret|equivocad|descartad|falso|falsa
    |❌|✗|✘)
"""
_denied_behind = pattern(rf"""
    [\s*_)\]}}$.:–—-]*((is|was|are|would be|seems|looks|can be|must be|ist|wäre|sind|é
    |está|es|seria|sería|fica)?\s*(also|clearly|definitely|simply|therefore|thus
    |obviously|klar|auch|claramente)?\s*{_wrong}|(is|was|does|can|could|would|should
    |do)\s*(n[o'\u2019]?t|not|never|no longer)\b|(とは|とも)(限|言え)
    |でも[^。]{{0,6}}(ない|ありません)|,?\s*(which|but (that|this
    |it))('s| is| was) (\w+ly )?(wrong|incorrect|false|not)\b|scheide\w* aus|cannot\b
    |fails\b|(ist|kann|sind|wäre) (es )?(nicht|kein)|(não|nao|no) (é|es|está|pode|puede
    |serve|sirve|corresponde|se\b)|(项|項)?\s*(是|都|也|显然|明显)*(不(?!过|但|仅)|错|錯
    |并非|未|没)|\s*(は|では|じゃ|も|が|で)+\s*(ない|なく|ありません|間違|誤|不正解|不適
    |正しくな|違))
""")  # noqa: RUF001 - dashes
#: A sentence with one of these denies the choice that it names, or does not say it.
_negation = pattern(r"""
    \b(not|no|never|neither|nor|none|cannot|without|except|unlikely|doubt\w*|hardly)\b
    |n't\b|\b(wrong\w*|incorrect\w*|false|untrue|exclud\w+|eliminat\w+|reject\w*|fail\w*
    |rul\w+ (\w+ )?out|instead of|rather than|other than|unlike|anything but|if|whether
    |unless|mistak\w+|disagree\w*|might (think|say|guess)|used to|far from|opposite|(all
    |everything|everyone|nothing|none|any\w+) but)\b
    |不(?!过|但|仅|断|用说)|没|沒|非(?!常)|错|錯|無|未|别的|除|排除|如果|若|是否|否
    |ない|ません|なく|間違|誤|違|除|以外|もし
    |\b(nicht|kein\w*|keinesfalls|niemals|nie|falsch\w*|weder|außer|statt|ausgeschlossen
    |ohne|scheide\w*|wenn|falls)\b|\b(não|nao|nem|nunca|nenhum\w*|errad\w*|incorret\w*
    |fals[oa]s?|exceto|sem|jamais|ni|ningun\w*|excepto|sin|tampoco|equivocad\w*)\b
""")
_certain = pattern(r"""
    \b(no|without (a )?|beyond (a )?)\s*(doubt|question)\b
    |\bohne (jeden )?zweifel\b|\bsem dúvida\b|\bsin duda\b|毫无疑问|無疑|間違いなく
""")
#: A sentence that denies what the one before it says.
_denied_next = pattern(r"""
    [\s.!?。*_]*(no\b|nope\b|wrong\b|(that|this|it|which)('s| is| was) (wrong|incorrect
    |not|false)|nein\b|falsch\b|não\b|errado\b|incorrecto\b|不对|错|いいえ|違)
""")
#: Stands before what is chosen. The Chinese words are bounded, since they are tried
#: from each of many equal ones.
_choosing = pattern(r"""
    \b((i|we)('d| would| will|'ll)? (choose|pick|select|answer|go with|opt for)
    |ich (wähle|nehme)( (also|daher|somit|deshalb))?|(also|daher|damit|somit
    |es) bleibt( nur)?|(eu )?escolho|elijo|escojo|(so|therefore|thus|hence|consequently
    |also|daher|somit|folglich|portanto|logo|por tanto|por lo tanto|entonces)[,:]? ((it
    |this|that|es|é)( is|'s| must be| has to be| ist)?|must be)?|(^
    |(?<=[.!\n]\s))(it('s| is| must be)|i('d| would) say|(that|this) leaves( us with)?
    |i (think|believe)( it('s| is))?|probably|definitely|certainly))(?=[\s*(:])
    |(?<![不别可])(?<!不能)(?<!不应)(?<!不要)(应|應|故|我|因此|所以|本题|本題|答案|综上所述
    |综上){0,9}+[,，、]?(我|本题|应){0,9}+[选選]择?(?!项|項|题|題)(的?是)?[:：]?
""")
#: Stands before a name with which the sentence ends: `Therefore, B.`, `=> B`. What is
#: before its words is bounded, since it is tried from each of many empty lines.
_concluding = pattern(r"""
    (^|(?<=[\n.!?;,:。])|(?<=[\n.!?;,:。]\s))[\s*_>]{0,40}+((so(?! A\b)|therefore|thus
    |hence|consequently|accordingly|daher|somit|folglich|portanto|logo|assim|então
    |por (lo )?tanto|entonces|así que)[,:]?(?=[\s*(])|(also|solution|correct)[*_]*:
    |(choose|select|pick)\b|####|=>|->|→|⇒|[✅✔☑]\ufe0f?|(よって|ゆえに|したがって
    |従って|所以|因此|综上)[、,,]?)
""")
_not_chosen = re.compile(
    r"[不别勿莫未没谁若][^,.;、。选選]{0,4}[选選]择?(?:的?是)?:?\Z"
)
_is_chosen = pattern(r"""
    [\s*_)\]}.:\"]*((is|must be
    |would be) (also |therefore |clearly |thus |indeed )?(the )?(only )?(correct|right
    |best)\s*(answer\b|option\b|choice\b|one\b|(?=[.,;!\n*)]|$|because\b|since\b|as\b
    |due\b))|(as )?the (only )?(correct|right|best) (answer|option
    |choice)(?=\s*[.,;!\n*)]|\s*$)|is the answer\b|it is(?=\s*[.,;!\n]|\s*$)
    |die ((richtige|korrekte) )?(antwort|lösung|option)\b|(richtig
    |korrekt)(?=\s*[.,;!\n*)]|\s*$)|だと(思い|考え)(?![^。]{0,4}(ません|ない))
    |ist (also |daher |auch )?(die )?(richtig|korrekt)(e (antwort|lösung|option)
    |(?=\s*[.,;!\n*)]|\s*$))|(é|está|es) (a |la )?((resposta|respuesta|alternativa|opção
    |opción)( (correta|certa|correcta))?|corret[ao]|cert[ao]
    |correct[ao])(?=\s*[.,;!\n*)]|\s*$)|([选選]?[项項])?也?(是|为|為)?正[确確](的|答案
    |选项|選項)?(?!吗)|(が|は)(正解|正しい|答え|適切)(?!では|じゃ|とは)
    |を(選択?)(?![^。]{0,4}(ません|ない)))
""")
_bold = re.compile(
    r"\*\*(?!\s)(.+?)(?<!\s)\*\*|(?<!\w)__(?!\s)(.+?)(?<!\s)__(?!\w)|<b>(.+?)</b>"
)
_line = re.compile(r"^[ \t*_#>-]*(.*?)[ \t]*$", re.MULTILINE)
_label = re.compile(r"[(\[]?([A-Za-z])[*_]*([).:\]])[*_]*(?=\s|$)")
_inline_label = re.compile(r"(?<!\w)[(\[]?([A-Z])[).:](?=\s)")
#: A word that makes a letter before a full stop an abbreviation, as in `C. elegans`.
_small_word = re.compile(r"\s*(?!(?:because|since|as|due)\b)[a-zäöüß]{2}")
_reason = pattern(r"""
    [\s*_)\]]*([,–—-](?!\w)|(because|since|as|due|weil|da|denn|porque|pois|ya)\b|因为
    |なぜなら)
""")  # noqa: RUF001 - dashes
_bracketed = re.compile(
    rf"[(\[]([A-Z])[)\]]|(?i:(?<!{WORD}){_kind_of_name})[(\[*]*([A-Z])(?!{WORD}|['\u2019])"
)
#: Letters that may be words of a language are no names on their own.
_bare = re.compile(
    rf"(?<!{WORD})(?<![.'\u2019-])([B-DF-HJ-NP-XZ]|A(?=\s*[,.;)]|$))"
    rf"(?!{WORD}|['\u2019]|-\w|\.\s*[A-Z])"
)
_capital = re.compile(rf"(?<!{WORD})([A-Z])(?!{WORD}|['\u2019]|-\w)")
_nothing = re.compile(r"[\s*_`\"'“”‘’«»「」『』.,;:!)\]}$。です]*")  # noqa: RUF001 - quotation marks
_between = re.compile(r"[\s*_.):\]}$–—-]*[(\[]?\s*[*_\"“]*")  # noqa: RUF001 - dashes, quotation marks
#: Ends what stands behind a label.
_stops = re.compile(r"[\s*_)\]}$\"']*(?:$|[.!;。)]|\n|です|だ|である|吧|的)")
#: Stands before the name of what was described: `the capital of France, Paris`.
_apposed = re.compile(r"[,:(–—-][\s*_\"“]*$")  # noqa: RUF001 - dashes, quotation marks
#: Stands behind a choice that a clause ends with.
_closes = pattern(rf"""
    {_stops.pattern}|{_reason.pattern}|[\s*_)\]]*([,:]|项|項|选项
    |選項|因|and\b|not\b|rather\b|instead\b|und\b|e\b|y\b)
""")
_own_letter = re.compile(rf"\s*[(\[]\s*(?i:{_kind_of_name})?([A-Z])\s*[)\]]")
#: Words of a phrase that leaves the answer to what follows.
_introduction = pattern(r"""
    [\s*_]*(as follows|simple|clear|obvious|below|straightforward|easy|found|in the
    |explained|based|the following|wie folgt|klar|einfach|simples|clara?|a seguinte
    |la siguiente|sencilla|如下|很|以下|次の)
    |[\s*_:]*$
""")
_joined_before = re.compile(
    r"(?i)(?:\b(?:or|and|oder|und|ou|neither|nor|noch|ni|nem)|/|或者?|和|か|と|または|もしくは)[\s(*]*$|\b[eyou]\s+$"
)


#: The most names that are read as one list.
JOINED = 12


class NoChoiceError(Exception):
    """An answer that names no choice, or several; the text is the reason."""


class _Name(NamedTuple):
    """What is named at a place of a text; nothing that is a choice if empty."""

    found: frozenset[int]
    end: int
    is_text: bool = False


class _Mark(NamedTuple):
    """What a mark names."""

    #: No choice if it names something else, several if it names several.
    found: frozenset[int]
    #: Whether it names a letter that no choice has, or is a box of something else.
    is_other: bool = False


@dataclass(frozen=True)
class Choices:
    """The choices of a question."""

    texts: tuple[str, ...]
    #: The number of the first choice, None if numbers name no choice.
    first: int | None = None

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        return tuple(_plain(_normal(text)) for text in self.texts)

    @cached_property
    def _longest_first(self) -> tuple[int, ...]:
        every = (at for at, plain in enumerate(self._plain) if plain)
        return tuple(sorted(every, key=lambda at: -len(self._plain[at])))

    def in_answer(self, answer: str) -> int:
        """Return the index of the choice that an answer names.

        Raises `NoChoiceError`.
        """
        text = _normal(without_thoughts(answer))
        whole = self.named(text) or self._held(text)
        if whole:
            return _only([frozenset(whole)])
        # What stands far behind a statement changes nothing: equal ones are read once.
        kept: dict[tuple[Statement, str], _Mark | None] = {}
        stated = []
        for one in statements(text):
            near = text[one.start : one.end + 2 * AHEAD]
            here = one._replace(start=0, end=one.end - one.start)
            if (here, near) not in kept:
                kept[here, near] = self._stated(near, here)
            stated.append((one.kind, kept[here, near]))
        others = [mark for _, mark in stated if mark is not None and not mark.found]
        for kind in Kind:
            marks = [mark.found for at, mark in stated if mark and at == kind]
            if any(marks):
                return _only(filter(None, marks))
        if not any(mark.is_other for mark in others):
            for rule in (self._chosen, self._in_bold, self._leading):
                marks = list(rule(text))
                if marks:
                    return _only(marks)
        # What is stated is no choice: the text is not searched for another one.
        return _only([] if others else [self._mentioned(text)])

    def named(self, text: str, kinds: Sequence[str] = KINDS) -> set[int]:
        """Return the choices of which the whole text is a name of one of `kinds`."""
        plain = _plain(_normal(text))
        found = {
            "letter": self._of_letter(plain),
            "index": self._of_number(plain),
            "text": (at for at, other in enumerate(self._plain) if other == plain),
        }
        return {at for kind in kinds for at in found[kind]}

    def _of_letter(self, letter: str) -> Iterator[int]:
        at = ascii_uppercase.find(letter.upper()) if len(letter) == 1 else -1
        if 0 <= at < len(self.texts):
            yield at

    def _of_number(self, digits: str) -> Iterator[int]:
        if self.first is not None and re.fullmatch(r"\d{1,3}", digits):
            at = int(digits) - self.first
            if 0 <= at < len(self.texts):
                yield at

    def _name_at(self, text: str, place: int) -> _Name | None:
        """Return what is named at a place, None if nothing is; a longer text wins."""
        begins = _before.match(text, place)
        start = place if begins is None else begins.end()
        name = self._text_at(text, start)
        if name is None and (prefix := _prefix.match(text, start)):
            start = prefix.end()
            name = self._text_at(text, start)
        return name or self._label_at(text, start)

    def _text_at(self, text: str, start: int) -> _Name | None:
        for at in self._longest_first:
            plain = self._plain[at]
            # A text that may be the letter of a choice is only known as a whole.
            if any(self._of_letter(plain)):
                continue
            match = _words(plain).match(text, start)
            if match is None:
                continue
            if letter := _own_letter.match(text, match.end()):
                return _Name(frozenset({at, *self._of_letter(letter[1])}), letter.end())
            same = {one for one, other in enumerate(self._plain) if other == plain}
            return _Name(frozenset(same), match.end(), is_text=True)
        return None

    def _label_at(self, text: str, start: int) -> _Name | None:
        """Return what a letter or number at a place names, with its text behind it."""
        run = _letters.match(text, start)
        every = (
            [set(self._of_letter(one)) for one in run[0] if one != " "] if run else []
        )
        if run and all(every):
            return _Name(frozenset().union(*every), run.end())
        number = _number.match(text, start)
        if number:
            found = frozenset(self._of_number(number[1]))
            return _Name(found, number.end()) if found else None
        letter = _letter.match(text, start)
        found = frozenset(self._of_letter(letter[0]) if letter else ())
        # A small letter is a name only where no word follows and a choice has it.
        if (
            letter is None
            or not _ends_letter.match(text, letter.end())
            or (
                letter[0].islower()
                and not (found and _no_word.match(text, letter.end()))
            )
        ):
            return None
        between = _between.match(text, letter.end())
        if found and between and between.end() > letter.end():
            own = self._text_at(text, between.end())
            if own and (own.found & found or _stops.match(text, own.end)):
                return _Name(found if own.found & found else found | own.found, own.end)
            other = _letter.match(text, between.end())
            if other and other[0].isupper() and _stops.match(text, other.end()):
                found |= {*self._of_letter(other[0])}
        return _Name(found, letter.end())

    def _names_at(self, text: str, place: int) -> _Name | None:
        """Return what is named at a place, with what is joined to it by `or`."""
        first = name = self._name_at(text, place)
        is_one = not (first and self._has_other(text, first))
        for _ in range(JOINED):
            if name is None or first is None:
                break
            joint = _joint.match(text, name.end)
            if joint is None or not (joint["any"] or joint["all"] or joint["stop"]):
                break
            name = self._name_at(text, joint.end())
            if name is None or not self._is_joined(text, joint, name):
                break
            found = (first.found or _SEVERAL) | (name.found or _SEVERAL)
            first = _Name(found, name.end)
        if is_one or first is None:
            return first
        return _Name(first.found | _SEVERAL, first.end)

    def _has_other(self, text: str, name: _Name) -> bool:
        """Tell whether the sentence of a name goes on with another one that may be."""
        end = sentence_end(text, name.end)
        joined = [*_other.finditer(text, name.end, end)]
        joined += _instead.finditer(text, name.end, end + 40)
        others = (self._name_at(text, match.end()) for match in joined)
        return (
            any(other and other.found - name.found for other in others)
            or _or_else.match(text, name.end) is not None
            or _retracted.match(text, end) is not None
        )

    def _is_joined(
        self, text: str, joint: re.Match[str], name: _Name, more_names: int = 6
    ) -> bool:
        """Tell whether a name is one of several, and does not begin a clause."""
        if joint["any"]:
            return True
        if "." in joint["stop"] or _denied_behind.match(text, name.end):
            return False
        if joint["all"] or _stops.match(text, name.end) or _too.match(text, name.end):
            return True
        more = _joint.match(text, name.end)
        if more is None or not (more["any"] or more["all"] or more["stop"]):
            return False
        other = self._name_at(text, more.end()) if more_names else None
        if other is None:
            return not more_names
        return self._is_joined(text, more, other, more_names - 1)

    def _held(self, text: str) -> frozenset[int]:
        """Return the choices of which a text has names and nothing else, else none."""
        whole = self.named(text)
        if whole:
            return frozenset(whole)
        name = self._names_at(text, 0)
        if name is None or not _nothing.fullmatch(text, name.end):
            return frozenset()
        return name.found

    def _stated(self, text: str, one: Statement) -> _Mark | None:
        """Return what a statement of the answer names, None if nothing is stated."""
        if one.kind == Kind.BOX:
            held = self._held(text[one.start : one.end])
            if held and self._is_taken_back(text, one.end + 1):
                return _Mark(held | _SEVERAL)
            return _Mark(held, is_other=not held)
        return None if one.is_unstated else self._behind(text, one)

    def _is_taken_back(self, text: str, end: int) -> bool:
        """Tell whether a box that ends at a place is denied, or asked."""
        last = sentence_end(text, end)
        return (
            _denied_behind.match(text, end) is not None
            or _retracted.match(text, last) is not None
            or is_asked(text, last)
        )

    def _behind(self, text: str, one: Statement) -> _Mark | None:
        """Return what the sentence behind a phrase names, None if nothing is stated."""
        names = (
            (at, self._names_at(text, at)) for at in places_of_name(text, one.start)
        )
        place, name = next(
            ((at, name) for at, name in names if name), (one.start, None)
        )
        # `Not stated` and `Both of them` may be texts of choices.
        is_text = name is not None and name.is_text
        if one.is_denied and (one.is_verb_denied or not is_text):
            return self._corrected(text, one.start, one.end)
        if one.is_one_of_several and not is_text:
            return _Mark(_SEVERAL | (name.found if name else _SEVERAL))
        if name is None:
            return self._in_sentence(text, place, one.end)
        if name.found and _denied_behind.match(text, name.end):
            return self._corrected(text, name.end, sentence_end(text, name.end))
        return _Mark(name.found, is_other=not name.found)

    def _corrected(self, text: str, start: int, end: int) -> _Mark | None:
        """Return what follows `but` in `not A but B`, None without it."""
        for but in _but.finditer(text, start, end):
            name = self._names_at(text, but.end())
            if name and name.found and _closes.match(text, name.end):
                return _Mark(name.found)
        return None

    def _in_sentence(self, text: str, start: int, end: int) -> _Mark | None:
        """Return the only choice in the rest of a sentence, which states an answer."""
        sentence = text[start:end]
        mentions = self._mentions(sentence)
        if _introduction.match(sentence) and not mentions:
            return None
        letters = [(at, *span) for at, span in self._bare_letters(sentence)]
        found = {at for at, _, _ in (*mentions, *letters)}
        is_last = any(
            _apposed.search(sentence[max(0, begin - 6) : begin])
            and _stops.match(sentence, last)
            for _, begin, last in (*mentions, *letters)
        )
        is_denied = _negation.search(_certain.sub("", self._masked(sentence)))
        is_stated = len(found) == 1 and is_last and not is_denied
        return _Mark(frozenset(found if is_stated else ()))

    def _chosen(self, text: str) -> Iterator[frozenset[int]]:
        """Yield the choices of `I choose B` and of `B is the correct answer`."""
        for leading, closing in ((_choosing, _closes), (_concluding, _stops)):
            for match in leading.finditer(text):
                name = self._names_at(text, match.end())
                if (
                    name
                    and name.found
                    and closing.match(text, name.end)
                    and not _not_chosen.search(
                        text, max(0, match.end() - 12), match.end()
                    )
                    and not self._is_void(text, match.start(), name.end)
                ):
                    yield name.found
        for start, end, found in self._every_name(text):
            if _is_chosen.match(text, end) and not self._is_void(text, start, end):
                is_joined = _joined_before.search(text[max(0, start - 12) : start])
                several = is_joined or self._has_other(text, _Name(found, end))
                yield found | _SEVERAL if several else found

    def _every_name(self, text: str) -> Iterator[tuple[int, int, frozenset[int]]]:
        for match in _capital.finditer(text):
            yield *match.span(), frozenset(self._of_letter(match[1]))
        for at, start, end in self._texts_in(text):
            yield start, end, frozenset({at})

    def _is_void(self, text: str, start: int, end: int) -> bool:
        """Tell whether a choice is denied, asked for, or what others think."""
        return (
            is_unstated(text, start)
            or _denied_behind.match(text, self._past_own_text(text, end)) is not None
            or _denied_behind.match(text, end) is not None
            or is_asked(text, sentence_end(text, end))
        )

    def _past_own_text(self, text: str, end: int) -> int:
        """Return where the text of a choice ends that stands behind its letter."""
        between = _between.match(text, end)
        own = self._text_at(text, between.end()) if between else None
        return own.end if own else end

    def _in_bold(self, text: str) -> Iterator[frozenset[int]]:
        for match in _bold.finditer(text):
            inner = match[match.lastindex or 0]
            found = self._held(inner)
            if not found and _label.match(inner):
                name = self._name_at(inner, 0)
                found = name.found if name else frozenset()
            if found and not self._is_void(text, match.start(), match.end()):
                yield found

    def _leading(self, text: str) -> Iterator[frozenset[int]]:
        """Yield the choices that begin a line, or are a line, or begin the text."""
        first = self._names_at(text, 0)
        if (
            first
            and first.found
            and not self._is_void(text, 0, first.end)
            and (_reason.match(text, first.end) or len(first.found) > 1)
        ):
            yield first.found
        for line in _line.finditer(text):
            found = self._held(line[1])
            end = line.end(1)
            label = _label.match(line[1])
            if label and not found:
                name = self._names_at(text, line.start(1))
                if name is None:
                    continue
                is_own = name.end > line.start(1) + label.end()
                is_word = label[2] == "." and _small_word.match(line[1], label.end())
                if not is_own and (label[1].islower() or is_word):
                    continue
                labels = _inline_label.findall(line[1])
                found = name.found.union(*map(self._of_letter, labels))
                end = name.end
            if found and not self._is_void(text, line.start(1), end):
                yield found

    def _texts_in(self, text: str) -> list[tuple[int, int, int]]:
        """Return the place, start and end of each text of a choice in a text."""
        left, found = text, []
        for at in self._longest_first:
            plain = self._plain[at]
            if any(self._of_letter(plain)):
                continue
            found += [(at, *match.span()) for match in _words(plain).finditer(left)]
            # What a longer choice covers is no shorter one.
            left = _words(plain).sub(lambda match: "\n" * len(match[0]), left)
        return found

    def _mentions(self, text: str) -> list[tuple[int, int, int]]:
        """Return the place, start and end of each choice that a text names."""
        letters = (
            (at, *match.span())
            for match in _bracketed.finditer(text)
            for at in self._of_letter(match[1] or match[2])
        )
        return [*self._texts_in(text), *letters]

    def _bare_letters(self, text: str) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the place of each letter on its own that no word is, and its span."""
        for match in _bare.finditer(text):
            for at in self._of_letter(match[1]):
                yield at, match.span()

    def _masked(self, text: str) -> str:
        """Return a text without the texts of choices."""
        letters = list(text)
        for _, start, end in self._texts_in(text):
            letters[start:end] = " " * (end - start)
        return "".join(letters)

    def _mentioned(self, text: str) -> frozenset[int]:
        """Return the choices that a text without a mark names; raises `NoChoiceError`.

        A letter on its own may be a word: it names none, but is another than named.
        """
        mentions = self._mentions(text)
        found = frozenset(at for at, _, _ in mentions)
        if not found:
            return found
        letters = frozenset(at for at, _ in self._bare_letters(text))
        if len(found | letters) > 1:
            return found | letters
        plain = _certain.sub(lambda match: " " * len(match[0]), self._masked(text))
        for _, start, end in mentions:
            last = sentence_end(text, end)
            if (
                _is_denied(plain[sentence_start(text, start) : last])
                or is_asked(text, last)
                or _denied_next.match(text, last)
            ):
                raise NoChoiceError("the answer names a choice only to deny it")
        return found


#: What stands for other choices that are not named.
_SEVERAL = frozenset({-1})


def _only(marks: Iterable[frozenset[int]]) -> int:
    """Return the choice that all marks name; raises `NoChoiceError`."""
    found = sorted(frozenset().union(*marks))
    if len(found) > 1:
        names = ", ".join(_name(at) for at in found if at >= 0)
        raise NoChoiceError(f"the answer names several choices: {names}")
    if not found or found[0] < 0:
        raise NoChoiceError("the answer names no choice")
    return found[0]


@lru_cache(256)
def _is_denied(sentence: str) -> bool:
    """Tell whether a sentence, without the texts of choices, denies what it names."""
    return _negation.search(sentence) is not None


@lru_cache(1024)
def _words(plain: str) -> re.Pattern[str]:
    """Return a pattern for a text that is no part of a longer word or number."""
    start, end = (_edge(letter, len(plain)) for letter in (plain[0], plain[-1]))
    before = rf"(?<!{start})" if start else ""
    if plain[0].isdigit():
        before += r"(?<![.,/^+−-])(?<!\d\s)"  # noqa: RUF001 - the sign of minus
    behind = rf"(?!{end}|[.,/:]\d|\s?[%‰^°]|\s*[*×]\s*\d)" if end else ""  # noqa: RUF001 - the sign of multiplication
    spaced = r"\s+".join(map(re.escape, plain.split(" ")))
    return re.compile(f"{before}{spaced}{behind}", re.IGNORECASE)


def _edge(letter: str, length: int) -> str:
    """Return a pattern for what would make a word longer at this end of it."""
    if re.match(WORD, letter):
        return WORD
    if re.match(r"[\u30a0-\u30ff]", letter):
        return r"[\u30a0-\u30ff]"
    if not letter.isalnum():
        return ""
    # Words of more characters cannot be distinguished in scripts without spaces.
    return r"[\u3400-\u9fff]" if length == 1 else ""


def _normal(text: str) -> str:
    """Return a text with one form of each character, without LaTeX around words."""
    plain = unicodedata.normalize("NFKC", text)
    if "\\" in plain or "~" in plain:
        plain = _bold_latex.sub(r"**\1**", plain)
        plain = _latex_space.sub(" ", _latex.sub(r" \1 ", plain))
    return plain


def _plain(text: str) -> str:
    """Return a text as it is compared: without case, marks around it, more spaces."""
    folded = " ".join(text.casefold().split())
    return folded.strip(_AROUND) or folded


def _name(at: int) -> str:
    return ascii_uppercase[at] if at < len(ascii_uppercase) else str(at + 1)
