/* variable.c - the variables at data addresses. */
#include "session/session.h"

static bool is_file(const struct pd_image *image)
{
	return image->kind == PD_IMAGE_FILE || image->kind == PD_IMAGE_DELETED ||
	       image->kind == PD_IMAGE_MEMFD;
}

/* .bss goes on after the last page of the file, in memory without one. Sets *out to the same place,
 * as if the map of the file went on, too. Returns false if the map before is no file's data. */
static bool extend_file(const struct ps_session *s, int32_t pid, const struct pd_location *l,
			struct pd_location *out)
{
	const struct pd_moment at = { .time = l->time, .offset = UINT64_MAX };
	const struct pd_history *h = s->options.history;

	if (l->time == PD_NO_TIME ||
	    !pd_history_locate(h, pid, l->start - 1, PD_CPUMODE_USER, &at, out) ||
	    !is_file(pd_history_image(h, out->image)) || !(out->flags & PD_LOCATION_DATA))
		return false;
	out->file_offset += l->addr - out->addr;
	out->addr = l->addr;
	out->of = l->of;
	return true;
}

/* Finds the variable at a place in a file: after the bytes of its segment, if another image was
 * asked for. Returns its size, 0 without one. */
static uint64_t find_variable(struct ps_session *s, const struct pd_location *l,
			      const struct pd_location *asked, struct ps_known *out)
{
	const struct ps_mapping map = { l->start, l->pgoff, !(l->flags & PD_LOCATION_DATA) };
	struct ps_loaded *loaded = ps_session_load(s, l->image);
	const struct ps_elf *e = &loaded->binary.image;
	struct ps_symbol symbol;
	uint64_t address;

	out->is_in_file = true;
	out->why = loaded->why;
	if (loaded->why != PD_WHY_FOUND)
		return 0;
	out->why = loaded->binary.has[PS_FROM_SYMTAB] ? PD_WHY_NO_SYMBOL : PD_WHY_NO_SYMBOLS;
	if (!ps_elf_address(e, &map, l->file_offset, &address) ||
	    (l->image != asked->image && !ps_elf_is_after_file(e, address)) ||
	    !ps_symtab_find(ps_binary_variables(&loaded->binary), address, &symbol))
		return 0;
	ps_session_symbol(s, &symbol, out);
	out->is_unverified = loaded->match == PS_MATCH_UNVERIFIED;
	out->base = out->start - (address - l->file_offset);
	return symbol.end - symbol.start;
}

/* Where segments share offsets, these don't tell the variable. */
static void collect_variable(struct ps_session *s, int32_t pid, const struct pd_location *l,
			     uint64_t size, const struct ps_known *found)
{
	const struct ps_elf *e = &s->images[l->image].binary.image;

	if (size && found->nr_functions && ps_elf_is_of_one_segment(e, found->base, size))
		ps_session_collect_variable(s, pid, l, found, size);
}

bool ps_session_variable(struct ps_session *s, int32_t pid, const struct pd_location *l,
			 struct ps_known *out)
{
	const struct pd_image *image = pd_history_image(s->options.history, l->image);
	struct pd_location in = *l;

	*out = (struct ps_known){ .why = PD_WHY_NO_SYMBOL };
	if (image->is_guest || image->kind >= PD_IMAGE_KERNEL)
		return true;
	if (!is_file(image) &&
	    (image->kind != PD_IMAGE_ANONYMOUS || !extend_file(s, pid, l, &in)))
		return l->flags & PD_LOCATION_DATA;
	if (ps_session_given(s, pid, &in, out) && out->nr_functions) {
		ps_session_mark_given(s, &in, out);
	} else {
		*out = (struct ps_known){ .why = PD_WHY_NO_SYMBOL };
		collect_variable(s, pid, &in, find_variable(s, &in, l, out), out);
	}
	if (in.image != l->image) {
		out->is_in_file = false;
		out->base += l->addr - in.file_offset;
	}
	return out->nr_functions || l->flags & PD_LOCATION_DATA;
}
