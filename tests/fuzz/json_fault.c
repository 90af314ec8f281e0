/* json_fault.c - is a text strict JSON? Written for the tests: shares nothing with the writer it
 * judges. */
#include <stdint.h>
#include <string.h>

#include "harness.h"

#define DEPTH_MAX 64
#define KEYS_MAX 512	/* of one object that are held against each other */

struct text {
	const unsigned char *at, *end;
	const char *fault;
	int depth;
};

static int fail(struct text *t, const char *fault)
{
	if (!t->fault)
		t->fault = fault;
	return -1;
}

static void space(struct text *t)
{
	while (t->at < t->end &&
	       (*t->at == ' ' || *t->at == '\n' || *t->at == '\t' || *t->at == '\r'))
		t->at++;
}

/* One character of more than one byte. */
static int utf8(struct text *t)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int n = *t->at < 0xc2	 ? 0
			 : *t->at < 0xe0 ? 2
			 : *t->at < 0xf0 ? 3
			 : *t->at < 0xf5 ? 4
					 : 0;
	uint32_t c;

	if (!n || (size_t)(t->end - t->at) < n)
		return fail(t, "no UTF-8");
	c = *t->at & (0x7f >> n);
	for (unsigned int i = 1; i < n; i++) {
		if ((t->at[i] & 0xc0) != 0x80)
			return fail(t, "no UTF-8");
		c = c << 6 | (t->at[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return fail(t, "no UTF-8");
	t->at += n;
	return 0;
}

static int hex4(struct text *t, uint32_t *out)
{
	*out = 0;
	if (t->end - t->at < 4)
		return fail(t, "\\u is cut off");
	for (int i = 0; i < 4; i++, t->at++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *d = *t->at ? strchr(digits, *t->at) : NULL;

		if (!d)
			return fail(t, "\\u without hex");
		*out = *out << 4 | (uint32_t)(d - digits < 16 ? d - digits : d - digits - 6);
	}
	return 0;
}

static int escape(struct text *t)
{
	uint32_t c;

	if (t->at == t->end)
		return fail(t, "an escape is cut off");
	if (*t->at != 'u')
		return *t->at && strchr("\"\\/bfnrt", *t->at) ? (t->at++, 0)
							      : fail(t, "an unknown escape");
	t->at++;
	if (hex4(t, &c))
		return -1;
	if (c < 0xd800 || c >= 0xe000)
		return 0;
	if (c >= 0xdc00 || t->end - t->at < 6 || t->at[0] != '\\' || t->at[1] != 'u')
		return fail(t, "a lone surrogate");
	t->at += 2;
	return hex4(t, &c) ? -1 : c >= 0xdc00 && c < 0xe000 ? 0 : fail(t, "a lone surrogate");
}

static int string(struct text *t)
{
	if (t->at == t->end || *t->at++ != '"')
		return fail(t, "a string was expected");
	while (t->at < t->end && *t->at != '"') {
		if (*t->at < 0x20)
			return fail(t, "a control character");
		if (*t->at >= 0x80) {
			if (utf8(t))
				return -1;
		} else if (*t->at++ == '\\' && escape(t)) {
			return -1;
		}
	}
	return t->at++ < t->end ? 0 : fail(t, "a string has no end");
}

static size_t digits(struct text *t)
{
	const unsigned char *from = t->at;

	while (t->at < t->end && *t->at >= '0' && *t->at <= '9')
		t->at++;
	return (size_t)(t->at - from);
}

static int number(struct text *t)
{
	const unsigned char *from;

	t->at += *t->at == '-';
	from = t->at;
	if (!digits(t) || (*from == '0' && t->at - from > 1))
		return fail(t, "no number");
	if (t->at < t->end && *t->at == '.' && (t->at++, !digits(t)))
		return fail(t, "no digits after the point");
	if (t->at < t->end && (*t->at == 'e' || *t->at == 'E')) {
		t->at++;
		t->at += t->at < t->end && (*t->at == '+' || *t->at == '-');
		if (!digits(t))
			return fail(t, "no digits in the exponent");
	}
	return 0;
}

static int value(struct text *t);

static int key(struct text *t, struct pd_bytes *keys, size_t *n)
{
	const unsigned char *from = t->at;
	struct pd_bytes k;

	if (string(t))
		return -1;
	k = (struct pd_bytes){ from, (size_t)(t->at - from) };
	for (size_t i = 0; i < *n; i++)
		if (keys[i].size == k.size && memcmp(keys[i].data, k.data, k.size) == 0)
			return fail(t, "a key stands twice");
	if (*n < KEYS_MAX)
		keys[(*n)++] = k;
	return 0;
}

static int members(struct text *t, char close)
{
	struct pd_bytes keys[KEYS_MAX];
	size_t n = 0;

	if (++t->depth > DEPTH_MAX)
		return fail(t, "nested too deep");
	t->at++;
	space(t);
	if (t->at < t->end && *t->at == close)
		goto out;
	for (;;) {
		space(t);
		if (close == '}') {
			if (key(t, keys, &n))
				return -1;
			space(t);
			if (t->at == t->end || *t->at++ != ':')
				return fail(t, "a colon was expected");
		}
		if (value(t))
			return -1;
		space(t);
		if (t->at == t->end)
			return fail(t, "no end");
		if (*t->at == close)
			break;
		if (*t->at++ != ',')
			return fail(t, "a comma was expected");
	}
out:
	t->depth--;
	t->at++;
	return 0;
}

static int word(struct text *t, const char *w)
{
	const size_t n = strlen(w);

	if ((size_t)(t->end - t->at) < n || memcmp(t->at, w, n) != 0)
		return fail(t, "no value");
	t->at += n;
	return 0;
}

static int value(struct text *t)
{
	space(t);
	if (t->at == t->end)
		return fail(t, "no value");
	switch (*t->at) {
	case '{':
		return members(t, '}');
	case '[':
		return members(t, ']');
	case '"':
		return string(t);
	case 't':
		return word(t, "true");
	case 'f':
		return word(t, "false");
	case 'n':
		return word(t, "null");
	default:
		return number(t);
	}
}

const char *fuzz_json_fault(const char *text, size_t size)
{
	struct text t = { (const unsigned char *)text, (const unsigned char *)text + size, NULL,
			  0 };

	if (value(&t))
		return t.fault;
	space(&t);
	return t.at == t.end ? NULL : "something after the value";
}
