/* jsonw.c - writes JSON as a stream. */
#include "base/jsonw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HEX_DIGITS "0123456789abcdef"

/* Every text of n digits after a prefix. */
#define DIGIT(p) p "0" p "1" p "2" p "3" p "4" p "5" p "6" p "7" p "8" p "9"
#define DIGITS2(p) DIGIT(p "0") DIGIT(p "1") DIGIT(p "2") DIGIT(p "3") DIGIT(p "4") DIGIT(p "5") \
	DIGIT(p "6") DIGIT(p "7") DIGIT(p "8") DIGIT(p "9")
#define DIGITS3(p) DIGITS2(p "0") DIGITS2(p "1") DIGITS2(p "2") DIGITS2(p "3") DIGITS2(p "4") \
	DIGITS2(p "5") DIGITS2(p "6") DIGITS2(p "7") DIGITS2(p "8") DIGITS2(p "9")
#define DIGITS4(p) DIGITS3(p "0") DIGITS3(p "1") DIGITS3(p "2") DIGITS3(p "3") DIGITS3(p "4") \
	DIGITS3(p "5") DIGITS3(p "6") DIGITS3(p "7") DIGITS3(p "8") DIGITS3(p "9")

const char pd_digit_fours[40001] = DIGITS4("");

void pd_jsonw_init(struct pd_jsonw *w, char *buffer, struct pd_output out)
{
	buffer[0] = '\n';
	*w = (struct pd_jsonw){
		.at = buffer + 1, .end = buffer + 1 + PD_JSONW_BUFFER - PD_JSONW_SLACK,
		.buffer = buffer + 1, .out = out,
	};
}

int pd_jsonw_flush(struct pd_jsonw *w)
{
	size_t n = (size_t)(w->at - w->buffer);

	if (n && !w->failed)
		w->failed = w->out.write(w->out.ctx, w->buffer, n);
	w->buffer[-1] = w->at[-1];	/* the comma rule looks at the last byte */
	w->at = w->buffer;
	return w->failed;
}

void pd_jsonw_double(struct pd_jsonw *w, double v)
{
	pd_jsonw_room(w);
	if (!isfinite(v)) {
		pd_jsonw_raw(w, "null", 4);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		char text[40];
		int n = snprintf(text, sizeof(text), "%.*g", digits, v);
		char *comma;

		if (digits < 17 && strtod(text, NULL) != v)
			continue;
		comma = strchr(text, ',');	/* the decimal point of some locales */
		if (comma)
			*comma = '.';
		pd_jsonw_raw(w, text, (size_t)n);
		return;
	}
}

/* Returns the size of the UTF-8 sequence at p, 0 if it is invalid (RFC 3629: no surrogates, no
 * overlong forms). */
static size_t utf8_sequence(const uint8_t *p, size_t left)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t n;

	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n > left)
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static void escape(struct pd_jsonw *w, uint8_t c)
{
	static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	char text[6] = { '\\', 'u', '0', '0', HEX_DIGITS[c >> 4], HEX_DIGITS[c & 15] };

	for (const char *s = shorts; *s; s += 2)
		if ((uint8_t)s[0] == c) {
			pd_jsonw_raw(w, (char[]){ '\\', s[1] }, 2);
			return;
		}
	pd_jsonw_raw(w, text, sizeof(text));
}

