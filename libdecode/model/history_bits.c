/* history_bits.c - a set of small numbers, as a tree of words. */
#include "model/history_bits.h"

#include <string.h>

#define WORD_BITS 64

int pd_bits_reset(struct pd_bit_tree *t, uint32_t n)
{
	uint32_t total = 0, size = n;
	void *words;

	t->nr_levels = 0;
	do {
		size = size / WORD_BITS + 1;
		t->level[t->nr_levels++] = total;
		total += size;
	} while (size > 1);
	t->level[t->nr_levels] = total;
	words = pd_array_reset(&t->words, total);
	if (words)
		memset(words, 0, total * sizeof(uint64_t));
	return words ? 0 : -1;
}

static uint64_t *word_of(const struct pd_bit_tree *t, uint32_t level, uint32_t i)
{
	return (uint64_t *)t->words.items + t->level[level] + i / WORD_BITS;
}

void pd_bits_set(struct pd_bit_tree *t, uint32_t i)
{
	for (uint32_t level = 0; level < t->nr_levels; level++, i /= WORD_BITS)
		*word_of(t, level, i) |= UINT64_C(1) << i % WORD_BITS;
}

void pd_bits_clear(struct pd_bit_tree *t, uint32_t i)
{
	for (uint32_t level = 0; level < t->nr_levels; level++, i /= WORD_BITS) {
		uint64_t *word = word_of(t, level, i);

		*word &= ~(UINT64_C(1) << i % WORD_BITS);
		if (*word)
			return;
	}
}

/* Returns whether the level has a word for the number. */
static bool is_in_level(const struct pd_bit_tree *t, uint32_t level, uint32_t i)
{
	return i / WORD_BITS < t->level[level + 1] - t->level[level];
}

uint32_t pd_bits_next(const struct pd_bit_tree *t, uint32_t i)
{
	uint32_t level = 0;
	uint64_t word = 0;

	for (; level < t->nr_levels && is_in_level(t, level, i); level++, i = i / WORD_BITS + 1) {
		word = *word_of(t, level, i) >> i % WORD_BITS;
		if (word)
			break;
	}
	if (!word)
		return PD_NO_BIT;
	i += (uint32_t)__builtin_ctzll(word);
	while (level--)
		i = i * WORD_BITS +
		    (uint32_t)__builtin_ctzll(*word_of(t, level, i * WORD_BITS));
	return i;
}

uint32_t pd_bits_last(const struct pd_bit_tree *t, uint32_t i)
{
	uint32_t level = 0;
	uint64_t word = 0;

	for (; level < t->nr_levels; level++) {
		word = *word_of(t, level, i) << (WORD_BITS - 1 - i % WORD_BITS);
		if (word)
			break;
		i /= WORD_BITS;
		if (!i--)
			return PD_NO_BIT;
	}
	if (!word)
		return PD_NO_BIT;
	i -= (uint32_t)__builtin_clzll(word);
	while (level--)
		i = i * WORD_BITS + WORD_BITS - 1 -
		    (uint32_t)__builtin_clzll(*word_of(t, level, i * WORD_BITS));
	return i;
}
