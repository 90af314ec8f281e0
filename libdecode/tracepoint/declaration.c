/* declaration.c - the words, the name and the lengths of a declaration; types by their names. */
#include <string.h>

#include "tracepoint/declaration.h"
#include "tracepoint/pieces.h"
#include "tracepoint/tracepoint.h"

/* Types whose size does not depend on the kernel's configuration. Other words are ignored. */
static const struct {
	const char *name;
	unsigned int words;
} words[] = {
	{ "unsigned", PD_WORD_UNSIGNED },
	{ "signed", PD_WORD_SIGNED },
	{ "char", PD_WORD_CHAR },
	{ "short", PD_WORD_SHORT },
	{ "int", PD_WORD_INT },
	{ "long", PD_WORD_LONG },
	{ "enum", PD_WORD_ENUM },
	{ "struct", PD_WORD_STRUCT },
	{ "union", PD_WORD_STRUCT },
	{ "__data_loc", PD_WORD_DATA_LOC },
	{ "__rel_loc", PD_WORD_REL_LOC },
	{ "bool", PD_WORD_8 | PD_WORD_UNSIGNED },
	{ "_Bool", PD_WORD_8 | PD_WORD_UNSIGNED },
	{ "u8", PD_WORD_8 | PD_WORD_UNSIGNED },
	{ "u16", PD_WORD_16 | PD_WORD_UNSIGNED },
	{ "u32", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "u64", PD_WORD_64 | PD_WORD_UNSIGNED },
	{ "s8", PD_WORD_8 | PD_WORD_SIGNED },
	{ "s16", PD_WORD_16 | PD_WORD_SIGNED },
	{ "s32", PD_WORD_32 | PD_WORD_SIGNED },
	{ "s64", PD_WORD_64 | PD_WORD_SIGNED },
	{ "__u8", PD_WORD_8 | PD_WORD_UNSIGNED },
	{ "__u16", PD_WORD_16 | PD_WORD_UNSIGNED },
	{ "__u32", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "__u64", PD_WORD_64 | PD_WORD_UNSIGNED },
	{ "__s8", PD_WORD_8 | PD_WORD_SIGNED },
	{ "__s16", PD_WORD_16 | PD_WORD_SIGNED },
	{ "__s32", PD_WORD_32 | PD_WORD_SIGNED },
	{ "__s64", PD_WORD_64 | PD_WORD_SIGNED },
	{ "uint8_t", PD_WORD_8 | PD_WORD_UNSIGNED },
	{ "uint16_t", PD_WORD_16 | PD_WORD_UNSIGNED },
	{ "uint32_t", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "uint64_t", PD_WORD_64 | PD_WORD_UNSIGNED },
	{ "int8_t", PD_WORD_8 | PD_WORD_SIGNED },
	{ "int16_t", PD_WORD_16 | PD_WORD_SIGNED },
	{ "int32_t", PD_WORD_32 | PD_WORD_SIGNED },
	{ "int64_t", PD_WORD_64 | PD_WORD_SIGNED },
	{ "__le16", PD_WORD_16 | PD_WORD_UNSIGNED },
	{ "__le32", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "__le64", PD_WORD_64 | PD_WORD_UNSIGNED },
	{ "__be16", PD_WORD_16 | PD_WORD_UNSIGNED },
	{ "__be32", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "__be64", PD_WORD_64 | PD_WORD_UNSIGNED },
	{ "uchar", PD_WORD_8 | PD_WORD_UNSIGNED },
	{ "ushort", PD_WORD_16 | PD_WORD_UNSIGNED },
	{ "uint", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "ulong", PD_WORD_LONG | PD_WORD_UNSIGNED },
	{ "uintptr_t", PD_WORD_LONG | PD_WORD_UNSIGNED },
	{ "size_t", PD_WORD_LONG | PD_WORD_UNSIGNED },
	{ "ssize_t", PD_WORD_LONG | PD_WORD_SIGNED },
	{ "pgoff_t", PD_WORD_LONG | PD_WORD_UNSIGNED },
	{ "cpumask_t", PD_WORD_LONG | PD_WORD_UNSIGNED },
	{ "nodemask_t", PD_WORD_LONG | PD_WORD_UNSIGNED },
	{ "pid_t", PD_WORD_32 | PD_WORD_SIGNED },
	{ "uid_t", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "gid_t", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "dev_t", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "gfp_t", PD_WORD_32 | PD_WORD_UNSIGNED },
	{ "umode_t", PD_WORD_16 | PD_WORD_UNSIGNED },
	{ "loff_t", PD_WORD_64 | PD_WORD_SIGNED },
	{ "sector_t", PD_WORD_64 | PD_WORD_UNSIGNED },
	{ "ktime_t", PD_WORD_64 | PD_WORD_SIGNED },
	{ "time64_t", PD_WORD_64 | PD_WORD_SIGNED },
};

