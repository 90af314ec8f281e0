/* desc.h - the language in which all layouts are written.
 *
 * A layout is a list of rows (struct pd_field), in wire order, ended by a PD_END row. The same rows
 * drive decoding (walk.c), JSON, the schemas (describe.c) and encoding (pack.c), in either byte
 * order. A row states its bytes (kind, width, count, extent), its condition (when), its
 * presentation (name, show, names, bits) and its meaning (role). plan.c decides once what depends
 * on the attr alone; the rest is decided for each record.
 */
#ifndef PD_LAYOUT_DESC_H
#define PD_LAYOUT_DESC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "layout/names.h"
#include "pd/bytes.h"
#include "pd/types.h"

/* The bytes of a row. */
enum pd_kind {
	PD_END,
	PD_UINT,	/* a number of `width` bytes */
	PD_CSTR,	/* text, NUL, zeros, to the end of the extent */
	PD_ZSTR,	/* text and its NUL */
	PD_CHARS,	/* text in `width` bytes, padded with zeros */
	/* u32 length, text, NUL, zeros: a feature's string; perf rounds the length up to 64 */
	PD_FSTR,
	PD_TEXT,	/* `count` bytes of text, may contain NULs */
	PD_BYTES,	/* `count` bytes */
	/* `width` bytes of which `count` are used (0 or above width: up to the last non-zero
	 * word) */
	PD_AREA,
	PD_PAD,		/* `count` reserved bytes: kept as `padding` if not zero */
	/* exactly the bytes of `literal` (including its NUL if `width` counts it); not shown */
	PD_LITERAL,
	PD_NUMBERS,	/* `count` numbers of `width` bytes */
	PD_REGISTERS,	/* one u64 for each bit set in the attribute's mask */
	PD_GROUP,	/* `fields`, flat, under one condition or in one extent */
	PD_STRUCT,	/* `fields` as an object */
	/* `count` times `fields`: objects, or bare values if the only row has no name */
	PD_ARRAY,
	PD_FEATURE,	/* the rest is a feature section; its id is the sibling feat_id */
};

/* The presentation of a number. */
enum pd_show {
	PD_DEC,
	PD_SIGNED,
	PD_HEX,
	PD_ENUM,	/* `names`, or the number as text */
	PD_FLAGS,	/* {"raw", "names"} */
	PD_FLOAT,	/* an IEEE double */
	PD_MARKED,	/* hex, or one of `names`: callchain entries */
	PD_BITS,	/* each of `bits`, flat in the parent */
	PD_BITS_OBJECT,	/* each of `bits`, in its own object */
	PD_BITS_RAW,	/* an object with `raw` first */
	PD_HIDDEN,	/* a count: implied by the length of what it counts */
	PD_ORDER,	/* byte order of the rest of this list: 0 little, 1 big */
};

/* A part of a number, by its position in a little-endian file. */
struct pd_bits {
	const char *name, *key;
	uint8_t key_size;
	uint8_t shift, width;
	enum { PD_BIT_NUMBER, PD_BIT_ENUM, PD_BIT_LIST, PD_BIT_ENUM_LIST, PD_BIT_RESERVED } show;
	const struct pd_name *names;
};

/* The condition of a row. Siblings are earlier rows of its own or an enclosing list, or later ones
 * at a fixed offset of its own ("a.b": in the struct a). "misc" is the record header's, unless a
 * row has that name. */
struct pd_when {
	enum {
		PD_ALWAYS,
		PD_ON_SAMPLE_TYPE,	/* any bit of value in the attr's ... */
		PD_ON_READ_FORMAT,
		PD_ON_BRANCH_TYPE,
		PD_ON_MASK,		/* any bit of value in the sibling */
		PD_ON_EQUAL,		/* sibling == value */
		PD_ON_AT_LEAST,		/* sibling >= value */
		PD_ON_TEST,		/* test() returns true; in JSON: the key exists */
		/* layouts that only the record's length distinguishes: bit of the variant */
		PD_ON_VARIANT,
	} on;
	bool unless;			/* negates the condition */
	/* the list ends if fewer bytes are left: structs that grew at their end */
	uint8_t left;
	const char *sibling;
	uint64_t value;
	/* body: the whole record or section; at: offset of this row. */
	bool (*test)(struct pd_bytes body, size_t at, enum pd_swap swap);
};

