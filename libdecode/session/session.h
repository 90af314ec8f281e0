/* session.h - what is known of a recording so far: events, names, formats, the machine.
 *
 * Finds the event of a record and the plan that reads it. Plans are compiled once per event and
 * kept.
 */
#ifndef PD_SESSION_SESSION_H
#define PD_SESSION_SESSION_H

#include "base/arena.h"
#include "base/map.h"
#include "layout/container.h"
#include "plan/walk.h"
#include "tracepoint/tracepoint.h"

#define PD_NO_OFFSET SIZE_MAX
#define PD_EVENT_NAME_MAX 512	/* every record of the event shows it, so longer names are cut */
#define PD_IMPLIED_NAME_MAX 256
#define PD_CLOCK_REALTIME 0	/* CLOCK_REALTIME of linux/time.h */
#define PD_ID_PLACES 64	/* ways to place an id: different fields before it in a sample, after it in
			 * a trailer */

/* An event: an entry of the attrs section, or a HEADER_ATTR record. */
struct pd_attr {
	uint32_t index;
	struct pd_bytes bytes;		/* the attribute as it is in the file */
	uint64_t *ids;
	size_t nr_ids, ids_capacity;
	bool ids_differ;		/* from those that EVENT_DESC has */
	uint64_t type, config, config1, config2, bp_addr, bp_len, bp_type;
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr, flags,
		precise_ip, clockid;	/* clockid: PD_CLOCK_PERF unless use_clockid is set */
	uint64_t sample_period;		/* 0: a frequency, or it only counts */
	const char *name;		/* NULL before pd_session_name_event() */
	enum pd_name_from {
		PD_NAME_IMPLIED,
		PD_NAME_STATED,		/* by JSON, for records that name their event */
		PD_NAME_FROM_FILE,
	} name_from;
	uint32_t generation;		/* counts changes of the name */
	uint32_t named_at;		/* the session's `updates` when it was named */
	const struct pd_tp_event *tracepoint;	/* format of the raw data, or NULL */
	/* offset of the id from the record's start; from its end */
	size_t sample_id_at, trailer_id_at;
	size_t trailer_size;		/* size of sample_id; 0 without sample_id_all */
	struct pd_bytes copy;		/* in EVENT_DESC, if it differs and both may be right */
	struct pd_bytes whole_copy;	/* in EVENT_DESC, if a pipe's own was zeroed */
	bool is_restored;		/* `bytes` are from EVENT_DESC: those in the attrs section
					 * were zeroed, or no sample fits them */
	bool has_wrong_size;		/* of a HEADER_ATTR record that stated an impossible size;
					 * in `bytes` it is corrected */
	bool has_no_record;		/* of a pipe: only EVENT_DESC has defined it, */
	uint64_t described_at;		/* at this offset */
	bool has_known_layout;		/* all bits that select fields are known, so its plan covers
					 * all bytes of a sample */
	struct pd_plan *sample, *trailer, *read;
};

/* The plan for bodies of a record type with these misc bits. */
#define PD_PLAN_CACHE 32
struct pd_plan_cache {
	const struct pd_plan *plan;	/* NULL: not compiled yet */
	uint16_t mask, bits;
};

struct pd_session {
	struct pd_budget *budget;
	enum pd_swap swap;
	bool is_pipe;		/* records define the events */
	bool attrs_doubtful;	/* bytes were inserted into the attrs section, or removed: the
				 * copies in EVENT_DESC are right */
	struct pd_arena arena;
	struct pd_attr **attrs;
	size_t nr_attrs, attrs_capacity;
	size_t first_attr;	/* of the recording that is read: another one may have preceded it
				 * in the stream */
	uint64_t renames;		/* counts changes of names of all events */
	struct pd_map ids;		/* id -> struct pd_attr */
	struct {			/* the last sample's, as pd_session_attr_of() found it */
		uint64_t id;
		struct pd_attr *attr;	/* NULL: none yet */
	} last;
	struct pd_attr *places[PD_ID_PLACES];	/* for each way to place an id, the first event */
	size_t nr_places;
	bool same_id_at;		/* all events place their ids in the same way */
	bool same_layout;		/* all events have the same layouts */
	struct pd_attr *sampling;	/* the only event with samples; NULL: none or several */
	size_t nr_sampling;
	struct pd_map bodies;		/* record type, and misc bits that the plan depends on ->
					 * struct pd_plan */
	struct pd_plan_cache plan_cache[PD_PLAN_CACHE];	/* by type: the last used plan */
	struct pd_map features;		/* feature description -> struct pd_plan */
	struct pd_plan *attr_plan, *file_attr_plan;
	struct pd_tracepoints *tracepoints;
	const struct pd_arch *arch;
	unsigned int arch_changes;
	uint32_t updates;		/* counts changes that may change names of events */
	uint32_t cpus_available;
	uint64_t compression_ratio;	/* from the COMPRESSED feature; 0: unknown */
	struct {
		uint64_t clockid, clock_ns, wall_ns;	/* two clocks at one moment */
		bool is_known;
	} clock_data;			/* from the CLOCK_DATA feature */
	struct pd_map pmus;		/* attr type -> name */
	/* Called for damage in what the session is updated from; may be NULL. */
	void (*report)(void *ctx, const struct pd_error *e);
	void *report_ctx;
};

