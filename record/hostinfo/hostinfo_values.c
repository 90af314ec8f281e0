/* hostinfo_values.c - values of features under construction, freed together. */
#include "hostinfo/hostinfo_values.h"

#include <stddef.h>
#include <stdlib.h>

struct host_block {
	struct host_block *next;
	max_align_t data[];
};

void *host_alloc(struct host_values *h, size_t size)
{
	struct host_block *b = calloc(1, sizeof(*b) + size);

	if (!b) {
		h->failed = true;
		return NULL;
	}
	b->next = h->blocks;
	h->blocks = b;
	return b->data;
}

const char *host_copy(struct host_values *h, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = host_alloc(h, size);

	return copy ? memcpy(copy, text, size) : "";
}

void host_values_free(struct host_values *h)
{
	while (h->blocks) {
		struct host_block *b = h->blocks;

		h->blocks = b->next;
		free(b);
	}
}

void host_add(struct host_list *l, struct pd_value v)
{
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 16;
		struct pd_value *larger = host_alloc(l->h, room * sizeof(*larger));

		if (!larger)
			return;
		if (l->n)
			memcpy(larger, l->items, l->n * sizeof(*larger));
		l->items = larger;
		l->room = room;
	}
	l->items[l->n++] = v;
}

struct pd_value host_array(const struct host_list *l, const char *name)
{
	return (struct pd_value)PD_ARRAY(name, l->items, l->n);
}

struct pd_value host_object(struct host_values *h, const char *name, const struct pd_value *v,
			    size_t n)
{
	struct pd_value *copy = host_alloc(h, n * sizeof(*copy));

	if (copy)
		memcpy(copy, v, n * sizeof(*copy));
	return (struct pd_value)PD_OBJECT(name, copy, copy ? n : 0);
}

struct pd_value host_text(struct host_values *h, const char *name, const char *text)
{
	const char *copy = host_copy(h, text);

	return (struct pd_value)PD_TEXT(name, copy);
}

int host_feature(struct pd_writer *w, struct host_values *h, uint32_t id, struct pd_value value,
		 struct pd_error *e)
{
	if (!h->failed)
		return pd_writer_feature(w, id, &value, e);
	h->failed = false;
	h->left_out = true;
	return 0;
}
