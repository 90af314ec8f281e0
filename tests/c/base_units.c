/* base_units.c - the pieces of libdecode/base, each against what the C library says. Prints a line
 * for each thing that is wrong. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/jsonw.h"
#include "base/map.h"
#include "base/pretty.h"
#include "check.h"

#define BYTES(text) ((struct pd_bytes){ (const uint8_t *)(text), sizeof(text) - 1 })

/* The text that a writer has made so far. */
struct text {
	char data[1 << 16];
	size_t size;
	int fail_with;
};

static int take(void *ctx, const void *p, size_t n)
{
	struct text *t = ctx;

	if (t->fail_with)
		return t->fail_with;
	memcpy(t->data + t->size, p, n);
	t->size += n;
	t->data[t->size] = '\0';
	return 0;
}

static void cursors(void)
{
	const struct pd_bytes in = BYTES("\x01\x02\x03\x04\x05\x06\x07\x08\x09");
	struct pd_cursor c = pd_cursor(in, PD_SWAP_NO), other = pd_cursor(in, PD_SWAP_YES);
	struct pd_bytes out;
	uint64_t a, b;

	for (unsigned int width = 1; width <= 8; width *= 2) {
		c = pd_cursor(in, PD_SWAP_NO);
		other = pd_cursor(in, PD_SWAP_YES);
		CHECK(pd_take_number(&c, width, &a) && pd_take_number(&other, width, &b));
		for (unsigned int i = 0; i < width; i++)
			CHECK((a >> 8 * i & 0xff) == (b >> 8 * (width - 1 - i) & 0xff));
		CHECK(pd_left(&c) == 9 - width);
	}
	CHECK(!pd_take_number(&c, 2, &a) && a == 0 && pd_left(&c) == 1);
	CHECK(!pd_take(&c, SIZE_MAX) && pd_left(&c) == 1);
	CHECK(pd_take_bytes(&c, 1, &out) && out.size == 1 && out.data[0] == 9);
	CHECK(!pd_take_bytes(&c, 1, &out) && !out.data && !out.size);
	CHECK(pd_take_bytes(&c, 0, &out) && !out.size);
	c = pd_cursor((struct pd_bytes){ NULL, 0 }, PD_SWAP_NO);
	CHECK(pd_left(&c) == 0 && !pd_take(&c, 1));
	CHECK(pd_text_length(BYTES("ab\0c")) == 2 && pd_text_length(BYTES("abc")) == 3);
	CHECK(pd_all_zero(BYTES("\0\0")) && !pd_all_zero(BYTES("\0\1")));
	CHECK(pd_all_zero((struct pd_bytes){ NULL, 0 }));
}

static void stores(void)
{
	uint8_t bytes[8];

	for (unsigned int width = 1; width <= 8; width *= 2)
		for (int swap = 0; swap < 2; swap++) {
			pd_store(bytes, 0x1122334455667788, width, (enum pd_swap)swap);
			CHECK(pd_load(bytes, width, (enum pd_swap)swap) ==
			      (0x1122334455667788 & (width == 8 ? UINT64_MAX :
							       (1ull << 8 * width) - 1)));
		}
}

static void budgets(void)
{
	struct pd_budget b = { .limit = 100 };
	uint8_t *p = pd_budget_alloc(&b, 60), *q;

	CHECK(p && b.used == 60 && p[59] == 0);
	CHECK(!pd_budget_alloc(&b, 41) && b.used == 60);
	p[59] = 7;
	q = pd_budget_grow(&b, p, 60, 100);
	CHECK(q && q[59] == 7 && b.used == 100);
	CHECK(!pd_budget_grow(&b, q, 100, 101) && b.used == 100);
	CHECK(!pd_budget_alloc(&b, SIZE_MAX) && b.used == 100);
	pd_budget_free(&b, q, 100);
	CHECK(b.used == 0);
	CHECK(pd_budget_may_expand(&b, UINT64_MAX, 0));		/* no limit */
	b.max_expanded = 10;
	CHECK(pd_budget_may_expand(&b, 9, 0) && !pd_budget_may_expand(&b, 10, 0));
	b.max_ratio = 4;
	CHECK(pd_budget_may_expand(&b, 40, 10) && !pd_budget_may_expand(&b, 44, 10));
}

