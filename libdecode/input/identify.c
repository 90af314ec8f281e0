/* identify.c - recognizes files that are not perf.data files. */
#include "input/identify.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"

enum { LOOKED_AT = 4096, LINE = 400 };

struct signature {
	size_t offset;
	const char *bytes;
	size_t size;
	const char *what;
};

#define AT(at, text, is) { .offset = (at), .bytes = (text), .size = sizeof(text) - 1, .what = (is) }

/* From the specification of each format. */
static const struct signature signatures[] = {
	AT(257, "ustar", "it is a tar archive; unpack it with tar xf"),
	AT(0, "PK\3\4", "it is a zip archive; unpack it with unzip"),
	AT(0, "PK\5\6", "it is an empty zip archive"),
	AT(0, "7z\xbc\xaf\x27\x1c", "it is a 7z archive; unpack it with 7z x"),
	AT(0, "Rar!\x1a\7", "it is a rar archive; unpack it first"),
	AT(0, "070701", "it is a cpio archive; unpack it with cpio -i"),
	AT(0, "!<arch>\n", "it is an ar archive, such as a static library"),
	AT(0, "\x1f\x8b", "it is compressed twice; unpack it once"),
	AT(0, "\x28\xb5\x2f\xfd", "it is compressed twice; unpack it once"),
	AT(0, "\xfd" "7zXZ", "it is compressed twice; unpack it once"),
	AT(0, "BZh", "it is compressed twice; unpack it once"),
	AT(0, "\4\x22\x4d\x18", "it is compressed with lz4; unpack it with lz4 -d"),
	AT(0, "\xff\xfeP\0E\0R\0F\0I\0L\0E",
	   "it was converted to UTF-16 text, as by > of PowerShell; record to a file with -o"),
	AT(0, "LZIP", "it is compressed with lzip; unpack it with lzip -d"),
	AT(0, "\x89LZO", "it is compressed with lzop; unpack it with lzop -d"),
	AT(0, "\x1f\x9d", "it is compressed with compress; unpack it with uncompress"),
	AT(0, "\x7f" "ELF", "it is an ELF file: a program, a library or a core dump"),
	AT(0, "SIMPLEPERF",
	   "it is output of simpleperf report-sample; decode the perf.data that it was made from"),
	AT(0, "\x17\x08\x44tracing", "it is a trace.dat of trace-cmd; trace-cmd report reads it"),
	AT(0, "JiTD",
	   "it is a jitdump of a JIT compiler; perf inject --jit merges it into a perf.data file"),
	AT(0, "DTiJ",
	   "it is a jitdump of a JIT compiler; perf inject --jit merges it into a perf.data file"),
	AT(0, "gmon", "it is a gmon.out; gprof reads it"),
	AT(0, "FLR\0", "it is a recording of Java Flight Recorder; jfr reads it"),
	AT(0, "version https://git-lfs", "it is a Git LFS pointer; git lfs pull fetches the file"),
	AT(0, "# callgrind format", "it is output of callgrind; callgrind_annotate reads it"),
	AT(0, "<!DOCTYPE html", "it is an HTML page, such as a failed download"),
	AT(0, "<!doctype html", "it is an HTML page, such as a failed download"),
	AT(0, "<html", "it is an HTML page, such as a failed download"),
	AT(0, "<?xml", "it is XML"),
	AT(0, "<svg", "it is an SVG image, such as a flame graph"),
	AT(0, "#!", "it is a script"),
	AT(0, "{\"pdecode\":", "it is JSON of pdecode; pencode converts it to perf.data"),
	AT(0, "{\"kind\":", "it is JSON of pdecode; pencode converts it to perf.data"),
	/* first lines of perf script and perf report --header, of perf report, of perf stat */
	AT(0, "# ========\n# captured on",
	   "it is output of perf; decode the perf.data that it came from"),
	AT(0, "# To display the perf.data header info",
	   "it is output of perf; decode the perf.data that it came from"),
	AT(0, "# started on ", "it is output of perf stat"),
};

static const char *identify_signature(struct pd_bytes head)
{
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		const struct signature *s = &signatures[i];

		if (head.size >= s->offset + s->size &&
		    memcmp(head.data + s->offset, s->bytes, s->size) == 0)
			return s->what;
	}
	return NULL;
}

static bool is_text(struct pd_bytes head)
{
	for (size_t i = 0; i < head.size; i++)
		if (head.data[i] < 0x20 ? !strchr("\t\n\r\f\33", head.data[i]) || !head.data[i] :
					  head.data[i] == 0x7f)
			return false;
	return true;
}

/* Returns whether a recording follows text, as where a terminal has shown both. */
static bool follows_text(struct pd_bytes head)
{
	const size_t n = head.size < LOOKED_AT ? head.size : LOOKED_AT;
	const uint8_t *magic = memmem(head.data, n, "PERFILE2", strlen("PERFILE2"));

	if (!magic)
		magic = memmem(head.data, n, "2ELIFREP", strlen("2ELIFREP"));
	return magic &&
	       is_text((struct pd_bytes){ head.data, (size_t)(magic - head.data) });
}

static const char *skip_digits(const char *text)
{
	while (isdigit((unsigned char)*text))
		text++;
	return text;
}

/* Returns whether a line is like "comm 4711 [002] 1234.567890: 250000 cycles: ..." of perf script:
 * a time with six or nine digits, then an event. */
static bool is_line_of_perf_script(const char *line)
{
	for (const char *dot = strchr(line, '.'); dot; dot = strchr(dot + 1, '.')) {
		const char *end = skip_digits(dot + 1);

		if (dot > line && isdigit((unsigned char)dot[-1]) &&
		    (end - dot == 7 || end - dot == 10) && *end == ':' && strchr(end + 1, ':'))
			return true;
	}
	return false;
}

static const char *identify_text(struct pd_bytes head)
{
	size_t blanks = 0, n;
	char line[LINE];

	if (head.size > LOOKED_AT)
		head.size = LOOKED_AT;
	if (!is_text(head))
		return NULL;
	while (blanks < head.size && isspace(head.data[blanks]))
		blanks++;
	if (blanks < head.size && (head.data[blanks] == '{' || head.data[blanks] == '['))
		return "it is JSON; pencode converts the JSON of pdecode to perf.data";
	for (n = 0; n < sizeof(line) - 1 && blanks + n < head.size && head.data[blanks + n] != '\n';
	     n++)
		line[n] = (char)head.data[blanks + n];
	line[n] = '\0';
	return is_line_of_perf_script(line) ?
		       "it is output of perf script; decode the perf.data that it came from" :
		       "it is text";
}

const char *pd_identify(struct pd_bytes head)
{
	const char *what;

	if (!head.size)
		return "it is empty";
	what = identify_signature(head);
	if (!what)
		what = identify_text(head);
	if (!what && follows_text(head))
		what = "text precedes it, such as warnings of perf: cut that off; "
		       "grep -abo PERFILE2 shows where it ends";
	if (what || !pd_all_zero(head))
		return what;
	return "it begins with zeros: its header was never written";
}
