/* rings.c - map ring buffers and redirect counters to them. */
#include "capture/rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/sysctl.h"
#include "event/explain.h"

/* The events of a busy CPU fill 1 MiB in 8 ms; a write to a file may take as long. */
#define SMALL_RING ((size_t)2 << 20)

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t power_of_two(size_t n)
{
	size_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/* The largest size that an unprivileged user may lock together with the first page. */
static size_t default_bytes(void)
{
	size_t allowed = (size_t)sysctl_read("perf_event_mlock_kb", 516) * 1024;
	size_t bytes = page_size();

	while (2 * bytes + page_size() <= allowed && bytes < 1 << 20)
		bytes *= 2;
	return bytes;
}

/* A number of pages, or bytes with a unit. */
static bool parse_buffer(const char *text, size_t size, size_t *bytes, const struct logger *s)
{
	char copy[32];
	uint64_t number;

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (parse_number(copy, &number)) {
		if (!number || number > SIZE_MAX / 2 / page_size())
			return false;
		number *= page_size();
	} else if (!parse_size(copy, &number) || !number || number > SIZE_MAX / 2) {
		return false;
	}
	*bytes = power_of_two(number < page_size() ? page_size() : (size_t)number);
	if (*bytes != number)
		log_at(s, LOG_WARNING, "'-m %s': a buffer is rounded up to %zu KiB, %zu pages",
		       copy, *bytes / 1024, *bytes / page_size());
	return true;
}

static int read_sizes(struct rings *r, const struct settings *o, const struct logger *s)
{
	const char *text = o->mmap_pages;
	size_t size;

	size = text ? strcspn(text, ",") : 0;
	r->bytes_given = size > 0;
	if (!size)
		r->bytes = default_bytes();
	if (!text)
		return 0;
	if ((size && !parse_buffer(text, size, &r->bytes, s)) ||
	    (text[size] && !parse_buffer(text + size + 1, strlen(text + size + 1), &r->aux_bytes,
					     s)))
		return log_error(s, CLI_USAGE,
				 "'-m' must be a number of pages or a size, optionally "
				 "with another for AUX, not '%s'",
				 text);
	return 0;
}

int rings_size(struct rings *r, const struct settings *o, const struct logger *s)
{
	int err = read_sizes(r, o, s);

	r->flush = o->mmap_flush;
	if (!err && rings_worthwhile(r) < r->flush)
		log_at(s, LOG_WARNING,
		       "'--mmap-flush': a buffer is drained at %llu KiB, a quarter of it",
		       (unsigned long long)rings_worthwhile(r) / 1024);
	return err;
}

bool rings_are_small(const struct rings *r)
{
	return r->bytes < SMALL_RING;
}

static enum ring_kind kind_of(const struct counter *c, const struct event_list *l)
{
	return l->items[c->event].attr.flags & ATTR_WRITE_BACKWARD ? RING_BACKWARD : RING_FORWARD;
}

/* Returns the ring of the counter's CPU, or of its thread if it has no CPU. */
static struct ring *find_ring(const struct rings *r, const struct counter *c, enum ring_kind kind)
{
	for (size_t i = r->n; i-- > 0;) {
		struct ring *ring = &r->items[i];

		if (ring->kind == kind && ring->cpu == c->cpu &&
		    (c->cpu >= 0 || ring->tid == c->tid))
			return ring;
	}
	return NULL;
}

static int map_ring(struct rings *r, const struct counter *c, enum ring_kind kind)
{
	struct ring *items = realloc(r->items, (r->n + 1) * sizeof(*items));
	int error;

	if (!items)
		return ENOMEM;
	r->items = items;
	error = ring_map(&items[r->n], c->fd, kind, r->bytes);
	if (error)
		return error;
	items[r->n].cpu = c->cpu;
	items[r->n].tid = c->tid;
	r->n++;
	return 0;
}

static int map_rings(struct rings *r, const struct counters *c, const struct event_list *l)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct counter *counter = &c->items[i];
		enum ring_kind kind = kind_of(counter, l);
		const struct ring *ring = find_ring(r, counter, kind);
		int error;

		if (!ring)
			error = map_ring(r, counter, kind);
		else
			error = ioctl(counter->fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ? errno : 0;
		if (error)
			return error;
	}
	return 0;
}

static enum aux_kind aux_kind_of(const struct event_list *l, const struct settings *o)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].attr.aux_sample_size)
			return AUX_SAMPLES;
	return o->snapshot ? AUX_SNAPSHOT : AUX_FULL;
}

/* Must be called after all rings were added: AUX areas point to them. */
static int map_aux(struct rings *r, enum aux_kind kind)
{
	r->aux = calloc(r->n, sizeof(*r->aux));
	if (!r->aux)
		return ENOMEM;
	for (size_t i = 0; i < r->n; i++) {
		int error = aux_area_map(&r->aux[r->nr_aux], &r->items[i], r->aux_bytes, kind,
					 (uint32_t)i);

		if (!error)
			r->nr_aux++;
		else if (error != ENOTSUP)
			return error;
	}
	return 0;
}

int rings_map(struct rings *r, const struct counters *c, const struct event_list *l,
	      const struct settings *o)
{
	int error;

	while ((error = map_rings(r, c, l))) {
		size_t needed = r->n + 1;

		rings_unmap(r);
		if (error != EPERM || r->bytes_given || r->bytes <= page_size()) {
			explain_mmap(r->bytes, needed, error, l->log);
			return CLI_INPUT;
		}
		r->bytes /= 2;
	}
	log_at(l->log, LOG_DETAIL, "%zu buffers of %zu KiB", r->n, r->bytes / 1024);
	if (!r->aux_bytes)
		return 0;
	error = map_aux(r, aux_kind_of(l, o));
	if (error)
		explain_mmap(r->aux_bytes, r->n, error, l->log);
	return error ? CLI_INPUT : 0;
}

void rings_unmap(struct rings *r)
{
	for (size_t i = 0; i < r->nr_aux; i++)
		aux_area_unmap(&r->aux[i]);
	for (size_t i = 0; i < r->n; i++)
		ring_unmap(&r->items[i]);
	free(r->aux);
	free(r->items);
	r->aux = NULL;
	r->items = NULL;
	r->n = r->nr_aux = 0;
}
