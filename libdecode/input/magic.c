/* magic.c - recognizes recordings by their first bytes: one of them may be damaged, or all of them
 * reversed. */
#include "input/magic.h"

#include <ctype.h>
#include <string.h>

#include "base/cursor.h"
#include "layout/container.h"

static const struct magic {
	char text[PD_MAGIC_TEXT + 1];
	enum pd_magic magic;
	size_t version_at;	/* of the digit */
} magics[] = {
	{ "PERFILE2", PD_MAGIC_LITTLE, 7 },
	{ "2ELIFREP", PD_MAGIC_BIG, 0 },
	{ "PERFFILE", PD_MAGIC_V1, 0 },
	{ "ELIFFREP", PD_MAGIC_V1, 0 },
};

/* Returns whether the size after the magic is that of a header in this byte order. */
static bool has_size(enum pd_magic magic, const uint8_t *first)
{
	const enum pd_swap swap = (magic == PD_MAGIC_BIG) ==
		(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? PD_SWAP_NO : PD_SWAP_YES;
	const uint64_t size = pd_load64(first + PD_MAGIC_TEXT, swap);

	return size == PD_MAGIC_SIZE || size == PD_FILE_HEADER_SIZE;
}

/* Returns whether only one byte differs, and the size after it is right: random bytes are not taken
 * for a recording, nor is another version. */
static bool is_damaged(const struct magic *m, const uint8_t *first)
{
	size_t wrong = 0;

	for (size_t i = 0; i < PD_MAGIC_TEXT; i++)
		wrong += first[i] != (uint8_t)m->text[i];
	return m->magic != PD_MAGIC_V1 && wrong == 1 &&
	       (first[m->version_at] == '2' || !isdigit(first[m->version_at])) &&
	       has_size(m->magic, first);
}

/* Returns the magic of the byte order that the size after it has: no header is as large as in the
 * other one. */
static enum pd_magic choose_order(enum pd_magic stated, const uint8_t *first, bool *damaged)
{
	const enum pd_magic other = stated == PD_MAGIC_BIG ? PD_MAGIC_LITTLE : PD_MAGIC_BIG;

	*damaged = stated != PD_MAGIC_V1 && has_size(other, first);
	return *damaged ? other : stated;
}

enum pd_magic pd_magic_of(struct pd_bytes first, bool *damaged)
{
	*damaged = false;
	if (first.size < PD_MAGIC_SIZE)
		return PD_MAGIC_NONE;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (memcmp(first.data, magics[i].text, PD_MAGIC_TEXT) == 0)
			return choose_order(magics[i].magic, first.data, damaged);
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (is_damaged(&magics[i], first.data)) {
			*damaged = true;
			return magics[i].magic;
		}
	return PD_MAGIC_NONE;
}
