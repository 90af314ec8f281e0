/* buildid_feature.c - write feature BUILD_ID. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "buildid/buildid.h"
#include "buildid/buildid_hits.h"
#include "buildid/buildid_reader.h"
#include "buildid/buildid_scan.h"
#include "pd/pd.h"

/* linux/perf_event.h and perf's util/build-id.c; MISC_SIZE: build_id_size is valid */
enum { MISC_KERNEL = 1, MISC_USER = 2, MISC_SIZE = 1 << 15 };
#define ITEM_SIZE 36		/* without the name */
#define NAME_ALIGN 64		/* perf's */
#define SMALL_RECORDING (1u << 20)	/* bytes, read back at once */

/* Clocks drift apart by less than 1/2048 of the time that passes; files have times of the last
 * tick. */
enum { SLACK_NS = 10000000, DRIFT = 2048 };

struct reading {
	struct buildid_reader *reader;
	const struct buildid_request *what;
	struct buildid_summary *out;
};

/* Returns until when a file may have been changed: when it was mapped first, or else before the
 * first sample. 0: not known. */
static uint64_t latest_change(const struct reading *r, const struct hits_file *f)
{
	const uint64_t mapped = f->mapped_at ? f->mapped_at : r->out->first;
	const struct buildid_request *what = r->what;

	if (!mapped || what->now < mapped || what->now - mapped > what->wall)
		return 0;
	return what->wall - (what->now - mapped) + SLACK_NS + (what->now - mapped) / DRIFT;
}

/* Asks the process that reads files. */
static bool read_file(const struct reading *r, const struct hits_file *f,
		      const char *const paths[2], struct buildid *id)
{
	const struct buildid_place place = {
		.paths = { paths[0], paths[1] }, .ino = f->ino, .maj = f->maj, .min = f->min,
		.changed_by = latest_change(r, f),
	};
	const enum buildid_result result = buildid_read(r->reader, &place, r->what->deadline, id);

	r->out->cut = r->out->cut || result == BUILDID_UNREAD;
	if (result == BUILDID_SILENT)
		file_names_add(&r->out->silent, f->name);
	if (result == BUILDID_REPLACED)
		file_names_add(&r->out->replaced, f->name);
	return result == BUILDID_FOUND;
}

static bool read_kernel_or_module(const struct reading *r, const struct hits_file *f,
				  struct buildid *id)
{
	const char *name = f->name;
	size_t size = strlen(name);
	char module[NAME_MAX];

	if (strcmp(name, "[kernel.kallsyms]") == 0)
		return buildid_of_kernel(id);
	if (name[0] == '/')
		return read_file(r, f, (const char *const[2]){ name }, id);
	if (size < 3 || name[0] != '[' || name[size - 1] != ']' || size > sizeof(module))
		return false;
	memcpy(module, name + 1, size - 2);
	module[size - 2] = '\0';
	return buildid_of_module(module, id);
}

static bool is_vdso(const struct hits_file *f)
{
	return strcmp(f->name, "[vdso]") == 0;
}

/* Tries the root directory of the process first, which may differ from the recorder's. */
static bool read_build_id(const struct reading *r, const struct hits_file *f, struct buildid *id)
{
	char path[PATH_MAX + 32];

	if (f->id.size) {
		*id = f->id;
		return true;
	}
	if (f->kernel)
		return read_kernel_or_module(r, f, id);
	if (is_vdso(f))
		return buildid_of_vdso(id);
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)f->pid, f->name);
	return read_file(r, f, (const char *const[2]){ path, f->name }, id);
}

struct item {
	struct buildid id;
	struct pd_value v[7];
};

static void set_item(struct item *item, const struct hits_file *f)
{
	size_t name = (strlen(f->name) + 1 + NAME_ALIGN - 1) & ~(size_t)(NAME_ALIGN - 1);
	const struct pd_value v[] = {
		PD_NUMBER("record_type", 0),
		PD_NUMBER("misc", MISC_SIZE | (f->kernel ? MISC_KERNEL : MISC_USER)),
		PD_NUMBER("size", ITEM_SIZE + name), PD_NUMBER("pid", -1),
		PD_BYTES("build_id", item->id.data, item->id.size),
		PD_NUMBER("build_id_size", item->id.size), PD_TEXT("filename", f->name),
	};

	memcpy(item->v, v, sizeof(v));
}

