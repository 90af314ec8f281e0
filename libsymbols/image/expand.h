/* expand.h - sections that are compressed: by zstd, which libelf expands from elfutils 0.189 on,
 * and by zlib where there is libdeflate, which takes a third of the time. */
#ifndef PS_IMAGE_EXPAND_H
#define PS_IMAGE_EXPAND_H

#include "image/elf_file.h"

/* elf.h has it since glibc 2.36. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* Returns whether ps_expand() knows how the section is compressed. Others are left to libelf. */
bool ps_can_expand(const GElf_Chdr *header);

/* Expands the section to the size that its header states, in the arena, which must outlive the Elf.
 * elf_rawdata() returns the bytes from then on. Returns PS_BAD_FILE if it is damaged, or
 * PS_OVER_LIMIT; the section is then as it was. */
enum ps_status ps_expand(Elf *elf, Elf_Scn *section, const GElf_Chdr *header,
			 struct pd_arena *arena);

/* The same for a section of a file, which keeps the bytes: ps_elf_section_bytes() returns them. */
enum ps_status ps_elf_expand(struct ps_elf *e, size_t index, const GElf_Chdr *header);

#endif
