/* symbols_dwfl.c - unwinds the copied stacks of a recording as symbols_unwind.c does, by libdwfl:
 * one Dwfl for each process is kept, modules are reported once.
 *
 *   symbols_dwfl FILE [time=N]
 *
 * Prints "sample OFFSET TID TIME NR -", then the address of each frame.
 */
#include <elfutils/libdwfl.h>
#include <sys/auxv.h>
#include <time.h>

#include "stacks.h"

#define X86_64_REGISTERS 17

struct process {
	Dwfl *dwfl;
	uint64_t generation;
};

static const struct stack_sample *now;
static uint64_t frames[1024];
static size_t nr_frames;

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return (pid_t)now->tid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
	const uint64_t sp = now->registers[7], at = addr - sp;

	(void)dwfl;
	(void)arg;
	if (at >= now->dyn_size || now->dyn_size - at < 8)
		return false;
	memcpy(result, now->bytes + at, 8);
	return true;
}

/* The registers that the mask of x86-64 has, by DWARF number. */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	static const int numbers[] = { 0,  3,  2,  1,  4, 5, 6,	 7,  16, -1, -1, -1,
				       -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15 };
	Dwarf_Word values[X86_64_REGISTERS] = { 0 };
	size_t next = 0;

	(void)arg;
	for (unsigned int bit = 0; bit < 24; bit++)
		if (now->mask >> bit & 1) {
			if (numbers[bit] >= 0)
				values[numbers[bit]] = now->registers[next];
			next++;
		}
	return dwfl_thread_state_registers(thread, 0, X86_64_REGISTERS, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	Dwarf_Addr pc;

	(void)arg;
	if (!dwfl_frame_pc(frame, &pc, NULL) || nr_frames == 127)
		return DWARF_CB_ABORT;
	frames[nr_frames++] = pc;
	return DWARF_CB_OK;
}

static void report(Dwfl *dwfl, struct recording *rec, const struct task *t)
{
	dwfl_report_begin(dwfl);
	for (size_t i = 0; i < t->nr; i++) {
		const struct map *m = &t->maps[i];
		const char *path = rec->files[m->file];

		if (path[0] == '/' && find_map(t, m->start) == m)
			dwfl_report_elf(dwfl, path, path, -1, m->start - m->pgoff, false);
	}
	dwfl_report_end(dwfl, NULL, NULL);
}

static Dwfl *dwfl_of(struct recording *rec, struct task *t)
{
	struct process *p = t->state;

	if (!p)
		p = t->state = checked(calloc(1, sizeof(*p)));
	if (p->dwfl && p->generation == t->generation)
		return p->dwfl;
	dwfl_end(p->dwfl);
	p->dwfl = checked(dwfl_begin(&callbacks));
	p->generation = t->generation;
	report(p->dwfl, rec, t);
	dwfl_attach_state(p->dwfl, NULL, (pid_t)t->pid, &thread_callbacks, p);
	return p->dwfl;
}

static void unwind(struct recording *rec, const struct stack_sample *s)
{
	Dwfl *dwfl;

	now = s;
	nr_frames = 0;
	dwfl = dwfl_of(rec, s->task);
	dwfl_getthread_frames(dwfl, (pid_t)s->tid, take_frame, NULL);
}

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Samples whose bytes are copied, with the maps at the end. */
static void time_all(struct recording *rec, struct stack_sample *samples, size_t n,
		     unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		const double from = cpu_time();
		uint64_t all = 0;
		double took;

		for (size_t k = 0; k < n; k++) {
			unwind(rec, &samples[k]);
			all += nr_frames;
		}
		took = cpu_time() - from;
		printf("pass %u: %zu samples, %" PRIu64 " frames, %.1f ns each, %.2f M/s\n", i, n,
		       all, took / (double)all, (double)all / took * 1e3);
	}
}

static void print_frames(const struct pd_record *r)
{
	print_sample(r, nr_frames, "-");
	for (size_t i = 0; i < nr_frames; i++)
		printf("%" PRIx64 "\n", frames[i]);
}

int main(int argc, char **argv)
{
	struct recording *rec = argc > 1 ? open_recording(argv[1]) : NULL;
	const unsigned int times = argc > 2 ? (unsigned int)atoi(strchr(argv[2], '=') + 1) : 0;
	struct stack_sample *samples = NULL, s;
	const struct pd_record *r;
	struct pd_error e;
	size_t n = 0;

	if (!rec)
		return 1;
	while (pd_reader_next(rec->reader, &r, &e) == 1) {
		if (!is_sample(r)) {
			learn_record(rec, r);
			continue;
		}
		nr_frames = 0;
		if (read_stack(rec, r, &s) && s.abi == 2 && !times)
			unwind(rec, &s);
		if (!times)
			print_frames(r);
		if (!times || !s.bytes)
			continue;
		s.bytes = memcpy(checked(malloc(s.dyn_size + 1)), s.bytes, s.dyn_size);
		if (!(n & (n - 1)))
			samples = checked(realloc(samples, (n ? 2 * n : 1) * sizeof(s)));
		samples[n++] = s;
	}
	if (times)
		time_all(rec, samples, n, times);
	for (size_t k = 0; k < n; k++)
		free((void *)samples[k].bytes);
	free(samples);
	for (size_t i = 0; i < rec->nr_tasks; i++)
		if (rec->tasks[i]->state) {
			dwfl_end(((struct process *)rec->tasks[i]->state)->dwfl);
			free(rec->tasks[i]->state);
		}
	close_recording(rec);
	return 0;
}
