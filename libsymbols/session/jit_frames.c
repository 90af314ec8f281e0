/* jit_frames.c - call frame information of JIT code: a jitdump may have it for each function. */
#include <elf.h>

#include "image/section_image.h"
#include "session/session.h"

#define HANDLE_MEMORY 8192	/* that libelf and libdw allocate */

/* Of a function: an ELF file is made for it, as for the other sections that libdw reads. */
struct ps_jit_frames {
	struct pd_buf image;
	struct ps_elf elf;
	struct ps_cfi *cfi;	/* NULL: it can't be used */
	uint32_t number;
};

/* Some compilers leave their machine out. What they wrote is on the machine that they ran on. */
static uint16_t machine_of(const struct ps_jit_code *code)
{
	return code->machine ? (uint16_t)code->machine : ps_arch_here();
}

static void write_image(const struct ps_jit_code *code, const struct ps_jit_range *r,
			struct pd_buf *out)
{
	static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     is_big ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = machine_of(code), .e_version = EV_CURRENT,
		.e_ehsize = sizeof(header), .e_shentsize = sizeof(Elf64_Shdr),
	};

	ps_section_image_write(&(struct ps_section_image){
		.header = (const uint8_t *)&header, .name = ".eh_frame", .bytes = r->eh_frame,
		.flags = SHF_ALLOC, .addr = r->start + ((r->end - r->start + 7) & ~UINT64_C(7)),
	}, out);
}

static void open_frames(struct ps_session *s, const struct ps_jit_code *code,
			const struct ps_jit_range *r, struct ps_jit_frames *f)
{
	f->image.budget = &s->budget;
	write_image(code, r, &f->image);
	if (!f->image.failed &&
	    ps_elf_open_bytes(&f->elf, pd_buf_bytes(&f->image), &s->budget) == PS_OK)
		f->cfi = ps_cfi_new(&f->elf, &s->budget);
}

/* Returns NULL without memory. */
static struct ps_jit_frames *frames_of(struct ps_session *s, const struct ps_jit_code *code,
				       const struct ps_jit_range *r)
{
	struct ps_jit_frames *f = pd_map_find(&s->jit_frames, (uintptr_t)r);

	if (f || !pd_budget_charge(&s->budget, HANDLE_MEMORY))
		return f;
	f = pd_arena_alloc(&s->arena, sizeof(*f));
	if (!f || pd_map_add(&s->jit_frames, (uintptr_t)r, f)) {
		pd_budget_give_back(&s->budget, HANDLE_MEMORY);
		return NULL;
	}
	f->number = s->nr_jit_frames++;
	open_frames(s, code, r, f);
	return f;
}

bool ps_session_jit_place(struct ps_session *s, int32_t pid, const struct pd_location *l,
			  struct ps_place *out, bool *is_of_time)
{
	struct ps_process_code *code = ps_session_code(s, pid);
	const struct ps_jit_range *r;
	struct ps_jit_frames *f;

	*is_of_time = code && code->dump.is_found && code->dump.code.has_eh_frame;
	if (!*is_of_time || !ps_session_is_file_of(code, &code->dump, l))
		return false;
	r = ps_jit_find_range(&code->dump.code, l->addr, ps_session_time_in_dump(s, code, l));
	f = r && r->eh_frame.size ? frames_of(s, &code->dump.code, r) : NULL;
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
