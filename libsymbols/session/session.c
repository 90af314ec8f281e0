/* session.c - names for the addresses of a recording: the public interface of a session. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"

#define MEMORY_LIMIT (1ull << 30)
#define ADDRESS_BITS 48		/* of a key; the rest is the image's index */

static struct ps_session *refuse_session(struct ps_session *s, struct pd_error *e,
					 enum pd_code code)
{
	if (e)
		*e = (struct pd_error){ .code = code, .severity = PD_FATAL };
	if (e && code == PD_E_ARGUMENT)
		e->text = "a session needs a history and a function that opens files";
	ps_free(s);
	return NULL;
}

/* Copies the options. Returns 0, or -1 if one has a value that it can't have. */
static int take_options(struct ps_session *s, const struct ps_options *o)
{
	const struct ps_options *mine = &s->options;

	if (pd_options_take(&s->options, sizeof(s->options), o, o->size))
		return -1;
	if (mine->places && pd_options_take(&s->places, sizeof(s->places), mine->places,
					    mine->places->size))
		return -1;
	return mine->depth > PS_LINES || mine->unverified > PS_UNVERIFIED_ALWAYS ||
	       mine->collect > PS_COLLECT || mine->clock > PS_CLOCK_MONOTONIC ||
	       !pd_is_span(mine->bundle) ? -1 : 0;
}

struct ps_session *ps_new(const struct ps_options *o, struct pd_error *e)
{
	struct ps_session *s = o ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return refuse_session(NULL, e, o ? PD_E_NOMEM : PD_E_ARGUMENT);
	if (take_options(s, o)) {
		free(s);
		pd_refuse(e, "an option is invalid");
		return NULL;
	}
	s->budget.limit = s->options.memory_limit ? s->options.memory_limit : MEMORY_LIMIT;
	s->arena.budget = s->processes.budget = s->known.budget = s->named.budget = &s->budget;
	s->dumps.budget = s->lives.budget = s->source_paths.budget = s->placed.budget = &s->budget;
	s->jit_frames.budget = &s->budget;
	s->bundle.budget = s->given_code.budget = s->given_chains.budget = &s->budget;
	s->device_text.budget = &s->budget;
	s->bpf.arena = &s->arena;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->asked_rows.lock, NULL);
	pthread_cond_init(&s->background.changed, NULL);
	if (!s->options.history || !s->options.open)
		return refuse_session(s, e, PD_E_ARGUMENT);
	s->nr_images = pd_history_nr_images(s->options.history);
	s->images = pd_budget_alloc(&s->budget, s->nr_images * sizeof(*s->images));
	if (!s->images) {
		s->nr_images = 0;
		return refuse_session(s, e, PD_E_LIMIT);
	}
	ps_session_read_bundle(s, s->options.bundle);
	ps_session_read_recording(s);
	if (s->options.collect == PS_COLLECT)
		s->collected = pd_budget_alloc(&s->budget,
					       s->nr_images * sizeof(*s->collected));
	return s;
}

