/* rows_end.c - the rows of what is known at the end: from the history, and from the file. */
#include "pass/columns_internal.h"

#include <stdio.h>
#include <string.h>

enum { SCHEMA = 1 };

/* --- the history --- */

static void set_hex(struct pc_batch *b, unsigned int column, struct pd_bytes bytes)
{
	char text[2 * 64 + 1] = "";

	for (size_t i = 0; i < bytes.size && i < 64; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes.data[i]);
	if (bytes.size)
		pc_set_text(b, column, text);
}

static void set_time(struct pc_batch *b, unsigned int column, uint64_t time)
{
	if (time != PD_NO_TIME)
		pc_set_count(b, column, time);
}

bool pc_add_object(struct pc_columns *c, size_t i)
{
	const struct pd_image *image = pd_history_image(c->o.history, i);
	struct pc_batch *b = image ? pc_start_row(c, PC_OBJECTS) : NULL;

	if (!b)
		return false;
	pc_set_int(b, PC_OBJECTS_OBJECT, (int64_t)i);
	pc_set_text(b, PC_OBJECTS_PATH, image->path);
	set_hex(b, PC_OBJECTS_BUILD_ID, image->build_id);
	pc_set_text(b, PC_OBJECTS_KIND, pd_image_kind_name(image->kind));
	if (i < c->first_times.size / sizeof(uint64_t))
		set_time(b, PC_OBJECTS_FIRST_TIME,
			 ((const uint64_t *)(const void *)c->first_times.data)[i]);
	if (image->machine_pid)
		pc_set_int(b, PC_OBJECTS_MACHINE_PID, image->machine_pid);
	pc_finish_row(c, b);
	return true;
}

void pc_learn_first_times(struct pc_columns *c)
{
	const uint64_t none = PD_NO_TIME;
	struct pd_mapping m;
	uint64_t *times;

	for (size_t n = pd_history_nr_images(c->o.history); n--;)
		pd_buf_append(&c->first_times, &none, sizeof(none));
	if (c->first_times.failed) {
		pc_note_refusal(c, -1);
		return;
	}
	times = (uint64_t *)(void *)c->first_times.data;
	for (size_t i = 0; pd_history_mapping(c->o.history, i, &m); i++)
		if (m.image != PD_NO_IMAGE && m.time < times[m.image])
			times[m.image] = m.time;
}

static void set_inode(struct pc_batch *b, const struct pd_image *image)
{
	if (!image || !image->has_inode)
		return;
	pc_set_int(b, PC_MAPS_MAJ, image->maj);
	pc_set_int(b, PC_MAPS_MIN, image->min);
	pc_set_count(b, PC_MAPS_INO, image->ino);
	pc_set_count(b, PC_MAPS_INO_GENERATION, image->ino_generation);
}

bool pc_add_map(struct pc_columns *c, size_t i)
{
	struct pd_mapping m;
	struct pc_batch *b = pd_history_mapping(c->o.history, i, &m) ?
		pc_start_row(c, PC_MAPS) : NULL;
	const struct pd_image *image;

	if (!b)
		return false;
	image = pd_history_image(c->o.history, m.image);
	set_time(b, PC_MAPS_TIME, m.time);
	set_time(b, PC_MAPS_UNTIL, m.until);
	pc_set_int(b, PC_MAPS_PID, m.pid);
	pc_set_int(b, PC_MAPS_START, (int64_t)m.start);
	pc_set_count(b, PC_MAPS_LEN, m.len);
	if (image && image->kind == PD_IMAGE_KERNEL)
		pc_set_int(b, PC_MAPS_PGOFF, (int64_t)(m.start - m.pgoff));
	else
		pc_set_count(b, PC_MAPS_PGOFF, m.pgoff);
	if (image)
		pc_set_int(b, PC_MAPS_OBJECT, m.image);
	set_inode(b, image);
	pc_set_int(b, PC_MAPS_PROT, (int32_t)m.prot);
	pc_set_int(b, PC_MAPS_FLAGS, (int32_t)m.flags);
	pc_set_text(b, PC_MAPS_CPUMODE, pd_cpumode_name(m.cpumode));
	pc_set_int(b, PC_MAPS_EXECUTABLE, !m.is_data);
	if (m.machine_pid)
		pc_set_int(b, PC_MAPS_MACHINE_PID, m.machine_pid);
	pc_finish_row(c, b);
	return true;
}

