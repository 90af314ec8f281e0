/* hostinfo_values.h - values under construction, all freed at once. */
#ifndef RECORD_HOSTINFO_VALUES_H
#define RECORD_HOSTINFO_VALUES_H

#include <string.h>

#include "pd/write.h"

/* Zeroed before the first use. Without memory everything given out is NULL or 0, `failed` says so
 * and what would be written is left out. */
struct host_values {
	struct host_block *blocks;
	int failed;
};

void *host_alloc(struct host_values *h, size_t size);	/* zeroed */
const char *host_copy(struct host_values *h, const char *text);
void host_values_free(struct host_values *h);

/* An array that grows, in h. */
struct host_list {
	struct host_values *h;
	struct pd_value *items;
	size_t n, room;
};
void host_add(struct host_list *l, struct pd_value v);
struct pd_value host_array(const struct host_list *l, const char *name);
/* n values as an object. */
struct pd_value host_object(struct host_values *h, const char *name, const struct pd_value *v,
			    size_t n);
struct pd_value host_text(struct host_values *h, const char *name, const char *text);

/* Writes the feature unless memory failed. */
int host_feature(struct pd_writer *w, struct host_values *h, uint32_t id, struct pd_value value,
		 struct pd_error *e);

#endif
