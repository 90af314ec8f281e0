/* hostinfo_cpu.c - features of CPUs: model, number, and how they share cores, dies and packages. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/read_text.h"
#include "hostinfo/hostinfo_internal.h"

#define CPUS "/sys/devices/system/cpu"
#define NONE UINT64_MAX
#define MAX_CPUS (1u << 16)

/* Stores the value of the line of /proc/cpuinfo that begins with key, without runs of blanks; ""
 * without such a line. */
static void cpuinfo_field(const char *text, const char *key, char *out, size_t size)
{
	size_t length = strlen(key), n = 0;

	out[0] = '\0';
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *rest;

		line += *line == '\n';
		rest = line + length;
		if (strncmp(line, key, length) != 0 || !(rest += strspn(rest, "\t "), *rest == ':'))
			continue;
		rest++;
		rest += strspn(rest, " \t");
		for (; *rest && *rest != '\n' && n + 1 < size; rest++)
			if (*rest != ' ' || rest[1] != ' ')
				out[n++] = *rest;
		out[n] = '\0';
		return;
	}
}

/* In perf's form: x86 "vendor,family,model,stepping", arm64 the MIDR, riscv three ids. */
static void format_cpu_id(const char *info, char *id, size_t size)
{
	static const char *const x86[] = { "vendor_id", "cpu family", "model", "stepping", NULL };
	static const char *const riscv[] = { "mvendorid", "marchid", "mimpid", NULL };
	char part[64];
	int n = 0;

	id[0] = '\0';
#ifdef __aarch64__
	if (read_text(AT_FDCWD, CPUS "/cpu0/regs/identification/midr_el1", id, size) > 0)
		return;
#endif
	cpuinfo_field(info, "mvendorid", part, sizeof(part));
	for (const char *const *key = part[0] ? riscv : x86; *key; key++) {
		cpuinfo_field(info, *key, part, sizeof(part));
		if (!part[0]) {
			id[0] = '\0';
			return;
		}
		n += snprintf(id + n, size - (size_t)n, "%s%s", n == 0 ? "" : key == riscv + 1 ||
			      key == riscv + 2 ? "-" : ",", part);
		if ((size_t)n >= size)
			return;
	}
}

/* One read returns at least the first processor; the whole file is long on large machines. */
static bool read_first_cpu(char *info, size_t size)
{
	int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, info, size - 1);

	if (fd >= 0)
		close(fd);
	info[n > 0 ? n : 0] = '\0';
	return n > 0;
}

int hostinfo_processor(struct pd_writer *w, struct host_values *h, struct pd_error *e)
{
	static const char *const keys[] = {
		"model name", "Model Name", "cpu model", "cpu type", "Processor", "cpu", "uarch",
		"vendor_id", NULL,
	};
	char info[8192], text[256];

	if (!read_first_cpu(info, sizeof(info)))
		return 0;
	for (const char *const *key = keys; *key; key++) {
		cpuinfo_field(info, *key, text, sizeof(text));
		if (text[0])
			break;
	}
	if (text[0] && host_feature(w, h, PD_FEATURE_CPUDESC, host_text(h, NULL, text), e) != 0)
		return -1;
	format_cpu_id(info, text, sizeof(text));
	return text[0] ? host_feature(w, h, PD_FEATURE_CPUID, host_text(h, NULL, text), e) : 0;
}

static uint64_t read_number_or_none(const char *topology, const char *file)
{
	char path[160];
	uint64_t value;

	snprintf(path, sizeof(path), "%s/%s", topology, file);
	return read_text_number(AT_FDCWD, path, 10, &value) ? value : NONE;
}

/* CPUs that share something: each distinct list of CPUs, such as "0-3", and its number in sysfs. */
struct sharing {
	struct host_list lists;
	const char *file, *older;	/* name of the file; its name before 5.3 */
	const char *number;
	uint64_t *numbers;		/* of each list; room for one per CPU */
};

