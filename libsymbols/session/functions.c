/* functions.c - the functions at an address of an image: a symbol, and what is inlined into it. */
#include <string.h>

#include "session/session.h"

static const char *make_readable(struct ps_session *s, struct pd_bytes name)
{
	char buf[PS_NAME_MAX];
	const size_t n = ps_demangle(name, buf, sizeof(buf));
	const struct pd_bytes readable = { (const uint8_t *)buf, n };

	return ps_session_text(s, n ? readable : name, PS_FUNCTION_MAX);
}

/* Names stay as long as the files, or the bundle. */
const struct pd_function *ps_session_name(struct ps_session *s, struct pd_bytes name)
{
	const uint64_t key = (uintptr_t)name.data;
	struct pd_function *f = pd_map_find(&s->named, key);

	if (f)
		return f;
	f = pd_arena_alloc(&s->arena, sizeof(*f));
	if (!f)
		return NULL;
	f->linkage_name = ps_session_text(s, name, PS_FUNCTION_MAX);
	f->symbol = make_readable(s, name);
	if (!f->linkage_name || !f->symbol || pd_map_add(&s->named, key, f) < 0)
		return NULL;
	if (!strcmp(f->symbol, f->linkage_name))
		f->linkage_name = f->symbol;
	return f;
}

void ps_session_symbol(struct ps_session *s, const struct ps_symbol *symbol, struct ps_known *out)
{
	out->functions = ps_session_name(s, (struct pd_bytes){ (const uint8_t *)symbol->name,
							       symbol->name_size });
	out->nr_functions = out->functions != NULL;
	out->start = out->base = symbol->start;
	out->why = out->functions ? PD_WHY_FOUND : PD_WHY_LIMIT;
}

void ps_session_place(struct ps_session *s, const void *line, const char *file, uint32_t number,
		      struct ps_known *out)
{
	struct pd_function *f = pd_map_find(&s->placed, (uintptr_t)line);

	if (!f && out->nr_functions) {
		f = pd_arena_alloc(&s->arena, sizeof(*f));
		if (!f)
			return;
		*f = out->functions[0];
		f->file = ps_session_source_path(s, file);
		f->line = number;
		pd_map_add(&s->placed, (uintptr_t)line, f);
	}
	if (f)
		out->functions = f;
}

/* A stripped image still has the names of .dynsym: those that others may call. */
static enum pd_why why_unnamed(const struct ps_loaded *l)
{
	const uint32_t tables = 1u << PS_FROM_SYMTAB | 1u << PS_FROM_MINIDEBUG |
				1u << PS_FROM_GO;

	return l->sources & tables ? PD_WHY_NO_SYMBOL : PD_WHY_NO_SYMBOLS;
}

static struct pd_bytes bytes_of(const char *text)
{
	return (struct pd_bytes){ (const uint8_t *)text, text ? strnlen(text, PS_NAME_READ) : 0 };
}

bool ps_session_is_short(const struct pd_function *functions, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n && size <= PS_CHAIN_TEXT; i++) {
		size += functions[i].symbol ? strlen(functions[i].symbol) : 0;
		size += functions[i].file ? strlen(functions[i].file) : 0;
	}
	return size <= PS_CHAIN_TEXT;
}

/* The symbol table names the outermost function: it is what other tools show, clones included. The
 * debug information names those inlined into it; one whose name is in a file that is missing is
 * left out. */
static void combine(struct ps_session *s, const struct ps_symbol *symbol,
		    const struct ps_debug_frame *chain, size_t n, struct ps_known *out)
{
	struct pd_function *functions = pd_arena_alloc(&s->arena, n * sizeof(*functions));
	size_t nr = 0;

	out->why = PD_WHY_LIMIT;
	for (size_t i = 0; functions && i < n; i++) {
		const bool is_symbol = i + 1 == n && symbol->name_size;
		const struct pd_bytes name = is_symbol ?
			(struct pd_bytes){ (const uint8_t *)symbol->name, symbol->name_size } :
			bytes_of(chain[i].name);
		const struct pd_function *f = name.size ? ps_session_name(s, name) : NULL;

		if (name.size && !f)
			return;
		if (!f)
			continue;
		functions[nr] = *f;
		functions[nr].file = ps_session_source_path(s, chain[i].file);
		functions[nr++].line = chain[i].line;
	}
	if (!functions || !nr)
		return;
	if (!ps_session_is_short(functions, nr)) {
		functions += nr - 1;
		nr = 1;
	}
	out->functions = functions;
	out->nr_functions = nr;
	out->start = symbol->start;
	out->why = PD_WHY_FOUND;
}

void ps_session_chain(struct ps_session *s, struct ps_loaded *l, uint64_t address,
		      const struct ps_symbol *symbol, struct ps_known *out)
{
	struct ps_debug_frame chain[PS_CHAIN_MAX];
	int n = 0;

	if (ps_session_has_debug(s, l))
		n = ps_debug_find(&l->debug, address, ps_session_depth(s), chain, PS_CHAIN_MAX);
	l->lacks_memory |= n < 0;
	if (n > 0 && (symbol->name_size || chain[n - 1].name))
		combine(s, symbol, chain, (size_t)n, out);
	else if (symbol->name_size)
		ps_session_symbol(s, symbol, out);
}

void ps_session_functions(struct ps_session *s, struct ps_loaded *l, uint64_t address,
			  struct ps_known *out)
{
	struct ps_symbol symbol = { .start = address };
	const bool found = ps_symtab_find(&l->binary.symbols, address, &symbol);

	out->elf_address = address;
	out->is_unverified = l->match == PS_MATCH_UNVERIFIED;
	out->why = PD_WHY_NO_SYMBOL;
	ps_session_chain(s, l, address, &symbol, out);
	if (out->why == PD_WHY_NO_SYMBOL) {
		out->why = (uint8_t)why_unnamed(l);
		out->has_extent = found;
		out->start = symbol.start;
	}
}
