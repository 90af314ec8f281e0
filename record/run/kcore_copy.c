/* kcore_copy.c - copy ranges of /proc/kcore, whose segments span all memory: it can be neither
 * mapped nor read as a whole. */
#include "run/kcore_copy.h"

#include <errno.h>
#include <libelf.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MOST (1ull << 30)		/* ten times a large kernel with all modules */
#define BUFFER (1u << 20)
enum { SEGMENTS_MOST = 65536, ALIGN = 4096 };

/* libelf's functions for cores of this machine's width, elf64_getehdr() for example. */
#define NATIVE(function) JOIN(__ELF_NATIVE_CLASS, function)
#define JOIN(width, function) JOIN_EXPANDED(width, function)
#define JOIN_EXPANDED(width, function) elf##width##_##function
typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;

struct core {
	int fd;
	elf_header header;
	elf_segment *segments;
	size_t n;
};

static int compare_ranges(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

size_t code_ranges_join(struct code_range *ranges, size_t n, uint64_t page)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		ranges[i].start &= ~(page - 1);
		ranges[i].end = ranges[i].end > UINT64_MAX - page ? UINT64_MAX & ~(page - 1) :
				(ranges[i].end + page - 1) & ~(page - 1);
	}
	qsort(ranges, n, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < n; i++) {
		if (ranges[i].start >= ranges[i].end)
			continue;
		if (left && ranges[i].start <= ranges[left - 1].end) {
			if (ranges[i].end > ranges[left - 1].end)
				ranges[left - 1].end = ranges[i].end;
			continue;
		}
		ranges[left++] = ranges[i];
	}
	return left;
}

static int read_at(int fd, void *data, size_t size, uint64_t offset)
{
	uint8_t *p = data;

	while (size) {
		bool exists = offset <= (uint64_t)INT64_MAX - size;
		ssize_t n = exists ? pread(fd, p, size, (off_t)offset) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : ENOEXEC;
		p += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static int write_at(int fd, const void *data, size_t size, uint64_t offset)
{
	const uint8_t *p = data;

	while (size) {
		ssize_t n = pwrite(fd, p, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		p += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* Accepts the byte order and width of this machine only. */
static bool is_core(const elf_header *h)
{
	const int byte_order =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	return h && h->e_ident[EI_DATA] == byte_order && h->e_type == ET_CORE;
}

/* Reads the headers from elf. c->segments is for free(), also after an error. */
static int read_core(struct core *c, Elf *elf)
{
	const elf_header *header = NATIVE(getehdr)(elf);
	const elf_segment *segments = is_core(header) ? NATIVE(getphdr)(elf) : NULL;

	if (!segments || elf_getphdrnum(elf, &c->n) || !c->n)
		return ENOEXEC;
	c->header = *header;
	c->segments = calloc(c->n, sizeof(*c->segments));
	if (!c->segments)
		return ENOMEM;
	memcpy(c->segments, segments, c->n * sizeof(*c->segments));
	return 0;
}

static int open_core(struct core *c)
{
	Elf *elf;
	int error;

	elf_version(EV_CURRENT);
	elf = elf_begin(c->fd, ELF_C_READ, NULL);
	error = read_core(c, elf);
	elf_end(elf);
	return error;
}

/* Stores the part of the segment in the range, with its offset in the source. Returns false if
 * there is none. */
static bool intersect(const elf_segment *s, const struct code_range *range, elf_segment *part)
{
	uint64_t start = s->p_vaddr, end = start + s->p_filesz;

	if (s->p_type != PT_LOAD)
		return false;
	if (end < start)
		end = UINT64_MAX;
	if (start < range->start)
		start = range->start;
	if (end > range->end)
		end = range->end;
	if (start >= end)
		return false;
	*part = *s;
	part->p_offset += start - s->p_vaddr;
	part->p_paddr += start - s->p_vaddr;
	part->p_vaddr = start;
	part->p_filesz = part->p_memsz = end - start;
	part->p_align = ALIGN;
	return true;
}

/* Stores the parts of all segments in the ranges, unless parts is NULL. Returns their number. */
static size_t find_parts(const struct core *c, const struct code_range *ranges, size_t n,
			 elf_segment *parts)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < c->n; k++) {
			elf_segment part;

			if (!intersect(&c->segments[k], &ranges[i], &part))
				continue;
			if (parts)
				parts[found] = part;
			found++;
		}
	}
	return found;
}

static int copy_bytes(int from, uint64_t at, int to, uint64_t target, uint64_t size)
{
	uint8_t *buffer = malloc(BUFFER);
	int error = buffer ? 0 : ENOMEM;

	while (size && !error) {
		size_t n = size < BUFFER ? (size_t)size : BUFFER;

		error = read_at(from, buffer, n, at);
		if (!error)
			error = write_at(to, buffer, n, target);
		at += n;
		target += n;
		size -= n;
	}
	free(buffer);
	return error;
}

static uint64_t aligned(uint64_t n)
{
	return (n + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* Writes the header last: an unfinished copy is no ELF file. */
static int write_parts(const struct core *c, int to, elf_segment *parts, size_t n)
{
	elf_header h = c->header;
	uint64_t end = aligned(sizeof(h) + n * sizeof(*parts)), left = BYTES_MOST;
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		if (parts[i].p_filesz > left)
			return EFBIG;
		left -= parts[i].p_filesz;
		error = copy_bytes(c->fd, parts[i].p_offset, to, end, parts[i].p_filesz);
		parts[i].p_offset = end;
		end = aligned(end + parts[i].p_filesz);
	}
	h.e_phoff = sizeof(h);
	h.e_phnum = (uint16_t)n;
	h.e_shoff = h.e_shnum = h.e_shstrndx = 0;
	if (!error)
		error = write_at(to, parts, n * sizeof(*parts), sizeof(h));
	return error ? error : write_at(to, &h, sizeof(h), 0);
}

int kcore_copy(int from, int to, const struct code_range *ranges, size_t n)
{
	struct core c = { .fd = from };
	elf_segment *parts = NULL;
	size_t found = 0;
	int error = open_core(&c);

	if (!error) {
		found = find_parts(&c, ranges, n, NULL);
		error = !found ? ENODATA : found >= SEGMENTS_MOST ? EFBIG : 0;
	}
	if (!error) {
		parts = calloc(found, sizeof(*parts));
		error = parts ? 0 : ENOMEM;
	}
	if (!error) {
		find_parts(&c, ranges, n, parts);
		error = write_parts(&c, to, parts, found);
	}
	free(parts);
	free(c.segments);
	return error;
}