static bool read_list(struct sharing *s, const char *topology, const char *file)
{
	char text[8192], path[160];

	if (!file)
		return false;
	snprintf(path, sizeof(path), "%s/%s", topology, file);
	if (read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	host_add(&s->lists, host_text(s->lists.h, NULL, text));
	return true;
}

/* Returns the number of what the CPU shares. Reads nothing for a CPU in a list that is known. */
static uint64_t add_cpu(struct sharing *s, unsigned int cpu, const char *topology)
{
	uint64_t number;
	size_t n;

	for (size_t i = 0; i < s->lists.n; i++)
		if (cpu_list_has((const char *)s->lists.items[i].bytes.data, cpu))
			return s->numbers[i];
	number = read_number_or_none(topology, s->number);
	n = s->lists.n;
	/* An offline CPU has no list. */
	if ((read_list(s, topology, s->file) || read_list(s, topology, s->older)) &&
	    s->lists.n > n)
		s->numbers[n] = number;
	return number;
}

static int write_topology(struct pd_writer *w, struct host_values *h, unsigned int available,
			  struct pd_error *e)
{
	uint64_t *numbers = host_alloc(h, 4 * (size_t)available * sizeof(*numbers));
	struct sharing packages = { { .h = h }, "package_cpus_list", "core_siblings_list",
				    "physical_package_id", numbers };
	struct sharing cores = { { .h = h }, "core_cpus_list", "thread_siblings_list",
				 "core_id", numbers + available };
	struct sharing dies = { { .h = h }, "die_cpus_list", NULL, "die_id",
				numbers + 2 * (size_t)available };
	uint64_t *die_ids = numbers + 3 * (size_t)available;
	struct host_list cpus = { .h = h };
	struct pd_value v[5];

	for (unsigned int cpu = 0; numbers && cpu < available; cpu++) {
		char dir[96];

		snprintf(dir, sizeof(dir), CPUS "/cpu%u/topology", cpu);
		const struct pd_value ids[] = {
			PD_NUMBER("core_id", add_cpu(&cores, cpu, dir)),
			PD_NUMBER("socket_id", add_cpu(&packages, cpu, dir)),
		};

		host_add(&cpus, host_object(h, NULL, ids, 2));
		die_ids[cpu] = add_cpu(&dies, cpu, dir);
	}
	if (packages.lists.n == 0)
		return 0;
	v[0] = host_array(&packages.lists, "sibling_cores");
	v[1] = host_array(&cores.lists, "sibling_threads");
	v[2] = host_array(&cpus, "cpus");
	v[3] = host_array(&dies.lists, "sibling_dies");
	v[4] = (struct pd_value)PD_NUMBERS("die_ids", die_ids, available);
	return host_feature(w, h, PD_FEATURE_CPU_TOPOLOGY, host_object(h, NULL, v,
			    dies.lists.n ? 5 : 3), e);
}

/* Returns the highest number in a list such as "0-3,8", plus one. */
static unsigned int cpus_up_to_last(const char *list)
{
	unsigned int n = (unsigned int)parse_cpu_list(list, NULL, 0), last = 0, *cpus;

	cpus = n && n < MAX_CPUS ? malloc(n * sizeof(*cpus)) : NULL;
	if (cpus && parse_cpu_list(list, cpus, n))
		last = cpus[n - 1] + 1;
	free(cpus);
	return last;
}

int hostinfo_topology(struct pd_writer *w, struct host_values *h, const struct hostinfo *info,
		      struct pd_error *e)
{
	char list[4096];
	unsigned int available = 0, online = info->online_cpus;

	if (read_text(AT_FDCWD, CPUS "/present", list, sizeof(list)) > 0)
		available = cpus_up_to_last(list);
	if (available == 0)
		available = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	if (online == 0 && read_text(AT_FDCWD, CPUS "/online", list, sizeof(list)) > 0)
		online = (unsigned int)parse_cpu_list(list, NULL, 0);
	if (online == 0)
		online = available;
	const struct pd_value counts[] = {
		PD_NUMBER("available", available), PD_NUMBER("online", online),
	};
	if (host_feature(w, h, PD_FEATURE_NRCPUS, host_object(h, NULL, counts, 2), e) != 0)
		return -1;
	if (write_topology(w, h, available, e) != 0)
		return -1;
	return hostinfo_caches(w, h, available, e);
}