static void add_word(struct pd_declaration *d, struct pd_bytes word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!pd_piece_equals(word, words[i].name))
			continue;
		if (words[i].words == PD_WORD_LONG && d->words & PD_WORD_LONG)
			d->words |= PD_WORD_LONG_LONG;
		d->words |= words[i].words;
		return;
	}
}

/* Returns the end of the bracket that opens text, or the last byte. */
static size_t find_closing(struct pd_bytes text)
{
	size_t depth = 0;

	for (size_t i = 0; i < text.size; i++) {
		depth += text.data[i] == '[';
		if (text.data[i] == ']' && !--depth)
			return i;
	}
	return text.size - 1;
}

/* text: "[16] ...". Returns the length of the brackets. */
static size_t parse_length(struct pd_declaration *d, struct pd_bytes text)
{
	const size_t end = find_closing(text);
	const struct pd_bytes inside = pd_piece_after(pd_piece_before(text, end), end ? 1 : 0);
	uint64_t n;

	if (end < 2 || !pd_piece_number(inside, UINT16_MAX, &n))
		n = 0;
	d->count = d->is_array ? d->count * n : n;
	if (d->count > UINT32_MAX)
		d->count = 0;
	d->is_array = true;
	return end + 1;
}

static void parse_type(struct pd_declaration *d, struct pd_bytes text)
{
	while (text.size) {
		size_t n = 0;

		while (n < text.size && pd_piece_is_word(text.data[n]))
			n++;
		if (n)
			add_word(d, pd_piece_before(text, n));
		else if (text.data[0] == '[')
			n = parse_length(d, text);
		else
			n = 1;
		d->is_pointer |= text.data[0] == '*';
		text = pd_piece_after(text, n);
	}
}

/* `void (*name)(int)` is a pointer; the rest does not affect the value. */
static bool parse_function(struct pd_declaration *d, struct pd_bytes text)
{
	const uint8_t *open = memmem(text.data, text.size, "(*", 2);
	const uint8_t *bracket = memchr(text.data, '[', text.size);
	size_t start, end;

	if (!open || (bracket && bracket < open))
		return false;
	start = (size_t)(open - text.data) + 2;
	while (start < text.size && pd_piece_is_blank(text.data[start]))
		start++;
	end = start;
	while (end < text.size && pd_piece_is_word(text.data[end]))
		end++;
	d->before = pd_piece_before(text, start);
	d->name = pd_piece_before(pd_piece_after(text, start), end - start);
	d->after = pd_piece_after(text, end);
	d->is_pointer = true;
	if (d->after.size && d->after.data[0] == '[')
		parse_length(d, d->after);
	return true;
}

/* The name is the last word before the array lengths. */
static void parse_simple(struct pd_declaration *d, struct pd_bytes text)
{
	size_t end = text.size, depth = 0, start;

	while (end && (depth || text.data[end - 1] == ']' ||
		       pd_piece_is_blank(text.data[end - 1]))) {
		end--;
		depth += text.data[end] == ']';
		depth -= text.data[end] == '[' && depth;
	}
	start = end;
	while (start && pd_piece_is_word(text.data[start - 1]))
		start--;
	d->before = pd_piece_trim(pd_piece_before(text, start));
	d->name = pd_piece_before(pd_piece_after(text, start), end - start);
	d->after = pd_piece_trim(pd_piece_after(text, end));
}

bool pd_declaration_parse(struct pd_bytes text, struct pd_declaration *d)
{
	*d = (struct pd_declaration){ .count = 0 };
	if (!text.size || text.size > PD_TP_MAX_DECLARATION)
		return false;
	if (!parse_function(d, text)) {
		parse_simple(d, text);
		parse_type(d, d->before);
		parse_type(d, d->after);
	}
	return d->before.size && d->name.size && !pd_piece_is_digit(d->name.data[0]);
}

unsigned int pd_declaration_size(const struct pd_declaration *d, unsigned int long_size)
{
	static const struct {
		unsigned int word, size;
	} sizes[] = {
		{ PD_WORD_ENUM, 4 }, { PD_WORD_8, 1 }, { PD_WORD_16, 2 }, { PD_WORD_32, 4 },
		{ PD_WORD_64, 8 }, { PD_WORD_CHAR, 1 }, { PD_WORD_SHORT, 2 },
		{ PD_WORD_LONG_LONG, 8 }, { PD_WORD_LONG, 0 },
		{ PD_WORD_INT | PD_WORD_UNSIGNED | PD_WORD_SIGNED, 4 },
	};

	if (d->is_pointer)
		return long_size;
	if (d->words & PD_WORD_STRUCT)
		return 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (d->words & sizes[i].word)
			return sizes[i].size ? sizes[i].size : long_size;
	return 0;
}

bool pd_declaration_is_signed(const struct pd_declaration *d)
{
	if (d->is_pointer || d->words & (PD_WORD_UNSIGNED | PD_WORD_STRUCT | PD_WORD_ENUM))
		return false;
	return d->words &
	       (PD_WORD_SIGNED | PD_WORD_CHAR | PD_WORD_SHORT | PD_WORD_INT | PD_WORD_LONG);
}
