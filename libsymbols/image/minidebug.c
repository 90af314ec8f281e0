/* minidebug.c - see minidebug.h. */
#include "image/minidebug.h"

#include "image/unpack.h"

enum ps_status ps_elf_expand_minidebug(const struct ps_elf *e, struct pd_buf *out)
{
	const struct ps_section *s = ps_elf_section_named(e, ".gnu_debugdata");
	enum ps_status status;

	if (!s)
		return PS_NOT_ELF;
	status = ps_unpack(ps_elf_section_bytes(e, s), out);
	return status == PS_NOT_ELF ? PS_BAD_FILE : status;
}
