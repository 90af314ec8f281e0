/* kernel.c - names of kernel addresses: from the recorded kernel's vmlinux, or from kallsyms as it
 * was when it was recorded. */
#include <string.h>
#include <unistd.h>

#include "image/elf_symbols.h"
#include "kernel/notes.h"
#include "session/session.h"

#define PAGE 4096	/* or a multiple of it */

static bool begins_with_one_of(const struct ps_symbol *s, const char *const *prefixes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const size_t n = strlen(prefixes[i]);

		if (s->name_size > n && !memcmp(s->name, prefixes[i], n))
			return true;
	}
	return false;
}

static bool is_entry_code(const struct ps_symbol *s)
{
	static const char *const prefixes[] = { "asm_", "ret_from_", "ret_to_" };

	return begins_with_one_of(s, prefixes, sizeof(prefixes) / sizeof(*prefixes));
}

/* The bytes before a function have a symbol of their own, but they call nothing: the function was
 * interrupted at its beginning. */
static bool is_padding(const struct ps_symbol *s)
{
	static const char *const prefixes[] = { "__pfx_", "__cfi_" };

	return begins_with_one_of(s, prefixes, sizeof(prefixes) / sizeof(*prefixes));
}

uint64_t ps_lookup_in_kernel(const struct pd_location *l, const struct ps_symtab *symbols,
			     uint64_t address)
{
	struct ps_symbol at, before;

	if (!(l->flags & PD_LOCATION_RETURN) || !ps_symtab_find(symbols, address, &at) ||
	    at.start != address)
		return ps_lookup_of(l, address);
	if (is_entry_code(&at) ||
	    (ps_symtab_find(symbols, address - 1, &before) && is_padding(&before)))
		return address;
	return ps_lookup_of(l, address);
}

struct kernel_search {
	struct ps_kernel *kernel;
	const struct pd_image *image;
	uint64_t recorded;		/* address of the image's symbol; 0: not known */
	uint64_t recorded_end;		/* address of its _etext; 0: not known */
	/* what the user named */
	bool is_named_used, is_named_restricted;
};

static bool is_path(const char *path, const char *named)
{
	return path && named && strcmp(path, named) == 0;
}

/* Where the kernel is loaded differs from boot to boot: the symbol that the recording names must be
 * at the recorded address. Without such a difference, as in many virtual machines, another kernel's
 * is there, too, but it has another size. */
static bool is_at_recorded_place(const struct kernel_search *k, const struct ps_kallsyms *found)
{
	return k->recorded && (found->text == k->recorded || found->stext == k->recorded) &&
	       (!k->recorded_end || !found->etext || found->etext == k->recorded_end);
}

/* Kernels may be loaded at the same address, so this machine's needs the recorded build id, too. */
static bool runs_recorded_kernel(struct ps_session *s, const struct pd_image *image)
{
	struct pd_buf notes = { .budget = &s->budget };
	bool same = false;
	int fd;

	if (s->options.ended)
		return true;
	fd = s->options.open(s->options.ctx, "/sys/kernel/notes", PS_PLACE_RUNNING);
	if (fd < 0)
		return false;
	if (ps_file_read_all(fd, &notes) == PS_OK)
		same = ps_build_ids_agree(image->build_id, ps_notes_build_id(pd_buf_bytes(&notes)));
	pd_buf_free(&notes);
	close(fd);
	return same;
}

static bool use_kallsyms(struct ps_search *search, int fd, const struct ps_candidate *candidate)
{
	struct ps_session *s = search->session;
	struct kernel_search *k = search->ctx;
	struct ps_kernel *kernel = k->kernel;
	const bool is_named = is_path(candidate->path, s->places.kallsyms);
	const bool is_running = candidate->place == PS_PLACE_RUNNING ||
				(is_path("/proc/kallsyms", candidate->path) &&
				 k->image->build_id.size);

	if (is_running && !runs_recorded_kernel(s, k->image))
		return false;
	kernel->text.budget = &s->budget;
	if (ps_file_read_all(fd, &kernel->text) == PS_OK &&
	    ps_kallsyms_read(&kernel->kallsyms, pd_buf_bytes(&kernel->text), &s->budget) == PS_OK) {
		if (is_at_recorded_place(k, &kernel->kallsyms)) {
			kernel->why = PD_WHY_FOUND;
			k->is_named_used = is_named;
			return true;
		}
		k->is_named_restricted |= is_named && kernel->kallsyms.is_restricted;
		if (kernel->kallsyms.is_restricted)
			kernel->why = PD_WHY_KPTR_RESTRICT;
		ps_kallsyms_free(&kernel->kallsyms);
	}
	pd_buf_free(&kernel->text);
	return false;
}

