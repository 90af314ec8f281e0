/* wrong_type.h - records of which the header states a wrong type. */
#ifndef PD_STREAM_WRONG_TYPE_H
#define PD_STREAM_WRONG_TYPE_H

#include "stream/record.h"

#define PD_CORRECTED_MAX 65536	/* bytes of a record: its size is in 16 bits */

/* Corrects the type of a prepared record if another one fits it, and its own does not: a type that
 * differs in one bit, or a sample or map, whose fields fill the record. The record's time must be
 * near that of the last sample, its task be that of its sample_id, or it must have a path. Then
 * prepares it again; its bytes are a copy with the corrected type, valid until the next call.
 * Returns whether it has done so, and sets *e. */
bool pd_stream_correct_type(struct pd_stream *s, struct pd_record *r, struct pd_error *e);

/* The same for a frame whose type differs in one bit from that of compressed records, if some were
 * expanded before it, or its data begin as theirs do; or from that of a pipe's features, if it is
 * unknown and the frame has the form of one. Its bytes stay as they are. */
bool pd_stream_correct_user_type(const struct pd_stream *s, struct pd_frame *f,
				 struct pd_error *e);

/* Replaces the frame's bytes by a copy with the corrected type. */
void pd_stream_store_type(struct pd_stream *s, struct pd_frame *f);

#endif
