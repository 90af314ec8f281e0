/* fields.h - records in batches, with the fields that most programs want at fixed places.
 *
 * The fastest way through a recording: one call for many records, no lookup by name. A profile of
 * processes, say, needs nothing else:
 *
 *	struct pd_fields items[256];
 *	struct pd_fields_batch batch = { sizeof(batch), items, sizeof(*items), 256 };
 *	int n;
 *
 *	while ((n = pd_reader_next_fields(reader, &batch, &e)) > 0)
 *		for (int i = 0; i < n; i++)
 *			if (items[i].type == PD_RECORD_SAMPLE)
 *				...
 *
 * Threads: as in pd.h, calls on one reader must not overlap.
 */
#ifndef PD_FIELDS_H
#define PD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"
#include "pd/error.h"
#include "pd/types.h"
#include "pd/visit.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_attr;
struct pd_reader;
struct pd_record;

/* Bits of pd_fields.has and pd_fields_batch.want. */
enum pd_fields_bit {
	PD_HAS_PID = 1 << 0,
	PD_HAS_TID = 1 << 1,
	PD_HAS_CPU = 1 << 2,
	PD_HAS_TIME = 1 << 3,
	PD_HAS_IP = 1 << 4,
	PD_HAS_ADDR = 1 << 5,
	PD_HAS_PERIOD = 1 << 6,
	PD_HAS_ID = 1 << 7,
	PD_HAS_CALLCHAIN = 1 << 8,
	PD_HAS_RAW = 1 << 9,
};

/* A record. Members whose bit is not set in `has` are not written. */
struct pd_fields {
	uint32_t type;		/* enum pd_record_type, or a number that it does not have; 0: bytes
				 * that are no record */
	uint16_t misc;
	uint16_t reserved;
	uint32_t has;
	uint32_t place;		/* for pd_reader_record() */
	int32_t pid, tid;	/* of the body, else of the sample_id; -1: the kernel, or any */
	uint32_t cpu;		/* of the sample_id, else of the body, as time and id */
	uint32_t reserved2;
	uint64_t time;		/* as pd_record_time() */
	uint64_t ip, addr, period;	/* of the body */
	uint64_t id;		/* the event's: `identifier`, else `id` */
	struct pd_bytes bytes;	/* the record in the byte order of the file, header included */
	const struct pd_attr *attr;	/* its event, or NULL */
	const struct pd_error *error;	/* NULL: intact; else the members that are there are good */
	uint64_t offset;	/* as pd_record_offset() */
	struct pd_numbers callchain;	/* innermost first; markers (PERF_CONTEXT_*) are among
					 * them */
	struct pd_bytes raw;	/* what the event wrote: data of `raw` */
};

struct pd_fields_batch {
	size_t size;			/* sizeof(struct pd_fields_batch) */
	struct pd_fields *items;	/* the caller's array */
	size_t item_size;		/* sizeof(struct pd_fields) */
	size_t capacity;		/* of `items`; between 64 and 512 is fast */
	uint32_t want;			/* bits of the members to fill in; 0: all */
};

/* Reads the next records, in the order of pd_reader_next(), which may be called in between. Returns
 * how many it filled in: 1 to capacity; 0 at the end; -1 and *e when reading cannot continue, or
 * with PD_E_ARGUMENT when the batch has no room. Data that the items point to is borrowed until the
 * next call that reads from the reader.
 *
 * Records in a row that are intact, of a known event and not changed by what is between them come
 * together. All others come alone: damaged ones, perf's own (types from PD_RECORD_USER_START),
 * those with a payload, which pd_reader_read_payload() reads then, all with PD_BY_TIME. Errors are
 * reported to on_error before the call returns. */
PD_API int pd_reader_next_fields(struct pd_reader *r, struct pd_fields_batch *batch,
				 struct pd_error *e);

/* Returns the record of an item of the last batch, for the fields that have no place in the item:
 * names, paths, branches. Borrowed until the next call of this function, or the next that reads
 * from the reader. NULL for an item whose record is no longer there. */
PD_API const struct pd_record *pd_reader_record(struct pd_reader *r, const struct pd_fields *item);

/* Checks that the raw data of a sample have the fields of its tracepoint's format. Only JSON with
 * these fields does that, too. If they lack some, reports damage of `raw.tracepoint` to on_error
 * and returns false; true also if there is nothing to check. `sample` is an item of the last batch,
 * with PD_HAS_RAW and PD_HAS_ID wanted. */
PD_API bool pd_reader_check_raw(struct pd_reader *r, const struct pd_fields *sample);

/* A sample, in short. Members that the samples of its event do not have are 0, pid -1. */
struct pd_sample {
	uint64_t time, ip;
	int32_t pid;
	uint16_t misc, reserved;
	struct pd_numbers callchain;	/* as in pd_fields; points into the records */
};

/* Reads the samples at the beginning of `records`: records in the caller's memory, of the events
 * that the reader's input has, as a recorder's are before they are in a file. Fills in at most
 * `capacity` items, sets *taken to the size of their records, and returns their number. Stops at
 * any other record, at one that is cut short, and at all samples if their events do not have these
 * members at the same places: a caller reads these another way. Bytes after the members
 * are not checked. Reads nothing from the input, so items of a batch stay valid. Without a
 * reader, items or bytes there are none. */
PD_API size_t pd_reader_samples_in(struct pd_reader *r, struct pd_bytes records,
				   struct pd_sample *items, size_t capacity, size_t *taken);

#ifdef __cplusplus
}
#endif
#endif
