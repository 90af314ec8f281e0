/* print_attr.c - write a recording without records to memory, and decode it. */
#include "inform/print_attr.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/output.h"
#include "output/datafile.h"
#include "pd/pd.h"
#include "pd/write.h"

static int log_library_error(const struct logger *log, const struct pd_error *e)
{
	char text[256];

	return log_error(log, CLI_OUTPUT, "%s", pd_error_text(e, text, sizeof(text)));
}

static int write_events(int fd, const struct event_list *l)
{
	struct pd_error e;
	struct pd_writer *w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = PD_MODE_FILE), &e);
	int err = w ? 0 : -1;

	for (size_t i = 0; i < l->n && !err; i++)
		err = datafile_add_event(w, &l->items[i], NULL, 0, &e);
	if (!err)
		err = pd_writer_begin(w, &e);
	if (!err)
		err = pd_writer_finish(w, &e);
	pd_writer_free(w);
	return err ? log_library_error(l->log, &e) : 0;
}

static int decode_to_stdout(int fd, const struct logger *log)
{
	const struct pd_json_options json = { .size = sizeof(json) };
	struct output out = OUTPUT_CLOSED;
	const struct pd_record *record;
	struct pd_reader *reader;
	struct pd_sink *sink;
	struct pd_error e;
	int err = output_open(&out, log->tool, "-", NULL);

	if (err)
		return err;
	lseek(fd, 0, SEEK_SET);
	reader = pd_reader_open_fd(fd, NULL, &e);
	sink = reader ? pd_sink_new_json(&json, (struct pd_output){ output_write, &out }) : NULL;
	if (sink) {
		pd_sink_begin(sink, reader);
		while (pd_reader_next(reader, &record, &e) > 0)
			pd_sink_record(sink, record);
		pd_sink_finish(sink, reader);
	} else {
		err = log_library_error(log, &e);
	}
	pd_sink_free(sink);
	pd_reader_free(reader);
	return output_close(&out, err);
}

int print_attrs(const struct event_list *l)
{
	int fd = memfd_create("attributes", MFD_CLOEXEC), err;

	if (fd < 0)
		return log_error(l->log, CLI_OUTPUT, "can't create a memory file: %s",
				 strerror(errno));
	err = write_events(fd, l);
	if (!err)
		err = decode_to_stdout(fd, l->log);
	close(fd);
	return err;
}
