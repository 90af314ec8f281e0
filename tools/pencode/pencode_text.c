/* pencode_text.c - makes JSON text the same for all versions of json-c: see pencode_text.h. */
#include "pencode/pencode_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Returns whether a whole number of n digits, after the character `before`, exceeds 64 bits. */
static bool exceeds_64_bits(const char *digits, size_t n, char before)
{
	const char *limit = before == '-' ? "9223372036854775808" : "18446744073709551615";
	const size_t most = strlen(limit);

	return n > most || (n == most && memcmp(digits, limit, n) > 0);
}

bool part_exceeds_64_bits(const struct split_part *part)
{
	bool in_string = false;

	for (size_t i = 0; i < part->size; i++) {
		const char *at = part->text + i;
		const char before = i ? at[-1] : '\0';
		size_t n = 0;

		if (*at == '"')
			in_string = !in_string;
		else if (in_string && *at == '\\')
			i++;
		if (in_string || *at < '1' || *at > '9')
			continue;
		while (i + n < part->size && at[n] >= '0' && at[n] <= '9')
			n++;
		i += n - 1;
		if (before == '.' || (i + 1 < part->size && strchr(".eE", at[n])))
			continue;
		if (exceeds_64_bits(at, n, before))
			return true;
	}
	return false;
}

static bool is_surrogate(const char *at, const char *end, const char *digits)
{
	return end - at >= 6 && strncasecmp(at, "\\ud", 3) == 0 && strchr(digits, at[3]) &&
	       isxdigit((unsigned char)at[4]) && isxdigit((unsigned char)at[5]);
}

static unsigned int parse_escape(const char *at)
{
	const char digits[] = { at[2], at[3], at[4], at[5], '\0' };

	return (unsigned int)strtoul(digits, NULL, 16);
}

bool part_join_surrogates(struct split_part *part)
{
	char *at = part->text, *to = NULL, *end = at + part->size, *next;

	while ((next = memchr(at, '\\', (size_t)(end - at)))) {
		if (to)
			to = (char *)memmove(to, at, (size_t)(next - at)) + (next - at);
		at = next;
		if (is_surrogate(at, end, "89abAB") && is_surrogate(at + 6, end, "cdefCDEF")) {
			const unsigned int high = parse_escape(at) & 0x3ff;
			const unsigned int c =
				0x10000 + (high << 10) + (parse_escape(at + 6) & 0x3ff);

			to = to ? to : at;
			*to++ = (char)(0xf0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
			*to++ = (char)(0x80 | (c >> 6 & 0x3f));
			*to++ = (char)(0x80 | (c & 0x3f));
			at += 12;
			continue;
		}
		if (is_surrogate(at, end, "89abcdefABCDEF"))
			return false;
		for (int i = 0; i < 2 && at < end; i++, at++)
			if (to)
				*to++ = *at;
	}
	if (to) {
		to = (char *)memmove(to, at, (size_t)(end - at)) + (end - at);
		part->size = (size_t)(to - part->text);
	}
	return true;
}
