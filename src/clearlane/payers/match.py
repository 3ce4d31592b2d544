"""Find payers by words that may be misspelled.

Ids are matched whole and by prefix. Names and aliases are split into words; each word of the query is looked
up exactly, by prefix, or within a few typing mistakes (candidates by shared trigrams, then edit distance).
Knows no list, no file and no database.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from clearlane.payers.model import Payer

SEARCH_CHARACTERS_MAX = 200


class MatchRank(IntEnum):
    """How a payer matches; a higher rank always sorts before a lower one."""

    FUZZY = 1
    ALIAS = 2
    PREFIX = 3
    EXACT_ID = 4


@dataclass(frozen=True, slots=True)
class PayerMatch:
    """A matching payer with its rank and score (at most 1)."""

    payer: Payer
    rank: MatchRank
    score: float


# Score of one word of the query by how it was found.
EXACT, BEGINNING, MISSPELT = 1.0, 0.9, 0.8
PER_MISTAKE, UNFINISHED = 0.15, 0.05
# The least share of the query's letters that a match must cover.
COVERED_MIN = 0.6
CANDIDATE_WORDS_MAX = 300
# A prefix of many words says little, so only this many are followed.
BEGINNINGS_MAX = 2_000


class PayerIndex:
    """A search index over a snapshot of payers."""

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
        # Names written as one word are found only whole: as candidates for misspelled words they would
        # triple the index.
        for number, payer in enumerate(payers):
            self._in_names["".join(words_of(payer.name))].append(number)
        self._sorted_ids = sorted(self._ids)

    def search(self, words: str, *, among: Callable[[Payer], bool], limit: int) -> list[PayerMatch]:
        """Return the best matches, best first."""
        words = words.strip()[:SEARCH_CHARACTERS_MAX]
        best: dict[int, PayerMatch] = {}
        by_id = list(self._by_id(words.casefold()))
        # A whole id means that payer and those whose ids begin with it, so fuzzy matches are dropped.
        has_exact_id = any(rank is MatchRank.EXACT_ID for _, rank, _ in by_id)
        for number, rank, score in (*by_id, *self._by_words(words)):
            if has_exact_id and rank is MatchRank.FUZZY:
                continue
            payer = self._payers[number]
            known = best.get(number)
            if known is None or (rank, score) > (known.rank, known.score):
                best[number] = PayerMatch(payer, rank, round(score, 3))
        found = (match for match in best.values() if among(match.payer))
        return sorted(found, key=_best_first)[:limit]

    def _by_id(self, id: str) -> Iterator[tuple[int, MatchRank, float]]:
        if not id:
            return
        for known in _starting(self._sorted_ids, id):
            rank = MatchRank.EXACT_ID if known == id else MatchRank.PREFIX
            for number in self._ids[known]:
                yield number, rank, len(id) / len(known)

    def _by_words(self, words: str) -> Iterator[tuple[int, MatchRank, float]]:
        query_words = words_of(words)
        letters = sum(map(len, query_words))
        anywhere: dict[int, float] = defaultdict(float)
        named: dict[int, float] = defaultdict(float)
        aliased: dict[int, float] = defaultdict(float)
        for word in query_words:
            weights = self._similar_words(word)
            part = len(word) / letters
            plain = {word_like: value for word_like, value in weights.items() if value >= BEGINNING}
            _sum(named, part, plain, self._in_names)
            _sum(aliased, part, plain, self._in_aliases)
            _sum(anywhere, part, weights, self._in_names, self._in_aliases, self._ids)
        # Only payers in which every word was found without a mistake rank above fuzzy.
        yield from ((n, MatchRank.PREFIX, v) for n, v in named.items() if v > BEGINNING - 1e-9)
        yield from ((n, MatchRank.ALIAS, v) for n, v in aliased.items() if v > BEGINNING - 1e-9)
        yield from ((n, MatchRank.FUZZY, v) for n, v in anywhere.items() if v >= COVERED_MIN)

    def _similar_words(self, word: str) -> dict[str, float]:
        """Return the indexed words that may be meant, with their scores."""
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
    """Return the words of a text, without case, accents and punctuation."""
    plain = text.casefold()
    if not plain.isascii():
        apart = unicodedata.normalize("NFKD", plain)
        plain = "".join(c for c in apart if not unicodedata.combining(c))
    return _WORD.findall(plain)


def distances(query_words: str, known: str) -> tuple[int, int]:
    """Return the edit distance of two words, and of the first to the nearest prefix of the second.

    An insertion, deletion, substitution or swap of neighbors counts 1 (optimal string alignment).
    """
    above: list[int] = []
    row = list(range(len(known) + 1))
    for i, letter in enumerate(query_words):
        before, above, row = above, row, [i + 1]
        for j, other in enumerate(known):
            best = min(above[j + 1] + 1, row[j] + 1, above[j] + (letter != other))
            if i and j and letter == known[j - 1] and query_words[i - 1] == other:
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
    """Yield the words with this prefix from a sorted list."""
    first = bisect_left(words, beginning)
    for word in words[first : first + BEGINNINGS_MAX]:
        if not word.startswith(beginning):
            return
        yield word


def _sum(
    total: dict[int, float],
    part: float,
    weights: dict[str, float],
    *postings: dict[str, list[int]],
) -> None:
    """Add the score of one word of the query to each payer that has a similar word."""
    best: dict[int, float] = {}
    for word, value in weights.items():
        for posting in postings:
            for number in posting.get(word, ()):
                if value > best.get(number, 0.0):
                    best[number] = value
    for number, value in best.items():
        total[number] += part * value


def _best_first(match: PayerMatch) -> tuple[int, float, int, str, str]:
    """Sort key: rank, score, then the shorter name."""
    name = match.payer.name.casefold()
    return -match.rank, -match.score, len(name), name, match.payer.payer_id
