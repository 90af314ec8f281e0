/* check_wrong_tables - gives wrong tables to the checks and prints what they say: a check that
 * finds nothing is none. */
#include <stdio.h>

#include "layout/names_tables.h"
#include "lint/check_tables.h"

static const struct pd_name twice[] = { { 1, "A" }, { 1, "B" }, { 2, "A" }, { 0, NULL } };
static const struct pd_bits over[] = { BIT(a, 0, 4), BIT(b, 3, 2), { .name = NULL } };
static const struct pd_bits outside[] = { BIT(a, 0, 4), BIT(b, 4, 8), { .name = NULL } };
static const struct pd_bits some[] = { BIT(a, 0, 4), { .name = NULL } };

#define END { .kind = PD_END }
#define DEEP(...) STRUCT(deep, "deeper", FIELDS(__VA_ARGS__))
#define PADS \
	PAD(TIMES(1)), PAD(TIMES(1)), PAD(TIMES(1)), PAD(TIMES(1)), PAD(TIMES(1)), PAD(TIMES(1)), \
		PAD(TIMES(1)), PAD(TIMES(1))

static const struct wrong {
	const char *name;
	const struct pd_field *rows;
} wrongs[] = {
#define WRONG(n, ...) { n, (const struct pd_field[]){ __VA_ARGS__, END } }
	WRONG("no-doc", U8(a, "")),
	WRONG("quoted-doc", U8(a, "a \"b\"")),
	WRONG("key", { .name = "a",
		       .key = ",\"b\":",
		       .key_size = 5,
		       .kind = PD_UINT,
		       .width = 1,
		       .doc = "of another" }),
	WRONG("width", NUMBER(3, PD_DEC, a, "three bytes")),
	WRONG("no-names",
	      { PD_KEY(a), .kind = PD_UINT, .width = 1, .show = PD_ENUM, .doc = "which" }),
	WRONG("names-twice", ENUM(1, a, "which", twice)),
	WRONG("name-too-big", ENUM(1, a, "which", pd_names_callchain)),
	WRONG("bits-overlap", BITS(1, PD_BITS_RAW, a, "parts", .bits = over)),
	WRONG("bits-outside", BITS(1, PD_BITS_RAW, a, "parts", .bits = outside)),
	WRONG("bits-lost", BITS(1, PD_BITS, a, "parts", .bits = some)),
	WRONG("msb-first", U32(a, "a number", .msb_first = true)),
	WRONG("blob", U32(a, "a number", .blob = PD_BLOB_LARGE)),
	WRONG("deep", DEEP(DEEP(DEEP(DEEP(DEEP(DEEP(DEEP(DEEP(DEEP(U8(a, "at the bottom"))))))))))),
	WRONG("pads", U8(a, "before them"), PADS, PADS, PADS, PADS),
	WRONG("same-name", U8(a, "one"), U8(a, "two")),
	WRONG("same-name-maybe", U8(n, "count"), U8(a, "one", IF_EQUAL(n, 1)),
	      U8(a, "two", IF_MASK(n, 2))),
	WRONG("padding", U8(padding, "a row")),
	WRONG("hex", U8(a_hex, "a row")),
	WRONG("role-text", CSTR(a, "text")),
	WRONG("role-bytes", BYTES(a, "bytes", TIMES(8))),
	WRONG("role-address", X64(a, "an address")),
	WRONG("role-bare", ARRAY(a, "texts", TIMES(2), FIELDS({ ELEMENT, .kind = PD_FSTR }))),
	WRONG("role-struct", STRUCT(a, "an object", FIELDS(U8(b, "a number")), ROLE(PID))),
	WRONG("one-type", U8(pid, "a number"), CSTR(comm, "text", ROLE(COMM))),
	WRONG("other-type", CSTR(pid, "text")),
	WRONG("sibling", BYTES(a, "bytes", TIMES_OF(nowhere))),
	WRONG("sibling-when", U8(a, "maybe", IF_EQUAL(nowhere, 1))),
	WRONG("sibling-text", CSTR(n, "text"), BYTES(a, "bytes", TIMES_OF(n))),
	WRONG("ahead", BYTES(a, "bytes", TIMES_OF(n)), U8(n, "behind what it counts")),
	WRONG("misc", U8(a, "maybe", IF_MASK(misc, 1))),
};

/* A type that nobody has added a row for. */
static const char *record_name(uint32_t type)
{
	return type < PD_RECORD_KERNEL_END ? pd_record_desc(type)->name : NULL;
}

static void complain(void *ctx, const char *text)
{
	(void)ctx;
	printf("%s\n", text);
}

int main(void)
{
	struct pd_budget budget = { .limit = 1u << 20 };
	struct pd_check c = { .complain = complain, .arena = { .budget = &budget } };

	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		c.table = wrongs[i].name;
		pd_check_rows(&c, wrongs[i].rows);
		pd_check_keys(&c, wrongs[i].rows, "");
		pd_check_plans(&c, wrongs[i].rows, PD_CHECK_NO_MISC);
	}
	pd_check_numbers(&c, PD_RECORD_MMAP, PD_RECORD_KERNEL_END + 1, record_name);
	pd_arena_free(&c.arena);
	return c.complaints ? 1 : 0;
}