static inline bool needs_no_escape(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

#define EACH(byte) (0x0101010101010101ull * (byte))

/* Returns whether none of 8 bytes needs an escape. A byte's top bit is set if it is below 0x20,
 * above 0x7e, or one of the two. */
static inline bool need_no_escape8(uint64_t x)
{
	const uint64_t quote = x ^ EACH('"'), backslash = x ^ EACH('\\');
	const uint64_t special = x | (x + EACH(1)) | (x - EACH(0x20)) |
				 ((quote - EACH(1)) & ~quote) |
				 ((backslash - EACH(1)) & ~backslash);

	return !(special & EACH(0x80));
}

static inline bool need_no_escape16(pd_bytes16 x)
{
	const pd_words16 special =
		(pd_words16)((x < 0x20) | (x == 0x7f) | (x == '"') | (x == '\\'));

	return !(special[0] | special[1]);
}

/* Copies 16 bytes if none needs an escape. */
static inline bool copy16(char *at, const uint8_t *p)
{
	pd_bytes16 x;

	memcpy(&x, p, sizeof(x));
	if (!need_no_escape16(x))
		return false;
	memcpy(at, &x, sizeof(x));
	return true;
}

static inline bool copy8(char *at, const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	if (!need_no_escape8(x))
		return false;
	memcpy(at, &x, sizeof(x));
	return true;
}

/* Copies bytes up to the first that needs an escape, and returns where that is. The last piece,
 * shorter than a step, is copied again together with bytes before it. */
static inline const uint8_t *copy_unescaped(char **at, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *start = p;
	char *to = *at;
	size_t left;

	while (end - p >= 16 && copy16(to, p)) {
		p += 16;
		to += 16;
	}
	left = (size_t)(end - p);
	if (left < 16 && (end - start >= 16 ? copy16(to + left - 16, end - 16) :
			  left >= 8 && copy8(to, p) && copy8(to + left - 8, end - 8))) {
		*at = to + left;
		return end;
	}
	for (; p < end && needs_no_escape(*p); p++)
		*to++ = (char)*p;
	*at = to;
	return p;
}

/* Not inlined: few texts need it, and its registers would be saved for all. */
static __attribute__((noinline))
enum pd_utf8 write_text_inside(struct pd_jsonw *w, struct pd_bytes text)
{
	enum pd_utf8 verdict = PD_UTF8;
	const uint8_t *p = text.data, *end = p + text.size;
	size_t n;

	while (p < end) {
		pd_jsonw_room(w);
		p = copy_unescaped(&w->at, p, end - p > PD_JSONW_SLACK ? p + PD_JSONW_SLACK : end);
		if (p == end)
			break;
		if (needs_no_escape(*p))
			continue;
		if (*p < 0x20 || *p == '"' || *p == '\\') {
			escape(w, *p++);
			continue;
		}
		if (*p <= 0x7f) {
			pd_jsonw_char(w, (char)*p++);
			continue;
		}
		n = utf8_sequence(p, (size_t)(end - p));
		if (n) {
			pd_jsonw_raw(w, (const char *)p, n);
			p += n;
		} else {
			pd_jsonw_raw(w, "\xef\xbf\xbd", 3);
			verdict = PD_NOT_UTF8;
			p++;
		}
	}
	return verdict;
}

enum pd_utf8 pd_jsonw_text(struct pd_jsonw *w, struct pd_bytes text)
{
	const uint8_t *p = text.data, *end = p + text.size;
	enum pd_utf8 verdict;

	pd_jsonw_room(w);
	*w->at++ = '"';
	if (text.size < PD_JSONW_SLACK - 2)
		p = copy_unescaped(&w->at, p, end);
	if (p == end) {
		*w->at++ = '"';
		return PD_UTF8;
	}
	verdict = write_text_inside(w, (struct pd_bytes){ p, (size_t)(end - p) });
	pd_jsonw_char(w, '"');
	return verdict;
}

/* Writes 16 bytes as 32 digits. */
static inline void write_hex16(char *at, pd_words16 bytes)
{
	const pd_bytes16 high = pd_hex_text(pd_high_nibbles(bytes)),
			 low = pd_hex_text(pd_low_nibbles(bytes));
	pd_bytes16 text;

	text = PD_SHUFFLE(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	memcpy(at, &text, sizeof(text));
	text = PD_SHUFFLE(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
	memcpy(at + sizeof(text), &text, sizeof(text));
}

#ifdef __x86_64__
typedef int8_t pd_bytes32 __attribute__((vector_size(32)));
typedef uint64_t pd_words32 __attribute__((vector_size(32)));

#define WIDE __attribute__((target("avx2")))	/* if the machine has it: 32 bytes at once */

static inline bool is_wide(void)
{
	return __builtin_cpu_supports("avx2");
}

WIDE static inline __attribute__((always_inline)) void put_hex32(char *at, pd_words32 bytes)
{
	pd_bytes32 high = (pd_bytes32)(bytes >> 4 & PD_NIBBLES),
		   low = (pd_bytes32)(bytes & PD_NIBBLES), text;

	high += '0' + ((high > 9) & ('a' - '0' - 10));
	low += '0' + ((low > 9) & ('a' - '0' - 10));
	text = PD_SHUFFLE(high, low, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39,
			  8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47);
	memcpy(at, &text, sizeof(text));
	text = PD_SHUFFLE(high, low, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,
			  24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
	memcpy(at + sizeof(text), &text, sizeof(text));
}

/* Copied stacks are read once, from a mapped file: without prefetching them this waits for memory.
 * Prefetching an invalid address is harmless. */
#define FETCH_AHEAD 4096

WIDE static size_t write_hex_wide(char *at, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i + 32 <= n; i += 32) {
		pd_words32 bytes;

		__builtin_prefetch((const void *)((uintptr_t)p + i + FETCH_AHEAD));
		memcpy(&bytes, p + i, sizeof(bytes));
		put_hex32(at + 2 * i, bytes);
	}
	return i;
}

WIDE static size_t put_words_wide(char *at, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		pd_bytes32 bytes;

		memcpy(&bytes, p + 8 * i, sizeof(bytes));
		bytes = PD_SHUFFLE(bytes, bytes, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9,
				   8, 23, 22, 21, 20, 19, 18, 17, 16, 31, 30, 29, 28, 27, 26, 25,
				   24);
		put_hex32(at + 16 * i, (pd_words32)bytes);
	}
	return i;
}
#else
static inline bool is_wide(void)
{
	return false;
}

/* Never called. */
static inline size_t write_hex_wide(char *at, const uint8_t *p, size_t n)
{
	(void)at, (void)p, (void)n;
	return 0;
}
#define put_words_wide write_hex_wide
#endif

/* Writes as many whole steps of 32 or 16 bytes as there are. Returns the number of bytes
 * written. */
static inline size_t write_hex(char *at, const uint8_t *p, size_t n)
{
	size_t i = is_wide() ? write_hex_wide(at, p, n) : 0;

	for (; i + 16 <= n; i += 16) {
		pd_words16 bytes;

		memcpy(&bytes, p + i, sizeof(bytes));
		write_hex16(at + 2 * i, bytes);
	}
	return i;
}

void pd_write_hex_words(char *at, const uint8_t *words, size_t n, enum pd_swap swap)
{
	size_t i = 0;

	if (is_wide())
		i = swap == PD_SWAP_NO ? put_words_wide(at, words, n) :
					 write_hex_wide(at, words, 8 * n) / 8;
	for (; i < n; i += 2) {
		const uint64_t first = pd_load64(words + 8 * i, swap);
		const uint64_t second = i + 1 < n ? pd_load64(words + 8 * (i + 1), swap) : 0;

		write_hex16(at + 16 * i,
			    (pd_words16){ pd_high_first(first), pd_high_first(second) });
	}
}

void pd_jsonw_hex_inside(struct pd_jsonw *w, struct pd_bytes bytes)
{
	static const char digits[] = HEX_DIGITS;

	for (size_t i = 0; i < bytes.size;) {
		size_t stop =
			bytes.size - i > PD_JSONW_SLACK / 2 ? i + PD_JSONW_SLACK / 2 : bytes.size;
		size_t done;
		char *at;

		pd_jsonw_room(w);
		done = write_hex(w->at, bytes.data + i, stop - i);
		at = w->at + 2 * done;
		for (i += done; i < stop; i++) {
			*at++ = digits[bytes.data[i] >> 4];
			*at++ = digits[bytes.data[i] & 15];
		}
		w->at = at;
	}
}

void pd_jsonw_hex(struct pd_jsonw *w, struct pd_bytes bytes)
{
	pd_jsonw_char(w, '"');
	pd_jsonw_hex_inside(w, bytes);
	pd_jsonw_char(w, '"');
}

void pd_jsonw_number_member(struct pd_jsonw *w, const char *key, uint64_t v)
{
	pd_jsonw_key(w, key, strlen(key));
	pd_jsonw_unsigned(w, v);
}

void pd_jsonw_string_member(struct pd_jsonw *w, const char *key, const char *text)
{
	pd_jsonw_key(w, key, strlen(key));
	pd_jsonw_string(w, text);
}
