/* history_dump.c - prints whose each sample is and where its addresses are: history_dump
 * [OPTION...] FILE.
 * -a: totals, images, tasks and maps, too; -n: of these, only totals; -b: learns from batches; -t:
 * learns tasks alone; a number: the memory limit.
 *
 * For a sample: "sample OFFSET PID TID CPU TIME|- COMM|?", then for each address
 * "  OF CPUMODE ADDR ..." with the image, the offset in the file, flags and the image's path, or
 * the reason.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/history.h>
#include <pd/pd.h>

static const char *const of_names[] = { "ip", "chain", "from", "to" };
static const char *const mode_names[] = { "UNKNOWN",	"KERNEL",	"USER",
					  "HYPERVISOR", "GUEST_KERNEL", "GUEST_USER" };

/* A value in quotes, as in JSON, byte by byte. */
static void print_text(const char *text)
{
	putchar('"');
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p < ' ' || *p == '"' || *p == '\\' || *p > '~')
			printf("\\x%02x", *p);
		else
			putchar(*p);
	}
	putchar('"');
}

static void print_bytes(struct pd_bytes b)
{
	for (size_t i = 0; i < b.size; i++)
		printf("%02x", b.data[i]);
	if (!b.size)
		putchar('-');
}

static void print_location(const struct pd_history *h, const struct pd_location *l)
{
	printf("  %s %s 0x%" PRIx64, of_names[l->of], mode_names[l->cpumode < 6 ? l->cpumode : 0],
	       l->addr);
	if (l->flags & PD_LOCATION_RETURN)
		printf(" return");
	if (l->image == PD_NO_IMAGE) {
		printf(" why=%s\n", pd_why_name(l->why));
		return;
	}
	printf(" image=%u offset=0x%" PRIx64, l->image, l->file_offset);
	if (l->flags & PD_LOCATION_DATA)
		printf(" data");
	if (l->flags & PD_LOCATION_REMAPPED)
		printf(" remapped");
	putchar(' ');
	print_text(pd_history_image(h, l->image)->path);
	putchar('\n');
}

static void print_locations(const struct pd_history *h, const struct pd_record *r, int is_branches)
{
	static struct pd_location locations[65536];
	const size_t room = sizeof(locations) / sizeof(*locations);
	size_t n = is_branches ? pd_history_branches(h, r, locations, room)
			       : pd_history_frames(h, r, locations, room);

	for (size_t i = 0; i < n && i < room; i++)
		print_location(h, &locations[i]);
}

static int number_or(const struct pd_record *r, const char *name, int otherwise)
{
	uint64_t n;

	return pd_record_get_number(r, name, &n) ? (int)n : otherwise;
}

static void print_sample(const struct pd_history *h, const struct pd_record *r)
{
	const int pid = number_or(r, "pid", -1), tid = number_or(r, "tid", -1),
		  cpu = number_or(r, "cpu", -1);
	struct pd_moment at;
	struct pd_task task;

	pd_record_moment(r, &at);
	printf("sample %" PRIu64 " %d %d %d ", pd_record_offset(r), pid, tid, cpu);
	if (at.time == PD_NO_TIME)
		printf("- ");
	else
		printf("%" PRIu64 " ", at.time);
	if (pd_history_task(h, pid, tid, cpu, &at, &task) && task.comm)
		print_text(task.comm);
	else
		putchar('?');
	putchar('\n');
	print_locations(h, r, 0);
	print_locations(h, r, 1);
}

static void print_time(uint64_t time)
{
	if (time == PD_NO_TIME)
		printf(" -");
	else
		printf(" %" PRIu64, time);
}

static void print_all(const struct pd_history *h)
{
	const struct pd_image *image;
	struct pd_mapping m;
	struct pd_task t;

	for (size_t i = 0; (image = pd_history_image(h, i)) != NULL; i++) {
		printf("image %zu %s ", i, pd_image_kind_name(image->kind));
		print_text(image->path);
		printf(" id=");
		print_bytes(image->build_id);
		printf(" from=%d", image->build_id_source);
		if (image->has_inode)
			printf(" inode=%u:%u:%" PRIu64 ":%" PRIu64, image->maj, image->min,
			       image->ino, image->ino_generation);
		if (image->symbol)
			printf(" symbol=%s", image->symbol);
		if (image->bpf_id)
			printf(" bpf=%u", image->bpf_id);
		printf("%s\n", image->is_guest ? " guest" : "");
	}
	for (size_t i = 0; pd_history_task_at(h, i, &t); i++) {
		printf("task %d %d %d %d ", t.pid, t.tid, t.ppid, t.ptid);
		if (t.comm)
			print_text(t.comm);
		else
			putchar('?');
		print_time(t.start);
		print_time(t.end);
		printf(" execs=%u flags=%x", t.execs, t.flags);
		if (t.namespaces)
			printf(" mnt=%" PRIu64,
			       t.namespaces->count > 5 ? t.namespaces->of[5].inode : 0);
		putchar('\n');
	}
	for (size_t i = 0; pd_history_mapping(h, i, &m); i++) {
		printf("map %d %d 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " %s", m.pid,
		       (int)m.image, m.start, m.len, m.pgoff, m.is_data ? "data" : "code");
		print_time(m.time);
		print_time(m.until);
		putchar('\n');
	}
}