/* The number of elements (PD_NUMBERS, PD_ARRAY) or bytes (PD_BYTES, PD_TEXT, PD_PAD, PD_AREA). */
struct pd_count {
	enum {
		PD_COUNT_FIXED,		/* value */
		PD_COUNT_SIBLING,	/* the sibling's value (its low 32 bits if value is 32) */
		PD_COUNT_PRODUCT,	/* the sibling's value times by's */
		/* words of `value` bits that hold the sibling's value in bits */
		PD_COUNT_WORDS,
		PD_COUNT_INLINE,	/* a number of `value` bytes just before */
		PD_COUNT_REST,		/* to the end of the extent */
		PD_COUNT_REST_MOD,	/* the rest of the extent modulo value */
		PD_COUNT_ALIGN,		/* to a multiple of value from the start of this list */
		PD_COUNT_CPUS,		/* `available` of feature NRCPUS */
		PD_COUNT_REGS_USER,	/* bits set in the attr's sample_regs_user ... */
		PD_COUNT_REGS_INTR,
	} from;
	uint64_t value;
	const char *sibling, *by;
};

/* The end of a struct or group, if not that of its last row. */
struct pd_extent {
	enum {
		PD_EXTENT_NONE,
		PD_EXTENT_SIBLING,	/* the size is the sibling's value */
		/* the size is its own row `sibling` (0: value), at most the outer end */
		PD_EXTENT_OWN,
	} from;
	uint64_t value;
	const char *sibling;
};

enum pd_blob {
	PD_BLOB_SMALL,
	PD_BLOB_LARGE,		/* omitted by --blobs omit */
	PD_BLOB_PAYLOAD,	/* compressed records: only with --blobs full */
};

/* The meaning of a value beyond its record: which values name the same task in two recordings,
 * which reveal something about a person or a machine. Required for text, bytes and addresses. */
enum pd_role {
	PD_ROLE_UNSET,
	PD_ROLE_NONE,		/* meaningful only within its record */
	PD_ROLE_PID,
	PD_ROLE_TID,
	PD_ROLE_UID,
	PD_ROLE_CPU,
	PD_ROLE_TIME,		/* ns of the recording's clock */
	PD_ROLE_CODE_ADDRESS,	/* virtual: instructions, maps */
	PD_ROLE_DATA_ADDRESS,	/* virtual */
	PD_ROLE_PHYS_ADDRESS,
	PD_ROLE_REGISTERS,
	PD_ROLE_EVENT_ID,
	PD_ROLE_EVENT_NAME,
	PD_ROLE_CGROUP_ID,
	PD_ROLE_COMM,
	PD_ROLE_PATH,
	PD_ROLE_SYMBOL,
	PD_ROLE_BUILD_ID,	/* of a file, or tag of a BPF program */
	PD_ROLE_HOST,		/* names a machine */
	PD_ROLE_MACHINE,	/* describes its hardware or system */
	PD_ROLE_ARGUMENTS,	/* from a command line */
	PD_ROLE_USER_BYTES,	/* memory of tasks, raw data, hardware traces */
	PD_ROLE_CODE_BYTES,
	PD_ROLE_RECORDS,	/* other records, compressed */
	PD_NR_ROLES,
};

struct pd_field {
	const char *name;	/* as in the kernel's struct; "" for the bare element of an array */
	const char *key;	/* `,"name":` */
	uint8_t key_size;
	uint8_t kind, show, blob, role;
	uint16_t width;
	bool msb_first;		/* bit-fields, which big-endian compilers allocate from the top */
	bool names_event;	/* an id of an event: the JSON has its name beside it, as `event` */
	const char *doc;
	const char *literal;
	struct pd_when when;
	struct pd_count count;
	struct pd_extent extent;
	const struct pd_name *names;
	const struct pd_bits *bits;
	const struct pd_field *fields;
};

/* Rows. The macros build data and nothing else. PD_KEY_ROOM bytes of a key are readable, so that it
 * can be copied with a constant size. */
