/* parse.c - parse numbers, sizes, times and lists of the command line. */
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool parse_number(const char *text, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return !errno && !*end;
}

/* Parses a decimal number and one letter of `units`. Returns the letter's index, or -1 with *out
 * unchanged. */
static int parse_number_and_unit(const char *text, const char *units, uint64_t *out)
{
	uint64_t value;
	const char *unit;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -1;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || !end[0] || end[1])
		return -1;
	unit = strchr(units, end[0]);
	if (!unit)
		return -1;
	*out = value;
	return (int)(unit - units);
}

bool parse_size(const char *text, uint64_t *out)
{
	uint64_t value;
	int unit = parse_number_and_unit(text, "BKMGTbkmgt", &value);

	if (unit < 0 || value > UINT64_MAX >> 10 * (unit % 5))
		return false;
	*out = value << 10 * (unit % 5);
	return true;
}

bool parse_time(const char *text, uint64_t *ns)
{
	static const uint64_t seconds[] = { 1, 60, 3600, 86400 };
	uint64_t value;
	int unit = parse_number_and_unit(text, "smhd", &value);

	if (unit < 0 || __builtin_mul_overflow(value, seconds[unit] * 1000000000, &value))
		return false;
	*ns = value;
	return true;
}

bool parse_fraction(const char *text, double unit, uint64_t *ns)
{
	char *end;
	double value;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	value = strtod(text, &end) * unit;
	if (*end || end == text || !(value >= 0 && value < 9e18))
		return false;
	*ns = (uint64_t)value;
	return true;
}

int int_list_add(struct int_list *l, int item)
{
	int *items;

	if ((l->n & (l->n - 1)) == 0) {
		items = realloc(l->items, (l->n ? 2 * l->n : 1) * sizeof(*items));
		l->lacks_memory |= !items;
		if (!items)
			return -1;
		l->items = items;
	}
	l->items[l->n++] = item;
	return 0;
}

bool int_list_has(const struct int_list *l, int item)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i] == item)
			return true;
	return false;
}

void int_list_free(struct int_list *l)
{
	free(l->items);
	*l = (struct int_list){ 0 };
}

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

void int_list_sort(struct int_list *l)
{
	size_t kept = 0;

	if (!l->n)
		return;
	qsort(l->items, l->n, sizeof(*l->items), by_value);
	for (size_t i = 1; i < l->n; i++)
		if (l->items[i] != l->items[kept])
			l->items[++kept] = l->items[i];
	l->n = kept + 1;
}

bool int_list_parse(struct int_list *l, const char *text, int limit)
{
	while (*text) {
		char *end;
		long first, last;

		if (!isdigit((unsigned char)*text))
			return false;
		first = last = strtol(text, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtol(end + 1, &end, 10);
		if ((*end && *end != ',') || first > last || last >= limit)
			return false;
		for (long i = first; i <= last; i++)
			if (int_list_add(l, (int)i))
				return false;
		text = *end ? end + 1 : end;
	}
	int_list_sort(l);
	return l->n > 0;
}
