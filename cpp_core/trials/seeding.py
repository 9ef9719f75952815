"""NumPy's way from a seed to the state of a PCG64, compiled.

By hand, because a SeedSequence and a PCG64 made of it take 10 microseconds, in which no other
thread may work: of a quadnoise trial of 260 they were 20. The words are NumPy's, bit for bit.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cpp_core.learners.compiled import compiled

Word = np.uint64
# NumPy's PCG64: the factor of its state, in two words and the lower one in halves.
_HIGH, _LOW = Word(0x2360ED051FC65DA4), Word(0x4385DF649FCCF645)
_LOW_1, _LOW_0, _MASK = Word(0x4385DF64), Word(0x9FCCF645), Word(0xFFFFFFFF)
_1, _32, _63 = Word(1), Word(32), Word(63)

# NumPy's SeedSequence, on words of 32 bits.
Half = np.uint32
POOL = 4
_INIT_A, _MULT_A, _INIT_B, _MULT_B = (
    Half(word) for word in (0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED)
)
_MIX_L, _MIX_R, _16 = Half(0xCA01F9DD), Half(0x4973F715), Half(16)


@compiled(inline="always")
def advance(high: Word, low: Word, add_high: Word, add_low: Word) -> tuple[Word, Word]:
    """The next state of PCG64: state * factor + increment, modulo 2^128."""
    low_1, low_0 = low >> _32, low & _MASK
    middle = low_1 * _LOW_0 + (low_0 * _LOW_0 >> _32)
    carry = low_1 * _LOW_1 + (middle >> _32) + (low_0 * _LOW_1 + (middle & _MASK) >> _32)
    new_low = low * _LOW + add_low
    return carry + high * _LOW + low * _HIGH + add_high + Word(new_low < add_low), new_low


@compiled(inline="always")
def _hashed(word: Half, factor: Half, next_factor: Half) -> Half:
    mixed = Half(Half(word ^ factor) * next_factor)
    return Half(mixed ^ (mixed >> _16))


@compiled(inline="always")
def _mixed(first: Half, second: Half) -> Half:
    mixed = Half(Half(_MIX_L * first) - Half(_MIX_R * second))
    return Half(mixed ^ (mixed >> _16))


@compiled()
def _fill_state(entropy: NDArray, state: NDArray) -> None:
    """Fill in high and low words of state and increment of the PCG64 of a SeedSequence.

    ``entropy`` are the words that the sequence gathers: those of the seed, zeros up to four, and
    those of the key.
    """
    pool, factor = np.empty(POOL, dtype=np.uint32), _INIT_A
    for i in range(POOL):
        following = Half(factor * _MULT_A)
        pool[i], factor = _hashed(entropy[i], factor, following), following
    for source in range(entropy.size):
        if source < POOL:
            for i in range(POOL):
                if i != source:
                    following = Half(factor * _MULT_A)
                    pool[i] = _mixed(pool[i], _hashed(pool[source], factor, following))
                    factor = following
        else:
            for i in range(POOL):
                following = Half(factor * _MULT_A)
                pool[i] = _mixed(pool[i], _hashed(entropy[source], factor, following))
                factor = following
    words, factor = np.empty(4, dtype=np.uint64), _INIT_B
    for i in range(8):
        following = Half(factor * _MULT_B)
        word, factor = Word(_hashed(pool[i % POOL], factor, following)), following
        words[i // 2] = words[i // 2] | (word << _32) if i % 2 else word
    add_high, add_low = words[2] << _1 | words[3] >> _63, words[3] << _1 | _1
    low = words[1] + add_low
    high = words[0] + add_high + Word(low < add_low)
    state[0], state[1] = advance(high, low, add_high, add_low)
    state[2], state[3] = add_high, add_low


@compiled()
def _fill_states(entropy: NDArray, states: NDArray) -> None:
    for i in range(len(entropy)):
        _fill_state(entropy[i], states[i])


def words_of(number: int) -> list[int]:
    """A whole number in words of 32 bits, the lowest first.

    >>> words_of(7), words_of(2**32 + 5)
    ([7], [5, 1])
    """
    return [number >> shift & 0xFFFFFFFF for shift in range(0, max(number.bit_length(), 1), 32)]


def states_of(seed: int, trials: Sequence[int], keys: Sequence[tuple[int, ...]]) -> NDArray:
    """States (trials, keys, 4) of the generators of ``SeedSequence(seed, spawn_key=(t, *key))``.

    Each is ``PCG64``'s: high and low words of state and increment. Trials, and the parts of a key,
    are below 2^32, and keys are of one length.
    """
    words = words_of(seed)
    words += [0] * (POOL - len(words))
    rows = [[*words, 0, *key] for key in keys]
    entropy = np.tile(np.array(rows, dtype=np.uint32), (len(trials), 1, 1))
    entropy[:, :, len(words)] = np.asarray(trials, dtype=np.uint32)[:, None]
    states = np.empty((*entropy.shape[:2], 4), dtype=np.uint64)
    _fill_states(entropy.reshape(-1, entropy.shape[2]), states.reshape(-1, 4))
    return states