static void print_totals(const struct pd_history *h)
{
	struct pd_history_counts counts = { .size = sizeof(counts) };

	pd_history_count(h, &counts);
	printf("memory %" PRIu64 "\n", counts.memory);
	printf("counts changes=%" PRIu64 " spaces=%" PRIu64 " text_pokes=%" PRIu64 " lost=%" PRIu64
	       " damaged=%" PRIu64 " left_out=%" PRIu64 "\n",
	       counts.changes, counts.spaces, counts.text_pokes, counts.lost, counts.damaged,
	       counts.left_out);
}

static void report(const struct pd_error *e)
{
	printf("error %s\n", pd_code_name(e->code));
}

static struct pd_reader *open_file(const char *path, enum pd_order_by order)
{
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_path(path, PD_READER_OPTIONS(.order = order), &e);

	if (!r)
		report(&e);
	return r;
}

/* One pass, in the order of time. */
static int follow(struct pd_history *h, const char *path)
{
	struct pd_history_counts counts = { .size = sizeof(counts) };
	struct pd_reader *r = open_file(path, PD_BY_TIME);
	const struct pd_record *record;
	struct pd_error e;

	if (r && pd_history_add_features(h, r, &e))
		report(&e);
	while (r && pd_reader_next(r, &record, &e) == 1) {
		if (pd_history_add_record(h, record, &e))
			report(&e);
		if (pd_record_type(record) == PD_RECORD_SAMPLE)
			print_sample(h, record);
	}
	if (pd_history_seal(h, r, &e))
		report(&e);
	pd_history_count(h, &counts);
	printf("live late=%" PRIu64 " forgotten=%" PRIu64 " left_out=%" PRIu64 " memory=%" PRIu64
	       "\n", counts.late, counts.forgotten, counts.left_out, counts.memory);
	pd_reader_free(r);
	pd_history_free(h);
	return 0;
}

static int learn_batches(struct pd_history *h, struct pd_reader *r, struct pd_error *e)
{
	int n;

	while ((n = pd_history_learn_next(h, r, NULL, e)) > 0)
		;
	return n;
}

int main(int argc, char **argv)
{
	struct pd_history_options o = { .size = sizeof(o) };
	const struct pd_record *record;
	struct pd_history *h;
	struct pd_reader *r;
	struct pd_error e;
	int all = 0, few = 0, batches = 0, ret;

	for (; argc > 2; argv++, argc--) {
		if (strcmp(argv[1], "-a") == 0)
			all = 1;
		else if (strcmp(argv[1], "-n") == 0)
			few = 1;
		else if (strcmp(argv[1], "-b") == 0)
			batches = 1;
		else if (strcmp(argv[1], "-l") == 0)
			o.mode = PD_HISTORY_LIVE;
		else if (strcmp(argv[1], "-t") == 0)
			o.scope = PD_HISTORY_TASKS;
		else
			o.memory_limit = strtoull(argv[1], NULL, 10);
	}
	h = pd_history_new(&o, &e);
	if (o.mode == PD_HISTORY_LIVE)
		return h ? follow(h, argv[1]) : 1;
	r = open_file(argv[1], PD_AS_WRITTEN);
	if (!h || !r)
		return 1;
	if (batches ? learn_batches(h, r, &e) : pd_history_learn(h, r, &e))
		report(&e);
	if (pd_history_seal(h, r, &e))
		report(&e);
	if (pd_history_lacks_memory(h, &e))
		printf("lacks memory: %s\n", pd_code_name(e.code));
	pd_reader_free(r);
	if (all && !few)
		print_all(h);
	if (all)
		print_totals(h);
	r = open_file(argv[1], PD_AS_WRITTEN);
	while (r && (ret = pd_reader_next(r, &record, &e)) == 1)
		if (pd_record_type(record) == PD_RECORD_SAMPLE)
			print_sample(h, record);
	pd_reader_free(r);
	pd_history_free(h);
	return 0;
}
