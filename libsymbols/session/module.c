/* module.c - inlined functions and lines of kernel modules: kallsyms tells where the kernel put a
 * function, the module's file what is in it. */
#include "image/elf_symbols.h"
#include "session/session.h"

/* Where a function is in the file; empty: it is not there, or there are several of its name. */
struct place {
	uint64_t start, end;
};

static const struct place *find_place(struct ps_session *s, struct ps_loaded *l,
				      const struct ps_symbol *symbol)
{
	const uint64_t key = (uintptr_t)symbol->name;
	struct place *p = pd_map_find(&s->kernel.places, key);

	if (p)
		return p;
	s->kernel.places.budget = &s->budget;
	p = pd_arena_alloc(&s->arena, sizeof(*p));
	if (!p || pd_map_add(&s->kernel.places, key, p) < 0)
		return NULL;
	if (!ps_elf_only_function(&l->binary.image,
				  (struct pd_bytes){ (const uint8_t *)symbol->name,
						     symbol->name_size }, &p->start, &p->end))
		*p = (struct place){ 0, 0 };
	return p;
}

bool ps_session_module_function(struct ps_session *s, struct ps_loaded *l,
				const struct ps_symbol *symbol, uint64_t address,
				struct ps_known *out)
{
	const uint64_t offset = address - symbol->start;
	const struct place *p = ps_session_has_debug(s, l) ? find_place(s, l, symbol) : NULL;

	if (!p || offset >= p->end - p->start)
		return false;
	ps_session_chain(s, l, p->start + offset, symbol, out);
	return out->nr_functions > 0;
}