#define PD_KEY_ROOM 32
#define PD_KEY_FILL "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define PD_KEY(n) .name = #n, .key = ",\"" #n "\":" PD_KEY_FILL, .key_size = \
	sizeof(",\"" #n "\":") - 1
#define FIELDS(...) .fields = (const struct pd_field[]){ __VA_ARGS__, { .kind = PD_END } }

#define ROLE(r) .role = PD_ROLE_##r

#define NUMBER(w, s, n, d, ...) { PD_KEY(n), .kind = PD_UINT, .width = w, .show = s, .doc = d, \
	__VA_ARGS__ }
#define U8(n, d, ...)  { PD_KEY(n), .kind = PD_UINT, .width = 1, .doc = d, __VA_ARGS__ }
#define U16(n, d, ...) { PD_KEY(n), .kind = PD_UINT, .width = 2, .doc = d, __VA_ARGS__ }
#define U32(n, d, ...) { PD_KEY(n), .kind = PD_UINT, .width = 4, .doc = d, __VA_ARGS__ }
#define U64(n, d, ...) { PD_KEY(n), .kind = PD_UINT, .width = 8, .doc = d, __VA_ARGS__ }
#define S32(n, d, ...) { PD_KEY(n), .kind = PD_UINT, .width = 4, .show = PD_SIGNED, .doc = d, \
	__VA_ARGS__ }
#define S64(n, d, ...) { PD_KEY(n), .kind = PD_UINT, .width = 8, .show = PD_SIGNED, .doc = d, \
	__VA_ARGS__ }
#define X64(n, d, ...) { PD_KEY(n), .kind = PD_UINT, .width = 8, .show = PD_HEX, .doc = d, \
	__VA_ARGS__ }
#define ENUM(w, n, d, t, ...) \
	{ PD_KEY(n), .kind = PD_UINT, .width = w, .show = PD_ENUM, .doc = d, .names = t, \
		__VA_ARGS__ }
#define FLAGS(w, n, d, t, ...) \
	{ PD_KEY(n), .kind = PD_UINT, .width = w, .show = PD_FLAGS, .doc = d, .names = t, \
		__VA_ARGS__ }
#define COUNTER(w, n, ...) { PD_KEY(n), .kind = PD_UINT, .width = w, .show = PD_HIDDEN, \
	__VA_ARGS__ }
#define CSTR(n, d, ...) { PD_KEY(n), .kind = PD_CSTR, .doc = d, __VA_ARGS__ }
#define ZSTR(n, d, ...) { PD_KEY(n), .kind = PD_ZSTR, .doc = d, __VA_ARGS__ }
#define CHARS(w, n, d, ...) { PD_KEY(n), .kind = PD_CHARS, .width = w, .doc = d, __VA_ARGS__ }
#define FSTR(n, d, ...) { PD_KEY(n), .kind = PD_FSTR, .doc = d, __VA_ARGS__ }
#define TEXT(n, d, c, ...) { PD_KEY(n), .kind = PD_TEXT, .doc = d, c, __VA_ARGS__ }
#define BYTES(n, d, c, ...) { PD_KEY(n), .kind = PD_BYTES, .doc = d, c, __VA_ARGS__ }
#define AREA(w, n, d, ...) { PD_KEY(n), .kind = PD_AREA, .width = w, .doc = d, __VA_ARGS__ }
#define PAD(c, ...) { .name = "padding", .kind = PD_PAD, c, __VA_ARGS__ }
#define LITERAL(s, w) { .name = "", .kind = PD_LITERAL, .literal = s, .width = w }
#define NUMBERS(w, s, n, d, c, ...) \
	{ PD_KEY(n), .kind = PD_NUMBERS, .width = w, .show = s, .doc = d, c, __VA_ARGS__ }
#define STRUCT(n, d, f, ...) { PD_KEY(n), .kind = PD_STRUCT, .doc = d, f, __VA_ARGS__ }
#define ARRAY(n, d, c, f, ...) { PD_KEY(n), .kind = PD_ARRAY, .doc = d, c, f, __VA_ARGS__ }
#define GROUP(f, ...) { .name = "", .kind = PD_GROUP, f, __VA_ARGS__ }
#define BITS(w, s, n, d, ...) \
	{ PD_KEY(n), .kind = PD_UINT, .width = w, .show = s, .doc = d, __VA_ARGS__ }
