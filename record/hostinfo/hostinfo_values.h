/* hostinfo_values.h - values of features under construction, freed together. */
#ifndef RECORD_HOSTINFO_VALUES_H
#define RECORD_HOSTINFO_VALUES_H

#include <stdbool.h>
#include <string.h>

#include "pd/write.h"

/* Must be zeroed before use. Without memory functions return NULL or empty values and set `failed`;
 * then host_feature() writes nothing, and sets it back. */
struct host_values {
	struct host_block *blocks;
	bool failed;
	bool left_out;		/* a feature was not written */
};

void *host_alloc(struct host_values *h, size_t size);	/* zeroed */
const char *host_copy(struct host_values *h, const char *text);
void host_values_free(struct host_values *h);

/* A growing array, allocated in h. */
struct host_list {
	struct host_values *h;
	struct pd_value *items;
	size_t n, room;
};
void host_add(struct host_list *l, struct pd_value v);
struct pd_value host_array(const struct host_list *l, const char *name);
/* Copies n values into an object. */
struct pd_value host_object(struct host_values *h, const char *name, const struct pd_value *v,
			    size_t n);
struct pd_value host_text(struct host_values *h, const char *name, const char *text);

/* Writes the feature unless h->failed. Returns 0, or -1 and *e. */
int host_feature(struct pd_writer *w, struct host_values *h, uint32_t id, struct pd_value value,
		 struct pd_error *e);

#endif
