/* packing_newlines.c - recordings that went through a terminal, such as that of "docker exec -t",
 * or were sent as text: each "\n" became "\r\n". Without these "\r" the bytes are as they were. */
#include <string.h>

#include "input/newlines.h"
#include "input/packing.h"

enum {
	LEAST = 4,	/* newlines that tell; of 256 in a recording one has a "\r" by chance */
	CHUNK = 4096,
	LOOKED_AT = 1 << 24,
};

struct newlines {
	bool has_return;	/* the last byte was a "\r", which is not in the output yet */
};

/* Counts newlines in *nr. Returns false at one without a "\r"; `before` is the byte before p. */
static bool are_converted(const uint8_t *p, size_t n, uint8_t before, uint64_t *nr)
{
	const uint8_t *const end = p + n, *at = p;

	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		if ((at == p ? before : at[-1]) != '\r')
			return false;
		++*nr;
		at++;
	}
	return true;
}

bool pd_newlines_are_converted(struct pd_source *source)
{
	uint8_t chunk[CHUNK], before = 0;
	struct pd_error ignored;
	uint64_t nr = 0;
	int64_t got;

	for (uint64_t at = 0; at < LOOKED_AT; at += (uint64_t)got) {
		got = pd_source_pread(source, at, chunk, sizeof(chunk), &ignored);
		if (got <= 0)
			break;
		if (!are_converted(chunk, (size_t)got, before, &nr))
			return false;
		before = chunk[got - 1];
	}
	return nr >= LEAST;
}

static bool start_newlines(struct pd_bytes head)
{
	(void)head;	/* pd_newlines_are_converted() tells */
	return false;
}

static enum pd_code begin_newlines(void *state, struct pd_blocks *b)
{
	(void)b;
	*(struct newlines *)state = (struct newlines){ false };
	return PD_OK;
}

/* Copies the bytes up to the next "\r", which the next byte may make part of a newline. */
static void copy_text(struct newlines *t, struct pd_packing_step *s)
{
	size_t n = s->in.size - s->taken < s->room - s->made ? s->in.size - s->taken :
							       s->room - s->made;
	const uint8_t *from = s->in.data + s->taken, *end = memchr(from, '\r', n);

	if (end)
		n = (size_t)(end - from);
	memcpy(s->out + s->made, from, n);
	s->made += n;
	s->taken += n + (end != NULL);
	t->has_return = end != NULL;
}

static enum pd_code step_newlines(void *state, struct pd_packing_step *s)
{
	struct newlines *t = state;

	s->ended = !s->in.size;
	while (s->made < s->room && (s->taken < s->in.size || (s->ended && t->has_return))) {
		if (t->has_return && (s->ended || s->in.data[s->taken] != '\n'))
			s->out[s->made++] = '\r';
		t->has_return = false;
		if (!s->ended && s->made < s->room)
			copy_text(t, s);
	}
	return PD_OK;
}

static void end_newlines(void *state)
{
	(void)state;
}

const struct pd_packing pd_packing_newlines = {
	.name = "newlines", .state_size = sizeof(struct newlines), .starts = start_newlines,
	.begin = begin_newlines, .step = step_newlines, .end = end_newlines,
	.remark = "a terminal, or a transfer as text, has added a carriage return to each "
		  "newline: these are left out",
};
