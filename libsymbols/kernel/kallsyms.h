/* kallsyms.h - the kernel's functions, from the text of /proc/kallsyms or a copy of it. */
#ifndef PS_KERNEL_KALLSYMS_H
#define PS_KERNEL_KALLSYMS_H

#include "image/status.h"
#include "image/symtab.h"

struct ps_kallsyms {
	struct ps_symtab symbols;	/* the functions; names are borrowed from the text */
	uint64_t text, stext, etext;	/* addresses of _text, _stext and _etext; 0: not there */
	bool is_restricted;		/* all addresses are 0: kptr_restrict */
};

/* Reads the text, borrowed until ps_kallsyms_free(). Lines of another form are passed over. Returns
 * PS_OK, PS_BAD_FILE if no line is one of kallsyms, or PS_OVER_LIMIT; on failure nothing is left to
 * free. */
enum ps_status ps_kallsyms_read(struct ps_kallsyms *k, struct pd_bytes text,
				struct pd_budget *budget);
void ps_kallsyms_free(struct ps_kallsyms *k);

/* A line of /proc/modules. */
struct ps_module {
	const char *name;	/* borrowed from the text; not terminated */
	size_t name_size;
	uint64_t address, size;	/* address 0: kptr_restrict */
};

/* Takes the next module off the front of the text. Returns false at its end. */
bool ps_modules_next(struct pd_bytes *text, struct ps_module *out);

#endif
