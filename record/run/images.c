/* images.c - keep descriptors of the programs and libraries that were mapped last. */
#include "run/images.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

static const char *temporary_directory(void)
{
	const char *named = getenv("TMPDIR");

	return named ? named : "/tmp";
}

void images_start(struct images *p, enum images_kept kept)
{
	const char *const paths[IMAGE_MOUNTS] = { "/", ".", temporary_directory() };

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

/* Returns whether a file that was opened with O_PATH may be kept: link leads to it. */
static bool is_kept(const struct images *p, int fd, const char *link, struct stat *st)
{
	return held_leaves_room(fd) &&
	       (is_in_use_anyway(p, mount_of(fd)) || is_memory_file(link)) &&
	       fstat(fd, st) == 0;
}

static void keep_image(struct images *p, const struct image_hold *image)
{
	struct image_hold *held = find_image(p, &image->was);

	if (held) {
		held->pid = image->pid;
		held->alive = image->alive;
		close(image->fd);
		return;
	}
	if (p->n == HELD_IMAGES_MOST)
		drop_oldest(p);
	p->holds[p->n++] = *image;
}

/* The link opens nothing of the file system that the program is on. */
void images_hold_program(struct images *p, pid_t pid)
{
	struct image_hold image = { .pid = pid, .alive = clock_ms() };
	char link[32];

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	image.fd = open(link, O_PATH | O_CLOEXEC);
	if (image.fd < 0)
		return;
	if (is_kept(p, image.fd, link, &image.was))
		keep_image(p, &image);
	else
		close(image.fd);
}

static bool is_worth_keeping(const char *path)
{
	static const char *const left_out[] = { "//", "/usr/", "/lib/", "/lib32/", "/lib64/" };

	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		if (strncmp(path, left_out[i], strlen(left_out[i])) == 0)
			return false;
	return path[0] == '/';
}

/* Opens a file on the file system of a directory, and never one on another, which might not answer.
 * Returns a descriptor, or -1. */
static int open_beneath(const char *directory, const char *path)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				      .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS };
	const int top = open(directory, O_PATH | O_CLOEXEC);
	int fd;

	if (top < 0)
		return -1;
	fd = (int)syscall(__NR_openat2, top, path, &how, sizeof(how));
	close(top);
	return fd;
}

/* map_files needs rights, and leads to the file also if that was removed. */
static int open_mapped(const struct image_map *map, char *link, size_t size)
{
	const char *temporary = temporary_directory();
	const size_t n = strlen(temporary);
	int fd;

	snprintf(link, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)map->pid, map->address,
		 map->address + map->size);
	fd = open(link, O_PATH | O_CLOEXEC);
	if (fd < 0)
		fd = open_beneath("/", map->path + 1);
	if (fd < 0 && strncmp(map->path, temporary, n) == 0 && map->path[n] == '/')
		fd = open_beneath(temporary, map->path + n + 1);
	return fd;
}

void images_hold_mapped(struct images *p, const struct image_map *map)
{
	struct image_hold image = { .pid = map->pid, .alive = clock_ms() };
	char link[80];

	if (!is_worth_keeping(map->path))
		return;
	image.fd = open_mapped(map, link, sizeof(link));
	if (image.fd < 0)
		return;
	if (is_kept(p, image.fd, link, &image.was) && image.was.st_ino == map->ino)
		keep_image(p, &image);
	else
		close(image.fd);
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

/* A file that was removed while it was mapped has a ctime that is later than the map. */
static const struct timespec *last_change(const struct stat *st)
{
	return st->st_nlink ? &st->st_ctim : &st->st_mtim;
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
				clock_in_ns(last_change(&p->holds[i].was)),
			};
}

void images_close(struct images *p)
{
	while (p->n)
		drop_image(p, p->n - 1);
}
