/* history.c - the first of two passes: see history.h. */
#include "recording/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/sigbus.h"

bool history_needs_copy(const struct input *in)
{
	struct stat st;

	return in->fd >= 0 && !(fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode));
}

enum cli_exit history_copy(const struct cli_tool *tool, struct input *in)
{
	char text[512];
	struct pd_error e;
	const int fd = pd_stream_copy(in->fd, &e);

	if (fd < 0) {
		cli_error(tool, "%s: can't be copied to a temporary file, to be read twice: %s",
			  in->name, pd_error_text(&e, text, sizeof(text)));
		return CLI_INPUT;
	}
	input_close(in);
	in->fd = fd;
	return CLI_OK;
}

/* The second pass reports the damage. The first one skips samples, which are most bytes: it maps
 * the file. */
static struct pd_reader_options for_first_pass(const struct pd_reader_options *o)
{
	struct pd_reader_options quiet = *o;

	quiet.on_error = NULL;
	quiet.on_wait = NULL;
	quiet.order = PD_AS_WRITTEN;
	quiet.stop_at = PD_FATAL;
	quiet.access = PD_MAP_OWN;
	return quiet;
}

static struct pd_reader *open_again(const struct input *in, const struct pd_reader_options *o,
				    struct pd_error *e)
{
	sigbus_watch();
	return in->fd >= 0 ? pd_reader_open_fd(in->fd, o, e) :
			     pd_reader_open_path(in->path, o, e);
}

static enum cli_exit seek_to(const struct cli_tool *tool, const struct input *in, off_t at)
{
	if (in->fd < 0 || lseek(in->fd, at, SEEK_SET) == at)
		return CLI_OK;
	cli_error(tool, "%s: %s", in->name, strerror(errno));
	return CLI_INPUT;
}

static void learn_input(const struct input *in, const struct pd_reader_options *o,
			struct pd_history *h, struct pd_index *index, struct pd_error *cut)
{
	struct pd_error ignored;
	struct pd_reader *reader = open_again(in, o, cut);

	if (reader)
		pd_history_learn_index(h, reader, index, &ignored);
	pd_history_seal(h, reader, &ignored);
	if (!pd_history_lacks_memory(h, cut) && (reader || !pd_code_is_of_memory(cut->code)))
		cut->code = PD_OK;
	pd_reader_free(reader);
}

enum cli_exit history_begin(const struct cli_tool *tool, const struct pd_reader_options *o,
			    struct pd_history **out)
{
	struct pd_error e;

	*out = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = o->memory_limit,
						 .mode = PD_HISTORY_LIVE), &e);
	if (*out)
		return CLI_OK;
	cli_error(tool, "out of memory");
	return CLI_OUTPUT;
}

static void report_order(const char *text, history_on_error *on_error, void *ctx)
{
	on_error(ctx, &(struct pd_error){ .code = PD_E_ORDER, .severity = PD_DAMAGED,
					  .text = text });
}

void history_end(struct pd_history *h, struct pd_reader *reader, struct history_texts *texts,
		 history_on_error *on_error, void *ctx)
{
	struct pd_history_counts counts = { .size = sizeof(counts) };
	struct pd_error e;

	pd_history_seal(h, reader, &e);
	pd_history_count(h, &counts);
	snprintf(texts->late, sizeof(texts->late),
		 "%llu records came after later ones: some names and frames are missing or wrong; "
		 "those of a file would be complete", (unsigned long long)counts.late);
	snprintf(texts->untimed, sizeof(texts->untimed),
		 "%llu samples have no time: their names and frames are those of the moment they "
		 "were read", (unsigned long long)counts.untimed);
	if (counts.late)
		report_order(texts->late, on_error, ctx);
	if (counts.untimed)
		report_order(texts->untimed, on_error, ctx);
	if (pd_history_lacks_memory(h, &e))
		on_error(ctx, &e);
}

enum cli_exit history_make(const struct cli_tool *tool, struct input *in,
			   const struct pd_reader_options *o, enum pd_history_scope scope,
			   struct pd_history **out, struct pd_index *index, struct pd_error *cut)
{
	const struct pd_reader_options quiet = for_first_pass(o);
	enum cli_exit status = history_needs_copy(in) ? history_copy(tool, in) : CLI_OK;
	const off_t at = in->fd >= 0 ? lseek(in->fd, 0, SEEK_CUR) : 0;
	struct pd_error e;

	if (status != CLI_OK)
		return status;
	*out = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = o->memory_limit,
						 .scope = scope), &e);
	if (!*out) {
		cli_error(tool, "out of memory");
		return CLI_OUTPUT;
	}
	learn_input(in, &quiet, *out, index, cut);
	return seek_to(tool, in, at);
}

enum cli_exit history_stitch(const struct cli_tool *tool, const struct input *in,
			     const struct pd_reader_options *o, struct pd_history *h,
			     uint32_t max_frames)
{
	const off_t at = in->fd >= 0 ? lseek(in->fd, 0, SEEK_CUR) : 0;
	struct pd_reader_options by_time = for_first_pass(o);
	struct pd_reader *reader;
	char text[256];
	struct pd_error e;

	by_time.order = PD_BY_TIME;
	reader = open_again(in, &by_time, &e);
	if (reader ? pd_history_stitch(h, reader, max_frames, &e) : pd_code_is_of_memory(e.code))
		cli_error(tool, "%s: --stitch-lbr: %s", in->name,
			  pd_error_text(&e, text, sizeof(text)));
	pd_reader_free(reader);
	return seek_to(tool, in, at);
}
