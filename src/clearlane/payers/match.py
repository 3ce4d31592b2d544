"""Find payers by words that may be misspelt.

Ids are looked up whole and by their beginning. Names and aliases are cut into words; each word of
the query is found in the vocabulary exactly, by its beginning, or within a few typing mistakes
(candidates by shared trigrams, then edit distance). Knows no list, no file and no database.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from clearlane.kernel import limits
from clearlane.payers.model import Payer


class Rank(IntEnum):
    """Why a payer matches; a higher reason always stands before a lower one."""

    FUZZY = 1
    ALIAS = 2
    PREFIX = 3
    EXACT_ID = 4


@dataclass(frozen=True, slots=True)
class Match:
    """A payer, why it matches, and how well (at most 1)."""

    payer: Payer
    rank: Rank
    score: float


# What one word of the query is worth by how it was found.
EXACT, BEGINNING, MISSPELT = 1.0, 0.9, 0.8
PER_MISTAKE, UNFINISHED = 0.15, 0.05
# Below this part of the query's letters found, a payer is no match at all.
COVERED_MIN = 0.6
CANDIDATE_WORDS_MAX = 300
# A word that many others start with says little: beginnings are followed this far.
BEGINNINGS_MAX = 2_000


class Index:
    """A searchable snapshot of payers."""

    def __init__(self, payers: Sequence[Payer]) -> None:
        self._payers = payers
        self._ids: dict[str, list[int]] = defaultdict(list)
        self._in_names: dict[str, list[int]] = defaultdict(list)
        self._in_aliases: dict[str, list[int]] = defaultdict(list)
        for number, payer in enumerate(payers):
            for id in {id.casefold() for id in payer.ids}:
                self._ids[id].append(number)
            _add(self._in_names, number, (payer.name,))
            _add(self._in_aliases, number, payer.aliases)
        self._by_trigram: dict[str, list[str]] = defaultdict(list)
        self._words = sorted(self._in_names.keys() | self._in_aliases.keys() | self._ids.keys())
        for word in self._words:
            for trigram in _trigrams(word):
                self._by_trigram[trigram].append(word)
        # Names written as one word are found whole only: as candidates for a misspelt word they would
        # triple the index.
        for number, payer in enumerate(payers):
            self._in_names["".join(words_of(payer.name))].append(number)
        self._sorted_ids = sorted(self._ids)

    def search(self, words: str, *, among: Callable[[Payer], bool], limit: int) -> list[Match]:
        """The best matches, best first."""
        words = words.strip()[: limits.SEARCH_CHARACTERS_MAX]
        best: dict[int, Match] = {}
        by_id = list(self._by_id(words.casefold()))
        # Whoever types a whole id wants that payer and those whose ids go on from there, not the
        # likes of it.
        sure = any(rank is Rank.EXACT_ID for _, rank, _ in by_id)
        for number, rank, score in (*by_id, *self._by_words(words)):
            if sure and rank is Rank.FUZZY:
                continue
            payer = self._payers[number]
            known = best.get(number)
            if known is None or (rank, score) > (known.rank, known.score):
                best[number] = Match(payer, rank, round(score, 3))
        found = (match for match in best.values() if among(match.payer))
        return sorted(found, key=_best_first)[:limit]

    def _by_id(self, id: str) -> Iterator[tuple[int, Rank, float]]:
        if not id:
            return
        for known in _starting(self._sorted_ids, id):
            rank = Rank.EXACT_ID if known == id else Rank.PREFIX
            for number in self._ids[known]:
                yield number, rank, len(id) / len(known)

    def _by_words(self, words: str) -> Iterator[tuple[int, Rank, float]]:
        asked = words_of(words)
        letters = sum(map(len, asked))
        anywhere: dict[int, float] = defaultdict(float)
        named: dict[int, float] = defaultdict(float)
        aliased: dict[int, float] = defaultdict(float)
        for word in asked:
            worth = self._alike(word)
            part = len(word) / letters
            plain = {alike: value for alike, value in worth.items() if value >= BEGINNING}
            _sum(named, part, plain, self._in_names)
            _sum(aliased, part, plain, self._in_aliases)
            _sum(anywhere, part, worth, self._in_names, self._in_aliases, self._ids)
        # Only a payer in which every word was found without a mistake is more than a guess.
        yield from ((n, Rank.PREFIX, v) for n, v in named.items() if v > BEGINNING - 1e-9)
        yield from ((n, Rank.ALIAS, v) for n, v in aliased.items() if v > BEGINNING - 1e-9)
        yield from ((n, Rank.FUZZY, v) for n, v in anywhere.items() if v >= COVERED_MIN)

    def _alike(self, word: str) -> dict[str, float]:
        """Words of the vocabulary that may be meant, and what each is worth."""
        found = dict.fromkeys(_starting(self._words, word), BEGINNING)
        if word in found or word in self._in_names:
            found[word] = EXACT
        allowed = _mistakes_allowed(word)
        if not allowed:
            return found
        shared = Counter(
            known for trigram in _trigrams(word) for known in self._by_trigram.get(trigram, ())
        )
        for known, _ in shared.most_common(CANDIDATE_WORDS_MAX):
            if known in found:
                continue
            whole, beginning = distances(word, known)
            if whole <= allowed:
                found[known] = MISSPELT - PER_MISTAKE * (whole - 1)
            elif beginning <= allowed:
                found[known] = MISSPELT - PER_MISTAKE * (beginning - 1) - UNFINISHED
        return found


def words_of(text: str) -> list[str]:
    """The words of a text, without case, accents and punctuation."""
    plain = text.casefold()
    if not plain.isascii():
        apart = unicodedata.normalize("NFKD", plain)
        plain = "".join(c for c in apart if not unicodedata.combining(c))
    return _WORD.findall(plain)


def distances(asked: str, known: str) -> tuple[int, int]:
    """Typing mistakes between two words, and between the first and any beginning of the second.

    A letter more, less or other, or two swapped, is one mistake (optimal string alignment).
    """
    above: list[int] = []
    row = list(range(len(known) + 1))
    for i, letter in enumerate(asked):
        before, above, row = above, row, [i + 1]
        for j, other in enumerate(known):
            best = min(above[j + 1] + 1, row[j] + 1, above[j] + (letter != other))
            if i and j and letter == known[j - 1] and asked[i - 1] == other:
                best = min(best, before[j - 1] + 1)
            row.append(best)
    return row[-1], min(row)


_WORD = re.compile(r"[^\W_]+")


def _mistakes_allowed(word: str) -> int:
    return 0 if len(word) < 3 else 1 if len(word) < 6 else 2


def _trigrams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _add(postings: dict[str, list[int]], number: int, texts: Sequence[str]) -> None:
    words: set[str] = set()
    for text in texts:
        words.update(words_of(text))
    for word in words:
        postings[word].append(number)


def _starting(words: Sequence[str], beginning: str) -> Iterator[str]:
    """The words that start so, from a sorted list."""
    first = bisect_left(words, beginning)
    for word in words[first : first + BEGINNINGS_MAX]:
        if not word.startswith(beginning):
            return
        yield word


def _sum(
    total: dict[int, float],
    part: float,
    worth: dict[str, float],
    *postings: dict[str, list[int]],
) -> None:
    """Add what one word of the query is worth to each payer that has something like it."""
    best: dict[int, float] = {}
    for word, value in worth.items():
        for posting in postings:
            for number in posting.get(word, ()):
                if value > best.get(number, 0.0):
                    best[number] = value
    for number, value in best.items():
        total[number] += part * value


def _best_first(match: Match) -> tuple[int, float, int, str, str]:
    """Among equals the shorter name is the nearer one."""
    name = match.payer.name.casefold()
    return -match.rank, -match.score, len(name), name, match.payer.payer_id
