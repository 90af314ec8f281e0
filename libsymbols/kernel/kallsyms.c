/* kallsyms.c - the text is not sorted and has no sizes: a function ends where the next symbol of
 * any kind begins. */
#include "kernel/kallsyms.h"

#include <string.h>

#include "image/sort.h"
#include "image/text_line.h"

#define FUNCTION_MAX 65536	/* before a gap, as between the kernel and its modules */
#define USUAL_LINE 40		/* bytes of a line on average, or a little less */

struct line {
	const char *name;
	uint32_t name_size;
	char type;
};

/* The addresses of lines, and where the rest of each is in the text. */
struct lines {
	struct pd_bytes text;
	struct ps_key *keys;
	size_t nr, capacity;
	struct pd_budget *budget;
};

/* Takes type and name out of the rest of a line. */
static bool parse_rest(struct pd_bytes rest, struct line *out)
{
	const struct pd_bytes type = ps_take_word(&rest), name = ps_take_word(&rest);

	if (type.size != 1 || !name.size || name.size > UINT16_MAX)
		return false;
	*out = (struct line){ (const char *)name.data, (uint32_t)name.size, (char)type.data[0] };
	return true;
}

/* Returns whether a rest begins as nearly all do, by " t n", and is short. */
static bool is_usual(struct pd_bytes rest)
{
	return rest.size > 3 && rest.size < UINT16_MAX && rest.data[0] == ' ' &&
	       rest.data[1] > ' ' && rest.data[2] == ' ' && rest.data[3] > ' ';
}

/* Returns whether parse_rest() succeeds, mostly without reading the name. */
static bool is_good(struct pd_bytes rest)
{
	struct line unused;

	return is_usual(rest) || parse_rest(rest, &unused);
}

/* parse_rest() of a usual one, without a module. */
static bool parse_usual(struct pd_bytes rest, struct line *out)
{
	const char *name = (const char *)rest.data + 3;
	const size_t n = rest.size - 3;

	if (!is_usual(rest) || memchr(name, ' ', n) || memchr(name, '\t', n))
		return false;
	*out = (struct line){ name, (uint32_t)n, (char)rest.data[1] };
	return true;
}

static int add_key(struct lines *l, struct ps_key key)
{
	struct ps_key *keys = l->nr < UINT32_MAX ?
		pd_budget_room(l->budget, l->keys, l->nr, &l->capacity, sizeof(*keys)) : NULL;

	if (!keys)
		return -1;
	l->keys = keys;
	l->keys[l->nr++] = key;
	return 0;
}

static int read_lines(struct lines *l)
{
	struct pd_bytes text = l->text, line;
	uint64_t address;

	if (text.size > UINT32_MAX)
		return -1;
	l->capacity = text.size / USUAL_LINE + 1024;
	l->keys = pd_budget_alloc(l->budget, l->capacity * sizeof(*l->keys));
	if (!l->keys)
		return -1;
	while (ps_take_line(&text, &line))
		if (ps_take_hex(&line, &address) && is_good(line) &&
		    add_key(l, (struct ps_key){ address,
						(uint32_t)(line.data - l->text.data),
						(uint32_t)line.size }))
			return -1;
	return 0;
}

static bool is_function(char type)
{
	return type == 'T' || type == 't' || type == 'W' || type == 'w';
}

static bool is_named(const struct line *l, const char *name)
{
	return l->name_size == strlen(name) && !memcmp(l->name, name, l->name_size);
}

static void add_function(struct ps_kallsyms *k, uint64_t address, const struct line *l,
			 uint64_t end)
{
	const uint64_t most = address + FUNCTION_MAX;
	const struct ps_symbol s = {
		.start = address, .end = end < most || most < address ? end : most,
		.name = l->name, .name_size = l->name_size, .source = PS_FROM_KALLSYMS,
		.binding = (uint8_t)(l->type == 'T' ? PS_GLOBAL :
				     l->type == 't' ? PS_LOCAL : PS_WEAK)
	};

	if (is_named(l, "_text"))
		k->text = address;
	if (is_named(l, "_stext"))
		k->stext = address;
	ps_symtab_add(&k->symbols, &s, 0);
}

static struct line line_at(const struct lines *l, size_t i)
{
	const struct pd_bytes rest = { l->text.data + l->keys[i].index, l->keys[i].size };
	struct line line = { 0 };

	if (!parse_usual(rest, &line))
		parse_rest(rest, &line);
	return line;
}

static int add_lines(struct ps_kallsyms *k, const struct lines *l)
{
	size_t next = 0;		/* the first one with a higher address */

	if (ps_sort_keys(l->keys, l->nr, l->budget) || ps_symtab_reserve(&k->symbols, l->nr))
		return -1;
	for (size_t i = 0; i < l->nr; i++) {
		const uint64_t address = l->keys[i].key;
		const struct line line = line_at(l, i);

		while (next < l->nr && l->keys[next].key <= address)
			next++;
		if (address)
			k->is_restricted = false;
		if (is_named(&line, "_etext"))	/* of any type */
			k->etext = address;
		if (address && is_function(line.type))
			add_function(k, address, &line,
				     next < l->nr ? l->keys[next].key : UINT64_MAX);
	}
	return 0;
}

enum ps_status ps_kallsyms_read(struct ps_kallsyms *k, struct pd_bytes text,
				struct pd_budget *budget)
{
	struct lines lines = { .text = text, .budget = budget };
	enum ps_status status = PS_OVER_LIMIT;

	*k = (struct ps_kallsyms){ .symbols.budget = budget, .is_restricted = true };
	if (!read_lines(&lines) && !add_lines(k, &lines) && !ps_symtab_seal(&k->symbols))
		status = lines.nr ? PS_OK : PS_BAD_FILE;
	pd_budget_free(budget, lines.keys, lines.capacity * sizeof(*lines.keys));
	if (status != PS_OK)
		ps_kallsyms_free(k);
	return status;
}

void ps_kallsyms_free(struct ps_kallsyms *k)
{
	ps_symtab_free(&k->symbols);
}

/* "name size count users state 0xaddress [flags]" */
bool ps_modules_next(struct pd_bytes *text, struct ps_module *out)
{
	struct pd_bytes line, name, size;

	while (ps_take_line(text, &line)) {
		name = ps_take_word(&line);
		size = ps_take_word(&line);
		ps_take_word(&line);
		ps_take_word(&line);
		ps_take_word(&line);
		if (!name.size || !size.size || size.size > 10 ||
		    !ps_take_hex(&line, &out->address))
			continue;
		out->name = (const char *)name.data;
		out->name_size = name.size;
		out->size = 0;
		for (size_t i = 0; i < size.size; i++)
			out->size = out->size * 10 + (uint64_t)(size.data[i] - '0') % 10;
		return true;
	}
	return false;
}
