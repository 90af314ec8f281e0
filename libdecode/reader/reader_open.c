/* reader_open.c - opens a reader. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/argument.h"
#include "container/gaps.h"
#include "container/header_recovery.h"
#include "input/identify.h"
#include "input/magic.h"
#include "input/newlines.h"
#include "pd/pd.h"
#include "reader/reader_internal.h"

const char *pd_version(void)
{
	return PD_VERSION;
}

static void on_error(void *ctx, const struct pd_error *e)
{
	pd_reader_report(ctx, e);
}

struct pd_reader *pd_reader_create(const struct pd_reader_options *o, struct pd_error *e)
{
	struct pd_reader_options options = { .size = sizeof(options) };
	struct pd_reader *r;

	if ((o && pd_options_take(&options, sizeof(options), o, o->size)) ||
	    options.order > PD_BY_TIME || options.stop_at > PD_FATAL ||
	    options.access > PD_MAP_OWN) {
		pd_refuse(e, "an option is invalid");
		return NULL;
	}
	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->options = options;
	r->budget.limit = r->options.memory_limit ? r->options.memory_limit : PD_MEMORY_LIMIT;
	r->budget.max_expanded = r->options.max_expanded;
	r->budget.max_ratio = r->options.max_ratio;
	r->record.session = &r->session;
	r->session.budget = r->tracing_data.budget = r->feature.budget = &r->budget;
	r->kept_bytes.budget = r->fed.bytes.budget = &r->budget;
	return r;
}

static void report_missing(struct pd_reader *r, const char *file)
{
	r->container.info.complete = false;
	pd_reader_report_in_file(r, &(struct pd_error){ .code = PD_E_IO, .severity = PD_DAMAGED,
		.have = ENOENT }, file);
}

/* Reports files that later ones, or the header, show to be missing. Returns 0, or -1 without
 * memory. */
static int report_missing_files(struct pd_reader *r)
{
	if (r->directory.nr_files &&
	    pd_directory_expect(&r->directory, pd_reader_directory_files(r)))
		return -1;
	for (size_t i = 0; i < r->directory.nr_missing; i++)
		report_missing(r, r->directory.missing[i]);
	if (!r->directory.nr_files && r->container.info.adds_features[PD_FEATURE_DIR_FORMAT])
		report_missing(r, PD_DIRECTORY_FIRST);
	return 0;
}

/* Reports recordings in the bytes that belong to no section: cat(1) appends one to another. Returns
 * 0, or -1 and *e. */
static int report_appended(struct pd_reader *r, struct pd_error *e)
{
	const struct pd_file_info *info = &r->container.info;

	for (size_t i = 0; i < info->nr_gaps; i++) {
		uint8_t first[PD_MAGIC_SIZE];
		struct pd_container other;
		const int64_t got = pd_source_pread(r->source, info->gaps[i].offset, first,
						    sizeof(first), e);

		if (got < 0)
			return -1;
		if (!info->gaps[i].offset ||	/* its own header, with other numbers */
		    pd_header_probe((struct pd_bytes){ first, (size_t)got }, &other))
			continue;
		on_error(r, &(struct pd_error){ .code = PD_E_TRAILING, .severity = PD_DAMAGED,
			.record = "recording", .offset = info->gaps[i].offset,
			.want = info->gaps[i].size,
			.text = PD_ANOTHER_RECORDING });
	}
	return 0;
}

/* Returns the error for a file without a magic, which may be that of its packing. */
static struct pd_error no_magic(const struct pd_source *source, struct pd_bytes first)
{
	const struct pd_error *damage = first.size ? NULL : pd_source_damage(source);
	struct pd_error e = damage ? *damage : (struct pd_error){ .code = PD_E_MAGIC,
		.text = pd_identify(first) };

	e.severity = PD_FATAL;
	return e;
}

/* Reports a damaged magic, a damaged size of a pipe's header, and changed newlines, which all
 * offsets contradict. */
static void check_first_bytes(struct pd_reader *r)
{
	struct pd_file_info *info = &r->container.info;

	if (info->magic_is_damaged)
		on_error(r, &(struct pd_error){ .code = PD_E_MAGIC, .severity = PD_DAMAGED,
			.record = "header" });
	if (info->mode == PD_MODE_FILE && pd_newlines_are_converted(r->source))
		on_error(r, &(struct pd_error){ .code = PD_E_GARBAGE, .severity = PD_DAMAGED,
			.text = "each newline has a carriage return before it: it was copied as "
				"text; copy it as binary" });
	if (info->mode == PD_MODE_FILE &&
	    pd_recovery_is_pipe(r->source, r->container.swap, info->header_size)) {
		info->mode = PD_MODE_PIPE;
		info->complete = false;
		on_error(r, &(struct pd_error){ .code = PD_E_SIZE, .severity = PD_DAMAGED,
			.record = "header", .offset = 8,
			.want = PD_MAGIC_SIZE, .have = info->header_size });
	}
}

