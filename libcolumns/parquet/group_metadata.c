/* group_metadata.c - the metadata of row groups: see group_metadata.h. */
#include "parquet/group_metadata.h"

enum {
	SHARE = 256,	/* of the memory: the less there is, the more row groups there are */
	PART = 1 << 12,
};

static int move_to_file(struct pc_group_metadata *m)
{
	struct pd_error e;

	if (!m->has_file)
		m->has_file = pd_tempfile_open(&m->file, UINT64_MAX, &e) == 0;
	if (!m->has_file || pd_tempfile_append(&m->file, m->bytes.data, m->bytes.size, &e))
		return -1;
	m->bytes.size = 0;
	return 0;
}

int pc_group_metadata_keep(struct pc_group_metadata *m)
{
	if (m->bytes.failed)
		return -1;
	return m->bytes.size > m->bytes.budget->limit / SHARE ? move_to_file(m) : 0;
}

static int write_file(const struct pd_tempfile *f, struct pd_output out)
{
	uint8_t part[PART];
	struct pd_error e;
	int error = 0;

	for (uint64_t at = 0; at < f->size && !error; at += PART) {
		const size_t n = f->size - at < PART ? (size_t)(f->size - at) : PART;

		error = pd_tempfile_read(f, at, part, n, &e);
		if (!error)
			error = out.write(out.ctx, part, n);
	}
	return error;
}

int pc_group_metadata_write(const struct pc_group_metadata *m, struct pd_output out)
{
	const int error = m->has_file ? write_file(&m->file, out) : 0;

	return error || !m->bytes.size ? error :
	       out.write(out.ctx, m->bytes.data, m->bytes.size);
}

uint64_t pc_group_metadata_size(const struct pc_group_metadata *m)
{
	return m->bytes.size + (m->has_file ? m->file.size : 0);
}

void pc_group_metadata_free(struct pc_group_metadata *m)
{
	pd_buf_free(&m->bytes);
	if (m->has_file)
		pd_tempfile_close(&m->file);
	m->has_file = false;
}