void ps_free(struct ps_session *s)
{
	if (!s)
		return;
	ps_session_end_background(s);
	ps_session_free_unwinders(s);
	ps_session_free_mappers(s);
	for (size_t i = 0; i < s->nr_images; i++)
		ps_session_unload(s, &s->images[i]);
	ps_session_unload_kernel(s);
	ps_session_free_bundle(s);
	ps_session_free_rows(s);
	ps_session_free_device(s);
	ps_session_free_jit_frames(s);
	ps_session_unload_code(s);
	pd_map_free(&s->known);
	pd_map_free(&s->named);
	pd_map_free(&s->source_paths);
	pd_map_free(&s->placed);
	pd_budget_free(&s->budget, s->images, s->nr_images * sizeof(*s->images));
	pd_arena_free(&s->arena);
	pthread_mutex_destroy(&s->asked_rows.lock);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* --- resolving --- */

static bool is_named(const struct ps_symtab *symbols, uint64_t address, struct ps_symbol *out)
{
	return ps_symtab_find(symbols, address, out) && out->name_size;
}

/* Code can be entered as if it had been called. makecontext() does so: its function returns to
 * where __start_context begins, and only padding is before that. Handlers of signals return to
 * __restore_rt, whose call frame information begins a byte before it. */
static uint64_t lookup_in_file(const struct pd_location *l, const struct ps_symtab *symbols,
			       uint64_t address)
{
	const uint64_t call = ps_lookup_of(l, address);
	struct ps_symbol s;

	return !is_named(symbols, call, &s) && is_named(symbols, address, &s) &&
	       s.start == address ? address : call;
}

static void resolve_file(struct ps_session *s, const struct pd_location *l, struct ps_known *out)
{
	const struct ps_mapping map = { l->start, l->pgoff, !(l->flags & PD_LOCATION_DATA) };
	struct ps_loaded *loaded = ps_session_load(s, l->image);
	uint64_t address;

	out->is_in_file = true;
	out->why = loaded->why;
	if (loaded->why != PD_WHY_FOUND)
		return;
	if (loaded->is_debug_deferred)	/* the bundle does not have the address */
		ps_session_load_debug(s, l->image);
	out->why = PD_WHY_NO_SYMBOL;
	if (!ps_elf_address(&loaded->binary.image, &map, l->file_offset, &address))
		return;
	ps_session_functions(s, loaded, lookup_in_file(l, &loaded->binary.symbols, address), out);
	out->base = out->start - (address - l->file_offset);
}

/* Returns the entry of an image whose names are not in a file of its own. */
static struct ps_loaded *mark_tried(struct ps_session *s, const struct pd_location *l,
				    unsigned int source)
{
	struct ps_loaded *loaded = &s->images[l->image];

	loaded->tried = true;
	if (!ps_session_has_debug(s, loaded))	/* else a file was found, too */
		loaded->match = PS_MATCH_BUILD_ID;
	loaded->sources |= 1u << source;
	return loaded;
}

/* Names of kallsyms have no lines: those of modules are in their files. */
static void resolve_kallsyms(struct ps_session *s, const struct pd_location *l,
			     struct ps_known *out)
{
	struct ps_kernel *kernel = ps_session_kernel(s);
	struct ps_loaded *module = NULL;
	struct ps_symbol symbol;
	uint64_t address;

	if (s->options.depth != PS_NAMES && kernel->why == PD_WHY_FOUND &&
	    pd_history_image(s->options.history, l->image)->kind == PD_IMAGE_MODULE)
		module = ps_session_load(s, l->image);
	s->images[l->image].tried = true;
	s->images[l->image].why = out->why = kernel->why;
	if (kernel->why != PD_WHY_FOUND)
		return;
	mark_tried(s, l, PS_FROM_KALLSYMS);
	out->why = PD_WHY_NO_SYMBOL;
	address = ps_lookup_in_kernel(l, &kernel->kallsyms.symbols, l->addr);
	if (!ps_symtab_find(&kernel->kallsyms.symbols, address, &symbol))
		return;
	if (!module || !ps_session_module_function(s, module, &symbol, address, out))
		ps_session_symbol(s, &symbol, out);
	out->base = symbol.start;
}

/* Without kallsyms, names of a module are those of its file. */
static bool resolve_module(struct ps_session *s, const struct pd_location *l, struct ps_known *out)
{
	struct ps_loaded *loaded = ps_session_load(s, l->image);
	const uint64_t offset = ps_lookup_of(l, l->addr) - l->start;
	uint64_t address;

	if (loaded->why == PD_WHY_NO_FILE)
		return false;
	out->why = loaded->why;
	if (loaded->why != PD_WHY_FOUND)
		return true;
	out->why = PD_WHY_NO_SYMBOL;
	if (!ps_elf_module_address(&loaded->binary.image, offset, &address))
		return true;
	ps_session_functions(s, loaded, address, out);
	out->base = out->start + (l->start + offset - address);
	return true;
}

static void resolve_kernel(struct ps_session *s, const struct pd_location *l, struct ps_known *out)
{
	struct ps_kernel *kernel = ps_session_kernel(s);

	const unsigned int kind = pd_history_image(s->options.history, l->image)->kind;

	if (!kernel->vmlinux || kernel->vmlinux != &s->images[l->image]) {
		if (kind != PD_IMAGE_MODULE || kernel->why == PD_WHY_FOUND ||
		    !resolve_module(s, l, out))
			resolve_kallsyms(s, l, out);
		return;
	}
	ps_session_functions(s, kernel->vmlinux,
			     ps_lookup_in_kernel(l, &kernel->vmlinux->binary.symbols,
						 l->addr - kernel->slide), out);
	out->base = out->start + kernel->slide;
}

/* KSYMBOL has the name of its range. */
static void resolve_recorded(struct ps_session *s, const struct pd_location *l,
			     struct ps_known *out)
{
	const char *name = pd_history_image(s->options.history, l->image)->path;
	const struct ps_symbol symbol = { .start = l->start, .name = name,
					  .name_size = (uint32_t)strnlen(name, PS_NAME_READ) };
	const struct ps_bpf_line *line;
	const char *file;

	mark_tried(s, l, PS_FROM_RECORD);
	ps_session_symbol(s, &symbol, out);
	line = ps_bpf_find(&s->bpf, l->start, name, ps_lookup_of(l, l->addr), &file);
	if (line)
		ps_session_place(s, line, file, line->line, out);
}

/* Sets the file and line of a function that was found in a jitdump. */
static void add_line(struct ps_session *s, struct ps_process_code *code,
		     const struct pd_location *l, struct ps_known *out)
{
	const struct ps_jit_line *line = ps_jit_find_line(&code->dump.code,
							  ps_lookup_of(l, l->addr),
							  ps_session_time_in_dump(s, code, l));

	if (line)
		ps_session_place(s, line, line->file, line->line, out);
}

/* Adds the line to a name of the bundle, which has no lines, if the jitdump has the same name. */
static void add_line_to_given(struct ps_session *s, int32_t pid, const struct pd_location *l,
			      struct ps_known *out)
{
	struct pd_location at = *l;
	struct ps_process_code *code = ps_session_code_at(s, pid, &at);
	struct ps_symbol symbol;
	unsigned int from;

	if (code && out->nr_functions &&
	    ps_session_find_code(s, code, &at, &symbol, &from) != PS_JIT_NOTHING &&
	    from != PS_FROM_PERF_MAP &&
	    strlen(out->functions->linkage_name) == symbol.name_size &&
	    !memcmp(out->functions->linkage_name, symbol.name, symbol.name_size))
		add_line(s, code, &at, out);
}

static bool has_code(const struct ps_process_code *code, const struct pd_location *l)
{
	return ps_session_is_file_of(code, &code->dump, l) ||
	       ps_session_is_file_of(code, &code->map, l);
}

/* The chain led to an address in data: nothing shows that code is there. */
static bool is_lost(const struct pd_location *l)
{
	return l->flags & PD_LOCATION_DATA && l->flags & PD_LOCATION_RETURN;
}

static unsigned int why_no_code(struct ps_session *s, int32_t pid, const struct pd_location *l)
{
	const struct ps_process_code *code = ps_session_process(s, pid);

	if (is_lost(l))
		return PD_WHY_NO_MAP;
	return code && (code->map.is_unverified || code->dump.is_unverified) ?
		       PD_WHY_MISMATCH : PD_WHY_JIT_NO_MAP;
}

static void resolve_code(struct ps_session *s, int32_t pid, const struct pd_location *l,
			 struct ps_known *out)
{
	struct pd_location at = *l;
	struct ps_process_code *code = ps_session_code_at(s, pid, &at);
	enum ps_jit_found found;
	struct ps_symbol symbol;
	unsigned int from;

	s->images[l->image].tried = true;
	out->why = code && has_code(code, &at) ? PD_WHY_NO_SYMBOL : why_no_code(s, pid, l);
	found = code ? ps_session_find_code(s, code, &at, &symbol, &from) : PS_JIT_NOTHING;
	if (found == PS_JIT_NOTHING)
		return;
	out->is_unverified = from == PS_FROM_PERF_MAP ? code->map.is_unverified :
							code->dump.is_unverified;
	mark_tried(s, l, from)->match = out->is_unverified ? PS_MATCH_UNVERIFIED :
							     PS_MATCH_NAME_ONLY;
	out->from = ps_session_code_since(s, code, &at);
	out->why = PD_WHY_JIT_REUSED;
	if (found == PS_JIT_SEVERAL)
		return;
	ps_session_symbol(s, &symbol, out);
	if (s->options.depth >= PS_LINES && from != PS_FROM_PERF_MAP)
		add_line(s, code, &at, out);
}

static void resolve_by_kind(struct ps_session *s, int32_t pid, const struct pd_location *l,
			    struct ps_known *out)
{
	const struct pd_image *image = pd_history_image(s->options.history, l->image);

	out->why = PD_WHY_NO_FILE;
	switch (image->kind) {
	case PD_IMAGE_FILE:
	case PD_IMAGE_DELETED:
	case PD_IMAGE_MEMFD:
	case PD_IMAGE_VDSO:
		resolve_file(s, l, out);
		break;
	case PD_IMAGE_KERNEL:
	case PD_IMAGE_MODULE:
		resolve_kernel(s, l, out);
		break;
	case PD_IMAGE_BPF:
	case PD_IMAGE_KERNEL_CODE:
		resolve_recorded(s, l, out);
		break;
	case PD_IMAGE_ANONYMOUS:
	case PD_IMAGE_HEAP:
	case PD_IMAGE_STACK:
		resolve_code(s, pid, l, out);
		break;
	default:
		break;
	}
}

/* Finds the location in the bundle if that is the first source: files may have inlined functions,
 * of which it has fewer, and names since debug files were installed. kallsyms has none, and takes
 * long to read. Names of one process's JIT code must not be given to a later process with the same
 * pid. */
static bool find_given_first(struct ps_session *s, int32_t pid, const struct pd_location *l,
			     struct ps_known *out)
{
	const unsigned int kind = pd_history_image(s->options.history, l->image)->kind;

	if (pd_image_kind_is_own_code(kind))
		return ps_session_given(s, pid, l, out);
	if (s->options.depth == PS_NAMES || ps_session_is_inlined_given(s, l->image))
		return ps_session_given(s, pid, l, out) && out->nr_functions;
	return kind == PD_IMAGE_KERNEL && s->given && s->given[l->image] &&
	       !ps_session_vmlinux(s) && ps_session_given(s, pid, l, out);
}

static bool is_without_source(const struct ps_known *found)
{
	return found->why != PD_WHY_FOUND && found->why != PD_WHY_NO_SYMBOL &&
	       found->why != PD_WHY_NO_SYMBOLS;
}

static bool has_more(const struct ps_known *given, const struct ps_known *found)
{
	if (given->nr_functions != found->nr_functions)
		return given->nr_functions > found->nr_functions;
	return given->nr_functions && given->functions[0].file && !found->functions[0].file;
}

/* Finds the location in the bundle if that has more: the recorder may have had the file, its
 * symbols, or its debug information. A file with the same name may be another one. */
static bool find_given_more(struct ps_session *s, int32_t pid, const struct pd_location *l,
			    const struct ps_known *found, struct ps_known *given)
{
	struct ps_loaded *loaded = &s->images[l->image];
	const bool is_stripped = !(loaded->sources & 1u << PS_FROM_SYMTAB);

	if (is_without_source(found) || (loaded->tried && loaded->match >= PS_MATCH_NAME_ONLY))
		return ps_session_given(s, pid, l, given);
	if (!loaded->tried || loaded->why != PD_WHY_FOUND || !loaded->binary.image.elf ||
	    (ps_session_has_debug(s, loaded) && (!is_stripped || found->nr_functions > 1)) ||
	    !ps_session_given(s, pid, l, given))
		return false;
	return has_more(given, found) ||
	       (is_stripped && given->nr_functions == found->nr_functions);
}

static void resolve_anywhere(struct ps_session *s, int32_t pid, const struct pd_location *l,
			     struct ps_known *out)
{
	struct ps_known given;

	/* files here and names in the recording are of the host, whose processes may have the
	 * same numbers */
	if (pd_history_image(s->options.history, l->image)->is_guest) {
		out->why = PD_WHY_NO_FILE;
		return;
	}
	if (find_given_first(s, pid, l, &given)) {
		*out = given;
		ps_session_mark_given(s, l, out);
		if (s->options.depth >= PS_LINES)
			add_line_to_given(s, pid, l, out);
		return;
	}
	resolve_by_kind(s, pid, l, out);
	if (find_given_more(s, pid, l, out, &given)) {
		*out = given;
		ps_session_mark_given(s, l, &given);
	}
	ps_session_collect(s, pid, l, out);
}

/* The key of an address in a file, whose functions are kept; false where there is none. */
static bool key_of(const struct ps_session *s, const struct pd_location *l, uint64_t *key)
{
	const uint64_t limit = 1ull << (ADDRESS_BITS - 1);
	const struct pd_image *image = pd_history_image(s->options.history, l->image);

	if (image->kind != PD_IMAGE_FILE && image->kind != PD_IMAGE_DELETED &&
	    image->kind != PD_IMAGE_MEMFD && image->kind != PD_IMAGE_VDSO)
		return false;
	*key = (uint64_t)l->image << ADDRESS_BITS | l->file_offset << 1 |
	       !!(l->flags & PD_LOCATION_RETURN);
	return l->image < 1u << 16 && l->file_offset < limit && !(l->flags & PD_LOCATION_DATA);
}

static struct ps_known_address **recent_place(struct ps_session *s, uint64_t key)
{
	return &s->recent[key * 0x9e3779b97f4a7c15 >> 32 & (PS_RECENT - 1)];
}

/* Threads ask for the same addresses again and again: these need no lock. */
static bool find_recent(struct ps_session *s, uint64_t key, struct ps_known *out)
{
	const struct ps_known_address *kept =
		__atomic_load_n(recent_place(s, key), __ATOMIC_ACQUIRE);

	if (!kept || kept->key != key)
		return false;
	*out = kept->known;
	return true;
}

/* Returns NULL without memory. The lock is held. */
static struct ps_known_address *keep_known(struct ps_session *s, uint64_t key,
					   const struct ps_known *known)
{
	struct ps_known_address *kept = pd_arena_alloc(&s->arena, sizeof(*kept));

	if (!kept)
		return NULL;
	*kept = (struct ps_known_address){ key, *known };
	pd_map_add(&s->known, key, kept);
	return kept;
}

/* Segments can share a page of a file, so a search in a map at another address could have another
 * result: maps are executable here, of which a file has one, but for a few. */
static void find_known(struct ps_session *s, int32_t pid, const struct pd_location *l,
		       struct ps_known *out)
{
	struct ps_known_address *kept;
	uint64_t key = 0;
	const bool has_key = key_of(s, l, &key);

	if (has_key && find_recent(s, key, out))
		return;
	pthread_mutex_lock(&s->lock);
	kept = has_key ? pd_map_find(&s->known, key) : NULL;
	if (kept)
		*out = kept->known;
	else
		resolve_anywhere(s, pid, l, out);
	if (has_key && !kept)
		kept = keep_known(s, key, out);
	if (kept)
		__atomic_store_n(recent_place(s, key), kept, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&s->lock);
}

/* Data addresses are in code, too. */
static bool is_variable(struct ps_session *s, int32_t pid, const struct pd_location *l,
			struct ps_known *out)
{
	bool decided;

	if (l->of != PD_LOCATION_OF_ADDR)
		return false;
	pthread_mutex_lock(&s->lock);
	decided = ps_session_variable(s, pid, l, out);
	pthread_mutex_unlock(&s->lock);
	if (!decided)
		*out = (struct ps_known){ .why = l->why };
	return decided;
}

void ps_resolve(struct ps_session *s, int32_t pid, const struct pd_location *l,
		struct pd_frame_names *out)
{
	struct ps_known known = { .why = l ? l->why : PD_WHY_NO_MAP };

	if (!out)
		return;
	if (s && l && l->image != PD_NO_IMAGE && l->image < s->nr_images &&
	    !is_variable(s, pid, l, &known))
		find_known(s, pid, l, &known);
	*out = (struct pd_frame_names){ .functions = known.functions,
				  .nr_functions = known.nr_functions, .why = known.why,
				  .has_extent = known.has_extent,
				  .is_unverified = known.is_unverified };
	if (known.nr_functions || known.has_extent)
		out->offset = (known.is_in_file ? l->file_offset : l->addr) - known.base;
	if (known.has_extent)
		out->extent = known.start;
}

static const char *const source_names[PS_NR_SOURCES] = {
	[PS_FROM_SYMTAB] = "SYMTAB", [PS_FROM_DYNSYM] = "DYNSYM",
	[PS_FROM_MINIDEBUG] = "MINIDEBUG", [PS_FROM_GO] = "GO", [PS_FROM_PLT] = "PLT",
	[PS_FROM_KALLSYMS] = "KALLSYMS", [PS_FROM_PERF_MAP] = "PERF_MAP",
	[PS_FROM_JITDUMP] = "JITDUMP", [PS_FROM_FDE] = "EXTENTS",
	[PS_FROM_DEBUG_FILE] = "DEBUG_FILE", [PS_FROM_RECORD] = "RECORD",
	[PS_FROM_JITDUMP_UNTIMED] = "JITDUMP_UNTIMED", [PS_FROM_BUNDLE] = "BUNDLE",
	[PS_FROM_SPLIT] = "SPLIT_DWARF", [PS_FROM_SIMPLEPERF] = "SIMPLEPERF",
};

static void describe_image(const struct ps_loaded *l, struct pd_image_file *out)
{
	*out = (struct pd_image_file){ .path = l->path, .debug_path = l->debug_path,
				       .other_id = l->other_id, .why = l->why };
	if (l->match != PS_MISMATCH && l->why == PD_WHY_FOUND)
		out->match = ps_match_name(l->match);
	if (out->match && l->opening == PS_SETTLED && l->lacks_memory)
		out->why = PD_WHY_LIMIT;
	if (l->is_given)
		out->why = PD_WHY_FOUND;
	for (unsigned int i = 0; i < PS_NR_SOURCES; i++)
		if (l->sources >> i & 1)
			out->sources[out->nr_sources++] = source_names[i];
}

bool ps_session_has_bundle(const struct ps_session *s)
{
	return s && s->given_is_whole;
}

bool ps_session_lacks_memory(const struct ps_session *s)
{
	return s && pd_budget_was_refused(&s->budget);
}

const char *ps_session_lacks(struct ps_session *s, uint32_t image, enum ps_lack what)
{
	const char *path = NULL;

	if (!s)
		return NULL;
	pthread_mutex_lock(&s->lock);
	if (image < s->nr_images && what < PS_NR_LACKS &&
	    (what != PS_LACK_READABLE || s->images[image].opening == PS_SETTLED) &&
	    (what != PS_LACK_IMAGE || s->images[image].is_given))
		path = s->images[image].lacks[what];
	pthread_mutex_unlock(&s->lock);
	return path;
}

bool ps_session_image(struct ps_session *s, uint32_t image, struct pd_image_file *out)
{
	bool tried;

	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	tried = image < s->nr_images && (s->images[image].tried || s->images[image].is_given);
	if (tried && out)
		describe_image(&s->images[image], out);
	pthread_mutex_unlock(&s->lock);
	return tried;
}