struct pd_reader *pd_reader_begin(struct pd_reader *r, struct pd_error *e)
{
	const struct pd_report report = { on_error, r };
	struct pd_bytes first;

	if (pd_source_peek(r->source, PD_MAGIC_SIZE, &first, e))
		goto fail;
	if (pd_header_probe(first, &r->container)) {
		*e = no_magic(r->source, first);
		goto fail;
	}
	check_first_bytes(r);
	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	if (pd_session_init(&r->session, &r->budget, r->container.swap))
		goto fail;
	r->session.report = on_error;
	r->session.report_ctx = r;
	if (r->options.on_wait)
		pd_source_on_wait(r->source, r->options.on_wait, r->options.ctx);
	if (r->container.info.mode == PD_MODE_PIPE) {
		r->session.is_pipe = true;
		r->container.info.size_known = pd_source_size(r->source, &r->container.info.size);
		r->container.info.data_offset = PD_MAGIC_SIZE;
		if (pd_source_skip(r->source, PD_MAGIC_SIZE, NULL, e))
			goto fail;
	} else {
		if (pd_header_read(r->source, &r->session, &r->container, &report, e) ||
		    pd_gaps_find(r->source, &r->session, &r->container, e) ||
		    report_appended(r, e) ||
		    pd_source_seek(r->source, r->container.info.data_offset, e))
			goto fail;
	}
	if (r->is_directory) {
		r->container.info.mode = PD_MODE_DIRECTORY;
		if (report_missing_files(r)) {
			*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
			goto fail;
		}
	}
	pd_session_name_events(&r->session);
	if (r->options.order == PD_BY_TIME) {
		r->order = pd_order_new(&r->budget, r->budget.limit / 4, 0);
		if (!r->order)
			goto fail;
	}
	pd_stream_init(&r->stream, r->source, &r->session, r->container.data_end);
	if (r->stopped.code) {
		*e = r->stopped;
		e->file = NULL;		/* freed with the reader; on_error got it */
		goto fail;
	}
	return r;
fail:
	pd_reader_free(r);
	return NULL;
}

struct pd_reader *pd_reader_open_path(const char *path, const struct pd_reader_options *o,
				      struct pd_error *e)
{
	struct pd_source_limits limits;
	struct pd_error unused;
	struct pd_reader *r;
	struct stat st;

	e = pd_error_or(e, &unused);
	if (!path) {
		pd_refuse(e, "no path");
		return NULL;
	}
	r = pd_reader_create(o, e);
	if (!r)
		return NULL;
	limits = pd_reader_limits(r);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		r->is_directory = true;
		if (pd_directory_list(&r->directory, path)) {
			*e = (struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL,
				.have = (uint64_t)errno };
			pd_reader_free(r);
			return NULL;
		}
		r->source = pd_directory_open_main(&r->directory, &limits, e);
	} else {
		r->source = pd_source_open_path(path, &limits, e);
	}
	if (!r->source) {
		pd_reader_free(r);
		return NULL;
	}
	return pd_reader_begin(r, e);
}

struct pd_reader *pd_reader_open_fd(int fd, const struct pd_reader_options *o, struct pd_error *e)
{
	struct pd_source_limits limits;
	struct pd_error unused;
	struct pd_reader *r;

	e = pd_error_or(e, &unused);
	r = pd_reader_create(o, e);
	if (!r)
		return NULL;
	limits = pd_reader_limits(r);
	r->source = pd_source_open_fd(fd, PD_FD_BORROWED, &limits, e);
	if (!r->source) {
		pd_reader_free(r);
		return NULL;
	}
	return pd_reader_begin(r, e);
}

struct pd_reader *pd_reader_open_memory(struct pd_bytes in, const struct pd_reader_options *o,
					struct pd_error *e)
{
	struct pd_source_limits limits;
	struct pd_error unused;
	struct pd_reader *r;

	e = pd_error_or(e, &unused);
	if (!pd_is_span(in)) {
		pd_refuse(e, "no bytes");
		return NULL;
	}
	r = pd_reader_create(o, e);
	if (!r)
		return NULL;
	limits = pd_reader_limits(r);
	r->source = pd_source_open_memory(in, &limits, e);
	if (!r->source) {
		pd_reader_free(r);
		return NULL;
	}
	return pd_reader_begin(r, e);
}

void pd_reader_free(struct pd_reader *r)
{
	if (!r)
		return;
	pd_order_free(r->order);
	pd_stream_free(&r->stream);
	pd_buf_free(&r->tracing_data);
	pd_buf_free(&r->feature);
	pd_arena_free(&r->kept_bytes);
	pd_buf_free(&r->fed.bytes);
	pd_budget_free(&r->budget, r->kept, r->nr_kept * sizeof(*r->kept));
	pd_header_free(&r->container, &r->session);
	pd_session_free(&r->session);
	if (r->source)
		pd_source_close(r->source);
	if (r->file_source)
		pd_source_close(r->file_source);
	pd_directory_free(&r->directory);
	free(r);
}
