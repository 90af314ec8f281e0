/* minidebug.h - MiniDebugInfo: a compressed ELF file in a section, with the symbols that .dynsym
 * lacks. */
#ifndef PS_IMAGE_MINIDEBUG_H
#define PS_IMAGE_MINIDEBUG_H

#include "image/elf_file.h"

/* Decompresses section .gnu_debugdata into `out`, which has a budget. Returns PS_NOT_ELF if the
 * file has none. */
enum ps_status ps_elf_expand_minidebug(const struct ps_elf *e, struct pd_buf *out);

#endif
