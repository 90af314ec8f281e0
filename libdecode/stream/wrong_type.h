/* wrong_type.h - records of which the header states a wrong type. */
#ifndef PD_STREAM_WRONG_TYPE_H
#define PD_STREAM_WRONG_TYPE_H

#include "stream/record.h"

#define PD_CORRECTED_MAX 65536	/* bytes of a record: its size is in 16 bits */

/* Corrects the type of a prepared record of the kernel if another one fits it, and the stated one
 * does not: a sample, or a type that differs in one bit, whose fields fill the record and whose
 * time is near that of the last sample. Then prepares it again; its bytes are a copy with the
 * corrected type, valid until the next call. Returns whether it has done so, and sets *e. */
bool pd_stream_correct_type(struct pd_stream *s, struct pd_record *r, struct pd_error *e);

/* The same for a frame whose type differs in one bit from that of compressed records, if some were
 * expanded before it, or its data begin as theirs do; or from that of a pipe's features, if it has
 * the form of one. Its bytes stay as they are. */
bool pd_stream_correct_user_type(const struct pd_stream *s, struct pd_frame *f,
				 struct pd_error *e);

/* Replaces the frame's bytes by a copy with the corrected type. */
void pd_stream_store_type(struct pd_stream *s, struct pd_frame *f);

#endif
