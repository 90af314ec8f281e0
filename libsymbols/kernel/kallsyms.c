/* kallsyms.c - the text is not sorted and has no sizes: a function ends where the next symbol of
 * any kind begins. */
#include "kernel/kallsyms.h"

#include <string.h>

#include "image/sort.h"
#include "image/text_line.h"

#define FUNCTION_MAX 65536	/* before a gap, as between the kernel and its modules */

struct line {
	uint64_t address;
	const char *name;
	uint32_t name_size;
	char type;
};

struct lines {
	struct line *items;
	size_t nr, capacity;
	struct pd_budget *budget;
};

static bool parse_line(struct pd_bytes text, struct line *out)
{
	struct pd_bytes type, name;

	if (!ps_take_hex(&text, &out->address))
		return false;
	type = ps_take_word(&text);
	name = ps_take_word(&text);
	if (type.size != 1 || !name.size || name.size > UINT16_MAX)
		return false;
	out->type = (char)type.data[0];
	out->name = (const char *)name.data;
	out->name_size = (uint32_t)name.size;
	return true;
}

static int read_lines(struct lines *l, struct pd_bytes text)
{
	struct pd_bytes line;
	struct line parsed;

	while (ps_take_line(&text, &line)) {
		if (!parse_line(line, &parsed))
			continue;
		if (l->nr == l->capacity) {
			const size_t more = l->capacity ? l->capacity * 2 : 1024;
			struct line *grown = more < UINT32_MAX ?
				pd_budget_grow(l->budget, l->items, l->capacity * sizeof(*grown),
					       more * sizeof(*grown)) : NULL;

			if (!grown)
				return -1;
			l->items = grown;
			l->capacity = more;
		}
		l->items[l->nr++] = parsed;
	}
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

static void add_function(struct ps_kallsyms *k, const struct line *l, uint64_t end)
{
	const uint64_t most = l->address + FUNCTION_MAX;
	const struct ps_symbol s = {
		.start = l->address, .end = end < most || most < l->address ? end : most,
		.name = l->name, .name_size = l->name_size, .source = PS_FROM_KALLSYMS,
		.binding = (uint8_t)(l->type == 'T' ? PS_GLOBAL :
				     l->type == 't' ? PS_LOCAL : PS_WEAK)
	};

	if (is_named(l, "_text"))
		k->text = l->address;
	if (is_named(l, "_stext"))
		k->stext = l->address;
	ps_symtab_add(&k->symbols, &s, 0);
}

static int add_lines(struct ps_kallsyms *k, const struct lines *l)
{
	struct ps_key *keys = pd_budget_alloc(l->budget, l->nr * sizeof(*keys));
	size_t next = 0;		/* the first one with a higher address */
	int ret = -1;

	for (size_t i = 0; keys && i < l->nr; i++)
		keys[i] = (struct ps_key){ l->items[i].address, (uint32_t)i };
	if (keys)
		ret = ps_sort_keys(keys, l->nr, l->budget);
	for (size_t i = 0; !ret && i < l->nr; i++) {
		const struct line *line = &l->items[keys[i].index];

		while (next < l->nr && keys[next].key <= line->address)
			next++;
		if (line->address)
			k->is_restricted = false;
		if (line->address && is_function(line->type))
			add_function(k, line, next < l->nr ? keys[next].key : UINT64_MAX);
	}
	pd_budget_free(l->budget, keys, l->nr * sizeof(*keys));
	return ret;
}

enum ps_status ps_kallsyms_read(struct ps_kallsyms *k, struct pd_bytes text,
				struct pd_budget *budget)
{
	struct lines lines = { .budget = budget };
	enum ps_status status = PS_OVER_LIMIT;

	*k = (struct ps_kallsyms){ .symbols.budget = budget, .is_restricted = true };
	if (!read_lines(&lines, text) && !add_lines(k, &lines) && !ps_symtab_seal(&k->symbols))
		status = lines.nr ? PS_OK : PS_BAD_FILE;
	pd_budget_free(budget, lines.items, lines.capacity * sizeof(*lines.items));
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
