/* symbols_unwind.c - unwinds the copied stacks of a recording:
 *
 *   symbols_unwind FILE [OPTION...]
 *
 * Prints a line for each sample ("sample OFFSET TID TIME NR END"), and one for each frame: address,
 * offset in the file, flags (x exact, r return address, s signal's trampoline, g guessed), file.
 * Options:
 *
 *   bits=N       slots of the cache: 2^N        frames=N   at most N frames
 *   map=FROM:TO  TO is the file that the recording calls FROM; "-": it is not there
 *   time=N       instead: loads all samples, unwinds them N times, prints frames, ns per frame,
 *                ends
 *   highest=HEX  of the address space
 */
#include <time.h>

#include "images.h"
#include "stacks.h"

struct run {
	struct recording *rec;
	struct ps_unwinder *unwinder;
	struct images images;
	const char *from[16], *to[16];
	size_t nr_replaced;
	const struct task *task; /* of the sample */
	uint64_t ends[PS_END_MAX_FRAMES + 1], frames, highest, locates;
};

static const char *path_of(const struct run *run, unsigned int file)
{
	const char *name = run->rec->files[file];

	for (size_t i = 0; i < run->nr_replaced; i++)
		if (!strcmp(run->from[i], name))
			return run->to[i];
	return name;
}

static void locate(void *ctx, uint64_t address, struct ps_place *out)
{
	struct run *run = ctx;
	const struct map *map = find_map(run->task, address);
	struct ps_mapping mapping;

	run->locates++;
	if (!map)
		return;
	mapping = (struct ps_mapping){ map->start, map->pgoff, true };
	place_in(&run->images, map->file, path_of(run, map->file), &mapping, map->end, address,
		 out);
}

static struct ps_copied_stack stack_of(struct run *run, const struct stack_sample *s)
{
	return (struct ps_copied_stack){
		.arch = ps_arch_find(run->rec->machine, s->abi),
		.mask = s->mask,
		.registers = s->registers,
		.nr_registers = s->nr_registers,
		.bytes = { s->bytes, s->dyn_size },
		.size = s->size,
		.precise = s->precise,
		.swap = pd_reader_file(run->rec->reader)->byte_order == PD_BIG_ENDIAN ? PD_SWAP_YES
										      : PD_SWAP_NO,
		.highest = run->highest ? run->highest : s->highest,
		.generation = s->task->generation,
		.locate = locate,
		.ctx = run,
	};
}

static void unwind(struct run *run, const struct stack_sample *s, struct ps_chain *chain)
{
	const struct ps_copied_stack in = stack_of(run, s);

	run->task = s->task;
	ps_unwind(run->unwinder, &in, chain);
	run->ends[chain->end]++;
	run->frames += chain->nr_frames;
}

static void print_chain(const struct run *run, const struct ps_chain *chain)
{
	for (size_t i = 0; i < chain->nr_frames; i++) {
		const struct ps_chain_frame *f = &chain->frames[i];

		printf("%" PRIx64 " %" PRIx64 " %" PRIx64 " %s%s%s %s\n", f->addr, f->file_offset,
		       f->vaddr, f->flags & PS_CHAIN_RETURN ? "r" : "x",
		       f->flags & PS_CHAIN_SIGNAL ? "s" : "",
		       f->flags & PS_CHAIN_GUESSED ? "g" : "",
		       f->image == PS_NO_IMAGE ? "-" : run->rec->files[f->image]);
	}
}

static int next_record(struct run *run, const struct pd_record **r)
{
	struct pd_error e;

	return pd_reader_next(run->rec->reader, r, &e);
}

static void print_all(struct run *run)
{
	const struct pd_record *r;
	struct stack_sample s;
	struct ps_chain chain;

	while (next_record(run, &r) == 1) {
		if (!is_sample(r)) {
			learn_record(run->rec, r);
			continue;
		}
		if (!read_stack(run->rec, r, &s)) {
			print_sample(r, 0, "-");
			continue;
		}
		unwind(run, &s, &chain);
		print_sample(r, chain.nr_frames,
			     chain.end == PS_END_NONE ? "-" : ps_end_name(chain.end));
		print_chain(run, &chain);
	}
}

/* --- time --- */

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Maps of all samples are those at the end. */
static void time_all(struct run *run, unsigned int times)
{
	struct stack_sample *samples = NULL;
	const struct pd_record *r;
	struct ps_chain chain;
	struct stack_sample s;
	size_t n = 0;

	while (next_record(run, &r) == 1) {
		if (!read_stack(run->rec, r, &s)) {
			learn_record(run->rec, r);
			continue;
		}
		s.bytes = memcpy(checked(malloc(s.dyn_size + 1)), s.bytes, s.dyn_size);
		if (!(n & (n - 1)))
			samples = checked(realloc(samples, (n ? 2 * n : 1) * sizeof(s)));
		samples[n++] = s;
	}
	for (unsigned int i = 0; i < times; i++) {
		const double from = cpu_time();
		double took;

		run->frames = 0;
		memset(run->ends, 0, sizeof(run->ends));
		for (size_t k = 0; k < n; k++)
			unwind(run, &samples[k], &chain);
		took = cpu_time() - from;
		printf("pass %u: %zu samples, %" PRIu64 " frames, %.1f ns each, %.2f M/s, %" PRIu64
		       " locates",
		       i, n, run->frames, took / (double)run->frames,
		       (double)run->frames / took * 1e3, run->locates);
		for (unsigned int end = 0; end <= PS_END_MAX_FRAMES; end++)
			if (run->ends[end])
				printf(" %s=%" PRIu64, ps_end_name(end), run->ends[end]);
		putchar('\n');
	}
	for (size_t k = 0; k < n; k++)
		free((void *)samples[k].bytes);
	free(samples);
}

int main(int argc, char **argv)
{
	struct run *run = checked(calloc(1, sizeof(*run)));
	struct ps_unwinder_options o = { .budget = &run->images.budget };
	unsigned int times = 0;

	run->images.budget.limit = 4ull << 30;
	for (int i = 2; i < argc; i++) {
		const char *value = strchr(argv[i], '=') + 1;

		if (!strncmp(argv[i], "bits=", 5))
			o.cache_bits = (unsigned int)atoi(value);
		else if (!strncmp(argv[i], "frames=", 7))
			o.max_frames = (size_t)atoi(value);
		else if (!strncmp(argv[i], "time=", 5))
			times = (unsigned int)atoi(value);
		else if (!strncmp(argv[i], "highest=", 8))
			run->highest = strtoull(value, NULL, 16);
		else if (!strncmp(argv[i], "map=", 4)) {
			run->from[run->nr_replaced] = strtok(argv[i] + 4, ":");
			run->to[run->nr_replaced++] = strtok(NULL, "");
		}
	}
	run->rec = argc > 1 ? open_recording(argv[1]) : NULL;
	run->unwinder = ps_unwinder_new(&o);
	if (!run->rec || !run->unwinder)
		return 1;
	if (times)
		time_all(run, times);
	else
		print_all(run);
	ps_unwinder_free(run->unwinder);
	close_images(&run->images);
	close_recording(run->rec);
	if (run->images.budget.used)
		printf("%" PRIu64 " bytes are still charged\n", run->images.budget.used);
	free(run);
	return 0;
}