bool pc_add_task(struct pc_columns *c, size_t i)
{
	struct pd_task task;
	struct pc_batch *b = pd_history_task_at(c->o.history, i, &task) ?
		pc_start_row(c, PC_TASKS) : NULL;

	if (!b)
		return false;
	pc_set_int(b, PC_TASKS_PID, task.pid);
	pc_set_int(b, PC_TASKS_TID, task.tid);
	if (task.ppid != -1)
		pc_set_int(b, PC_TASKS_PPID, task.ppid);
	if (task.ptid != -1)
		pc_set_int(b, PC_TASKS_PTID, task.ptid);
	pc_set_text(b, PC_TASKS_COMM, task.comm);
	set_time(b, PC_TASKS_START, task.start);
	set_time(b, PC_TASKS_END, task.end);
	pc_set_int(b, PC_TASKS_EXECS, task.execs);
	if (task.machine_pid)
		pc_set_int(b, PC_TASKS_MACHINE_PID, task.machine_pid);
	pc_finish_row(c, b);
	return true;
}

/* --- events and features --- */

/* Sets a list to the names in an array of them. */
static void set_names(struct pc_batch *b, unsigned int column, const struct pd_item *names)
{
	const struct pd_item *name = NULL;

	if (!names)
		return;
	pc_set_list(b, column);
	while ((name = pd_item_next(names, name)))
		pc_add_text(b, column, name->word ? pc_text_bytes(name->word) : name->bytes);
}

static void set_attr(struct pc_columns *c, struct pc_batch *b, const struct pd_attr *a)
{
	struct pd_error e;
	const struct pd_item *root = pd_tree_read_attr(c->tree, c->reader, a, &e);

	pc_set_item(b, PC_EVENTS_TYPE, pd_item_get(root, "attr.type"));
	pc_set_item(b, PC_EVENTS_CONFIG, pd_item_get(root, "attr.config"));
	pc_set_item(b, PC_EVENTS_SAMPLE_PERIOD, pd_item_get(root, "attr.sample_period"));
	pc_set_item(b, PC_EVENTS_SAMPLE_FREQ, pd_item_get(root, "attr.sample_freq"));
	set_names(b, PC_EVENTS_SAMPLE_TYPE, pd_item_get(root, "attr.sample_type.names"));
	set_names(b, PC_EVENTS_FLAGS, pd_item_get(root, "attr.flags.names"));
}

bool pc_add_event(struct pc_columns *c, size_t i)
{
	const struct pd_attr *a = pd_reader_attr(c->reader, i);
	struct pc_batch *b = a ? pc_start_row(c, PC_EVENTS) : NULL;
	const char *start = "{\"kind\":\"attr\"";
	struct pd_bytes json;
	const uint64_t *ids;
	size_t n;

	if (!b)
		return false;
	if (i == 0)
		pc_leaders_learn(&c->leaders, c->tree, c->reader);
	pc_set_int(b, PC_EVENTS_EVENT, (int64_t)i);
	pc_set_text(b, PC_EVENTS_NAME, pd_attr_name(a));
	set_attr(c, b, a);
	ids = pd_attr_ids(a, &n);
	pc_registers_set(&c->registers, i, b);
	pc_leaders_set(&c->leaders, i, b);
	pc_set_list(b, PC_EVENTS_IDS);
	for (size_t j = 0; j < n; j++)
		pc_add_item(b, PC_EVENTS_IDS, ids[j]);
	n = strlen(start);
	json = pc_json_next_line(c, start);
	if (json.size)
		pc_set_bytes(b, PC_EVENTS_JSON,
			     (struct pd_bytes){ json.data - n, json.size + n });
	pc_finish_row(c, b);
	return true;
}

bool pc_add_feature(struct pc_columns *c, size_t i)
{
	struct pd_bytes line = pc_json_next_line(c, "{\"kind\":\"feature\",\"feature\":{\"");
	const uint8_t *end = line.size ? memchr(line.data, '"', line.size) : NULL;
	struct pc_batch *b = end ? pc_start_row(c, PC_FEATURES) : NULL;
	size_t name;

	(void)i;
	if (!b)
		return false;
	name = (size_t)(end - line.data);
	pc_set_bytes(b, PC_FEATURES_NAME, (struct pd_bytes){ line.data, name });
	if (line.size > name + 4)	/* ": and }} */
		pc_set_bytes(b, PC_FEATURES_JSON,
			     (struct pd_bytes){ end + 2, line.size - name - 4 });
	if (c->json.at >= c->json.header.size)	/* those were all: their rows need the memory */
		pd_buf_free(&c->json.header);
	pc_finish_row(c, b);
	return true;
}