static void buffers(void)
{
	struct pd_budget budget = { .limit = 4096 };
	struct pd_buf b = { .budget = &budget };

	for (int i = 0; i < 1000; i++)
		pd_buf_append(&b, &i, 1);
	CHECK(b.size == 1000 && !b.failed && b.data[999] == (uint8_t)999);
	pd_buf_consume(&b, 990);
	CHECK(b.size == 10 && b.data[0] == (uint8_t)990);
	CHECK(!pd_buf_reserve(&b, 5000) && b.failed);
	pd_buf_append(&b, "x", 1);
	CHECK(b.size == 10 && b.failed);			/* sticky */
	pd_buf_free(&b);
	CHECK(budget.used == 0);
}

static void arenas(void)
{
	struct pd_budget budget = { .limit = 1 << 20 };
	struct pd_arena a = { .budget = &budget };
	char *first = pd_arena_text(&a, "na\0me", 5);

	CHECK(first && !memcmp(first, "na\0me", 6));
	for (int i = 0; i < 1000; i++) {
		uint8_t *p = pd_arena_alloc(&a, (size_t)i);

		CHECK(p && (uintptr_t)p % _Alignof(max_align_t) == 0);
		for (int k = 0; p && k < i; k++) {
			CHECK(p[k] == 0);
			p[k] = 0xff;
		}
	}
	CHECK(!memcmp(first, "na\0me", 6));
	CHECK(!pd_arena_alloc(&a, 1 << 20) && !pd_arena_alloc(&a, SIZE_MAX));
	pd_arena_free(&a);
	CHECK(budget.used == 0);
}

struct sum {
	uint64_t keys, values;
};

static void add(void *ctx, uint64_t key, void *value)
{
	struct sum *s = ctx;

	s->keys += key;
	s->values += (uintptr_t)value;
}

static void maps(void)
{
	struct pd_budget budget = { .limit = 1 << 20 };
	struct pd_map m = { .budget = &budget }, small = { .budget = &budget };
	struct sum sum = { 0, 0 };
	uint64_t i;

	CHECK(!pd_map_find(&m, 0));
	for (i = 0; i < 10000; i++)
		CHECK(pd_map_add(&m, i << 32, (void *)(uintptr_t)(i + 1)) == 0);
	CHECK(pd_map_add(&m, 0, (void *)9) == 1);
	for (i = 0; i < 10000; i++)
		CHECK(pd_map_find(&m, i << 32) == (void *)(uintptr_t)(i + 1));
	CHECK(!pd_map_find(&m, 1) && !pd_map_find(&m, 10000ull << 32));
	pd_map_each(&m, add, &sum);
	CHECK(sum.keys == (9999ull * 10000 / 2) << 32 && sum.values == 10000ull * 10001 / 2);
	budget.limit = budget.used;
	CHECK(pd_map_add(&small, 1, &sum) == -1 && !pd_map_find(&small, 1));
	pd_map_free(&m);
	pd_map_free(&small);
	CHECK(budget.used == 0);
}

/* Numbers at the ends of every decimal and binary length. */
static void for_lengths(void (*check)(uint64_t v))
{
	uint64_t power = 1;

	for (int i = 0; i < 20; i++, power *= 10)
		for (int d = -2; d <= 2; d++)
			check(power + (uint64_t)(int64_t)d);
	for (int i = 0; i < 64; i++)
		for (int d = -1; d <= 1; d++)
			check((1ull << i) + (uint64_t)(int64_t)d);
	for (uint64_t v = 88172645463325252, i = 0; i < 100000; i++) {	/* xorshift */
		v ^= v << 13;
		v ^= v >> 7;
		v ^= v << 17;
		check(v >> i % 64);
	}
}

static void decimal(uint64_t v)
{
	char expected[32], made[64];
	char *end = pd_write_decimal(made, v);

	*end = '\0';
	snprintf(expected, sizeof(expected), "%" PRIu64, v);
	CHECK(!strcmp(made, expected));
}

