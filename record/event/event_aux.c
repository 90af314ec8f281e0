/* event_aux.c - defaults for events of Intel PT and BTS, CoreSight, SPE and similar PMUs. */
#include "event/event_aux.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_text.h"

enum { DEFAULT_PERIOD = 3 };		/* of Intel PT's timing and synchronization packets */
enum { CPUM_SF_DIAG = 0xbd000 };	/* s390's sampling with diagnostic data, by attr.config */

enum aux_pmu event_aux_kind(const char *pmu, const struct event_attr *attr)
{
	static const struct { const char *start; enum aux_pmu kind; } rows[] = {
		{ "intel_pt", AUX_INTEL_PT }, { "intel_bts", AUX_INTEL_BTS },
		{ "cs_etm", AUX_CS_ETM }, { "arm_spe_", AUX_ARM_SPE },
		{ "cpum_sf", AUX_S390_CPUMSF }, { "hisi_ptt", AUX_HISI_PTT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strncmp(pmu, rows[i].start, strlen(rows[i].start)) == 0)
			return rows[i].kind != AUX_S390_CPUMSF || attr->config == CPUM_SF_DIAG ?
				rows[i].kind : AUX_NONE;
	return AUX_NONE;
}

/* Adds the default period where the cpu supports it, else the next lower one, or the lowest. */
static void add_period(int dir, const char *caps, const char *term, char *terms, size_t size)
{
	size_t n = strlen(terms);
	uint64_t supported;
	int period = DEFAULT_PERIOD;

	if (!read_text_number(dir, caps, 16, &supported) || !supported)
		return;
	while (period > 0 && !(supported >> period & 1))
		period--;
	if (!(supported >> period & 1))
		period = __builtin_ctzll(supported);
	snprintf(terms + n, size - n, ",%s=%d", term, period);
}

static void add_if_there(int dir, const char *term, char *terms, size_t size)
{
	char path[64];
	size_t n = strlen(terms);

	snprintf(path, sizeof(path), "format/%s", term);
	if (faccessat(dir, path, F_OK, 0) == 0)
		snprintf(terms + n, size - n, ",%s", term);
}

static void intel_pt_terms(int dir, char *terms, size_t size)
{
	uint64_t supported;

	add_if_there(dir, "tsc", terms, size);
	if (read_text_number(dir, "caps/mtc", 10, &supported) && supported) {
		add_if_there(dir, "mtc", terms, size);
		add_period(dir, "caps/mtc_periods", "mtc_period", terms, size);
	}
	if (read_text_number(dir, "caps/psb_cyc", 10, &supported) && supported)
		add_period(dir, "caps/psb_periods", "psb_period", terms, size);
	add_if_there(dir, "pt", terms, size);
	add_if_there(dir, "branch", terms, size);
}

void event_aux_terms(enum aux_pmu kind, int dir, char *terms, size_t size)
{
	terms[0] = '\0';
	if (kind == AUX_INTEL_PT) {
		intel_pt_terms(dir, terms, size);
	} else if (kind == AUX_CS_ETM) {
		add_if_there(dir, "contextid", terms, size);
		add_if_there(dir, "timestamp", terms, size);
	}
	if (terms[0])
		memmove(terms, terms + 1, strlen(terms));	/* the first comma */
}

void event_aux_attr(struct event *e, int dir)
{
	uint64_t least;

	if (e->aux == AUX_ARM_SPE && read_text_number(dir, "caps/min_interval", 10, &least))
		e->attr.sample_period = least;
}

void event_aux_wakeup(struct event_list *l, size_t bytes)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].aux && !l->items[i].attr.aux_watermark)
			l->items[i].attr.aux_watermark = (uint32_t)bytes;
}

bool events_have_aux(const struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].aux)
			return true;
	return false;
}

/* group: scratch memory for n events. The events of a group are adjacent in the list. */
static void move_group_to_front(struct event_list *l, size_t first, size_t n, struct event *group)
{
	memcpy(group, l->items + first, n * sizeof(*group));
	memmove(l->items + n, l->items, first * sizeof(*group));
	memcpy(l->items, group, n * sizeof(*group));
	for (size_t i = 0; i < n; i++)
		l->items[i].leader = 0;
	for (size_t i = n; i < first + n; i++)
		l->items[i].leader += n;
}

int events_aux_to_front(struct event_list *l)
{
	size_t i = 0, first, n = 0;
	struct event *group;

	while (i < l->n && !l->items[i].aux)
		i++;
	first = i < l->n ? l->items[i].leader : 0;
	if (i < l->n && first != i)
		return log_error(l->log, CLI_USAGE, "%s must be the first event of its group",
				 l->items[i].name);
	if (!first)
		return 0;
	while (first + n < l->n && l->items[first + n].leader == first)
		n++;
	group = malloc(n * sizeof(*group));
	if (!group)
		return log_error(l->log, CLI_OUTPUT, "out of memory");
	move_group_to_front(l, first, n, group);
	free(group);
	return 0;
}
