/* packing.h - the JSON text of the page's data, as it is made. */
#ifndef PP_PACKING_H
#define PP_PACKING_H

#include "encoding/out.h"

/* Must be zero-initialized, but for the memory. */
struct pp_packing {
	struct pp_memory *memory;
	uint8_t *bytes;
	size_t size, capacity;
	bool failed;		/* there was no memory: what follows is not added */
};

void pp_pack_text(struct pp_packing *k, const char *text);
/* Both add a JSON string. Controls are written as the text of an escape, as in tables. */
void pp_pack_string(struct pp_packing *k, struct pd_bytes text);
void pp_pack_chars(struct pp_packing *k, const char *text);

void pp_packing_free(struct pp_packing *k);

#endif
