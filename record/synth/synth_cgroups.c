/* synth_cgroups.c - CGROUP records for existing cgroups. */
#include "synth/synth_cgroups.h"

#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds the hierarchy of the perf_event controller: if a version 1 mount has it, version 2 does
 * not. */
static bool find_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false, v1 = false;

	while (mounts && !v1 && (m = getmntent(mounts))) {
		v1 = strcmp(m->mnt_type, "cgroup") == 0 && hasmntopt(m, "perf_event");
		if (!v1 && (found || strcmp(m->mnt_type, "cgroup2") != 0))
			continue;
		snprintf(path, size, "%s", m->mnt_dir);
		found = true;
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* The kernel's id of a cgroup is the file handle of its directory. */
static bool cgroup_id(const char *path, uint64_t *id)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} h = { .handle.handle_bytes = sizeof(uint64_t) };
	int mount;

	if (name_to_handle_at(AT_FDCWD, path, &h.handle, &mount, 0) != 0 ||
	    h.handle.handle_bytes != sizeof(*id))
		return false;
	memcpy(id, h.handle.f_handle, sizeof(*id));
	return true;
}

static int write_cgroup(struct pd_writer *w, int event, uint64_t id, const char *path,
			struct pd_error *e)
{
	const struct pd_value v[] = { PD_NUMBER("id", id), PD_TEXT("path", *path ? path : "/") };

	return pd_writer_record(w, PD_RECORD_CGROUP, 0, event, v, 2, (struct pd_bytes){ 0 }, e);
}

int synth_cgroups(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		  struct pd_error *e)
{
	char mount[PATH_MAX];
	char *roots[] = { mount, NULL };
	FTS *tree;
	FTSENT *entry;
	int ret = 0;

	if (!find_mount(mount, sizeof(mount)))
		return 0;
	/* FTS_NOSTAT: link counts and d_type suffice to find directories. */
	tree = fts_open(roots, FTS_PHYSICAL | FTS_NOSTAT | FTS_NOCHDIR | FTS_XDEV, NULL);
	while (tree && ret == 0 && (entry = fts_read(tree))) {
		uint64_t id;

		report->cut = report->cut || deadline_is_over(&o->deadline);
		if (report->cut)
			break;
		if (entry->fts_info == FTS_D && cgroup_id(entry->fts_path, &id))
			ret = write_cgroup(w, o->event, id, entry->fts_path + strlen(mount), e);
	}
	if (tree)
		fts_close(tree);
	return ret;
}
