/* jit_frames.c - call frame information of JIT code: a jitdump may have it for each function, and
 * the code of Python is known. */
#include <elf.h>
#include <string.h>

#include "image/section_image.h"
#include "session/session.h"

#define HANDLE_MEMORY 2048	/* that libelf and libdw allocate, besides that of sections */
#define AGREEING_MOST 16	/* pieces of code at an address that are compared */

/* A function of JIT code, with an ELF file that is made for libdw. */
struct ps_jit_frames {
	struct pd_buf image;
	struct ps_elf elf;
	struct ps_cfi *cfi;	/* NULL: it can't be used */
	uint32_t number;
	/* Set if the rows are kept for a bundle. */
	const struct ps_process_code *code;
	const struct ps_jit_range *range;
	struct ps_jit_frames *next;	/* of those that are kept */
};

/* Some compilers leave their machine out. They ran on this one, where their files are. */
static uint16_t machine_of(const struct ps_jit_code *code)
{
	return code->machine ? (uint16_t)code->machine : ps_arch_here();
}

static void write_image(uint16_t machine, const struct ps_jit_range *r, struct pd_bytes eh_frame,
			struct pd_buf *out)
{
	static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     is_big ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = machine, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(header), .e_shentsize = sizeof(Elf64_Shdr),
	};

	ps_section_image_write(&(struct ps_section_image){
		.header = (const uint8_t *)&header, .name = ".eh_frame", .bytes = eh_frame,
		.flags = SHF_ALLOC, .addr = r->start + ((r->end - r->start + 7) & ~UINT64_C(7)),
	}, out);
}

static void open_frames(struct ps_session *s, uint16_t machine, const struct ps_jit_range *r,
			struct pd_bytes eh_frame, struct ps_jit_frames *f)
{
	f->image.budget = &s->budget;
	write_image(machine, r, eh_frame, &f->image);
	if (!f->image.failed &&
	    ps_elf_open_bytes(&f->elf, pd_buf_bytes(&f->image), &s->budget) == PS_OK)
		f->cfi = ps_cfi_new(&f->elf, &s->budget);
}

/* Returns NULL without memory. */
static struct ps_jit_frames *add_frames(struct ps_session *s, uint64_t key)
{
	struct ps_jit_frames *f;

	if (!pd_budget_charge(&s->budget, HANDLE_MEMORY))
		return NULL;
	f = pd_arena_alloc(&s->arena, sizeof(*f));
	if (!f || pd_map_add(&s->jit_frames, key, f)) {
		pd_budget_give_back(&s->budget, HANDLE_MEMORY);
		return NULL;
	}
	f->number = s->nr_jit_frames++;
	return f;
}

/* The same. */
static struct ps_jit_frames *frames_of(struct ps_session *s, uint64_t key, uint16_t machine,
				       const struct ps_jit_range *r, struct pd_bytes eh_frame)
{
	struct ps_jit_frames *f = pd_map_find(&s->jit_frames, key);

	if (f)
		return f;
	f = add_frames(s, key);
	if (f)
		open_frames(s, machine, r, eh_frame, f);
	return f;
}

static void keep_rows(struct ps_session *s, struct ps_jit_frames *f,
		      const struct ps_process_code *code, const struct ps_jit_range *r)
{
	if (!s->collected || !f->cfi || f->code)
		return;
	ps_session_keep_rows(s, f->cfi);
	f->code = code;
	f->range = r;
	f->next = s->kept_jit_frames;
	s->kept_jit_frames = f;
}

static struct ps_jit_frames *frames_of_range(struct ps_session *s, const struct ps_jit_code *dump,
					     const struct ps_jit_range *r)
{
	return r->eh_frame.size ? frames_of(s, (uintptr_t)r, machine_of(dump), r, r->eh_frame) :
				  NULL;
}

static size_t encode_row_at(const struct ps_jit_frames *f, const struct ps_arch *arch,
			    uint64_t address, uint8_t out[PS_ROW_BYTES_MAX])
{
	struct ps_row row;
	enum ps_end end;

	if (!f || !f->cfi || !arch)
		return 0;
	end = ps_cfi_row(f->cfi, arch, address, &row);
	return end == PS_END_NONE ? ps_row_encode(&row, end, arch, out) : 0;
}