int pd_session_init(struct pd_session *s, struct pd_budget *budget, enum pd_swap swap);
void pd_session_free(struct pd_session *s);

/* Adds an event; copies `bytes`, which begin with its attribute and may be longer. Returns NULL
 * without memory. */
struct pd_attr *pd_session_add_attr(struct pd_session *s, struct pd_bytes bytes);
/* Replaces a damaged attribute; copies `bytes`. pd_session_compare_events() must follow, once for
 * any number of attributes: it takes time for all. Returns 0, or -1 without memory. */
int pd_session_restore_attr(struct pd_session *s, struct pd_attr *a, struct pd_bytes bytes);
void pd_session_compare_events(struct pd_session *s);
/* Returns whether the samples are to tell which of two attributes of an event is right. */
bool pd_session_has_copies(const struct pd_session *s);
/* Exchanges attributes and their copies. Returns 0, or -1 without memory. */
int pd_session_exchange_copies(struct pd_session *s);
/* Adds an id. Returns 0; 1 if the id is known: it stays with its first event; -1 without memory. */
int pd_session_add_id(struct pd_session *s, struct pd_attr *a, uint64_t id);
/* Makes a known id that of another event. */
void pd_session_move_id(struct pd_session *s, uint64_t id, struct pd_attr *to);
/* Returns the event of an id, or NULL. */
struct pd_attr *pd_session_by_id(const struct pd_session *s, uint64_t id);

/* Returns an id of the event; 0 if it is there by damage, and another event's. */
static inline uint64_t pd_session_own_id(const struct pd_session *s, const struct pd_attr *a,
					 size_t i)
{
	return a->ids_differ && pd_session_by_id(s, a->ids[i]) != a ? 0 : a->ids[i];
}
/* Sets an event's name. An implied one leaves name_from as it is. */
void pd_session_rename(struct pd_session *s, struct pd_attr *a, struct pd_bytes name,
		       enum pd_name_from from);
/* Reports that another name of the event is known. `where` has the record and its offset. */
void pd_session_compare_name(const struct pd_session *s, const struct pd_attr *a,
			     struct pd_bytes name, const struct pd_error *where);
/* At the end of the records: reports events that still no record has defined, once, and sets
 * pd_attr.is_restored. */
void pd_session_report_missing(struct pd_session *s);

/* Names the event, or all events, by what its attribute implies, unless the file names it. Names
 * improve as more of the file is known. */
void pd_session_name_event(struct pd_session *s, struct pd_attr *a);
void pd_session_name_events(struct pd_session *s);
/* Returns whether the name is that of the tracepoint with this number: "system:name". */
bool pd_session_is_tracepoint(const struct pd_session *s, uint64_t type, uint64_t config,
			      struct pd_bytes name);

/* Corrects and reports names in EVENT_DESC that differ in one byte from what the attributes imply.
 * Features that imply names must be known. */
void pd_session_correct_names(struct pd_session *s);
/* Returns the name that pd_session_name_event() would give, without storing it: safe while another
 * thread names events. Uses buf unless the file names the event. */
struct pd_bytes pd_session_event_name(const struct pd_session *s, const struct pd_attr *a,
				      char buf[PD_IMPLIED_NAME_MAX]);

/* Updates the session from a feature section: the machine, names, formats. `offset` is that of the
 * section, for error reports. */
