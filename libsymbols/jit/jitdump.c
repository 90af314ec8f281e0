/* jitdump.c - jit-PID.dump: perf's tools/perf/Documentation/jitdump-specification.txt. */
#include "base/cursor.h"
#include "base/map.h"
#include "image/sort.h"
#include "jit/code.h"

#define MAGIC 0x4a695444
#define HEADER_SIZE 40
#define HEADER_SIZE_AT 8
#define MACHINE_AT 12
#define FLAGS_AT 32
#define ARCH_TIMESTAMP 1	/* of the flags: times are of the CPU's counter */
#define PREFIX_SIZE 16
#define TIME_AT 8

#define EH_FRAME_MAX 65536	/* bytes; of a function they are some hundred */
#define LINE_SIZE 17		/* of an entry at least: its file is text */

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_UNWINDING_INFO = 4 };

struct dump {
	struct ps_jit_code *code;
	uint64_t time;			/* of the record */
	struct pd_map loaded;		/* index of code -> index of its range + 1 */
	uint64_t lines_of;		/* the address of the code that the last lines are of */
	size_t first_line, nr_lines;
	struct pd_bytes eh_frame;	/* of the code that is loaded next */
};

static bool take_swap(struct pd_bytes in, enum pd_swap *swap)
{
	if (in.size < HEADER_SIZE)
		return false;
	for (*swap = PD_SWAP_NO; *swap <= PD_SWAP_YES; (*swap)++)
		if (pd_load32(in.data, *swap) == MAGIC)
			return true;
	return false;
}

/* --- lines --- */

static int add_line(struct ps_jit_code *c, const struct ps_jit_line *line)
{
	struct ps_jit_line *lines = pd_budget_room(c->budget, c->lines, c->nr_lines,
						   &c->line_capacity, sizeof(*lines));

	if (!lines)
		return -1;
	c->lines = lines;
	c->lines[c->nr_lines++] = *line;
	return 0;
}

/* An entry's file may be that of the entry before. */
static const char *take_file(struct pd_cursor *body, const char *before)
{
	static const char same[] = "\xff";
	const struct pd_bytes rest = { body->at, pd_left(body) };
	const size_t n = pd_text_length(rest);
	const char *file = (const char *)pd_take(body, n + 1);

	return file && before && !memcmp(file, same, sizeof(same) < n + 1 ? sizeof(same) : n + 1) ?
		       before : file;
}

/* addr, lineno, discrim (4 bytes each), then the file. */
static int read_lines(struct dump *d, struct pd_cursor *body, uint64_t n)
{
	struct ps_jit_line line = { .file = NULL };
	uint64_t address, number;

	for (; n && pd_left(body) >= LINE_SIZE; n--) {
		pd_take_number(body, 8, &address);
		pd_take_number(body, 4, &number);
		pd_take(body, 4);
		line.file = take_file(body, line.file);
		if (!line.file)
			break;
		line.offset = address - d->lines_of;
		line.line = number <= INT32_MAX ? (uint32_t)number : 0;
		if (address >= d->lines_of && add_line(d->code, &line))
			return -1;
	}
	return 0;
}

static int sort_lines(struct ps_jit_code *c, size_t first)
{
	const size_t n = c->nr_lines - first;
	struct ps_jit_line *copy = pd_budget_alloc(c->budget, n * sizeof(*copy));
	struct ps_key *keys = pd_budget_alloc(c->budget, n * sizeof(*keys));
	int ret = copy && keys && n < UINT32_MAX ? 0 : -1;

	for (size_t i = 0; !ret && i < n; i++) {
		copy[i] = c->lines[first + i];
		keys[i] = (struct ps_key){ copy[i].offset, (uint32_t)i };
	}
	ret = ret ? ret : ps_sort_keys(keys, n, c->budget);
	for (size_t i = 0; !ret && i < n; i++)
		c->lines[first + i] = copy[keys[i].index];
	pd_budget_free(c->budget, copy, n * sizeof(*copy));
	pd_budget_free(c->budget, keys, n * sizeof(*keys));
	return ret;
}

/* code_addr, nr_entry, then the entries: the lines of the code that is loaded next. */
static int read_debug_info(struct dump *d, struct pd_cursor body)
{
	uint64_t n;

	d->first_line = d->code->nr_lines;
	d->nr_lines = 0;
	if (!pd_take_number(&body, 8, &d->lines_of) || !pd_take_number(&body, 8, &n))
		return 0;
	if (read_lines(d, &body, n) || sort_lines(d->code, d->first_line))
		return -1;
	d->nr_lines = d->code->nr_lines - d->first_line;
	return 0;
}

static void attach_lines(struct dump *d, struct ps_jit_range *r)
{
	if (d->nr_lines && d->lines_of == r->start && d->nr_lines < UINT32_MAX) {
		r->first_line = d->first_line;
		r->nr_lines = (uint32_t)d->nr_lines;
	}
	d->nr_lines = 0;
}

/* --- call frame information --- */

