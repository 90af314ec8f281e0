/* cpu_filter.c - whether samples have the CPU that --cpu compares: see cpu_filter.h. */
#include "recording/cpu_filter.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pd/enums.h"

/* The wanted events, by whether their samples have a CPU. */
struct cpu_events {
	const char *without;	/* name of the first whose samples have no CPU; NULL: none */
	size_t with;
};

/* An event "dummy" is for side-band records and has no samples. */
static struct cpu_events find_events(const struct filter_settings *s,
				     const struct pd_reader *reader)
{
	struct cpu_events found = { 0 };

	for (size_t i = 0; i < pd_reader_nr_attrs(reader); i++) {
		const struct pd_attr *a = pd_reader_attr(reader, i);
		const char *name = pd_attr_name(a);

		if (strncmp(name, "dummy", strlen("dummy")) == 0 || !filter_wants_event(s, name))
			continue;
		if (pd_attr_sample_type(a) & PD_SAMPLE_CPU)
			found.with++;
		else if (!found.without)
			found.without = name;
	}
	return found;
}

void cpu_filter_report(const struct cli_tool *tool, const struct filter_settings *s,
		       const struct pd_reader *reader)
{
	struct cpu_events found;

	if (!s->cpus.count)
		return;
	found = find_events(s, reader);
	if (found.without)
		cli_error(tool, "--cpu does not apply to samples of %s, which have no CPU: record "
			  "with --sample-cpu", found.without);
}

static struct pd_reader *open_reader(const struct input *in)
{
	struct pd_error e;

	return in->fd >= 0 ? pd_reader_open_fd(in->fd, NULL, &e) :
			     pd_reader_open_path(in->path, NULL, &e);
}

/* The events of a stream are before the first of its samples. */
static void read_events(struct pd_reader *reader)
{
	const struct pd_record *record;
	struct pd_error e;

	while (pd_reader_file(reader)->mode == PD_MODE_PIPE &&
	       pd_reader_next(reader, &record, &e) > 0 &&
	       pd_record_type(record) != PD_RECORD_SAMPLE)
		;
}

enum cli_exit cpu_filter_check(const struct cli_tool *tool, const struct filter_settings *s,
			       const struct input *in)
{
	const off_t at = in->fd >= 0 ? lseek(in->fd, 0, SEEK_CUR) : 0;
	struct pd_reader *reader = s->cpus.count ? open_reader(in) : NULL;
	struct cpu_events found;

	if (!reader)	/* the next reader reports why */
		return CLI_OK;
	read_events(reader);
	found = find_events(s, reader);
	pd_reader_free(reader);
	if (in->fd >= 0)
		lseek(in->fd, at, SEEK_SET);
	if (!found.without || found.with)
		return CLI_OK;
	return cli_usage(tool, "'--cpu' needs samples with a CPU, which this recording does not "
			 "have: record with --sample-cpu");
}