void pd_session_update_feature(struct pd_session *s, uint32_t id, struct pd_bytes section,
			       uint64_t offset);
/* Updates the session from one of perf's own records in a pipe. `payload` is the bytes after it,
 * `offset` that of the record. Returns 0, or -1 without memory. */
int pd_session_update_record(struct pd_session *s, uint32_t type, struct pd_bytes record,
			     struct pd_bytes payload, uint64_t offset);

/* Checks a section against its feature's layout. Returns PD_OK, or the damage and sets *field.
 * Empty and unknown ones are valid. */
enum pd_code pd_session_check_feature(struct pd_session *s, uint32_t id, struct pd_bytes section,
				      struct pd_extent_of *extent);

/* Returns the plan of a record type's body (except SAMPLE and READ), or of a feature; NULL without
 * memory. */
struct pd_plan *pd_session_body_plan(struct pd_session *s, const struct pd_record_desc *d);
struct pd_plan *pd_session_feature_plan(struct pd_session *s, const struct pd_feature_desc *d);
/* Returns the plan of bodies of records with this misc, which needs no check of misc. */
const struct pd_plan *pd_session_record_plan(struct pd_session *s, const struct pd_record_desc *d,
					     uint16_t misc);

/* Returns the number of bytes after this record that belong to it (AUXTRACE,
 * HEADER_TRACING_DATA). */
uint64_t pd_session_payload(struct pd_session *s, const struct pd_record_desc *d,
			    struct pd_bytes record);

enum pd_found {
	PD_FOUND,
	PD_FOUND_LAYOUT,	/* the event is unknown, but all have the same layout: *out is the
				 * first */
	PD_NOT_FOUND,
};

/* Finds the event of a kernel record. */
enum pd_found pd_session_attr_of(struct pd_session *s, uint32_t type, struct pd_bytes record,
				 struct pd_attr **out);

/* Returns the only event of the recording that is read; NULL if it has several, or none yet. */
static inline struct pd_attr *pd_session_only_event(const struct pd_session *s)
{
	return s->nr_attrs - s->first_attr == 1 ? s->attrs[s->first_attr] : NULL;
}

/* Begins another recording, whose events are not those before it. */
static inline void pd_session_begin_recording(struct pd_session *s)
{
	s->first_attr = s->nr_attrs;
	s->last.attr = NULL;
}

/* Returns the event of a sample that has the id of the one before it, as most have, or NULL.
 * (Inline, because it is asked of all samples.) */
static inline struct pd_attr *pd_session_last_event(const struct pd_session *s,
						    struct pd_bytes sample)
{
	struct pd_cursor c = pd_cursor(sample, s->swap);
	uint64_t id;

	return s->last.attr && s->same_id_at && pd_take(&c, s->last.attr->sample_id_at) &&
	       pd_take_number(&c, 8, &id) && id == s->last.id ? s->last.attr : NULL;
}

/* Returns the offset of sample_id in a record of the event, or PD_NO_OFFSET if the record is too
 * short. That is the record's end, except in types that kernels write too large. */
size_t pd_session_trailer_at(struct pd_session *s, const struct pd_attr *a, uint32_t type,
			     struct pd_bytes record);

/* Returns whether `rest` bytes that are of no field follow the sample_id of a record that kernels
 * write too large, and do not precede it: the id is known, and `rest` may be the sample_ids of
 * other recorders' events. Without ids, all must have the same size. */
bool pd_session_is_followed(const struct pd_session *s, const struct pd_attr *a,
			    struct pd_bytes sample_id, size_t rest);

/* Reads what is where the event places its id in a record. Returns false if the record is too short
 * or the event has no ids in records. */
bool pd_session_id_of(struct pd_session *s, const struct pd_attr *a, uint32_t type,
		      struct pd_bytes record, uint64_t *id);

/* Gets the time of a sample; its first bytes are enough. */
bool pd_session_sample_time(const struct pd_session *s, const struct pd_attr *a,
			    struct pd_bytes record, uint64_t *time);

/* Converts a time of the event to wall time, as pd_reader_utc() does. Returns false if it
 * cannot. */
bool pd_session_utc(const struct pd_session *s, const struct pd_attr *a, uint64_t time,
		    uint64_t *ns);

/* Compiles the event's plans. Returns 0, or -1 without memory. */
int pd_session_plans_of(struct pd_session *s, struct pd_attr *a);

#endif
