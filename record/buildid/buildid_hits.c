/* buildid_hits.c - maps by process, and a hash set of the pages that were hit. */
#include "buildid/buildid_hits.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 12
#define BUCKETS 1024		/* hash buckets of files and of processes; a power of two */
#define MAX_PAGES (1u << 22)	/* in the set; then they are resolved and the set is emptied */
#define MAX_DEPTH 64		/* of forks */

struct process {
	int32_t pid, parent;		/* parent: own pid if unknown */
	struct hits_map *maps;
	uint64_t *ends;			/* the largest end of maps[0..i], once sorted */
	size_t n, room;
	bool sorted;
	struct process *next;
};

struct page {
	uint64_t number;
	int32_t pid;
	uint32_t used;
};

struct hits {
	struct process *processes[BUCKETS];
	struct hits_file *buckets[BUCKETS], **files;
	size_t nr_files, room_files;
	struct page *pages;
	size_t nr_pages, room_pages;	/* room: a power of two */
	struct page recent;		/* added last; in the set if used */
	struct process *last;		/* looked up last */
};

struct hits *hits_new(void)
{
	return calloc(1, sizeof(struct hits));
}

void hits_free(struct hits *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		while (h->processes[i]) {
			struct process *p = h->processes[i];

			h->processes[i] = p->next;
			free(p->maps);
			free(p->ends);
			free(p);
		}
	}
	for (size_t i = 0; i < h->nr_files; i++) {
		free(h->files[i]->name);
		free(h->files[i]);
	}
	free(h->files);
	free(h->pages);
	free(h);
}

static struct process *find_process(const struct hits *h, int32_t pid)
{
	struct process *p = h->processes[(uint32_t)pid % BUCKETS];

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

static struct process *find_or_add_process(struct hits *h, int32_t pid)
{
	struct process *p = h->last && h->last->pid == pid ? h->last : find_process(h, pid);

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->pid = p->parent = pid;
		p->next = h->processes[(uint32_t)pid % BUCKETS];
		h->processes[(uint32_t)pid % BUCKETS] = p;
	}
	h->last = p;
	return p;
}

static size_t hash_key(const struct hits_key *key)
{
	uint64_t hash = 14695981039346656037ull ^ key->ino;

	for (size_t i = 0; i < key->size; i++)
		hash = (hash ^ (uint8_t)key->name[i]) * 1099511628211ull;
	return (size_t)(hash ^ hash >> 32) % BUCKETS;
}

static bool add_file(struct hits *h, struct hits_file *f)
{
	if (h->nr_files == h->room_files) {
		size_t room = h->room_files ? h->room_files * 2 : 64;
		struct hits_file **larger = realloc(h->files, room * sizeof(*larger));

		if (!larger)
			return false;
		h->files = larger;
		h->room_files = room;
	}
	h->files[h->nr_files++] = f;
	return true;
}

static bool file_has_key(const struct hits_file *f, const struct hits_key *key)
{
	return f->ino == key->ino && f->maj == key->maj && f->min == key->min &&
	       strlen(f->name) == key->size && memcmp(f->name, key->name, key->size) == 0;
}

struct hits_file *hits_file(struct hits *h, const struct hits_key *key)
{
	size_t bucket = hash_key(key);
	struct hits_file *f = h->buckets[bucket];

	while (f && !file_has_key(f, key))
		f = f->next;
	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct hits_file){ .name = strndup(key->name, key->size), .maj = key->maj,
				 .min = key->min, .ino = key->ino, .next = h->buckets[bucket] };
	if (!f->name || !add_file(h, f)) {
		free(f->name);
		free(f);
		return NULL;
	}
	h->buckets[bucket] = f;
	return f;
}

int hits_map(struct hits *h, int32_t pid, const struct hits_map *map)
{
	struct process *p = find_or_add_process(h, pid);

	if (!p)
		return -1;
	if (p->n == p->room) {
		size_t room = p->room ? p->room * 2 : 8;
		struct hits_map *larger = realloc(p->maps, room * sizeof(*larger));

		if (!larger)
			return -1;
		p->maps = larger;
		p->room = room;
	}
	p->maps[p->n++] = *map;
	p->sorted = false;
	return 0;
}

int hits_fork(struct hits *h, int32_t parent, int32_t child)
{
	struct process *p = parent != child ? find_or_add_process(h, child) : NULL;

	if (p)
		p->parent = parent;
	return p || parent == child ? 0 : -1;
}

static struct page *find_slot(struct page *pages, size_t room, int32_t pid, uint64_t number)
{
	uint64_t hash = (number ^ (uint64_t)(uint32_t)pid << 40) * 0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(hash >> 32) & (room - 1);

	while (pages[i].used && (pages[i].number != number || pages[i].pid != pid))
		i = (i + 1) & (room - 1);
	return &pages[i];
}

