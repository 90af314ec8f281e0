/* session.h - what a recording says about itself, as far as it was read: events, names, formats, the machine.
 *
 * Knows which event a record belongs to and the plan that reads it. Plans are compiled once per event and kept.
 */
#ifndef PD_SESSION_SESSION_H
#define PD_SESSION_SESSION_H

#include "base/arena.h"
#include "base/map.h"
#include "layout/container.h"
#include "plan/walk.h"
#include "tracepoint/tracepoint.h"

#define PD_NO_OFFSET SIZE_MAX
#define PD_EVENT_NAME_MAX 512	/* every record of the event shows it: a longer one is cut */
#define PD_ID_PLACES 64	/* ways to place an id: by what stands before it in a sample, and behind it in a trailer */

/* An event: an entry of the attrs section, or a HEADER_ATTR record. */
struct pd_attr {
	uint32_t index;
	struct pd_bytes bytes;		/* the attribute as it lies in the file, `stride` bytes */
	uint64_t *ids;
	size_t nr_ids, ids_capacity;
	uint64_t type, config, config1, config2, bp_addr, bp_len, bp_type;
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr, flags, precise_ip;
	const char *name;		/* NULL before pd_session_name_event() */
	enum { PD_NAME_IMPLIED, PD_NAME_FROM_FILE } name_from;
	uint32_t generation;		/* counts the names it had */
	uint32_t named_at;		/* the session's `updates` when it was named */
	const struct pd_tp_event *tracepoint;	/* the format of its raw data, or NULL */
	/* where an id lies: bytes from the record's start; from its end */
	size_t sample_id_at, trailer_id_at;
	size_t trailer_size;		/* of sample_id; 0 without sample_id_all */
	bool is_restored;		/* `bytes` are EVENT_DESC's: zeros have damaged those of the attrs section */
	bool has_known_layout;		/* no bit that selects fields is unknown: a sample has no byte that its plan lacks */
	struct pd_plan *sample, *trailer, *read;
};

/* The plan of a record type's body for records whose misc has these bits. */
#define PD_PLAN_CACHE 32
struct pd_plan_cache {
	const struct pd_plan *plan;	/* NULL: none yet */
	uint16_t mask, bits;
};

struct pd_session {
	struct pd_budget *budget;
	enum pd_swap swap;
	struct pd_arena arena;
	struct pd_attr **attrs;
	size_t nr_attrs, attrs_capacity;
	uint64_t renames;		/* counts the names that events got */
	struct pd_map ids;		/* id -> struct pd_attr */
	struct pd_attr *places[PD_ID_PLACES];	/* for each way to place an id the first event that has it */
	size_t nr_places;
	bool same_id_at;		/* all events have their ids at the same place */
	bool same_layout;		/* and all records of all events the same layout */
	struct pd_map bodies;		/* record type, and misc where that is settled -> struct pd_plan */
	struct pd_plan_cache plan_cache[PD_PLAN_CACHE];	/* by type: the plan used last */
	struct pd_map features;		/* feature description -> struct pd_plan */
	struct pd_plan *attr_plan, *file_attr_plan;
	struct pd_tracepoints *tracepoints;
	const struct pd_arch *arch;
	unsigned int arch_changes;
	uint32_t updates;		/* counts changes of what events are named by */
	uint32_t cpus_available;
	uint64_t compression_ratio;	/* as the header says; 0: it does not */
	struct pd_map pmus;		/* attr type -> name */
	/* Told of what is damaged in what it learns; may be NULL. */
	void (*report)(void *ctx, const struct pd_error *e);
	void *report_ctx;
};

int pd_session_init(struct pd_session *s, struct pd_budget *budget, enum pd_swap swap);
void pd_session_free(struct pd_session *s);

/* Another view of what `of` knows, for another thread, with plans of its own for what is no event's; valid until `of` learns
 * something or is freed. All events have to have their names. Nothing may be added to it. */
void pd_session_clone(const struct pd_session *of, struct pd_budget *budget, struct pd_session *s);
void pd_session_leave_clone(struct pd_session *s);

/* Adds an event: `bytes` from its attribute's first to the last that may belong to it; copies. NULL: no memory. */
struct pd_attr *pd_session_add_attr(struct pd_session *s, struct pd_bytes bytes);
/* Gives an event the attribute that damage has taken from it; copies. 0, or -1: no memory. */
int pd_session_restore_attr(struct pd_session *s, struct pd_attr *a, struct pd_bytes bytes);
/* 0; 1: the id was known, the first event keeps it; -1: no memory. */
int pd_session_add_id(struct pd_session *s, struct pd_attr *a, uint64_t id);
/* The event of an id, or NULL. */
struct pd_attr *pd_session_by_id(const struct pd_session *s, uint64_t id);
/* Gives an event a name from the file. */
void pd_session_rename(struct pd_session *s, struct pd_attr *a, struct pd_bytes name);
/* Gives an event, each event, that has no name from the file the one its attribute implies, as far as is known by now. */
void pd_session_name_event(struct pd_session *s, struct pd_attr *a);
void pd_session_name_events(struct pd_session *s);

/* Learns from a feature section: the machine, names, formats. offset: of the section, for errors. */
void pd_session_update_feature(struct pd_session *s, uint32_t id, struct pd_bytes section, uint64_t offset);
/* Learns from one of perf's own records in a pipe; payload: the bytes that followed it; offset: of the record. */
int pd_session_update_record(struct pd_session *s, uint32_t type, struct pd_bytes record, struct pd_bytes payload,
			     uint64_t offset);

/* Does a section keep to its feature's layout? PD_OK or why not, and *field. Empty and unknown ones do. */
enum pd_code pd_session_check_feature(struct pd_session *s, uint32_t id, struct pd_bytes section,
				      struct pd_extent_of *extent);

/* The plan of a record type's body (not of SAMPLE and READ), of a feature. NULL: no memory. */
struct pd_plan *pd_session_body_plan(struct pd_session *s, const struct pd_record_desc *d);
struct pd_plan *pd_session_feature_plan(struct pd_session *s, const struct pd_feature_desc *d);
/* The plan of a body for records with that misc: what depends on it is settled. */
const struct pd_plan *pd_session_record_plan(struct pd_session *s, const struct pd_record_desc *d, uint16_t misc);

/* Bytes that follow this record and are no record. */
uint64_t pd_session_payload(struct pd_session *s, const struct pd_record_desc *d, struct pd_bytes record);

enum pd_found {
	PD_FOUND,
	PD_FOUND_LAYOUT,	/* which event is not known, but all have the same layout: *out is the first */
	PD_NOT_FOUND,
};

/* The event of a kernel record. */
enum pd_found pd_session_attr_of(const struct pd_session *s, uint32_t type, struct pd_bytes record,
				 struct pd_attr **out);

/* What stands where the event keeps its id in a record. */
bool pd_session_id_of(const struct pd_session *s, const struct pd_attr *a, uint32_t type, struct pd_bytes record,
		      uint64_t *id);

/* Of a sample of which the first bytes are there. */
bool pd_session_sample_time(const struct pd_session *s, const struct pd_attr *a, struct pd_bytes record, uint64_t *time);

/* Sees to the event's plans. 0, or -1: no memory. */
int pd_session_plans_of(struct pd_session *s, struct pd_attr *a);

#endif
