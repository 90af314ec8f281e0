/* sections.h - what the readers of a container share: sections, the lists of what was found, and
 * reports of damage. */
#ifndef PD_CONTAINER_SECTIONS_H
#define PD_CONTAINER_SECTIONS_H

#include "container/header.h"

/* A container that is being loaded. */
struct pd_loader {
	struct pd_source *source;
	struct pd_session *session;
	struct pd_container *container;
	const struct pd_report *report;
	struct pd_error *e;		/* of a function that returned -1 */
};

/* Sets *l->e to a lack of memory. Returns -1. */
int pd_load_no_memory(const struct pd_loader *l);

/* Adds a section that the file states. Returns 0, or -1 and *l->e. */
int pd_add_section(const struct pd_loader *l, struct pd_section section);

/* Notes a range of bytes that was read, which may be less than its section states. Returns 0, or
 * -1 and *l->e. */
int pd_note_range(const struct pd_loader *l, const char *name, uint64_t offset, uint64_t size);

/* Subtracts a section's size from what all of its kind may have together: the file's size. Returns
 * false if too little is left. */
bool pd_claim_section(const struct pd_container *c, uint64_t *sum,
		      const struct pd_section *section);

/* Returns the offset and size that stand at p. */
struct pd_section pd_section_load(const uint8_t *p, enum pd_swap swap);

/* Reads a section into `out`, replacing its content: fewer bytes than stated if the file ends
 * early. Returns 0, or -1 and *e: I/O or memory. */
int pd_section_read(struct pd_source *source, const struct pd_section *section, struct pd_buf *out,
		    struct pd_error *e);

/* The same for a section that nothing can be read without: without memory the error is fatal. */
int pd_section_read_needed(const struct pd_loader *l, const struct pd_section *section,
			   struct pd_buf *out);

void pd_report_damage(const struct pd_loader *l, enum pd_code code, const char *record,
		      uint64_t offset, uint64_t want, uint64_t have);

/* Reports a part of the file, of which `want` bytes are stated, that has more or fewer; all that
 * follows has moved by as many bytes, modulo 2^64. */
void pd_report_moved(const struct pd_loader *l, const char *record, uint64_t offset, uint64_t want,
		     uint64_t moved);

/* Reports a section that the end of a truncated file cuts short. */
void pd_report_short(const struct pd_loader *l, const char *section, uint64_t offset, uint64_t want,
		     uint64_t have);

#endif