static bool make_room(struct hits *h)
{
	size_t room = h->room_pages ? h->room_pages * 2 : 512;
	struct page *larger;

	if (h->nr_pages < h->room_pages / 2)
		return true;
	if (h->nr_pages >= MAX_PAGES)
		return hits_resolve(h) == 0;
	larger = calloc(room, sizeof(*larger));
	if (!larger)
		return false;
	for (size_t i = 0; i < h->room_pages; i++)
		if (h->pages[i].used)
			*find_slot(larger, room, h->pages[i].pid, h->pages[i].number) = h->pages[i];
	free(h->pages);
	h->pages = larger;
	h->room_pages = room;
	return true;
}

static int add_page(struct hits *h, struct page page)
{
	struct page *at;

	if (!make_room(h))
		return -1;
	at = find_slot(h->pages, h->room_pages, page.pid, page.number);
	h->nr_pages += !at->used;
	h->recent = *at = page;
	return 0;
}

int hits_address(struct hits *h, int32_t pid, uint64_t address)
{
	const struct page page = { address >> PAGE_SHIFT, pid, 1 };

	if (h->recent.number == page.number && h->recent.pid == pid && h->recent.used)
		return 0;
	return add_page(h, page);
}

static int by_start(const void *a, const void *b)
{
	const struct hits_map *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->file != y->file)
		return (uintptr_t)x->file < (uintptr_t)y->file ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

/* Maps of a process by address, file and time. Returns false without memory. */
static bool sort_maps(struct process *p)
{
	uint64_t end = 0;
	uint64_t *ends;

	if (p->sorted)
		return true;
	ends = realloc(p->ends, (p->n + 1) * sizeof(*ends));
	if (!ends)
		return false;
	p->ends = ends;
	if (p->n)
		qsort(p->maps, p->n, sizeof(*p->maps), by_start);
	for (size_t i = 0; i < p->n; i++) {
		end = p->maps[i].end > end ? p->maps[i].end : end;
		p->ends[i] = end;
	}
	p->sorted = true;
	return true;
}

/* Marks every file that was ever mapped at the page, without regard to time. Returns whether there
 * was a map. */
static bool mark_files(const struct process *p, uint64_t first, uint64_t last)
{
	size_t low = 0, high = p->n;
	bool found = false;

	while (low < high) {	/* the first map that starts after the page */
		size_t middle = low + (high - low) / 2;

		if (p->maps[middle].start <= last)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0 && p->ends[low - 1] > first; low--) {
		if (p->maps[low - 1].end > first) {
			if (p->maps[low - 1].file)
				p->maps[low - 1].file->hit = true;
			found = true;
		}
	}
	return found;
}

/* A process inherits maps from the process that forked it. Returns 0, or -1 without memory. */
static int resolve_page(struct hits *h, int32_t pid, uint64_t number)
{
	uint64_t first = number << PAGE_SHIFT, last = first | ((1u << PAGE_SHIFT) - 1);

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		struct process *p = find_process(h, pid);

		if (p && !sort_maps(p))
			return -1;
		if (!p || mark_files(p, first, last) || p->parent == pid)
			return 0;
		pid = p->parent;
	}
	return 0;
}

static bool is_same_map(const struct hits_map *a, const struct hits_map *b)
{
	return a->start == b->start && a->file == b->file;
}

static void add_map_time(struct hits_file *f, uint64_t time)
{
	if (f && (!f->mapped || time < f->mapped_at))
		f->mapped_at = time;
	if (f)
		f->mapped = true;
}

/* A process that is started while others are being synthesized is often both: then its maps are as
 * old as their records. */
static void add_map_times(const struct process *p)
{
	uint64_t time = 0;

	for (size_t i = p->n; i-- > 0;) {
		if (p->maps[i].time || i + 1 == p->n ||
		    !is_same_map(&p->maps[i], &p->maps[i + 1]))
			time = p->maps[i].time;
		add_map_time(p->maps[i].file, time);
	}
}

/* Returns 0, or -1 without memory. */
static int set_times(struct hits *h)
{
	int err = 0;

	for (size_t i = 0; i < h->nr_files; i++)
		h->files[i]->mapped = false;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct process *p = h->processes[i]; p; p = p->next) {
			if (sort_maps(p))
				add_map_times(p);
			else
				err = -1;
		}
	}
	return err;
}

int hits_resolve(struct hits *h)
{
	int err = 0;

	for (size_t i = 0; i < h->room_pages; i++)
		if (h->pages[i].used)
			err |= resolve_page(h, h->pages[i].pid, h->pages[i].number);
	if (h->pages)
		memset(h->pages, 0, h->room_pages * sizeof(*h->pages));
	h->nr_pages = 0;
	h->recent.used = 0;
	return err | set_times(h);
}

struct hits_file *hits_file_at(const struct hits *h, size_t i)
{
	return i < h->nr_files ? h->files[i] : NULL;
}
