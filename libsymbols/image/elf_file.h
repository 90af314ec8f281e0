/* elf_file.h - one ELF file: its segments, sections and build id, through libelf. */
#ifndef PS_IMAGE_ELF_FILE_H
#define PS_IMAGE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "image/file_bytes.h"
#include "image/flat.h"

/* A PT_LOAD. */
struct ps_segment {
	uint64_t offset, vaddr, filesz, memsz;
	uint32_t flags;		/* PF_* */
};

struct ps_section {
	const char *name;
	GElf_Shdr header;
	uint64_t addr;		/* its address; in files without segments that state one: its
				 * offset in the file */
	bool is_charged;	/* for entries that libelf converts */
	struct pd_bytes expanded;	/* see expand.h; empty: as in the file */
};

struct ps_elf {
	struct pd_budget *budget;
	struct ps_file_bytes file;	/* if it was opened from a descriptor */
	struct pd_bytes bytes;
	bool is_writable;		/* the bytes, by libelf and for relocations */
	bool is_relocated;		/* debug sections: see debug/relocate.h */
	Elf *elf;
	GElf_Ehdr header;
	struct ps_segment *segments;	/* those with memory */
	size_t nr_segments, segment_capacity;
	/* Without segments: offset in the file -> number of sections less the index of the first
	 * one there. */
	struct ps_flat by_offset;
	size_t module_text;		/* index of the section that module addresses are in; 0:
					 * none */
	struct ps_section *sections;	/* by index; the first one is empty */
	size_t nr_sections;
	size_t charged;			/* for what libelf allocates */
	struct pd_bytes build_id;	/* empty: none */
	struct pd_arena arena;		/* of sections that are expanded */
};

/* Opens bytes, borrowed until ps_elf_close(), or a descriptor. On failure nothing is left to
 * close. */
enum ps_status ps_elf_open_bytes(struct ps_elf *e, struct pd_bytes bytes, struct pd_budget *budget);
enum ps_status ps_elf_open_fd(struct ps_elf *e, int fd, struct pd_budget *budget);
void ps_elf_close(struct ps_elf *e);

/* Returns whether the file has the other byte order. */
enum pd_swap ps_elf_swap(const struct ps_elf *e);

/* Returns the first section of that name or type, or NULL. */
const struct ps_section *ps_elf_section_named(const struct ps_elf *e, const char *name);
const struct ps_section *ps_elf_section_of_type(const struct ps_elf *e, uint32_t type);

/* Returns the section's bytes in the file: none for NOBITS and for a section that does not fit. */
struct pd_bytes ps_elf_section_bytes(const struct ps_elf *e, const struct ps_section *s);

/* Returns the section's entries in the machine's byte order, or NULL. Valid until
 * ps_elf_close(). */
Elf_Data *ps_elf_section_data(struct ps_elf *e, const struct ps_section *s);

/* A mapping of the file, as a record states it. */
struct ps_mapping {
	uint64_t addr, pgoff;
	bool executable;
};

/* Finds the virtual address of an offset in the file: that of the segment that was mapped, as
 * segments share pages of the file. Returns false if no segment fits. */
bool ps_elf_address(const struct ps_elf *e, const struct ps_mapping *map, uint64_t offset,
		    uint64_t *address);

/* Returns whether an address is in memory that a segment has after its bytes in the file: .bss. */
bool ps_elf_is_after_file(const struct ps_elf *e, uint64_t address);

/* Returns whether these offsets, or those that follow a segment's bytes as its memory does, are of
 * one segment only. */
bool ps_elf_is_of_one_segment(const struct ps_elf *e, uint64_t offset, uint64_t size);

/* Finds the address of an offset from where the kernel loaded a module. It puts the executable
 * sections one after the other there, but leaves some out or makes them larger: only the first one,
 * .text, has a known place. Returns false outside of it. */
bool ps_elf_module_address(const struct ps_elf *e, uint64_t offset, uint64_t *address);

/* Finds the offset in the file of a virtual address. */
bool ps_elf_offset(const struct ps_elf *e, uint64_t address, uint64_t *offset);

#endif