static void address(uint64_t v)
{
	char expected[32], made[64], digits[64];
	uint8_t stored[8];
	char *end = pd_write_address(made, v);

	*end = '\0';
	snprintf(expected, sizeof(expected), "\"0x%" PRIx64 "\"", v);
	CHECK(!strcmp(made, expected));
	memcpy(stored, &v, sizeof(v));
	pd_write_hex_words(digits, stored, 1, PD_SWAP_NO);
	end = pd_write_address_rest(made + 3, v, digits);
	*end = '\0';
	CHECK(!strcmp(made, expected));
}

static char json_buffer[PD_JSONW_BUFFER + 1];

static void expect_text(struct pd_bytes in, enum pd_utf8 valid, const char *expected)
{
	struct text t = { .size = 0 };
	struct pd_jsonw w;

	pd_jsonw_init(&w, json_buffer, (struct pd_output){ take, &t });
	CHECK(pd_jsonw_text(&w, in) == valid);
	CHECK(pd_jsonw_flush(&w) == 0);
	if (strcmp(t.data, expected))
		printf("%s instead of %s\n", t.data, expected), failures++;
}

static void texts(void)
{
	expect_text(BYTES(""), PD_UTF8, "\"\"");
	expect_text(BYTES("a\"b\\c\n\x01\x7f"), PD_UTF8, "\"a\\\"b\\\\c\\n\\u0001\x7f\"");
	expect_text(BYTES("a\0b"), PD_UTF8, "\"a\\u0000b\"");
	expect_text(BYTES("\xc3\xa9\xe2\x82\xac\xf0\x90\x80\x80"), PD_UTF8,
		    "\"\xc3\xa9\xe2\x82\xac\xf0\x90\x80\x80\"");
	expect_text(BYTES("\xff"), PD_NOT_UTF8, "\"\xef\xbf\xbd\"");
	expect_text(BYTES("\xc0\x80x"), PD_NOT_UTF8, "\"\xef\xbf\xbd\xef\xbf\xbdx\"");
	expect_text(BYTES("\xed\xa0\x80"), PD_NOT_UTF8,		/* a surrogate */
		    "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_text(BYTES("\xe2\x82"), PD_NOT_UTF8,		/* one for each byte */
		    "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void failed_output(void)
{
	struct text t = { .fail_with = 28 };
	struct pd_jsonw w;

	pd_jsonw_init(&w, json_buffer, (struct pd_output){ take, &t });
	pd_jsonw_string(&w, "x");
	CHECK(pd_jsonw_flush(&w) == 28 && w.failed == 28);
	t.fail_with = 0;
	pd_jsonw_string(&w, "y");
	CHECK(pd_jsonw_flush(&w) == 28 && t.size == 0);		/* sticky */
}

static void real(double v)
{
	struct text t = { .size = 0 };
	struct pd_jsonw w;

	pd_jsonw_init(&w, json_buffer, (struct pd_output){ take, &t });
	pd_jsonw_double(&w, v);
	pd_jsonw_flush(&w);
	CHECK(strtod(t.data, NULL) == v);
}

static void reals(void)
{
	const double some[] = { 0, 1, -1, 0.1, 1.0 / 3, 1e300, 5e-324, -123456.789, 2e15, 0.3 };

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		real(some[i]);
}

/* In pieces of every size the indented text is the same, and short values stay on their line. */
static void pretty(void)
{
	static const char in[] = "{\"a\":[1,2,3],\"b\":{\"c\":\"x, {y}\"},\"d\":[]}";
	struct text one = { .size = 0 };

	for (size_t step = sizeof(in); step; step--) {
		struct text t = { .size = 0 };
		struct pd_pretty p;
		struct pd_output out = pd_pretty_init(&p, (struct pd_output){ take, &t });

		for (size_t at = 0; at < sizeof(in) - 1; at += step)
			out.write(out.ctx, in + at, sizeof(in) - 1 - at < step ?
							    sizeof(in) - 1 - at : step);
		out.write(out.ctx, "\n", 1);
		if (!one.size)
			one = t;
		CHECK(!strcmp(t.data, one.data));
	}
	CHECK(strstr(one.data, "x, {y}") && strstr(one.data, "[1, 2, 3]"));
}

int main(void)
{
	cursors();
	stores();
	budgets();
	buffers();
	arenas();
	maps();
	for_lengths(decimal);
	for_lengths(address);
	texts();
	failed_output();
	reals();
	pretty();
	return failures != 0;
}