#define ELEMENT .name = "", .key = "", .key_size = 0	/* bare value of an array */

#define BITS_ARE(...) .bits = (const struct pd_bits[]){ __VA_ARGS__, { .name = NULL } }
#define BIT(n, s, w) { PD_KEY(n), s, w, PD_BIT_NUMBER, NULL }
#define BIT_ENUM(n, s, w, t) { PD_KEY(n), s, w, PD_BIT_ENUM, t }
#define BIT_LIST(n, s, w, t) { PD_KEY(n), s, w, PD_BIT_LIST, t }
#define BIT_ENUM_LIST(n, s, w, t) { PD_KEY(n), s, w, PD_BIT_ENUM_LIST, t }
#define BIT_RESERVED(s, w) { PD_KEY(reserved), s, w, PD_BIT_RESERVED, NULL }

#define IF_SAMPLE(bit) .when = { .on = PD_ON_SAMPLE_TYPE, .value = (bit) }
#define IF_READ(bit) .when = { .on = PD_ON_READ_FORMAT, .value = (bit) }
#define UNLESS_READ(bit) .when = { .on = PD_ON_READ_FORMAT, .value = (bit), .unless = true }
#define IF_BRANCH(bit) .when = { .on = PD_ON_BRANCH_TYPE, .value = (bit) }
#define IF_MASK(s, m) .when = { .on = PD_ON_MASK, .sibling = #s, .value = (m) }
#define UNLESS_MASK(s, m) .when = { .on = PD_ON_MASK, .sibling = #s, .value = (m), .unless = true }
#define IF_EQUAL(s, v) .when = { .on = PD_ON_EQUAL, .sibling = #s, .value = (v) }
#define UNLESS_EQUAL(s, v) .when = { .on = PD_ON_EQUAL, .sibling = #s, .value = (v), \
	.unless = true }
#define IF_AT_LEAST(s, v) .when = { .on = PD_ON_AT_LEAST, .sibling = #s, .value = (v) }
#define UNLESS_AT_LEAST(s, v) .when = { .on = PD_ON_AT_LEAST, .sibling = #s, .value = (v), \
	.unless = true }
#define IF_LEFT(n) .when = { .left = n }
#define IF_TEST(fn) .when = { .on = PD_ON_TEST, .test = fn }
#define UNLESS_TEST(fn) .when = { .on = PD_ON_TEST, .test = fn, .unless = true }
#define IF_VARIANT(bit) .when = { .on = PD_ON_VARIANT, .value = (bit) }

#define TIMES(v) .count = { .from = PD_COUNT_FIXED, .value = (v) }
#define TIMES_OF(s) .count = { .from = PD_COUNT_SIBLING, .sibling = #s }
#define TIMES_OF_LOW(s) .count = { .from = PD_COUNT_SIBLING, .sibling = #s, .value = 32 }
#define TIMES_PRODUCT(s, b) .count = { .from = PD_COUNT_PRODUCT, .sibling = #s, .by = #b }
#define TIMES_WORDS(s, bits) .count = { .from = PD_COUNT_WORDS, .sibling = #s, .value = bits }
#define TIMES_INLINE(w) .count = { .from = PD_COUNT_INLINE, .value = w }
#define TIMES_REST .count = { .from = PD_COUNT_REST }
#define TIMES_REST_MOD(n) .count = { .from = PD_COUNT_REST_MOD, .value = n }
#define TIMES_ALIGN(n) .count = { .from = PD_COUNT_ALIGN, .value = n }
#define TIMES_CPUS .count = { .from = PD_COUNT_CPUS }
#define EXTENT_OF(s) .extent = { .from = PD_EXTENT_SIBLING, .sibling = #s }
#define EXTENT_OWN(s, zero) .extent = { .from = PD_EXTENT_OWN, .sibling = #s, .value = zero }

