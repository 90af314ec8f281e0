/* out.h - what the writers of all formats share: a buffer, and the text of names. */
#ifndef PP_OUT_H
#define PP_OUT_H

#include <stdarg.h>
#include <string.h>

#include "profile/profile_internal.h"

/* Bytes of the buffer, and those of them that pp_room() makes free. */
enum { PP_OUT_SIZE = 1 << 16, PP_OUT_ROOM = 512 };

struct pp_out {
	struct pp_profile *p;
	struct pp_write o;
	struct pd_output to;
	int error;		/* of the first failure; later writes do nothing */
	uint64_t flushed;	/* bytes that left the buffer */
	size_t used;
	char buffer[PP_OUT_SIZE];
};

void pp_flush(struct pp_out *out);
/* The same as pp_put(), for what may not fit into the buffer. */
void pp_put_parts(struct pp_out *out, const char *text, size_t size);
static inline void pp_put(struct pp_out *out, const char *text, size_t size)
{
	if (out->used + size >= PP_OUT_SIZE) {
		pp_put_parts(out, text, size);
		return;
	}
	memcpy(out->buffer + out->used, text, size);
	out->used += size;
}

/* Returns where PP_OUT_ROOM bytes can be written, up to pp_wrote(); or fewer by other calls, which
 * then leave all of them in the buffer. */
static inline char *pp_room(struct pp_out *out)
{
	if (out->used > PP_OUT_SIZE - PP_OUT_ROOM)
		pp_flush(out);
	return out->buffer + out->used;
}

/* States where the bytes written at pp_room() end. */
static inline void pp_wrote(struct pp_out *out, const char *end)
{
	out->used = (size_t)(end - out->buffer);
}

void pp_put_text(struct pp_out *out, const char *text);
/* Writes a number in at least `width` columns; `pad` is before the digits. */
void pp_put_number(struct pp_out *out, uint64_t n, size_t width, char pad);
/* Returns what is appended to a noun after the number n. */
static inline const char *pp_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void pp_printf(struct pp_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a name for people: what could change the state of a terminal or the order of its text is
 * written as an escape. At most `columns` of the terminal, 0: all. Returns the columns. */
size_t pp_put_name(struct pp_out *out, struct pd_bytes name, size_t columns);

/* Returns the next character of a text that may not be UTF-8, and moves *text past it: the bytes
 * that are not are returned one by one as 0x110000 and up. *text must not be empty. */
uint32_t pp_next_character(struct pd_bytes *text);

/* Returns how many characters from the first on are printable ASCII: most are. */
size_t pp_count_plain(struct pd_bytes text);

/* Writes a text in which '?' replaces characters that could break a line. */
void pp_put_clean(struct pp_out *out, struct pd_bytes text);

/* Returns whether a character is a control, a control of bidirectional text, or no character. */
bool pp_is_control(uint32_t c);

/* Copies at most `room` bytes of a task's name with each run of digits as one '*'. Returns the
 * size. */
size_t pp_copy_without_digits(char *to, size_t room, struct pd_bytes name);

struct pd_bytes pp_name_of(const struct pp_profile *p, const struct pp_merged *n);

enum { PP_BUILD_ID_TEXT = 2 * 64 + 1 };

/* Writes the build id of a function's image to `text`, in hex, "" if it is not known. Returns
 * it. */
const char *pp_build_id_of(const struct pp_profile *p, const struct pp_named *f,
			   char text[PP_BUILD_ID_TEXT]);

/* Returns the node after `at` below `root`, parents before children, or PP_NONE. */
static inline uint32_t pp_next_below(const struct pp_profile *p, uint32_t root, uint32_t at)
{
	if (p->merged[at].first_child != PP_NONE)
		return p->merged[at].first_child;
	while (at != root && p->merged[at].next == PP_NONE)
		at = p->merged[at].parent;
	return at == root ? PP_NONE : p->merged[at].next;
}

/* Returns whether formats with all events show this one: those without samples are left out. */
static inline bool pp_is_column(const struct pp_profile *p, size_t event)
{
	return p->events[event].samples > 0;
}

int pp_write_folded(struct pp_out *out);
int pp_write_top(struct pp_out *out);
int pp_write_diff(struct pp_out *out);
int pp_write_tree(struct pp_out *out);
int pp_write_page(struct pp_out *out);
int pp_write_pprof(struct pp_out *out);
int pp_write_firefox(struct pp_out *out);
int pp_write_speedscope(struct pp_out *out);
int pp_write_chrome(struct pp_out *out);
int pp_write_otlp(struct pp_out *out);
int pp_write_table(struct pp_out *out);
int pp_write_svg(struct pp_out *out);
int pp_write_callgrind(struct pp_out *out);

/* Writes the lines above a table: what was recorded, and whether it can be trusted. */
void pp_put_summary(struct pp_out *out);

#endif
