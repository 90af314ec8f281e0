/* buildid_reader.c - requests to the process that reads build ids. */
#include "buildid/buildid_reader.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file_process.h"
#include "base/mapped_inode.h"
#include "base/regular_file.h"
#include "process/clock.h"

enum {
	FILE_MS = 2000,			/* in which a file must answer */
	DEVICES = 16,			/* silent ones that are remembered */
};

struct request {
	uint64_t ino, changed_by;
	uint32_t maj, min;
	char paths[2][PATH_MAX + 64];	/* the second may be empty */
};

struct reply {
	struct buildid id;
	bool is_replaced;
};

struct device {
	uint32_t maj, min;
};

struct buildid_reader {
	struct file_process process;
	struct device silent[DEVICES];
	size_t nr_silent;
	struct request request;
	const struct held_files *held;	/* may be NULL */
};

/* Returns whether it is the file that was mapped: another may have its name now, or in another
 * mount namespace. */
static bool is_mapped_file(const struct request *r, int fd, const struct stat *st)
{
	struct mapped_inode now;

	if (!r->ino)
		return true;
	if (r->ino == st->st_ino && r->maj == major(st->st_dev) && r->min == minor(st->st_dev))
		return true;
	return mapped_inode_of(fd, &now) && r->ino == now.ino && r->maj == now.maj &&
	       r->min == now.min;
}

/* Returns whether the file is the mapped one. changed: wall clock, ns; 0: its ctime. If it is later
 * than the map, the file was written since, or may have been. */
static bool read_mapped(const struct request *r, const char *path, uint64_t changed,
			struct reply *reply)
{
	struct stat st;
	int fd = open_regular(AT_FDCWD, path, &st);
	bool is_same;

	if (fd < 0)
		return false;
	if (!changed)
		changed = clock_in_ns(&st.st_ctim);
	is_same = is_mapped_file(r, fd, &st) && (!r->changed_by || changed <= r->changed_by);
	if (is_same)
		buildid_of_fd(fd, &reply->id);
	reply->is_replaced = !is_same;
	close(fd);
	return is_same;
}

static bool read_below_roots(const struct buildid_reader *reader, struct reply *reply)
{
	const struct request *r = &reader->request;
	char root[HELD_PATH], path[HELD_PATH + sizeof(r->paths[1])];

	for (size_t i = 0; i < reader->held->n; i++) {
		held_path(reader->held->holder, reader->held->fds[i], root);
		snprintf(path, sizeof(path), "%s%s", root, r->paths[1]);
		if (read_mapped(r, path, 0, reply))
			return true;
	}
	return false;
}

static bool read_held_image(const struct buildid_reader *reader, struct reply *reply)
{
	char path[HELD_PATH];

	for (size_t i = 0; i < reader->held->nr_images; i++) {
		const struct held_image *p = &reader->held->images[i];

		held_path(reader->held->holder, p->fd, path);
		if (read_mapped(&reader->request, path, p->changed, reply))
			return true;
	}
	return false;
}

static void read_anywhere(const struct buildid_reader *reader, struct reply *reply)
{
	const struct request *r = &reader->request;

	memset(reply, 0, sizeof(*reply));
	if (read_mapped(r, r->paths[0], 0, reply) || !r->paths[1][0])
		return;
	if (!read_mapped(r, r->paths[1], 0, reply) && r->ino && reader->held &&
	    !read_below_roots(reader, reply))
		read_held_image(reader, reply);
}

static void serve_build_ids(void *arg, int socket, int file)
{
	struct buildid_reader *reader = arg;
	struct request *r = &reader->request;
	struct reply reply;

	(void)file;
	while (recv(socket, r, sizeof(*r), MSG_WAITALL) == sizeof(*r)) {
		read_anywhere(reader, &reply);
		if (!file_process_send(socket, &reply, sizeof(reply)))
			break;
	}
}

struct buildid_reader *buildid_reader_new(const struct held_files *held)
{
	struct buildid_reader *r = calloc(1, sizeof(*r));

	if (r)
		*r = (struct buildid_reader){ .process = FILE_PROCESS_NONE, .held = held };
	return r;
}

void buildid_reader_free(struct buildid_reader *r)
{
	if (r)
		file_process_end(&r->process);
	free(r);
}

static bool is_device_silent(const struct buildid_reader *r, const struct buildid_place *place)
{
	for (size_t i = 0; i < r->nr_silent; i++)
		if (r->silent[i].maj == place->maj && r->silent[i].min == place->min)
			return true;
	return false;
}

static void remember_device(struct buildid_reader *r, const struct buildid_place *place)
{
	if ((place->maj || place->min) && r->nr_silent < DEVICES)
		r->silent[r->nr_silent++] = (struct device){ place->maj, place->min };
}

static void set_request(struct request *r, const struct buildid_place *place)
{
	r->ino = place->ino;
	r->maj = place->maj;
	r->min = place->min;
	r->changed_by = place->changed_by;
	snprintf(r->paths[0], sizeof(r->paths[0]), "%s", place->paths[0]);
	snprintf(r->paths[1], sizeof(r->paths[1]), "%s", place->paths[1] ? place->paths[1] : "");
}

static enum file_answer ask_process(struct buildid_reader *r, const struct deadline *deadline,
				    struct reply *out)
{
	const struct deadline soon = deadline_within(deadline, FILE_MS);

	if (!file_process_send(r->process.socket, &r->request, sizeof(r->request)))
		return FILE_ENDED;
	return file_process_receive(&r->process, out, sizeof(*out), &soon);
}

enum buildid_result buildid_read(struct buildid_reader *r, const struct buildid_place *place,
				 const struct deadline *deadline, struct buildid *out)
{
	enum file_answer answer;
	struct reply reply;

	out->size = 0;
	if (is_device_silent(r, place))
		return BUILDID_SILENT;
	if (r->process.socket < 0 && !file_process_start(&r->process, serve_build_ids, r, -1))
		return BUILDID_UNREAD;
	set_request(&r->request, place);
	answer = ask_process(r, deadline, &reply);
	if (answer == FILE_ANSWERED && reply.id.size <= BUILDID_MAX) {
		*out = reply.id;
		if (out->size)
			return BUILDID_FOUND;
		return reply.is_replaced ? BUILDID_REPLACED : BUILDID_ABSENT;
	}
	file_process_end(&r->process);
	if (answer != FILE_SILENT)
		return BUILDID_ABSENT;
	if (deadline_is_over(deadline))
		return BUILDID_UNREAD;
	remember_device(r, place);
	return BUILDID_SILENT;
}
