/* stacks.h - what the programs share that unwind a recording: its samples with copied stacks, and
 * the maps of their tasks.
 */
#ifndef STACKS_H
#define STACKS_H

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/pd.h>

#define PROT_EXECUTE 4
#define MISC_COMM_EXEC (1 << 13)
#define MISC_EXACT_IP (1 << 14)
#define MAX_REGISTERS 64

struct map {
	uint64_t start, end, pgoff;
	unsigned int file; /* index of files */
};

struct task {
	uint32_t pid;
	struct map *maps; /* executable ones; the last that holds an address counts */
	size_t nr;
	uint64_t generation; /* grows with each change */
	void *state; /* the program's own */
};

struct stack_sample {
	struct task *task;
	uint32_t pid, tid;
	uint64_t offset, abi, mask, size, dyn_size, highest;
	uint64_t registers[MAX_REGISTERS];
	size_t nr_registers;
	bool precise;
	const uint8_t *bytes; /* dyn_size of them */
};

struct recording {
	struct pd_reader *reader;
	struct task **tasks;
	size_t nr_tasks;
	char *files[4096];
	size_t nr_files;
	uint64_t generation;
	uint16_t machine;
};

static void *checked(void *p)
{
	if (!p)
		abort();
	return p;
}

static uint64_t number_of(const struct pd_record *r, const char *name)
{
	uint64_t v = 0;

	pd_record_get_number(r, name, &v);
	return v;
}

static void take_attr_number(void *ctx, const struct pd_field *f, uint64_t v)
{
	if (!strcmp(pd_field_name(f), "sample_regs_user"))
		*(uint64_t *)ctx = v;
}

static uint64_t mask_of(const struct recording *rec, const struct pd_record *r)
{
	static const struct pd_visitor visitor = { .size = sizeof(visitor),
						   .number = take_attr_number };
	uint64_t mask = 0;

	if (pd_record_attr(r))
		pd_attr_visit(rec->reader, pd_record_attr(r), &visitor, &mask);
	return mask;
}

static struct task *task_of(struct recording *rec, uint32_t pid)
{
	for (size_t i = rec->nr_tasks; i-- > 0;)
		if (rec->tasks[i]->pid == pid)
			return rec->tasks[i];
	if (!(rec->nr_tasks & (rec->nr_tasks - 1)))
		rec->tasks = checked(realloc(rec->tasks, (rec->nr_tasks ? 2 * rec->nr_tasks : 1) *
								 sizeof(*rec->tasks)));
	rec->tasks[rec->nr_tasks] = checked(calloc(1, sizeof(struct task)));
	rec->tasks[rec->nr_tasks]->pid = pid;
	rec->tasks[rec->nr_tasks]->generation = ++rec->generation;
	return rec->tasks[rec->nr_tasks++];
}

static unsigned int file_of(struct recording *rec, struct pd_bytes name)
{
	for (size_t i = 0; i < rec->nr_files; i++)
		if (strlen(rec->files[i]) == name.size &&
		    !memcmp(rec->files[i], name.data, name.size))
			return (unsigned int)i;
	if (rec->nr_files == sizeof(rec->files) / sizeof(rec->files[0]))
		abort();
	rec->files[rec->nr_files] = checked(strndup((const char *)name.data, name.size));
	return (unsigned int)rec->nr_files++;
}

static void add_map(struct recording *rec, struct task *t, struct map map)
{
	t->maps = checked(realloc(t->maps, (t->nr + 1) * sizeof(map)));
	t->maps[t->nr++] = map;
	t->generation = ++rec->generation;
}

static void learn_map(struct recording *rec, const struct pd_record *r)
{
	const uint64_t start = number_of(r, "addr");
	struct pd_bytes name = { NULL, 0 };
	const char *kind = pd_record_name(r);
	uint64_t prot = PROT_EXECUTE;

	pd_record_get_number(r, "prot", &prot);
	if (pd_record_misc(r) & (1 << 13) ||
	    (strcmp(kind, "MMAP2") == 0 && !(prot & PROT_EXECUTE)) ||
	    !pd_record_get_text(r, "filename", &name) || (int32_t)number_of(r, "pid") == -1)
		return;
	add_map(rec, task_of(rec, (uint32_t)number_of(r, "pid")),
		(struct map){ start, start + number_of(r, "len"), number_of(r, "pgoff"),
			      file_of(rec, name) });
}