/* --- the file --- */

static void set_feature(struct pc_columns *c, struct pc_batch *b, unsigned int column,
			enum pd_feature_id id, const char *name)
{
	struct pd_error e = { .code = PD_OK };
	const struct pd_item *root = pd_tree_read_feature(c->tree, c->reader, id, &e);
	const struct pd_item *item = pd_item_get(root, name);

	if (pd_code_is_of_memory(e.code))
		pc_note_refusal(c, -1);
	if (!item)
		return;
	if (item->kind == PD_ITEM_ARRAY)
		set_names(b, column, item);
	else
		pc_set_bytes(b, column, item->bytes);
}

static void set_totals(struct pc_columns *c, struct pc_batch *b)
{
	const struct pc_totals *t = &c->totals;

	set_time(b, PC_FILES_FIRST_TIME, t->first);
	set_time(b, PC_FILES_LAST_TIME, t->last);
	pc_set_count(b, PC_FILES_SAMPLES, t->samples);
	pc_set_count(b, PC_FILES_LOST, t->lost);
	pc_set_count(b, PC_FILES_LOST_SAMPLES, t->lost_samples);
	pc_set_count(b, PC_FILES_THROTTLED, t->throttled);
	pc_set_count(b, PC_FILES_ERRORS, t->errors);
	pc_set_text(b, PC_FILES_STATUS, t->is_unreadable ? "unreadable" :
		    t->is_damaged ? "damaged" : "ok");
}

static void set_host(struct pc_columns *c, struct pc_batch *b)
{
	set_feature(c, b, PC_FILES_HOST, PD_FEATURE_HOSTNAME, "HOSTNAME");
	set_feature(c, b, PC_FILES_OS_RELEASE, PD_FEATURE_OSRELEASE, "OSRELEASE");
	set_feature(c, b, PC_FILES_ARCH, PD_FEATURE_ARCH, "ARCH");
	set_feature(c, b, PC_FILES_CPU_DESC, PD_FEATURE_CPUDESC, "CPUDESC");
	set_feature(c, b, PC_FILES_PERF_VERSION, PD_FEATURE_VERSION, "VERSION");
	set_feature(c, b, PC_FILES_CMDLINE, PD_FEATURE_CMDLINE, "CMDLINE");
}

/* The clock of the first event that is tied to wall time, else of the first one. */
static void set_clock(struct pc_columns *c, struct pc_batch *b)
{
	const uint64_t last = c->totals.last, time = last && last != PD_NO_TIME ? last : 1;
	const struct pd_attr *first = pd_reader_attr(c->reader, 0), *a;
	struct pd_error e;
	uint64_t wall;
	size_t i = 0;

	while ((a = pd_reader_attr(c->reader, i)) && !pd_reader_utc(c->reader, a, time, &wall))
		i++;
	if (a)
		pc_set_int(b, PC_FILES_WALL_OFFSET_NS, (int64_t)(wall - time));
	if (a || first)
		pc_set_item(b, PC_FILES_CLOCK,
			    pd_item_get(pd_tree_read_attr(c->tree, c->reader, a ? a : first, &e),
					"attr.clockid"));
}

bool pc_add_file(struct pc_columns *c, size_t i)
{
	static const char *const modes[] = { "file", "pipe", "directory" };
	const struct pd_file_info *f = pd_reader_file(c->reader);
	struct pc_batch *b = i == 0 ? pc_start_row(c, PC_FILES) : NULL;

	if (!b)
		return false;
	pc_set_text(b, PC_FILES_PATH, c->o.path);
	if (f->size_known)
		pc_set_count(b, PC_FILES_SIZE, f->size);
	set_host(c, b);
	pc_set_text(b, PC_FILES_MODE, modes[f->mode]);
	pc_set_text(b, PC_FILES_BYTE_ORDER, f->byte_order == PD_BIG_ENDIAN ? "big" : "little");
	pc_set_int(b, PC_FILES_COMPLETE, f->complete);
	set_totals(c, b);
	pc_set_double(b, PC_FILES_WEIGHT, 1);
	pc_set_int(b, PC_FILES_SCHEMA, SCHEMA);
	pc_set_text(b, PC_FILES_TOOL_VERSION, pd_version());
	set_clock(c, b);
	pc_finish_row(c, b);
	return true;
}
