/* chrome.c - the parts of trace events. */
#include "formats/chrome.h"

#include <inttypes.h>

#include "encoding/json.h"

#define NS_PER_US 1000
#define PID_LIMIT (1 << 22)	/* the kernel's largest pid_max */

void pp_chrome_time(struct pp_chrome *c, uint64_t time)
{
	const uint64_t ns = time > c->first ? time - c->first : 0;

	pp_printf(c->out, "%" PRIu64 ".%03" PRIu64, ns / NS_PER_US, ns % NS_PER_US);
}

/* The idle tasks are threads of process 0, by their CPU. Processes of virtual machines have numbers
 * above all pids. */
void pp_chrome_task(struct pp_chrome *c, const struct pp_track *t)
{
	const int64_t machine = (int64_t)t->machine_pid * PID_LIMIT;

	pp_printf(c->out, ",\"pid\":%" PRId64 ",\"tid\":%" PRId32,
		  machine + (t->cpu >= 0 ? 0 : t->pid), t->cpu >= 0 ? t->cpu : t->tid);
}

void pp_chrome_begin(struct pp_chrome *c, const struct pp_track *t, const char *category,
		     struct pd_bytes name, uint64_t time)
{
	pp_put_text(c->out, ",\n{\"ph\":\"B\",\"name\":");
	pp_json_string(c->out, name);
	pp_printf(c->out, ",\"cat\":\"%s\"", category);
	pp_chrome_task(c, t);
	pp_put_text(c->out, ",\"ts\":");
	pp_chrome_time(c, time);
	pp_put_text(c->out, "}");
}

/* An end is 1 ns before the next begin: viewers order events of one time by themselves. */
void pp_chrome_end(struct pp_chrome *c, const struct pp_track *t, struct pd_bytes name,
		   uint64_t time)
{
	pp_put_text(c->out, ",\n{\"ph\":\"E\",\"name\":");
	pp_json_string(c->out, name);
	pp_chrome_task(c, t);
	pp_put_text(c->out, ",\"ts\":");
	pp_chrome_time(c, time - 1);
	pp_put_text(c->out, "}");
}
