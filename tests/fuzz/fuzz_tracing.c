/* fuzz_tracing.c - any text as a tracepoint's format, and any bytes as its raw data: the first two
 * say how many of them. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "tracepoint/tracepoint.h"

struct sum {
	size_t fields, bytes;
};

static void take_number(void *ctx, const struct pd_tp_field *f, uint64_t v)
{
	struct sum *sum = ctx;

	(void)v;
	sum->fields++;
	FUZZ_ASSERT(f->name && memchr(f->name, 0, f->name_size) == NULL,
		    "a field's name has a NUL");
}

static void take_numbers(void *ctx, const struct pd_tp_field *f, const struct pd_numbers *n)
{
	struct sum *sum = ctx;

	sum->fields++;
	sum->bytes += n->count * n->width;
	for (size_t i = 0; i < n->count; i++)
		pd_tp_element(f, n, i);
}

static void take_bytes(void *ctx, const struct pd_tp_field *f, struct pd_bytes b)
{
	struct sum *sum = ctx;
	volatile uint8_t last = 0;	/* every byte is read */

	(void)f;
	sum->fields++;
	sum->bytes += b.size;
	for (size_t i = 0; i < b.size; i++)
		last = (uint8_t)(last ^ b.data[i]);
	(void)last;
}

static void take_missing(void *ctx, const struct pd_tp_field *f)
{
	(void)f;
	((struct sum *)ctx)->fields++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct pd_tp_visitor v = { take_number, take_numbers, take_bytes, take_bytes,
						take_missing };
	const uint64_t from = fuzz_cpu_time();
	struct pd_budget budget = { .limit = FUZZ_MEMORY };
	struct pd_tracepoints *t = pd_tracepoints_new(&budget);
	struct pd_tp_damage damage;
	const struct pd_tp_event *event;
	size_t raw_size = size > 2 ? data[0] | (size_t)data[1] << 8 : 0;
	uint8_t *raw;

	FUZZ_ASSERT(t, "no memory");
	if (size > 2) {
		const struct pd_tp_source in = { { (const uint8_t *)"sched", 5 },
						 { data + 2, size - 2 },
						 data[0] & 1 ? 4 : 8,
						 data[1] & 1 ? PD_SWAP_YES : PD_SWAP_NO };

		raw_size = raw_size < size - 2 ? raw_size : size - 2;
		raw = malloc(raw_size + 1);	/* of its own, so that a byte too many is seen */
		memcpy(raw, data + size - raw_size, raw_size);
		if (pd_tracepoints_add(t, &in, &damage) == PD_OK) {
			struct sum sum = { 0, 0 };
			uint64_t id = 0;

			for (; id < 70000 && !(event = pd_tracepoints_find(t, id)); id++)
				;
			if (id < 70000) {
				pd_tp_decode(event, (struct pd_bytes){ raw, raw_size }, &v, &sum);
				FUZZ_ASSERT(sum.fields == event->nr_fields, "%zu fields of %zu",
					    sum.fields, (size_t)event->nr_fields);
				FUZZ_ASSERT(sum.bytes <= 4 * raw_size, "%zu bytes shown of %zu",
					    sum.bytes, raw_size);
			}
		}
		free(raw);
	}
	pd_tracepoints_free(t);
	FUZZ_ASSERT(budget.used == 0, "%llu bytes are still charged",
		    (unsigned long long)budget.used);
	fuzz_check_time(from, size);
	return 0;
}