static const struct pd_image *find_kernel(const struct pd_history *h)
{
	const struct pd_image *image;

	for (size_t i = 0; (image = pd_history_image(h, i)); i++)
		if (image->kind == PD_IMAGE_KERNEL && !image->is_guest)
			return image;
	return NULL;
}

/* perf's maps of the kernel end at _etext; if it did not know that, where a page, or the address
 * space does. */
static uint64_t end_of_text(const struct pd_mapping *map)
{
	const uint64_t end = map->start + map->len;

	return map->start == map->pgoff && end % PAGE && end < -(uint64_t)PAGE ? end : 0;
}

static void find_recorded_place(const struct pd_history *h, struct kernel_search *k)
{
	struct pd_mapping map;

	for (size_t i = 0; pd_history_mapping(h, i, &map); i++)
		if (map.image == k->image->index) {
			k->recorded = map.pgoff;
			k->recorded_end = end_of_text(&map);
			return;
		}
}

/* The kernel's own code; modules are not in vmlinux. */
static void find_vmlinux(struct ps_session *s, const struct kernel_search *k)
{
	struct ps_loaded *l = ps_session_load(s, k->image->index);
	uint64_t linked;

	if (l->why == PD_WHY_MISMATCH)
		s->kernel.why = PD_WHY_MISMATCH;
	l->lacks[PS_LACK_VMLINUX] = s->places.vmlinux;
	if (l->why != PD_WHY_FOUND || !k->recorded || !k->image->symbol)
		return;
	if (ps_elf_symbol_value(&l->binary.image, k->image->symbol, &linked) ||
	    (l->binary.debug.elf &&
	     ps_elf_symbol_value(&l->binary.debug, k->image->symbol, &linked))) {
		s->kernel.slide = k->recorded - linked;
		s->kernel.vmlinux = l;
		if (is_path(l->path, s->places.vmlinux))
			l->lacks[PS_LACK_VMLINUX] = NULL;
	}
}

static struct kernel_search start_search(struct ps_session *s)
{
	const struct pd_history *h = s->options.history;
	struct kernel_search k = { .kernel = &s->kernel, .image = find_kernel(h) };

	if (k.image)
		find_recorded_place(h, &k);
	return k;
}

struct ps_loaded *ps_session_vmlinux(struct ps_session *s)
{
	struct kernel_search k;

	if (s->kernel.tried_vmlinux)
		return s->kernel.vmlinux;
	s->kernel.tried_vmlinux = true;
	s->kernel.why = PD_WHY_NO_KERNEL;
	k = start_search(s);
	if (k.image)
		find_vmlinux(s, &k);
	return s->kernel.vmlinux;
}

struct ps_kernel *ps_session_kernel(struct ps_session *s)
{
	struct kernel_search k;
	struct ps_search search = { .what.kind = PS_WANT_KALLSYMS, .use = use_kallsyms,
				    .session = s, .ctx = &k };

	if (s->kernel.tried)
		return &s->kernel;
	s->kernel.tried = true;
	ps_session_vmlinux(s);
	k = start_search(s);
	if (!k.image)
		return &s->kernel;
	search.what.path = k.image->path;
	search.what.build_id = k.image->build_id;
	ps_session_search(&search);
	if (!k.is_named_used)
		s->images[k.image->index].lacks[k.is_named_restricted ? PS_LACK_ADDRESSES :
						PS_LACK_KALLSYMS] = s->places.kallsyms;
	return &s->kernel;
}

void ps_session_unload_kernel(struct ps_session *s)
{
	pd_map_free(&s->kernel.places);
	if (s->kernel.tried && s->kernel.why == PD_WHY_FOUND) {
		ps_kallsyms_free(&s->kernel.kallsyms);
		pd_buf_free(&s->kernel.text);
	}
}
