/* binary.c - an ELF image and its debug file: see binary.h. */
#include "image/binary.h"

#include <elfutils/libdwelf.h>
#include <lzma.h>

#include "image/elf_symbols.h"
#include "image/fde.h"
#include "image/go_table.h"
#include "image/minidebug.h"
#include "image/plt.h"
#include "image/unpack.h"

static void init_binary(struct ps_binary *b, struct pd_budget *budget)
{
	*b = (struct ps_binary){ .budget = budget, .expanded.budget = budget,
				 .unpacked.budget = budget,
				 .names.budget = budget, .symbols.budget = budget,
				 .variables.budget = budget };
}

enum ps_status ps_binary_open_fd(struct ps_binary *b, int fd, struct pd_budget *budget)
{
	init_binary(b, budget);
	return ps_elf_open_fd(&b->image, fd, budget);
}

enum ps_status ps_binary_open_module(struct ps_binary *b, int fd, struct pd_budget *budget)
{
	enum ps_status status = ps_binary_open_fd(b, fd, budget);
	struct ps_file_bytes packed;

	if (status != PS_NOT_ELF)
		return status;
	status = ps_file_bytes_open(&packed, fd, budget);
	if (status != PS_OK)
		return status;
	status = ps_unpack(packed.bytes, &b->unpacked);
	ps_file_bytes_close(&packed);
	if (status == PS_OK)
		status = ps_elf_open_bytes(&b->image, pd_buf_bytes(&b->unpacked), budget);
	b->image.is_writable = status == PS_OK;
	if (status != PS_OK)
		pd_buf_free(&b->unpacked);
	return status;
}

enum ps_status ps_binary_open_bytes(struct ps_binary *b, struct pd_bytes bytes,
				    struct pd_budget *budget)
{
	init_binary(b, budget);
	return ps_elf_open_bytes(&b->image, bytes, budget);
}

enum ps_status ps_binary_add_debug_fd(struct ps_binary *b, int fd)
{
	return ps_elf_open_fd(&b->debug, fd, b->budget);
}

static void add_table(struct ps_binary *b, struct ps_elf *e, uint32_t type, enum ps_source source)
{
	if (e->elf && ps_elf_add_symbols(e, type, PS_FUNCTIONS, source, &b->symbols))
		b->has[source] = true;
}

static void add_minidebug(struct ps_binary *b)
{
	const struct pd_bytes none = { NULL, 0 };
	struct pd_bytes bytes = none;

	if (b->has[PS_FROM_SYMTAB])	/* which has all of it */
		return;
	if (ps_elf_expand_minidebug(&b->image, &b->expanded) == PS_OK)
		bytes = pd_buf_bytes(&b->expanded);
	if (bytes.size && ps_elf_open_bytes(&b->minidebug, bytes, b->budget) == PS_OK)
		add_table(b, &b->minidebug, SHT_SYMTAB, PS_FROM_MINIDEBUG);
}

static void add_go_functions(struct ps_binary *b)
{
	const size_t before = b->symbols.nr;

	if (b->has[PS_FROM_SYMTAB])
		return;
	ps_elf_add_go_functions(&b->image, &b->symbols);
	b->has[PS_FROM_GO] = b->symbols.nr > before;
}

static int add_extents(struct ps_binary *b)
{
	const size_t named = b->symbols.nr;

	ps_elf_add_extents(&b->image, &b->symbols);
	b->has[PS_FROM_FDE] = b->symbols.nr > named;
	return b->has[PS_FROM_FDE] ? ps_symtab_seal(&b->symbols) : 0;
}

enum ps_status ps_binary_read_symbols(struct ps_binary *b)
{
	size_t before;

	add_table(b, &b->image, SHT_SYMTAB, PS_FROM_SYMTAB);
	add_table(b, &b->debug, SHT_SYMTAB, PS_FROM_SYMTAB);
	add_table(b, &b->image, SHT_DYNSYM, PS_FROM_DYNSYM);
	add_minidebug(b);
	add_go_functions(b);
	before = b->symbols.nr;
	ps_elf_add_plt(&b->image, &b->debug, &b->names, &b->symbols);
	b->has[PS_FROM_PLT] = b->symbols.nr > before;
	if (ps_symtab_seal(&b->symbols) || add_extents(b)) {
		ps_symtab_free(&b->symbols);
		return PS_OVER_LIMIT;
	}
	return PS_OK;
}

const struct ps_symtab *ps_binary_variables(struct ps_binary *b)
{
	struct ps_symtab *t = &b->variables;

	if (b->tried_variables)
		return t;
	b->tried_variables = true;
	ps_elf_add_symbols(&b->image, SHT_SYMTAB, PS_VARIABLES, PS_FROM_SYMTAB, t);
	if (b->debug.elf)
		ps_elf_add_symbols(&b->debug, SHT_SYMTAB, PS_VARIABLES, PS_FROM_SYMTAB, t);
	ps_elf_add_symbols(&b->image, SHT_DYNSYM, PS_VARIABLES, PS_FROM_DYNSYM, t);
	if (ps_symtab_seal(t))
		ps_symtab_free(t);
	return t;
}

const char *ps_binary_debuglink(const struct ps_binary *b, uint32_t *crc)
{
	GElf_Word stated = 0;
	const char *name = dwelf_elf_gnu_debuglink(b->image.elf, &stated);

	*crc = stated;
	return name && *name ? name : NULL;
}

uint32_t ps_debuglink_crc(struct pd_bytes file)
{
	return lzma_crc32(file.data, file.size, 0);
}

void ps_binary_close(struct ps_binary *b)
{
	ps_symtab_free(&b->symbols);
	ps_symtab_free(&b->variables);
	pd_arena_free(&b->names);
	if (b->minidebug.elf)
		ps_elf_close(&b->minidebug);
	if (b->debug.elf)
		ps_elf_close(&b->debug);
	if (b->image.elf)
		ps_elf_close(&b->image);
	pd_buf_free(&b->expanded);
	pd_buf_free(&b->unpacked);
	init_binary(b, b->budget);
}