/* w may be NULL: nothing is written. */
static int write_feature(struct pd_writer *w, const struct hits *h,
			 const struct buildid_request *what, struct buildid_summary *out,
			 struct pd_error *e)
{
	const struct reading reading = { buildid_reader_new(what->held), what, out };
	struct item *items;
	struct pd_value *list, value;
	struct hits_file *f;
	size_t most = 0, n = 0;
	int ret = 0;

	while (hits_file_at(h, most))
		most++;
	/* The vdso is always included, as in perf. */
	items = calloc(most + 1, sizeof(*items));
	list = calloc(most + 1, sizeof(*list));
	for (size_t i = 0; reading.reader && items && list && (f = hits_file_at(h, i)); i++) {
		if (!f->hit && !is_vdso(f) && what->which != BUILDID_ALL)
			continue;
		out->cut = out->cut || deadline_is_over(what->deadline);
		if (out->cut)
			continue;
		if (!read_build_id(&reading, f, &items[n].id)) {
			out->unread |= items[n].id.lacks_memory;
			continue;
		}
		set_item(&items[n], f);
		list[n] = (struct pd_value)PD_OBJECT(NULL, items[n].v, 7);
		n++;
	}
	out->unread |= !reading.reader || !items || !list;
	out->files = n;
	value = (struct pd_value)PD_ARRAY(NULL, list, n);
	if (n && w)
		ret = pd_writer_feature(w, PD_FEATURE_BUILD_ID, &value, e);
	buildid_reader_free(reading.reader);
	free(items);
	free(list);
	return ret;
}

int buildid_feature_of(struct pd_writer *w, const struct hits *h,
		       const struct buildid_request *what, struct buildid_summary *out,
		       struct pd_error *e)
{
	return what->which != BUILDID_NONE ? write_feature(w, h, what, out, e) : 0;
}

static int scan_and_write(struct pd_writer *w, struct pd_reader *reader,
			  const struct buildid_request *what, struct buildid_summary *out,
			  struct pd_error *e)
{
	struct hits *h = reader ? hits_new() : NULL;
	int ret = 0;

	*out = (struct buildid_summary){ .unread = !h };
	if (h) {
		struct buildid_scan scan = { h, out, what->which, what->deadline->hurry, 0 };

		out->unread = buildid_scan(&scan, reader) || pd_reader_lacks_memory(reader);
		ret = buildid_feature_of(w, h, what, out, e);
	}
	hits_free(h);
	pd_reader_free(reader);
	return ret;
}

int buildid_feature_path(struct pd_writer *w, const char *path,
			 const struct buildid_request *what, struct buildid_summary *out,
			 struct pd_error *e)
{
	struct pd_error ignored;

	return scan_and_write(w, pd_reader_open_path(path, NULL, &ignored), what, out, e);
}

void buildid_check(const char *path, const struct buildid_request *what,
		   struct buildid_summary *out)
{
	struct pd_error ignored;

	buildid_feature_path(NULL, path, what, out, &ignored);
}

void buildid_count(const char *path, const bool *hurry, struct buildid_summary *out)
{
	struct pd_error ignored;
	struct pd_reader *reader = pd_reader_open_path(path, NULL, &ignored);
	struct hits *h = reader ? hits_new() : NULL;

	*out = (struct buildid_summary){ 0 };
	if (h) {
		struct buildid_scan scan = { h, out, BUILDID_NONE, hurry, 0 };

		buildid_scan(&scan, reader);
	}
	hits_free(h);
	pd_reader_free(reader);
}

/* Returns a small recording as a whole, for free(). NULL: too large, or it can't be read. */
static uint8_t *read_small(int fd, uint64_t size)
{
	uint8_t *all = size <= SMALL_RECORDING ? malloc(size) : NULL;

	if (all && pread(fd, all, size, 0) == (ssize_t)size)
		return all;
	free(all);
	return NULL;
}

int buildid_feature(struct pd_writer *w, int fd,
		    const struct buildid_request *what, struct buildid_summary *out,
		    struct pd_error *e)
{
	struct pd_bytes whole = { .size = pd_writer_size(w) };
	struct pd_error ignored;
	char path[32];
	uint8_t *all = read_small(fd, whole.size);
	int ret;

	if (all) {
		whole.data = all;
		ret = scan_and_write(w, pd_reader_open_memory(whole, NULL, &ignored), what, out,
				     e);
		free(all);
		return ret;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return buildid_feature_path(w, path, what, out, e);
}
