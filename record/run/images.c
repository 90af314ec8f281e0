/* images.c - keep descriptors of the programs that were started last. */
#include "run/images.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/clock.h"

/* Finds the mount of a descriptor. The kernel knows it: a file system that does not answer is not
 * asked, as fstat(2) may do. Returns -1 if that is not possible. */
static int mount_of(int fd)
{
	char path[40], line[64];
	int mount = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && mount < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "mnt_id: %d", &mount) != 1)
			mount = -1;
	if (f)
		fclose(f);
	return mount;
}

void images_start(struct images *p, enum images_kept kept)
{
	const char *temporary = getenv("TMPDIR");
	const char *const paths[IMAGE_MOUNTS] = { "/", ".", temporary ? temporary : "/tmp" };

	p->kept = kept;
	for (size_t i = 0; i < IMAGE_MOUNTS; i++) {
		const int fd = open(paths[i], O_PATH | O_CLOEXEC);

		if (fd < 0)
			continue;
		p->mounts[p->nr_mounts++] = mount_of(fd);
		close(fd);
	}
}

static bool is_memory_file(const char *link)
{
	static const char head[] = "/memfd:";
	char target[sizeof(head)];
	const ssize_t n = readlink(link, target, sizeof(head) - 1);

	return n == sizeof(head) - 1 && memcmp(target, head, sizeof(head) - 1) == 0;
}

static bool is_in_use_anyway(const struct images *p, int mount)
{
	for (size_t i = 0; i < p->nr_mounts; i++)
		if (p->mounts[i] == mount)
			return mount >= 0;
	return false;
}

static struct image_hold *find_image(struct images *p, const struct stat *st)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->holds[i].was.st_ino == st->st_ino && p->holds[i].was.st_dev == st->st_dev)
			return &p->holds[i];
	return NULL;
}

static void drop_image(struct images *p, size_t i)
{
	close(p->holds[i].fd);
	p->holds[i] = p->holds[--p->n];
}

static void drop_oldest(struct images *p)
{
	size_t oldest = 0;

	for (size_t i = 1; i < p->n; i++)
		if (p->holds[i].alive < p->holds[oldest].alive)
			oldest = i;
	drop_image(p, oldest);
}

/* Opens nothing of the file system that the program is on. Returns a descriptor, or -1. */
static int find_file(const struct images *p, pid_t pid, struct stat *st)
{
	char link[32];
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	fd = open(link, O_PATH | O_CLOEXEC);
	if (fd >= 0 && held_leaves_room(fd) &&
	    (is_in_use_anyway(p, mount_of(fd)) || is_memory_file(link)) && fstat(fd, st) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void images_hold(struct images *p, pid_t pid)
{
	struct image_hold *held;
	struct stat st;
	const int fd = find_file(p, pid, &st);

	if (fd < 0)
		return;
	held = find_image(p, &st);
	if (held) {
		held->pid = pid;
		held->alive = clock_ms();
		close(fd);
		return;
	}
	if (p->n == HELD_IMAGES_MOST)
		drop_oldest(p);
	p->holds[p->n++] = (struct image_hold){ fd, st, pid, clock_ms() };
}

void images_age(struct images *p, uint64_t now)
{
	for (size_t i = p->n; i-- > 0 && p->kept == IMAGES_WHILE_MAPPED;)
		if (held_is_over(p->holds[i].pid, &p->holds[i].alive, now))
			drop_image(p, i);
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* To remove a file changes its ctime, but afterwards there is no path to write to it. */
static bool is_as_it_was(const struct image_hold *h)
{
	struct stat now;

	if (fstat(h->fd, &now))
		return false;
	return is_same_time(&now.st_ctim, &h->was.st_ctim) ||
	       (!now.st_nlink && now.st_size == h->was.st_size &&
		is_same_time(&now.st_mtim, &h->was.st_mtim));
}

void images_list(const struct images *p, struct held_files *out)
{
	out->nr_images = 0;
	for (size_t i = 0; i < p->n; i++)
		if (is_as_it_was(&p->holds[i]))
			out->images[out->nr_images++] = (struct held_image){
				p->holds[i].fd, p->holds[i].was.st_ino,
				clock_in_ns(&p->holds[i].was.st_ctim),
			};
}

void images_close(struct images *p)
{
	while (p->n)
		drop_image(p, p->n - 1);
}