/* unwinding_size, header_size, mapped_size, then .eh_frame and .eh_frame_hdr: of the code that is
 * loaded next. No machine of the other byte order is unwound here. */
static void read_unwinding_info(struct dump *d, struct pd_cursor body)
{
	uint64_t size, header;

	d->eh_frame = (struct pd_bytes){ NULL, 0 };
	if (body.swap == PD_SWAP_NO && pd_take_number(&body, 8, &size) &&
	    pd_take_number(&body, 8, &header) && pd_take(&body, 8) && header <= size &&
	    size - header <= EH_FRAME_MAX)
		pd_take_bytes(&body, size - header, &d->eh_frame);
}

/* --- code --- */

/* pid, tid (4 bytes each), vma, code_addr, code_size, code_index; then the name and the code. */
static int read_load(struct dump *d, struct pd_cursor body)
{
	struct ps_jit_range r = { .nr_lines = 0 };
	uint64_t vma, size, index;
	const uint8_t *name;

	r.from = d->time;
	if (!pd_take(&body, 8) || !pd_take_number(&body, 8, &vma) ||
	    !pd_take_number(&body, 8, &r.start) || !pd_take_number(&body, 8, &size) ||
	    !pd_take_number(&body, 8, &index))
		return 0;
	name = body.at;
	r.name = (const char *)name;
	r.name_size = (uint32_t)pd_text_length((struct pd_bytes){ name, pd_left(&body) });
	r.end = r.start + size;
	if (!r.name_size || r.end <= r.start)
		return 0;
	attach_lines(d, &r);
	r.eh_frame = d->eh_frame;
	d->eh_frame = (struct pd_bytes){ NULL, 0 };
	d->code->has_eh_frame |= r.eh_frame.size != 0;
	if (ps_jit_add(d->code, &r))
		return -1;
	return pd_map_add(&d->loaded, index, (void *)(uintptr_t)d->code->nr) < 0 ? -1 : 0;
}

/* pid, tid, vma, old_code_addr, new_code_addr, code_size, code_index: the name is that of the code
 * with this index. */
static int read_move(struct dump *d, struct pd_cursor body)
{
	uint64_t vma, from, to, size, index;
	struct ps_jit_range r;
	uintptr_t loaded;

	if (!pd_take(&body, 8) || !pd_take_number(&body, 8, &vma) ||
	    !pd_take_number(&body, 8, &from) || !pd_take_number(&body, 8, &to) ||
	    !pd_take_number(&body, 8, &size) || !pd_take_number(&body, 8, &index))
		return 0;
	loaded = (uintptr_t)pd_map_find(&d->loaded, index);
	if (!loaded)
		return 0;
	r = d->code->ranges[loaded - 1];
	r.from = d->time;
	r.start = to;
	r.end = to + size;
	return ps_jit_add(d->code, &r);
}

static int read_records(struct ps_jit_code *c, struct pd_cursor in)
{
	struct dump dump = { .code = c, .loaded.budget = c->budget };
	int ret = 0;

	while (!ret && pd_left(&in) >= PREFIX_SIZE) {
		const uint8_t *start = in.at;
		uint64_t id, size;
		struct pd_cursor body;

		pd_take_number(&in, 4, &id);
		pd_take_number(&in, 4, &size);
		if (size < PREFIX_SIZE || size > (size_t)(in.end - start))
			break;
		body = pd_cursor((struct pd_bytes){ start, size }, in.swap);
		pd_take(&body, PREFIX_SIZE);
		dump.time = pd_load64(start + TIME_AT, in.swap);
		if (id == CODE_LOAD)
			ret = read_load(&dump, body);
		else if (id == CODE_MOVE)
			ret = read_move(&dump, body);
		else if (id == CODE_DEBUG_INFO)
			ret = read_debug_info(&dump, body);
		else if (id == CODE_UNWINDING_INFO)
			read_unwinding_info(&dump, body);
		in.at = start + size;
	}
	pd_map_free(&dump.loaded);
	return ret;
}

enum ps_status ps_jit_read_jitdump(struct ps_jit_code *c, struct pd_bytes in,
				   struct pd_budget *budget)
{
	struct pd_cursor cursor;
	enum pd_swap swap;
	uint64_t header;

	*c = (struct ps_jit_code){ .budget = budget, .source = PS_FROM_JITDUMP };
	if (!take_swap(in, &swap))
		return PS_NOT_ELF;
	cursor = pd_cursor(in, swap);
	header = pd_load32(in.data + HEADER_SIZE_AT, swap);
	c->has_clock = !(pd_load64(in.data + FLAGS_AT, swap) & ARCH_TIMESTAMP);
	c->machine = pd_load32(in.data + MACHINE_AT, swap);
	if (header < HEADER_SIZE || !pd_take(&cursor, header))
		return PS_NOT_ELF;
	if (!read_records(c, cursor) && !ps_jit_seal(c))
		return PS_OK;
	ps_jit_free(c);
	return PS_OVER_LIMIT;
}
