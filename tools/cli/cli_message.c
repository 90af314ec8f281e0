/* cli_message.c - messages on stderr, safe for terminals. */
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { LINE_SIZE = 1024, HEAD_MOST = 600, TAIL_MOST = 300 };

/* Unicode categories Cc, Zl and Zp, and the controls of bidirectional text, which reorder the text
 * on a terminal. */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

struct cli_character cli_first_character(const char *text, size_t size)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char first = (unsigned char)*text;
	const size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 :
		(first & 0xf0) == 0xe0 ? 3 :
			      (first & 0xf8) == 0xf0 ? 4 : 0;
	struct cli_character c = { .code = length > 1 ? first & (0x7fu >> length) : first,
				   .size = length };
	bool is_whole = length && length <= size;

	for (size_t i = 1; is_whole && i < length; i++) {
		is_whole = ((unsigned char)text[i] & 0xc0) == 0x80;
		c.code = c.code << 6 | ((unsigned char)text[i] & 0x3f);
	}
	if (!is_whole || c.code < smallest[length] || c.code > 0x10ffff ||
	    (c.code >= 0xd800 && c.code <= 0xdfff))
		return (struct cli_character){ .code = CLI_NO_CHARACTER + first, .size = 1 };
	c.is_printable = !is_control(c.code);
	return c;
}

size_t cli_make_printable(char *text, size_t size)
{
	size_t out = 0;

	for (size_t in = 0; in < size;) {
		const struct cli_character c = cli_first_character(text + in, size - in);

		if (c.is_printable) {
			memmove(text + out, text + in, c.size);
			out += c.size;
		} else {
			text[out++] = '?';
		}
		in += c.size;
	}
	return out;
}

static bool continues_character(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Cuts the middle out of a long text: names come first, and the reason last. Returns the size. */
static size_t shorten(char *text, size_t size)
{
	static const char gap[] = " ... ";
	size_t head = HEAD_MOST, tail = size - TAIL_MOST;

	if (size <= HEAD_MOST + sizeof(gap) + TAIL_MOST)
		return size;
	while (continues_character(text[head]))
		head--;
	while (tail < size && continues_character(text[tail]))
		tail++;
	memcpy(text + head, gap, sizeof(gap) - 1);
	head += sizeof(gap) - 1;
	memmove(text + head, text + tail, size - tail);
	return head + size - tail;
}

/* Returns the text, of *size bytes, in the buffer or for free(). Without memory it is cut off. */
__attribute__((format(printf, 3, 0)))
static char *format_text(char buffer[LINE_SIZE], size_t *size, const char *format, va_list args)
{
	char *text = buffer;
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(buffer, LINE_SIZE, format, args);
	if (n >= LINE_SIZE && (text = malloc((size_t)n + 1)))
		vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	*size = n < 0 ? 0 : text ? (size_t)n : LINE_SIZE - 1;
	return text ? text : buffer;
}

/* Prints "BEFORE: MESSAGEAFTER" as one line, with one system call. */
__attribute__((format(printf, 3, 0)))
static void print_message(const char *before, const char *after, const char *format, va_list args)
{
	char buffer[LINE_SIZE], line[HEAD_MOST + TAIL_MOST + 200];
	size_t size;
	char *text = format_text(buffer, &size, format, args);
	int n;

	size = cli_make_printable(text, shorten(text, size));
	n = snprintf(line, sizeof(line), "%s: %.*s%s\n", before, (int)size, text, after);
	fwrite(line, 1, (size_t)n, stderr);
	if (text != buffer)
		free(text);
}

void cli_verror(const struct cli_tool *tool, const char *format, va_list args)
{
	print_message(tool->name, "", format, args);
}

void cli_error(const struct cli_tool *tool, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cli_verror(tool, format, args);
	va_end(args);
}

void cli_error_unless_blocked(const struct cli_tool *tool, const char *text)
{
	struct pollfd err = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&err, 1, 0) != 1 || ftrylockfile(stderr))
		return;
	cli_error(tool, "%s", text);
	funlockfile(stderr);
}

void cli_footer(const struct cli_tool *tool, const char *format, va_list args)
{
	char before[64];

	snprintf(before, sizeof(before), "[ %s", tool->name);
	print_message(before, " ]", format, args);
}

enum cli_exit cli_usage(const struct cli_tool *tool, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(tool->name, "", format, args);
	va_end(args);
	fprintf(stderr, "Try '%s --help'\n", tool->name);
	return CLI_USAGE;
}