/* Follows a record that is not a sample. */
static void learn_record(struct recording *rec, const struct pd_record *r)
{
	const char *kind = pd_record_name(r);
	const uint32_t pid = (uint32_t)number_of(r, "pid"), parent = (uint32_t)number_of(r, "ppid");

	if (strcmp(kind, "MMAP") == 0 || strcmp(kind, "MMAP2") == 0) {
		learn_map(rec, r);
	} else if (strcmp(kind, "COMM") == 0 && pd_record_misc(r) & MISC_COMM_EXEC) {
		task_of(rec, pid)->nr = 0;
		task_of(rec, pid)->generation = ++rec->generation;
	} else if (strcmp(kind, "FORK") == 0 && pid != parent) {
		struct task *from = task_of(rec, parent), *to = task_of(rec, pid);

		to->nr = 0;
		for (size_t i = 0; i < from->nr; i++)
			add_map(rec, to, from->maps[i]);
	}
}

static inline const struct map *find_map(const struct task *t, uint64_t address)
{
	for (size_t i = t->nr; i-- > 0;)
		if (address >= t->maps[i].start && address < t->maps[i].end)
			return &t->maps[i];
	return NULL;
}

static bool is_sample(const struct pd_record *r)
{
	return strcmp(pd_record_name(r), "SAMPLE") == 0;
}

/* Prints what both programs say of a sample, before its frames. */
static void print_sample(const struct pd_record *r, size_t frames, const char *end)
{
	uint64_t time = 0;

	pd_record_time(r, &time);
	printf("sample %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu %s\n", pd_record_offset(r),
	       number_of(r, "tid"), time, frames, end);
}

/* Reads a sample that has user registers; false: it has none. The bytes are those of the record. */
static bool read_stack(struct recording *rec, const struct pd_record *r, struct stack_sample *out)
{
	struct pd_numbers regs;
	struct pd_bytes bytes = { NULL, 0 };

	if (!is_sample(r) || !pd_record_get_numbers(r, "regs_user.regs", &regs) ||
	    regs.count > MAX_REGISTERS)
		return false;
	*out = (struct stack_sample){ .pid = (uint32_t)number_of(r, "pid"),
				      .tid = (uint32_t)number_of(r, "tid"),
				      .offset = pd_record_offset(r),
				      .abi = number_of(r, "regs_user.abi") };
	out->mask = mask_of(rec, r);
	out->precise = pd_record_misc(r) & MISC_EXACT_IP;
	for (; out->nr_registers < regs.count; out->nr_registers++)
		out->registers[out->nr_registers] = pd_number_at(&regs, out->nr_registers);
	pd_record_get_text(r, "stack_user.data", &bytes);
	out->size = number_of(r, "stack_user.size");
	out->dyn_size = number_of(r, "stack_user.dyn_size");
	out->bytes = bytes.data;
	if (out->dyn_size > bytes.size)
		out->dyn_size = bytes.size;
	out->task = task_of(rec, out->pid);
	for (size_t i = 0; i < out->task->nr; i++)
		if (out->task->maps[i].end - 1 > out->highest &&
		    out->task->maps[i].start >> 52 == 0)
			out->highest = out->task->maps[i].end - 1;
	return true;
}

static uint16_t machine_of(struct pd_reader *reader)
{
	struct pd_feature f;
	struct pd_error e;

	for (size_t i = 0; i < pd_reader_nr_features(reader); i++)
		if (!pd_reader_feature(reader, i, &f, &e) && f.name &&
		    strcmp(f.name, "ARCH") == 0 && memmem(f.bytes.data, f.bytes.size, "aarch64", 7))
			return EM_AARCH64;
	return EM_X86_64;
}

/* Opens a recording; NULL: a line on standard output says why. */
static struct recording *open_recording(const char *path)
{
	struct recording *rec = checked(calloc(1, sizeof(*rec)));
	struct pd_error e;
	char text[256];

	rec->reader = pd_reader_open_path(path, PD_READER_OPTIONS(.order = PD_BY_TIME), &e);
	if (!rec->reader) {
		printf("%s\n", pd_error_text(&e, text, sizeof(text)));
		free(rec);
		return NULL;
	}
	rec->machine = machine_of(rec->reader);
	return rec;
}

static void close_recording(struct recording *rec)
{
	pd_reader_free(rec->reader);
	for (size_t i = 0; i < rec->nr_tasks; i++) {
		free(rec->tasks[i]->maps);
		free(rec->tasks[i]);
	}
	free(rec->tasks);
	for (size_t i = 0; i < rec->nr_files; i++)
		free(rec->files[i]);
	free(rec);
}

#endif