/* A record type. */
enum pd_trailer {
	PD_TRAILER_NONE,	/* perf's own records */
	PD_TRAILER,		/* sample_id if the attr has sample_id_all */
	/* only if exactly its size is left: perf inject adds it to some of perf's own */
	PD_TRAILER_LEFT,
};

/* The task of a record. */
enum pd_task_of {
	PD_TASK_OF_RECORD,	/* pid and tid of the body, else of the trailer */
	PD_TASK_OR_KERNEL,	/* the same, but a pid of -1 means the kernel */
	PD_TASK_NONE,		/* about the kernel or the recording, not the running task */
};
enum pd_event_of {
	PD_EVENT_OF_RECORD,
	PD_EVENT_ANY,		/* valid for all events */
};

/* Meaning of a record for the name of a thread. */
enum pd_names_thread {
	PD_NAMES_NO_THREAD,
	PD_NAMES_THREAD,	/* `comm` is the name of `tid` */
	PD_NAMES_CHILD,		/* `tid` starts with the name of `ptid` */
};

/* A misc bit that chooses the layout, and that kernels set on records of the other layout, too. */
struct pd_stray_misc {
	uint16_t bit;
	uint64_t attr_flag;	/* for events with it, the bit is right */
	const char *field;	/* which only records without the bit have */
	/* Returns whether the bytes can't be those of the bit's layout. */
	bool (*is_stray)(struct pd_bytes body, enum pd_swap swap);
};

struct pd_record_desc {
	uint32_t type;
	const char *name, *doc;
	const struct pd_field *fields;
	enum pd_trailer trailer;
	enum pd_task_of task;		/* these three are for filters; kernel records only */
	enum pd_event_of event;
	enum pd_names_thread names_thread;
	const char *payload;		/* sibling: size of the payload, which is shown as `data` */
	const struct pd_name *misc;	/* misc flags of this type */
	const struct pd_stray_misc *stray;
	bool cpumode;			/* the low bits of misc are a cpumode */
	/* The kernel states a size that counts sample_id more than once, and writes it once: after
	 * it, the record has old bytes of the buffer. */
	bool oversized;
	bool opaque;			/* the layout is unknown: `body` */
	bool compressed;		/* `data` is part of the zstd stream of records */
};

/* Returns the misc that the layout of a record follows: without a stray bit. `attr_flags` is that
 * of its event. */
static inline uint16_t pd_layout_misc(const struct pd_record_desc *d, uint16_t misc,
				      uint64_t attr_flags, struct pd_bytes body, enum pd_swap swap)
{
	const struct pd_stray_misc *s = d->stray;

	if (!s || !(misc & s->bit) || attr_flags & s->attr_flag || !s->is_stray(body, swap))
		return misc;
	return (uint16_t)(misc & ~s->bit);
}

extern const struct pd_record_desc pd_records_kernel[];	/* no gaps from PD_RECORD_MMAP */

/* For types of perf and simpleperf. */
const struct pd_record_desc *pd_record_desc_of_user(uint32_t type);

/* Returns NULL for an unknown type. */
static inline const struct pd_record_desc *pd_record_desc(uint32_t type)
{
	if (type >= PD_RECORD_MMAP && type < PD_RECORD_KERNEL_END)
		return &pd_records_kernel[type - PD_RECORD_MMAP];
	return pd_record_desc_of_user(type);
}

/* Returns the i-th description, or NULL after the last. */
const struct pd_record_desc *pd_record_desc_at(size_t i);

/* A feature section is one row, with its name in the JSON. */
struct pd_feature_desc {
	uint32_t id;
	const struct pd_field *field;
};

const struct pd_feature_desc *pd_feature_desc(uint32_t id);
const struct pd_feature_desc *pd_feature_desc_at(size_t i);

/* Rows that several files need. */
/* {attr} as an object, limited by its own size */
extern const struct pd_field pd_attr_fields[];
extern const struct pd_field pd_file_attr_fields[];	/* an entry of the attrs section */
extern const struct pd_field pd_sample_fields[];
extern const struct pd_field pd_sample_id_fields[];
extern const struct pd_field pd_read_fields[];
extern const struct pd_field pd_build_id_fields[];

#endif
