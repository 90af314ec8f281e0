/* aux_info_etm.c - CoreSight: the registers of each CPU's trace unit, from sysfs.
 *
 * Newer kernels state a CPU's trace id in AUX_OUTPUT_HW_ID records; older ones compute it as
 * TRACE_ID() does.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/read_text.h"
#include "run/aux_info.h"

#define DEVICES "/sys/bus/event_source/devices"
#define TRACE_ID(cpu) (0x10 + 2 * (uint64_t)(cpu))
enum { LAYOUT_VERSION = 1 };

#define MAGIC_ETM3 0x3030303030303030
#define MAGIC_ETM4 0x4040404040404040
#define MAGIC_ETE 0x5050505050505050

/* Bits of attr.config (linux/coresight-pmu.h), and of the configuration register that the driver
 * sets from them. */
static const struct { unsigned int option, bit; } etm4_options[] = {
	{ 8, 3 },		/* branch broadcast */
	{ 12, 4 },		/* cycle counts */
	{ 14, 6 },		/* context id */
	{ 15, 7 }, { 15, 15 },	/* context id of a hypervisor's host: two bits */
	{ 28, 11 },		/* timestamps */
	{ 29, 12 },		/* return stack */
};

struct unit {
	const char *pmu;
	int cpu;
};

static uint64_t unit_register(const struct unit *u, const char *file)
{
	char path[256];
	uint64_t value;

	snprintf(path, sizeof(path), DEVICES "/%s/cpu%d/%s", u->pmu, u->cpu, file);
	return read_text_number(AT_FDCWD, path, 16, &value) ? value : 0;
}

static bool has_register(const struct unit *u, const char *file)
{
	char path[256];
	uint64_t value;

	snprintf(path, sizeof(path), DEVICES "/%s/cpu%d/%s", u->pmu, u->cpu, file);
	return read_text_number(AT_FDCWD, path, 16, &value);
}

static uint64_t etm4_config(uint64_t config)
{
	uint64_t value = 0;

	for (size_t i = 0; i < sizeof(etm4_options) / sizeof(etm4_options[0]); i++)
		value |= (config >> etm4_options[i].option & 1) << etm4_options[i].bit;
	return value;
}

/* TRCDEVARCH: architecture part 0xA13, version 5. */
static bool is_ete(uint64_t devarch)
{
	return (devarch & 0xffff) == 0x5a13;
}

static struct pd_value unit_to_value(struct host_values *h, const struct unit *u,
				  const struct event *e)
{
	uint64_t *params = host_alloc(h, 8 * sizeof(*params)), magic = MAGIC_ETM3;
	uint64_t devarch = unit_register(u, "mgmt/trcdevarch");
	size_t n = 0;

	if (!params)
		return host_object(h, NULL, NULL, 0);
	if (has_register(u, "trcidr/trcidr0")) {
		magic = is_ete(devarch) ? MAGIC_ETE : MAGIC_ETM4;
		params[n++] = etm4_config(e->attr.config);
		params[n++] = TRACE_ID(u->cpu);
		params[n++] = unit_register(u, "trcidr/trcidr0");
		params[n++] = unit_register(u, "trcidr/trcidr1");
		params[n++] = unit_register(u, "trcidr/trcidr2");
		params[n++] = unit_register(u, "trcidr/trcidr8");
		params[n++] = unit_register(u, "mgmt/trcauthstatus");
		if (magic == MAGIC_ETE)
			params[n++] = devarch;
	} else {
		params[n++] = e->attr.config;
		params[n++] = TRACE_ID(u->cpu);
		params[n++] = unit_register(u, "mgmt/etmccer");
		params[n++] = unit_register(u, "mgmt/etmidr");
	}
	return host_object(h, NULL, (const struct pd_value[]){
		PD_NUMBER("magic", magic), PD_NUMBER("cpu", u->cpu), PD_NUMBER("nr_params", n),
		PD_NUMBERS("params", params, n) }, 4);
}

/* Lists the units in sysfs of all recorded CPUs; tasks may run on any. */
static void list_units(struct host_list *list, const struct recording *r, const struct event *e)
{
	char path[256];
	unsigned int *cpus;
	size_t n;

	snprintf(path, sizeof(path), DEVICES "/%s", e->pmu);
	if (list_numbered(path, "cpu", &cpus, &n))
		list->h->failed = true;
	for (size_t i = 0; i < n; i++) {
		const struct unit u = { e->pmu, (int)cpus[i] };

		if (r->target.kind != TARGET_SYSTEM || int_list_has(&r->target.cpus, u.cpu))
			host_add(list, unit_to_value(list->h, &u, e));
	}
	free(cpus);
}

struct pd_value aux_info_etm(struct host_values *h, const struct recording *r,
			     const struct event *e)
{
	struct host_list units = { .h = h };

	list_units(&units, r, e);
	return host_object(h, "cs_etm", (const struct pd_value[]){
		PD_NUMBER("version", LAYOUT_VERSION), PD_NUMBER("nr_cpus", units.n),
		PD_NUMBER("pmu_type", e->attr.type),
		PD_NUMBER("snapshot", r->options->snapshot != NULL), host_array(&units, "cpus") },
		5);
}
