/* synth_kernel.c - maps of the kernel and its modules: MMAP, or MMAP2 with build ids. */
#include "synth/synth_kernel.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/read_text.h"
#include "buildid/buildid.h"

enum { MISC_KERNEL = 1, MISC_BUILD_ID = 1 << 14 };
#define LIMIT (64u << 20)
#define MANY_SYMBOLS 20000

struct kernel_map {
	uint64_t addr, len, pgoff;
	const char *name;
	struct buildid id;
};

static int write_map(struct pd_writer *w, int event, const struct kernel_map *m, struct pd_error *e)
{
	const struct pd_value v[] = {
		PD_NUMBER("pid", -1),
		PD_NUMBER("tid", 0),
		PD_NUMBER("addr", m->addr),
		PD_NUMBER("len", m->len),
		PD_NUMBER("pgoff", m->pgoff),
		PD_TEXT("filename", m->name),
		PD_NUMBER("build_id_size", m->id.size),
		PD_BYTES("build_id", m->id.data, m->id.size),
		PD_NUMBER("prot", 0),
		PD_NUMBER("flags", 0),
	};

	if (m->id.size)
		return pd_writer_record(w, PD_RECORD_MMAP2, MISC_KERNEL | MISC_BUILD_ID, event, v,
					10, (struct pd_bytes){ 0 }, e);
	return pd_writer_record(w, PD_RECORD_MMAP, MISC_KERNEL, event, v, 6, (struct pd_bytes){ 0 },
				e);
}

/* Returns the size of the kernel's code by /proc/iomem; 0: unknown. Reading it from kallsyms takes
 * longer. */
static uint64_t code_size(void)
{
	size_t size;
	char *text = read_text_all(AT_FDCWD, "/proc/iomem", LIMIT, &size), *line;
	uint64_t start = 0, end = 0;

	line = text ? strstr(text, " : Kernel code\n") : NULL;
	if (line) {
		while (line > text && line[-1] != '\n')
			line--;
		if (sscanf(line, " %" SCNx64 "-%" SCNx64, &start, &end) != 2 || end <= start)
			start = end = 0;
	}
	free(text);
	return end > start ? end + 1 - start : 0;
}

/* Takes the address from a line of kallsyms. Returns whether all of the part are known. */
static bool take_symbol(struct kernel_text *k, const char *line, enum kernel_text_part part)
{
	char name[16];
	uint64_t address;

	if (sscanf(line, "%" SCNx64 " %*c %15s", &address, name) != 2 || address == 0)
		return false;
	if (strcmp(name, "_text") == 0)
		k->text = address;
	else if (strcmp(name, "_stext") == 0)
		k->stext = address;
	else if (strcmp(name, "_etext") == 0)
		k->end = address;
	return k->text && k->stext && (k->end || part == KERNEL_TEXT_START);
}

/* Symbols are sorted by address: _text and _stext come early, _etext much later. */
bool kernel_text_read(struct kernel_text *k, enum kernel_text_part part)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], buffer[16384];
	size_t lines = 0;
	bool done = false;

	if (file)
		setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	while (file && !done && fgets(line, sizeof(line), file)) {
		/* Hidden addresses are 0. So are real ones of per-CPU data, but fewer than
		 * these. */
		if (++lines > MANY_SYMBOLS &&
		    ((!k->text && !k->stext) || part == KERNEL_TEXT_START))
			break;
		done = take_symbol(k, line, part);
	}
	if (file)
		fclose(file);
	return k->text || k->stext;
}

/* Finds the path of a module in modules.dep, which has lines "kernel/fs/ext4/ext4.ko: ...". */
static bool module_path(const char *deps, const char *release, const char *module, char *path,
			size_t size)
{
	size_t length = strlen(module);

	for (const char *line = deps; line && *line; line = strchr(line, '\n')) {
		const char *colon, *base;

		line += *line == '\n';
		colon = line + strcspn(line, ":\n");
		if (*colon != ':')
			continue;
		base = colon;
		while (base > line && base[-1] != '/')
			base--;
		if ((size_t)(colon - base) <= length || strncmp(base + length, ".ko", 3) != 0)
			continue;
		for (size_t i = 0; i <= length; i++) {
			if (i == length) {
				snprintf(path, size, "/lib/modules/%s/%.*s", release,
					 (int)(colon - line), line);
				return true;
			}
			if (base[i] != module[i] && !(base[i] == '-' && module[i] == '_'))
				break;
		}
	}
	return false;
}

/* /proc/modules has lines "NAME SIZE COUNT DEPS STATE ADDRESS ...". */
static int write_modules(struct pd_writer *w, const struct synth_options *o, struct pd_error *e)
{
	size_t size;
	char *text = read_text_all(AT_FDCWD, "/proc/modules", LIMIT, &size), *deps = NULL;
	char path[PATH_MAX], name[64];
	struct utsname host;
	int ret = 0;

	if (!text || !*text) {
		free(text);
		return 0;
	}
	uname(&host);
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", host.release);
	deps = read_text_all(AT_FDCWD, path, LIMIT, &size);
	for (char *line = text; line && *line && ret == 0;) {
		struct kernel_map m = { .name = path };
		char *end = line + strcspn(line, "\n");
		int fields;

		if (*end)
			*end++ = '\0';
		fields = sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &m.len,
				&m.addr);
		line = end;
		if (fields != 3 || !m.addr)
			continue;
		if (!module_path(deps, host.release, name, path, sizeof(path)))
			snprintf(path, sizeof(path), "[%s]", name);
		if (o->what & SYNTH_BUILD_IDS)
			buildid_of_module(name, &m.id);
		ret = write_map(w, o->event, &m, e);
	}
	free(deps);
	free(text);
	return ret;
}

int synth_kernel(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		 struct pd_error *e)
{
	struct kernel_map m = { .name = "[kernel.kallsyms]_text" };
	struct kernel_text k = { 0 };
	uint64_t size = code_size(), start;

	report->kernel_hidden = !kernel_text_read(&k, size ? KERNEL_TEXT_START :
						  KERNEL_TEXT_START_AND_END);
	if (report->kernel_hidden)
		return 0;
	start = k.text ? k.text : k.stext;
	if (size)
		k.end = (k.stext > start ? k.stext : start) + size;
	if (k.end <= start)
		k.end = UINT64_MAX;
	m.addr = m.pgoff = start;
	m.len = k.end - start;
	if (!k.text)
		m.name = "[kernel.kallsyms]_stext";
	if (o->what & SYNTH_BUILD_IDS)
		buildid_of_kernel(&m.id);
	if (write_map(w, o->event, &m, e) != 0)
		return -1;
	return write_modules(w, o, e);
}