/* Returns whether all code that was at an address, the last of which is r, has the same row there:
 * in most functions, that of a frame pointer. Then it does not matter which one ran. */
static bool have_same_row(struct ps_session *s, struct ps_jit_code *dump,
			  const struct ps_jit_range *r, uint64_t address)
{
	const struct ps_arch *arch = ps_arch_find(machine_of(dump), PS_ABI_64);
	uint8_t row[PS_ROW_BYTES_MAX], other[PS_ROW_BYTES_MAX];
	const size_t size = encode_row_at(frames_of_range(s, dump, r), arch, address, row);

	for (size_t n = 1; size && (r = ps_jit_before(dump, r, address)); n++)
		if (n == AGREEING_MOST ||
		    encode_row_at(frames_of_range(s, dump, r), arch, address, other) != size ||
		    memcmp(row, other, size) != 0)
			return false;
	return size != 0;
}

/* Finds code whose call frame information counts at an address. */
static bool find_cfi_range(struct ps_session *s, struct ps_jit_code *dump, uint64_t address,
			   struct ps_jit_time when, const struct ps_jit_range **out)
{
	const enum ps_jit_found found = ps_jit_find_range(dump, address, when, out);

	return found == PS_JIT_ONE ||
	       (found != PS_JIT_NOTHING && have_same_row(s, dump, *out, address));
}

static struct ps_jit_frames *frames_of_dump(struct ps_session *s, struct ps_process_code *code,
					    uint64_t address, struct ps_jit_time when)
{
	struct ps_jit_code *dump = &code->dump.code;
	const struct ps_jit_range *r;
	struct ps_jit_frames *f = NULL;

	if (find_cfi_range(s, dump, address, when, &r))
		f = frames_of_range(s, dump, r);
	if (f)
		keep_rows(s, f, code, r);
	return f;
}

const struct ps_asked_row *ps_session_jit_asked(struct ps_session *s, struct ps_process_code *code)
{
	struct ps_asked_row *first = NULL, *copy;
	struct ps_jit_code *dump = &code->dump.code;
	const struct ps_jit_range *r;

	for (const struct ps_jit_frames *f = s->kept_jit_frames; f; f = f->next) {
		const struct ps_asked_row *asked = f->code == code ? ps_cfi_asked(f->cfi) : NULL;

		for (; asked; asked = asked->next) {
			if (!find_cfi_range(s, dump, asked->vaddr, PS_JIT_ANY_TIME, &r))
				continue;
			copy = pd_arena_alloc(&s->arena, sizeof(*copy));
			if (!copy)
				return first;
			*copy = (struct ps_asked_row){ first, asked->vaddr, asked->bytes };
			first = copy;
		}
	}
	return first;
}

/* --- from the recording --- */

#define GIVEN_KEY (UINT64_C(3) << 62)	/* no address of a process has it */

/* Returns what has the rows of the process in the recording, if one is of that address. */
static struct ps_jit_frames *frames_of_bundle(struct ps_session *s, int32_t pid, uint64_t address)
{
	const uint64_t key = GIVEN_KEY | (uint32_t)pid;
	const struct ps_bundle_image *given = pd_map_find(&s->given_code,
							  (uint64_t)(uint32_t)pid + 1);
	const struct ps_given_rows rows = {
		.addresses = given ? given->unwound : NULL,
		.rows = given ? given->unwound_rows : NULL, .nr = given ? given->nr_unwound : 0,
		.items = given ? given->rows : NULL,
	};
	struct ps_jit_frames *f = pd_map_find(&s->jit_frames, key);
	struct pd_bytes unused;

	if (!ps_given_row_find(&rows, address, &unused))
		return NULL;
	if (f)
		return f;
	f = add_frames(s, key);
	if (f)
		f->cfi = ps_cfi_given(&rows, &s->budget);
	return f;
}

/* --- Python --- */

