/* symbols_find.c - names and verdicts of libsymbols/find.
 *
 *   symbols_find names KIND PATH ID LINK [KEY=VALUE...]     candidates, one a line: place and path
 *   symbols_find judge WHAT RECORDED FOUND                  of ids in hex, "-": none; WHAT is
 *                                                           "image" or "debug"
 *   symbols_find age RECORDED FOUND                         each "ino,maj,min,generation,changed"
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find/candidates.h"
#include "find/verdict.h"

static const char *const kinds[] = { "image", "debug", "alt", "kernel", "kallsyms", "vdso",
				     "package", "object" };
static const char *const place_names[] = { "named", "sysroot", "build-id", "recorded",
					   "running", "temporary",
					   "debuglink", "process", "debuginfod", "mapped" };

static struct pd_bytes parse_id(const char *text, uint8_t *buf)
{
	size_t n = 0;

	if (!strcmp(text, "-"))
		return (struct pd_bytes){ NULL, 0 };
	for (; text[0] && text[1] && n < PS_BUILD_ID_MAX; text += 2) {
		const char byte[] = { text[0], text[1], 0 };

		buf[n++] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return (struct pd_bytes){ buf, n };
}

static const char *given(const char *text)
{
	return strcmp(text, "-") ? text : NULL;
}

static void parse_file(char *text, struct ps_held_file *to)
{
	char *path = strchr(text, ':');

	*to = (struct ps_held_file){ path + 1, strtoull(text, NULL, 16) };
}

static void parse_mapper(const char *text, struct ps_mapper *to)
{
	*to = (struct ps_mapper){ .pid = 0 };
	sscanf(text, "%" SCNd32 ":%" SCNx64 "-%" SCNx64, &to->pid, &to->start, &to->end);
}

/* The place in PLACE:PATH. */
static enum ps_file_place place_of(const char *text)
{
	const size_t n = strcspn(text, ":");
	unsigned int place = 0;

	while (strncmp(place_names[place], text, n) || place_names[place][n])
		place++;
	return (enum ps_file_place)place;
}

static int names(int argc, char **argv)
{
	struct ps_places places = { .size = sizeof(places) };
	uint8_t id[PS_BUILD_ID_MAX];
	const char *dirs[8];
	struct ps_mapper mappers[8];
	struct ps_held_file files[8];
	struct ps_wanted what = { .path = given(argv[1]),
				  .build_id = parse_id(argv[2], id),
				  .debuglink = given(argv[3]), .mappers = mappers };
	static struct ps_candidates all;
	struct ps_candidate c;

	while (strcmp(kinds[what.kind], argv[0]))
		what.kind++;
	places.debug_dirs = dirs;
	places.files = files;
	for (int i = 4; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		*value++ = '\0';
		if (!strcmp(argv[i], "sysroot"))
			places.sysroot = value;
		else if (!strcmp(argv[i], "dir"))
			dirs[places.nr_debug_dirs++] = value;
		else if (!strcmp(argv[i], "home"))
			places.home = value;
		else if (!strcmp(argv[i], "cache"))
			places.debuginfod_cache = value;
		else if (!strcmp(argv[i], "network"))
			places.network = PS_DEBUGINFOD;
		else if (!strcmp(argv[i], "pid"))
			parse_mapper(value, &mappers[what.nr_mappers++]);
		else if (!strcmp(argv[i], "file"))
			parse_file(value, &files[places.nr_files++]);
		else if (!strcmp(argv[i], "ino"))
			what.ino = strtoull(value, NULL, 16);
		else if (!strcmp(argv[i], "linking"))
			what.linking = strchr(value, ':') + 1, what.linking_place = place_of(value);
		else if (!strcmp(argv[i], "vmlinux"))
			places.vmlinux = value;
		else
			places.kallsyms = value;
	}
	all = (struct ps_candidates){ .places = &places, .what = &what };
	while (ps_candidates_next(&all, &c))
		printf("%s %s\n", place_names[c.place], c.path);
	return 0;
}

static void parse_identity(const char *text, struct ps_identity *to)
{
	sscanf(text, "%" SCNu64 ",%" SCNu32 ",%" SCNu32 ",%" SCNu64 ",%" SCNu64, &to->ino, &to->maj,
	       &to->min, &to->generation, &to->changed);
}

int main(int argc, char **argv)
{
	uint8_t a[PS_BUILD_ID_MAX], b[PS_BUILD_ID_MAX];
	const struct ps_wanted with_link = { .debuglink = "x.debug", .crc = 0xcbf43926 };
	const struct pd_bytes text = { (const uint8_t *)"123456789", 9 };
	struct ps_identity recorded = { .ino = 0 }, found = { .ino = 0 };

	if (argc > 5 && !strcmp(argv[1], "names"))
		return names(argc - 2, argv + 2);
	if (argc == 5 && !strcmp(argv[1], "judge")) {
		recorded.build_id = parse_id(argv[3], a);
		found.build_id = parse_id(argv[4], b);
		puts(ps_match_name(!strcmp(argv[2], "debug")
					   ? ps_judge_debug(&recorded, &found, &with_link, text)
					   : ps_judge_image(&recorded, &found)));
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "age")) {
		parse_identity(argv[2], &recorded);
		parse_identity(argv[3], &found);
		puts(ps_match_name(ps_judge_image(&recorded, &found)));
		return 0;
	}
	return 1;
}
