/* function_name.c - names of functions where there is little room. */
#include "table/function_name.h"

enum { LONGEST = 4096 };	/* bytes of a name; the ends of longer ones are never shown */

/* Returns whether the angle bracket at i is part of an operator's name, or of "->". */
static bool is_of_operator(struct pd_bytes name, size_t i)
{
	static const char *const ends[] = {
		"operator<", "operator<<", "operator>", "operator>>", "operator<=>", "->",
	};

	for (size_t k = 0; k < sizeof(ends) / sizeof(*ends); k++) {
		const size_t n = strlen(ends[k]);

		if (i + 1 >= n && memcmp(name.data + i + 1 - n, ends[k], n) == 0)
			return true;
	}
	return false;
}

/* Copies a name of at most LONGEST bytes without what is in its outermost angle brackets. Returns
 * the size, or 0 if the brackets are not pairs. */
static size_t copy_without_arguments(char *to, struct pd_bytes name)
{
	static const char left_out[] = "…";
	size_t size = 0, depth = 0;

	for (size_t i = 0; i < name.size; i++) {
		const char c = (char)name.data[i];
		const bool is_bracket = (c == '<' || c == '>') && !is_of_operator(name, i);

		if (is_bracket && c == '>' && !depth)
			return 0;
		if (is_bracket && c == '>' && --depth == 0) {
			memcpy(to + size, left_out, sizeof(left_out) - 1);
			size += sizeof(left_out) - 1;
		}
		if (!depth)
			to[size++] = c;
		depth += is_bracket && c == '<';
	}
	return depth ? 0 : size;
}

size_t pp_put_function_name(struct pp_out *out, struct pd_bytes name, size_t columns)
{
	char text[LONGEST / 2 * 5 + 1];		/* "<>" becomes "<…>", which has 5 bytes */
	size_t size = 0;

	if (columns && name.size > columns && name.size <= LONGEST)
		size = copy_without_arguments(text, name);
	if (size)
		name = (struct pd_bytes){ (const uint8_t *)text, size };
	return pp_put_name(out, name, columns);
}
