/* ahead_limits.c - a thread that decompresses, and memory that runs out meanwhile: a line for each thing that is not as it
 * must be. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "check.h"
#include "stream/decompress_thread.h"

enum { SIZE = 256 << 10, WHOLE = 5 * SIZE + 1000 };

static uint8_t text[3][WHOLE], pressed[3][2 * WHOLE];

/* Payload i is a frame of its own, of which every piece looks different. */
static struct pd_payload payload(size_t i)
{
	struct pd_payload p = { .offset = i, .bytes.data = pressed[i] };

	for (size_t at = 0; at < WHOLE; at++)
		text[i][at] = (uint8_t)(at / 1000 * (i + 3) + at % 7);
	p.bytes.size = ZSTD_compress(pressed[i], sizeof(pressed[i]), text[i], WHOLE, 1);
	return p;
}

/* Takes payload i to its end. */
static void take_all(struct pd_decompress_thread *a, struct pd_windows *w, size_t i)
{
	struct pd_piece p;
	size_t got = 0;

	for (;;) {
		CHECK(pd_decompress_thread_next(a, &p) == 0);
		if (!p.size)
			break;
		CHECK(got + p.size <= WHOLE && memcmp(p.window->data + PD_PIECE_FRONT, text[i] + got, p.size) == 0);
		got += p.size;
		pd_windows_use(w, p.window);
	}
	CHECK(p.result == 0 && got == WHOLE);
}

int main(void)
{
	struct pd_budget budget = { .limit = 64u << 20 };
	struct pd_windows windows = { .budget = &budget };
	struct pd_decompress_thread *a = pd_decompress_thread_new(&windows, SIZE);
	struct pd_payload payloads[3] = { payload(0), payload(1), payload(2) };
	uint64_t used;
	struct pd_piece p;

	CHECK(a != NULL);
	pd_decompress_thread_add(a, &payloads[0]);
	used = budget.used;
	budget.used = budget.limit;	/* before it has a single window */
	CHECK(pd_decompress_thread_next(a, &p) == -1);
	budget.used = used;
	for (size_t i = 1; i < 3; i++)
		pd_decompress_thread_add(a, &payloads[i]);
	take_all(a, &windows, 1);
	take_all(a, &windows, 2);
	pd_decompress_thread_add(a, &payloads[0]);	/* and ends in the middle of one */
	CHECK(pd_decompress_thread_next(a, &p) == 0);
	pd_windows_use(&windows, p.window);
	pd_decompress_thread_free(a);
	pd_windows_free(&windows);
	CHECK(budget.used == 0);
	budget.used = budget.limit - (16u << 20);
	CHECK(pd_decompress_thread_new(&windows, SIZE) == NULL);	/* it would be too much of what is left */
	return failures != 0;
}
