/* synth_maps.c - MMAP2 records of a process, with inodes or build ids. */
#include "synth/synth_maps.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buildid/buildid_reader.h"

/* linux/perf_event.h */
#define MISC_USER 2
#define MISC_TIMEOUT (1 << 12)
#define MISC_MMAP_DATA (1 << 13)
#define MISC_BUILD_ID (1 << 14)
#define CACHE_ENTRIES 1024		/* a power of two */

struct cached_id {
	uint64_t ino;
	uint32_t maj, min;
	struct buildid id;
};

struct synth_maps {
	struct pd_writer *w;
	const struct synth_options *o;
	struct synth_report *report;
	struct pd_error *e;
	int proc;
	struct buildid_reader *reader;	/* NULL: no build ids */
	struct cached_id *cache;	/* by a hash of the inode; newer entries replace older */
	char name[PATH_MAX + 32];
};

struct synth_maps *synth_maps_new(struct pd_writer *w, const struct synth_options *o,
				  struct synth_report *report, int proc, struct pd_error *e)
{
	struct synth_maps *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct synth_maps){ .w = w, .o = o, .report = report, .proc = proc, .e = e };
	if (o->what & SYNTH_BUILD_IDS) {
		s->cache = calloc(CACHE_ENTRIES, sizeof(*s->cache));
		s->reader = buildid_reader_new(NULL);
		report->lacks_memory |= !s->cache || !s->reader;
	}
	return s;
}

void synth_maps_free(struct synth_maps *s)
{
	if (!s)
		return;
	buildid_reader_free(s->reader);
	free(s->cache);
	free(s);
}

/* The maps file writes a newline in a path as \012, as it does those four characters. The link in
 * map_files is unambiguous, but needs privileges; without it a newline is assumed. */
static size_t map_name(struct synth_maps *s, pid_t pid, const struct task_map *m)
{
	size_t n = m->name_size < sizeof(s->name) - 1 ? m->name_size : sizeof(s->name) - 1, out = 0;
	char link[96];
	ssize_t got;

	if (!memmem(m->name, n, "\\012", 4)) {
		memcpy(s->name, m->name, n);
		return n;
	}
	snprintf(link, sizeof(link), "%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->start,
		 m->end);
	got = readlinkat(s->proc, link, s->name, sizeof(s->name) - 1);
	if (got > 0)
		return (size_t)got;
	for (size_t i = 0; i < n; i++) {
		if (n - i >= 4 && memcmp(m->name + i, "\\012", 4) == 0) {
			s->name[out++] = '\n';
			i += 3;
		} else {
			s->name[out++] = m->name[i];
		}
	}
	return out;
}

/* The file as the process sees it: its root may differ, and the name may be gone. */
static void read_build_id(struct synth_maps *s, pid_t pid, const struct task_map *m,
			  struct buildid *id)
{
	char mapped[96], path[PATH_MAX + 64];
	const struct buildid_place place = {
		.paths = { mapped, path }, .ino = m->ino, .maj = m->maj, .min = m->min,
	};
	enum buildid_result result;

	snprintf(mapped, sizeof(mapped), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 m->start, m->end);
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, s->name);
	result = buildid_read(s->reader, &place, &s->o->deadline, id);
	if (result == BUILDID_SILENT)
		file_names_add(&s->report->silent, s->name);
	s->report->cut = s->report->cut || result == BUILDID_UNREAD;
}

static const struct buildid *map_build_id(struct synth_maps *s, pid_t pid, const struct task_map *m)
{
	struct cached_id *k = &s->cache[(m->ino ^ m->min) & (CACHE_ENTRIES - 1)];

	if (s->name[0] != '/' || m->ino == 0)
		return NULL;
	if (k->ino != m->ino || k->maj != m->maj || k->min != m->min) {
		*k = (struct cached_id){ .ino = m->ino, .maj = m->maj, .min = m->min };
		read_build_id(s, pid, m, &k->id);
	}
	return k->id.size ? &k->id : NULL;
}

static int write_map(struct synth_maps *s, const struct task *t, const struct task_map *m,
		     uint16_t misc)
{
	const struct buildid *id;
	size_t size;
	struct pd_value v[12] = {
		PD_NUMBER("pid", t->pid), PD_NUMBER("tid", t->pid), PD_NUMBER("addr", m->start),
		PD_NUMBER("len", m->end - m->start), PD_NUMBER("pgoff", m->pgoff),
		PD_NUMBER("prot", m->prot), PD_NUMBER("flags", m->flags),
	};
	size_t n = 7;

	size = map_name(s, t->pid, m);
	s->name[size] = '\0';
	if (size == 0)
		size = (size_t)snprintf(s->name, sizeof(s->name), "//anon");
	v[n++] = (struct pd_value)PD_BYTES("filename", s->name, size);
	v[n - 1].kind = PD_VALUE_TEXT;
	id = s->cache && s->reader ? map_build_id(s, t->pid, m) : NULL;
	if (id) {
		misc |= MISC_BUILD_ID;
		v[n++] = (struct pd_value)PD_NUMBER("build_id_size", id->size);
		v[n++] = (struct pd_value)PD_BYTES("build_id", id->data, id->size);
	} else {
		v[n++] = (struct pd_value)PD_NUMBER("maj", m->maj);
		v[n++] = (struct pd_value)PD_NUMBER("min", m->min);
		v[n++] = (struct pd_value)PD_NUMBER("ino", m->ino);
		v[n++] = (struct pd_value)PD_NUMBER("ino_generation", 0);
	}
	s->report->maps++;
	return pd_writer_record(s->w, PD_RECORD_MMAP2, misc, s->o->event, v, n,
				(struct pd_bytes){ 0 }, s->e);
}

/* Writes executable maps, with -d all readable ones. The last record of an incomplete list is
 * marked. */
int synth_maps_write(struct synth_maps *s, const struct task *t)
{
	const char *at = t->maps_size ? t->maps : NULL;
	bool data = s->o->what & SYNTH_DATA_MAPS;
	struct task_map m, previous;
	uint16_t misc = 0;

	while (!s->report->cut && task_map_next(&at, &m)) {
		bool code = m.prot & PROT_EXEC;

		if (!code && !(data && (m.prot & PROT_READ)))
			continue;
		s->report->cut = deadline_is_over(&s->o->deadline);
		if (misc && write_map(s, t, &previous, misc) != 0)
			return -1;
		previous = m;
		misc = MISC_USER | (code ? 0 : MISC_MMAP_DATA);
	}
	if (!misc)
		return 0;
	return write_map(s, t, &previous,
			 misc | (t->timed_out || s->report->cut ? MISC_TIMEOUT : 0));
}
