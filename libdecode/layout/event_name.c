/* event_name.c - names of events as users write them after perf record -e. */
#include "layout/event_name.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

/* linux/perf_event.h: enum perf_type_id (other types are PMUs), bit-fields of the attr. */
enum { HARDWARE, SOFTWARE, TRACEPOINT, HW_CACHE, RAW, BREAKPOINT, FIRST_PMU };
#define SYNTH 0x80000000u
#define EXCLUDE_USER (1ull << 4)
#define EXCLUDE_KERNEL (1ull << 5)
#define EXCLUDE_HV (1ull << 6)
#define EXCLUDE_HOST (1ull << 19)
#define EXCLUDE_GUEST (1ull << 20)

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software[] = {
	"cpu-clock",
	"task-clock",
	"page-faults",
	"context-switches",
	"cpu-migrations",
	"minor-faults",
	"major-faults",
	"alignment-faults",
	"emulation-faults",
	"dummy",
	"bpf-output",
	"cgroup-switches",
};

static const char *const synth[] = {
	"ptwrite", "mwait", "pwre", "exstop", "pwrx", "cbr", "psb", "evt", "iflag",
};

static const char *const caches[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

static const char *const operations[][2] = {
	{ "loads", "load-misses" },
	{ "stores", "store-misses" },
	{ "prefetches", "prefetch-misses" },
};

struct text {
	char *buf;
	size_t size, used;	/* used < size */
};

__attribute__((format(printf, 2, 3))) static void append(struct text *t, const char *format, ...)
{
	size_t room = t->size - t->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->buf + t->used, room, format, args);
	va_end(args);
	if (n > 0)
		t->used += (size_t)n < room ? (size_t)n : room - 1;
}

static void append_hardware(struct text *t, uint64_t config)
{
	if (config < ROWS(hardware))
		append(t, "%s", hardware[config]);
	else
		append(t, "hardware:0x%" PRIx64, config);
}

static void append_software(struct text *t, uint64_t config)
{
	if (config < ROWS(software))
		append(t, "%s", software[config]);
	else
		append(t, "software:0x%" PRIx64, config);
}

/* config: cache, operation << 8, result << 16. */
static void append_cache(struct text *t, uint64_t config)
{
	uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16;

	if (cache < ROWS(caches) && operation < ROWS(operations) && result < 2)
		append(t, "%s-%s", caches[cache], operations[operation][result]);
	else
		append(t, "hw-cache:0x%" PRIx64, config);
}

static void append_tracepoint(struct text *t, const struct pd_event_name_in *in)
{
	if (in->tracepoint)
		append(t, "%s", in->tracepoint);
	else
		append(t, "tracepoint:%" PRIu64, in->config);
}

static void append_breakpoint(struct text *t, const struct pd_event_name_in *in)
{
	append(t, "mem:0x%" PRIx64, in->config1);
	if (in->bp_type & 7)
		append(t, ":%s%s%s", in->bp_type & 1 ? "r" : "", in->bp_type & 2 ? "w" : "",
		       in->bp_type & 4 ? "x" : "");
}

static void append_synth(struct text *t, uint64_t config)
{
	if (config < ROWS(synth))
		append(t, "%s", synth[config]);
	else
		append(t, "synth:0x%" PRIx64, config);
}

uint32_t pd_event_pmu_type(const struct pd_event_name_in *in)
{
	if (in->type == HARDWARE || in->type == HW_CACHE)
		return (uint32_t)(in->config >> 32);
	return in->type >= FIRST_PMU && in->type != SYNTH ? in->type : 0;
}

static void append_pmu(struct text *t, const struct pd_event_name_in *in)
{
	if (in->pmu)
		append(t, "%s/", in->pmu);
	else
		append(t, "pmu%" PRIu32 "/", pd_event_pmu_type(in));
	if (in->type == HARDWARE) {
		append_hardware(t, in->config & UINT32_MAX);
	} else if (in->type == HW_CACHE) {
		append_cache(t, in->config & UINT32_MAX);
	} else {
		append(t, "config=0x%" PRIx64, in->config);
		if (in->config1)
			append(t, ",config1=0x%" PRIx64, in->config1);
		if (in->config2)
			append(t, ",config2=0x%" PRIx64, in->config2);
	}
	append(t, "/");
}

static void append_name(struct text *t, const struct pd_event_name_in *in)
{
	if (pd_event_pmu_type(in)) {
		append_pmu(t, in);
		return;
	}
	switch (in->type) {
	case HARDWARE:
		append_hardware(t, in->config);
		break;
	case SOFTWARE:
		append_software(t, in->config);
		break;
	case TRACEPOINT:
		append_tracepoint(t, in);
		break;
	case HW_CACHE:
		append_cache(t, in->config);
		break;
	case RAW:
		append(t, "r%" PRIx64, in->config);
		break;
	case BREAKPOINT:
		append_breakpoint(t, in);
		break;
	default:
		append_synth(t, in->config);
		break;
	}
}

/* Appends perf's modifiers: the counted code (unless all), the precision of the ip, host or guest.
 * The last two are omitted if they match perf's default: exclude_guest without other modifiers, not
 * so with them. */
static void append_modifiers(struct text *t, const struct pd_event_name_in *in, const char *colon)
{
	static const char precise[] = "ppp";
	const uint64_t f = in->flags;
	const int level = in->precise_ip < 3 ? (int)in->precise_ip : 3;
	const bool some = f & (EXCLUDE_USER | EXCLUDE_KERNEL | EXCLUDE_HV);
	const bool no_host = f & EXCLUDE_HOST, no_guest = f & EXCLUDE_GUEST;
	const bool machine = in->type < FIRST_PMU && (no_host || no_guest == (some || level));
	const char *kernel = some && !(f & EXCLUDE_KERNEL) ? "k" : "";
	const char *user = some && !(f & EXCLUDE_USER) ? "u" : "";
	const char *hv = some && !(f & EXCLUDE_HV) ? "h" : "";
	const char *host = machine && !no_host ? "H" : "";
	const char *guest = machine && !no_guest ? "G" : "";

	if (kernel[0] || user[0] || hv[0] || level || host[0] || guest[0])
		append(t, "%s%s%s%s%.*s%s%s", colon, kernel, user, hv, level, precise, host, guest);
}

size_t pd_event_name(const struct pd_event_name_in *in, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };

	append_name(&t, in);
	if (in->type != TRACEPOINT && in->type != SYNTH)
		append_modifiers(&t, in, pd_event_pmu_type(in) ? "" : ":");
	return t.used;
}