#define PYTHON_CODE 16			/* bytes, at most */
#define PYTHON_KEY (UINT64_C(1) << 63)	/* no address of a process has it */

/* Python 3.12 and later (-X perf) runs each function below a copy of one piece of code. That of
 * x86-64 has no frame pointer: sub $8, %rsp; call *%rcx; add $8, %rsp; ret. This is what its own
 * jitdump has for it (-X perf_jit). */
static const uint8_t python_eh_frame[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
	0x0c, 7, 8,		/* the CFA is %rsp + 8, */
	0x90, 1, 0, 0,		/* and the return address is below it */
	20, 0, 0, 0, 28, 0, 0, 0, 0xd0, 0xff, 0xff, 0xff, PYTHON_CODE, 0, 0, 0, 0,
	0x44, 0x0e, 16,		/* from byte 4 on it is %rsp + 16 */
	0x46, 0x0e, 8, 0,	/* from byte 10 on, + 8 */
};

static struct ps_jit_frames *frames_of_python(struct ps_session *s, uint64_t start,
					      struct pd_bytes name)
{
	static const char prefix[] = "py::";
	const size_t n = sizeof(prefix) - 1;
	const struct ps_jit_range r = { .start = start, .end = start + PYTHON_CODE };

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ || name.size < n || memcmp(name.data, prefix, n))
		return NULL;
	return frames_of(s, start | PYTHON_KEY, EM_X86_64, &r,
			 (struct pd_bytes){ python_eh_frame, sizeof(python_eh_frame) });
}

static struct ps_jit_frames *frames_of_map(struct ps_session *s, struct ps_jit_code *map,
					   uint64_t address)
{
	const struct ps_jit_range *r;

	if (ps_jit_find_range(map, address, PS_JIT_ANY_TIME, &r) == PS_JIT_NOTHING)
		return NULL;
	return frames_of_python(s, r->start, (struct pd_bytes){ (const uint8_t *)r->name,
								r->name_size });
}

/* The recording has the name. */
static struct ps_jit_frames *frames_given(struct ps_session *s, int32_t pid,
					  const struct pd_location *l)
{
	struct ps_known known;
	const char *name;

	if (!ps_session_given(s, pid, l, &known) || !known.nr_functions)
		return NULL;
	name = known.functions[known.nr_functions - 1].symbol;
	return frames_of_python(s, known.base, (struct pd_bytes){ (const uint8_t *)name,
								  strlen(name) });
}

bool ps_session_jit_place(struct ps_session *s, int32_t pid, const struct pd_location *l,
			  struct ps_place *out, bool *is_of_time)
{
	struct pd_location at = *l;
	struct ps_process_code *code = ps_session_code_at(s, pid, &at);
	const bool has_dump = code && ps_session_is_file_of(code, &code->dump, &at);
	struct ps_jit_frames *f = NULL;

	*is_of_time = code && code->dump.is_found && code->dump.code.has_eh_frame;
	if (*is_of_time && has_dump)
		f = frames_of_dump(s, code, l->addr, ps_session_time_in_dump(s, code, &at));
	if (!f && code && ps_session_is_file_of(code, &code->map, &at))
		f = frames_of_map(s, &code->map.code, l->addr);
	if (!f && !has_dump)
		f = frames_of_bundle(s, pid, l->addr);
	if (!f)
		f = frames_given(s, pid, l);
	if (!f || !f->cfi)
		return false;
	out->cfi = f->cfi;
	out->vaddr_bias = 0;
	out->image = (uint32_t)s->nr_images + f->number;
	return true;
}

static void free_frames(void *ctx, uint64_t key, void *value)
{
	struct ps_jit_frames *f = value;

	(void)key;
	ps_cfi_free(f->cfi);
	ps_elf_close(&f->elf);
	pd_buf_free(&f->image);
	pd_budget_give_back(ctx, HANDLE_MEMORY);
}

void ps_session_free_jit_frames(struct ps_session *s)
{
	pd_map_each(&s->jit_frames, free_frames, &s->budget);
	pd_map_free(&s->jit_frames);
}
