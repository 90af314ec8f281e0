/* compose.h - bytes of the parts of a file from values: headers, records, features. Encoder and writer stand on it. */
#ifndef PD_OUTPUT_COMPOSE_H
#define PD_OUTPUT_COMPOSE_H

#include "pd/write.h"
#include "plan/pack.h"
#include "session/session.h"

struct pd_header_values {
	bool v1;
	uint32_t long_size;	/* 8, or 4: of the words of the feature bitmap */
	uint64_t size, attr_size;
	struct pd_section attrs, data, event_types;
	bool features[PD_FEATURE_BITS];
};

/* The header of a file, of a pipe; appended. */
int pd_compose_header(struct pd_session *s, const struct pd_header_values *h, struct pd_buf *out);
int pd_compose_pipe_header(struct pd_session *s, struct pd_buf *out);
/* {offset, size}: of the attrs section's ids, of the feature table. */
int pd_compose_section(struct pd_session *s, uint64_t offset, uint64_t size, struct pd_buf *out);

/* Whether a feature's raw bytes, where they are given, are better than its decoded form: not in another byte order. */
enum pd_prefer { PD_PREFER_RAW, PD_PREFER_DECODED };

struct pd_compose_record {
	uint32_t type;
	uint16_t misc;
	const struct pd_attr *attr;	/* of kernel records; may be NULL */
	size_t size;			/* of the record; PD_SIZE_OPEN: as its fields make it */
	size_t cut;			/* bytes of it that there are; PD_SIZE_OPEN: all */
	pd_node sample_id;		/* or NULL: no trailer */
	enum pd_prefer prefer;
	bool opaque;			/* `body` is all that is given */
};

/* A record: header, fields, trailer; appended. 0, or -1 and *e. */
int pd_compose_record(struct pd_session *s, const struct pd_values *v, const struct pd_compose_record *r, pd_node fields,
		      struct pd_buf *out, struct pd_pack_error *e);

/* A feature section: from the member `name` of `features`, or from name_raw beside it. 0; 1: neither is there; -1. */
int pd_compose_feature(struct pd_session *s, const struct pd_values *v, const char *name, pd_node features,
		       enum pd_prefer prefer, struct pd_buf *out, struct pd_pack_error *e);

/* Whether name_raw has bytes that the decoded form beside it does not give back, so that they can't follow it into the byte order
 * of the session, which is not that of the input. */
bool pd_feature_loses_raw(struct pd_session *s, const struct pd_values *v, uint32_t id, pd_node features);

/* Features that pipes carry as other records, or not at all. */
bool pd_feature_stays_behind(uint32_t id);
/* Has a HEADER_FEATURE record room for so many bytes? */
bool pd_feature_fits_record(size_t size);

struct pd_composed_feature {
	bool given;
	bool left_out;		/* too large for a record of a pipe */
	bool lost_raw;		/* its bytes that no field explains are in the other byte order */
	struct pd_buf bytes;
};

/* The name of the i-th of PD_FEATURE_BITS that was left out, or NULL. */
const char *pd_feature_left_out(const struct pd_composed_feature *features, size_t i);
/* The same of those of which only `_raw` bytes were left out. */
const char *pd_feature_lost_raw(const struct pd_composed_feature *features, size_t i);

/* The bit of a feature's name, of "HOSTNAME_raw" or "FEATURE_47" too; -1: no feature is called so. */
int pd_feature_of_name(const char *name);

#endif
