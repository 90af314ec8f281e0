/* source_internal.h - the struct of a source, shared by source.c and source_open.c. */
#ifndef PD_INPUT_SOURCE_INTERNAL_H
#define PD_INPUT_SOURCE_INTERNAL_H

#include "input/mapping.h"
#include "input/source.h"
#include "input/source_unpack.h"

enum source_kind { SOURCE_MEMORY, SOURCE_FILE, SOURCE_STREAM, SOURCE_UNPACK, SOURCE_FED };

struct pd_source {
	enum source_kind kind;
	struct pd_budget *budget;
	int fd;
	enum pd_fd_owner owner;
	uint64_t origin;	/* FILE: offset 0 is here in the descriptor */
	uint64_t size;		/* MEMORY, FILE: when it was opened */
	uint64_t offset;
	const uint8_t *window;	/* bytes from window_at to window_at + filled */
	uint64_t window_at;
	size_t filled;
	struct pd_windows windows;	/* `window` points into these, except for MEMORY and mapped
					 * files */
	bool may_map;		/* FILE */
	struct pd_mapping mapping;	/* of the file, up to its size when it was opened */
	size_t piece;		/* bytes of the mapping in memory at once */
	bool in_mapping;	/* the window is in the mapping */
	bool is_shared;		/* bytes were pinned: other threads read them later */
	bool ended;		/* STREAM: a terminal could be read again after EOF */
	struct pd_unpack *unpack;
	uint8_t *copy;		/* MEMORY: own bytes, or NULL, */
	size_t copy_size;	/* and how many were allocated */
	struct pd_error damage;	/* damage of the input that was copied to a temporary file */
	void (*wait)(void *ctx);
	void *wait_ctx;
	bool (*is_cancelled)(void *ctx);	/* STREAM; may be NULL */
	void *cancel_ctx;
	struct pd_fed *fed;
};

static inline int pd_source_fail(const struct pd_source *s, struct pd_error *e, enum pd_code code,
		     uint64_t have)
{
	*e = (struct pd_error){
		.code = code, .severity = PD_FATAL, .offset = s ? s->offset : 0, .have = have,
	};
	return -1;
}

static inline void pd_source_no_memory(const struct pd_budget *b, size_t size, struct pd_error *e)
{
	bool fits = b->used <= b->limit && b->limit - b->used >= size;

	pd_source_fail(NULL, e, fits ? PD_E_NOMEM : PD_E_LIMIT, 0);
}

#endif
