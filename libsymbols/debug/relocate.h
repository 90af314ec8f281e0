/* relocate.h - debug information of relocatable files, such as kernel modules: its addresses are in
 * relocations. */
#ifndef PS_DEBUG_RELOCATE_H
#define PS_DEBUG_RELOCATE_H

#include "image/elf_file.h"

/* Writes the addresses of symbols into the file's debug sections, once; ps_section.addr is the
 * address of a section. The bytes must be writable. Returns PS_BAD_FILE, also where an address
 * would be written in an unknown way, or PS_OVER_LIMIT. */
enum ps_status ps_debug_relocate(struct ps_elf *file);

/* Gives the sections of a relocatable debug file the addresses of those in the image: files that
 * have no addresses of their own are laid out by their offsets, which differ. */
void ps_debug_take_addresses(struct ps_elf *debug, const struct ps_elf *image);

#endif
