/* aux_info.c - AUXTRACE_INFO for each kind of PMU, in the layouts that perf's decoders read. */
#include "run/aux_info.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/read_text.h"
#include "event/attr.h"
#include "event/event_kinds.h"

#define DEVICES "/sys/bus/event_source/devices"
/* How task switches were recorded. */
enum { SWITCHES_NONE, SWITCHES_TRACEPOINT, SWITCHES_OF_TASKS, SWITCHES_OF_CPUS };

static uint64_t pmu_number(const char *pmu, const char *file)
{
	char path[256];
	uint64_t value;

	snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu, file);
	return read_text_number(AT_FDCWD, path, 10, &value) ? value : 0;
}

/* "TSC:CTC" */
static void read_ratio(const char *pmu, uint64_t *tsc, uint64_t *ctc)
{
	char path[256], text[64], *end;

	*tsc = *ctc = 0;
	snprintf(path, sizeof(path), DEVICES "/%s/tsc_art_ratio", pmu);
	if (read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return;
	*tsc = strtoull(text, &end, 10);
	*ctc = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
}

static uint64_t sched_switch_kind(const struct recording *r)
{
	if (events_have_flag(&r->events, ATTR_CONTEXT_SWITCH))
		return r->target.kind == TARGET_SYSTEM ? SWITCHES_OF_CPUS : SWITCHES_OF_TASKS;
	for (size_t i = 0; i < r->events.n; i++)
		if (strcmp(r->events.items[i].name, "sched:sched_switch") == 0)
			return SWITCHES_TRACEPOINT;
	return SWITCHES_NONE;
}

static bool has_cpu_buffers(const struct recording *r)
{
	return r->target.cpus.items[0] >= 0;
}

/* The filter with its NUL, padded to words, and a word that states whether events are traced. */
static struct pd_value filter_and_event_trace(struct host_values *h, const struct event *e)
{
	size_t n = e->filter ? strlen(e->filter) / sizeof(uint64_t) + 1 : 0;
	uint64_t *words = host_alloc(h, (n + 1) * sizeof(*words));

	if (words && e->filter)
		memcpy(words, e->filter, strlen(e->filter));
	if (words)
		words[n] = pmu_number(e->pmu, "caps/event_trace");
	return (struct pd_value)PD_NUMBERS("priv", words, words ? n + 1 : 0);
}

static struct pd_value intel_pt(struct host_values *h, const struct recording *r,
				const struct event *e)
{
	const struct perf_event_mmap_page *page = r->rings.items[0].page;
	uint64_t tsc, ctc;
	struct host_list v = { .h = h };

	read_ratio(e->pmu, &tsc, &ctc);
	const struct pd_value fixed[] = {
		PD_NUMBER("pmu_type", e->attr.type), PD_NUMBER("time_shift", page->time_shift),
		PD_NUMBER("time_mult", page->time_mult), PD_NUMBER("time_zero", page->time_zero),
		PD_NUMBER("cap_user_time_zero", page->cap_user_time_zero),
		PD_NUMBER("tsc_bit", pmu_config_bits(e->pmu, "tsc")),
		PD_NUMBER("noretcomp_bit", pmu_config_bits(e->pmu, "noretcomp")),
		PD_NUMBER("have_sched_switch", sched_switch_kind(r)),
		PD_NUMBER("snapshot_mode", r->options->snapshot != NULL),
		PD_NUMBER("per_cpu_mmaps", has_cpu_buffers(r)),
		PD_NUMBER("mtc_bit", pmu_config_bits(e->pmu, "mtc")),
		PD_NUMBER("mtc_freq_bits", pmu_config_bits(e->pmu, "mtc_period")),
		PD_NUMBER("tsc_ctc_ratio_n", tsc), PD_NUMBER("tsc_ctc_ratio_d", ctc),
		PD_NUMBER("cyc_bit", pmu_config_bits(e->pmu, "cyc")),
		PD_NUMBER("max_nonturbo_ratio", pmu_number(e->pmu, "max_nonturbo_ratio")),
		PD_NUMBER("filter_str_len", e->filter ? strlen(e->filter) : 0),
	};
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		host_add(&v, fixed[i]);
	host_add(&v, filter_and_event_trace(h, e));
	return (struct pd_value)PD_OBJECT("intel_pt", v.items, v.n);
}

static struct pd_value intel_bts(struct host_values *h, const struct recording *r,
				 const struct event *e)
{
	const struct perf_event_mmap_page *page = r->rings.items[0].page;

	return host_object(h, "intel_bts", (const struct pd_value[]){
		PD_NUMBER("pmu_type", e->attr.type), PD_NUMBER("time_shift", page->time_shift),
		PD_NUMBER("time_mult", page->time_mult), PD_NUMBER("time_zero", page->time_zero),
		PD_NUMBER("cap_user_time_zero", page->cap_user_time_zero),
		PD_NUMBER("snapshot_mode", r->options->snapshot != NULL) }, 6);
}

/* Version 1 of the layout, which every perf reads. */
static struct pd_value arm_spe(struct host_values *h, const struct recording *r,
			       const struct event *e)
{
	return host_object(h, "arm_spe", (const struct pd_value[]){
		PD_NUMBER("pmu_type", e->attr.type),
		PD_NUMBER("per_cpu_mmaps", has_cpu_buffers(r)) }, 2);
}

static struct pd_value hisi_ptt(struct host_values *h, const struct recording *r,
				const struct event *e)
{
	uint64_t *type = host_alloc(h, sizeof(*type));

	(void)r;
	if (type)
		*type = e->attr.type;
	return (struct pd_value)PD_NUMBERS("priv", type, type != NULL);
}

int aux_info_write(struct recording *r)
{
	static struct pd_value (*const writers[])(struct host_values *, const struct recording *,
						const struct event *) = {
		[AUX_INTEL_PT] = intel_pt, [AUX_INTEL_BTS] = intel_bts,
		[AUX_CS_ETM] = aux_info_etm, [AUX_ARM_SPE] = arm_spe,
		[AUX_S390_CPUMSF] = NULL, [AUX_HISI_PTT] = hisi_ptt,
	};
	const struct event *e = &r->events.items[0];
	struct host_values h = { 0 };
	int err;

	if (!e->aux || !r->rings.nr_aux)
		return 0;
	struct pd_value fields[2] = { PD_NUMBER("auxtrace_type", e->aux) };
	if (writers[e->aux])
		fields[1] = writers[e->aux](&h, r, e);
	err = pd_writer_record(r->file.writer, PD_RECORD_AUXTRACE_INFO, 0, -1, fields,
			       writers[e->aux] ? 2 : 1, (struct pd_bytes){ 0 }, &r->file.error);
	host_values_free(&h);
	return err;
}
