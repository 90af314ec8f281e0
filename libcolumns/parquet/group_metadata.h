/* group_metadata.h - the metadata of row groups, which stands in the footer: what has more than a
 * share of the memory is in an unlinked temporary file. */
#ifndef PC_GROUP_METADATA_H
#define PC_GROUP_METADATA_H

#include "base/buf.h"
#include "base/tempfile.h"
#include "pd/output.h"

/* Must be zero-initialized, except for the budget. */
struct pc_group_metadata {
	struct pd_buf bytes;		/* what is not in the file; to append to */
	struct pd_tempfile file;
	bool has_file;
};

/* Must be called after each row group. Returns 0, or -1 without memory or a file for it. */
int pc_group_metadata_keep(struct pc_group_metadata *m);

/* Writes all of it. Returns 0, what the output returned, or -1 if the file can't be read. */
int pc_group_metadata_write(const struct pc_group_metadata *m, struct pd_output out);

uint64_t pc_group_metadata_size(const struct pc_group_metadata *m);

void pc_group_metadata_free(struct pc_group_metadata *m);

#endif
