/* symbols_step.c - runs a program instruction by instruction and unwinds its stack after each:
 *
 *   symbols_step [from=trap] [bytes=N] [steps=N] [bits=N] [guesses=compare]
 *                PROGRAM [ARGUMENT...]
 *
 * The truth is a stack of its own: a call adds a return address, and one that lies below the stack
 * pointer is gone. The program is stepped through from exec, or with from=trap from its first int3,
 * to its next int3 or its end, or for `steps`. At an int3 the callers are those that were found,
 * once. Copies `bytes` of the stack (8192). With `bits` each stack is unwound a second time, with a
 * cache of 2^N rules.
 *
 * Prints how many stacks were compared, and how they end: all; those that lack frames, by their
 * end; those that have guessed frames, which are compared only with guesses=compare. And each
 * difference, once for each address:
 *   different ADDRESS FILE OFFSET: expected ..., found ... END
 * At last, with `bits`, how many stacks the small cache made another chain of.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "images.h"

#define MAX_CALLS 4096
#define MAX_MAPS 256
#define MAX_SEEN 64
#define MASK_64 0xff01ffull	/* ax ... ip, r8 ... r15 */
#define MASK_32 0x1ffull

struct call {
	uint64_t address, slot;	/* where the stack has it */
	bool exact;		/* interrupted */
};

struct mapping {
	struct ps_mapping map;
	uint64_t end;
	unsigned int file;
};

struct run {
	struct images images;
	struct ps_unwinder *unwinder, *small;	/* small: with bits=N */
	pid_t pid;
	struct user_regs_struct regs;
	struct call calls[MAX_CALLS];
	size_t nr_calls;
	struct mapping maps[MAX_MAPS];
	unsigned int nr_maps;
	char *files[MAX_IMAGES];
	unsigned int nr_files;
	bool compares_guesses;
	uint64_t generation, stacks, ends[PS_END_MAX_FRAMES + 1], cut[PS_END_MAX_FRAMES + 1],
		guessed, different, cached_otherwise;
	uint64_t seen[MAX_SEEN], nr_seen;
	uint8_t *bytes;
	size_t size;
};

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(2);
}

static bool is_32bit(const struct run *run)
{
	return run->regs.cs == 0x23;
}

static unsigned int word_of(const struct run *run)
{
	return is_32bit(run) ? 4 : 8;
}

static size_t copy_memory(const struct run *run, uint64_t address, void *p, size_t n)
{
	const struct iovec local = { p, n }, remote = { (void *)(uintptr_t)address, n };
	const ssize_t got = process_vm_readv(run->pid, &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

static uint64_t read_word(const struct run *run, uint64_t address)
{
	uint64_t v = 0;

	copy_memory(run, address, &v, word_of(run));
	return v;
}

/* --- maps --- */

static unsigned int file_of(struct run *run, const char *path)
{
	for (unsigned int i = 0; i < run->nr_files; i++)
		if (strcmp(run->files[i], path) == 0)
			return i;
	run->files[run->nr_files] = strdup(path);
	return run->nr_files++;
}

static void read_maps(struct run *run)
{
	char name[64], line[4096];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", run->pid);
	f = fopen(name, "r");
	run->nr_maps = 0;
	run->generation++;
	while (f && fgets(line, sizeof(line), f)) {
		uint64_t start, end, pgoff;
		char prot[8], path[2048] = "//anon";

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %2047s", &start,
			   &end, prot, &pgoff, path) < 4 ||
		    prot[2] != 'x' || run->nr_maps == MAX_MAPS)
			continue;
		run->maps[run->nr_maps++] =
			(struct mapping){ { start, pgoff, true }, end, file_of(run, path) };
	}
	if (f)
		fclose(f);
}

static const struct mapping *find_mapping(const struct run *run, uint64_t address)
{
	for (unsigned int i = 0; i < run->nr_maps; i++)
		if (address >= run->maps[i].map.addr && address < run->maps[i].end)
			return &run->maps[i];
	return NULL;
}

static void locate(void *ctx, uint64_t address, struct ps_place *out)
{
	struct run *run = ctx;
	const struct mapping *m = find_mapping(run, address);

	if (m)
		place_in(&run->images, m->file, run->files[m->file], &m->map, m->end, address, out);
}

/* --- the truth --- */

static void add_call(struct run *run, uint64_t address, uint64_t slot, bool exact)
{
	if (run->nr_calls == MAX_CALLS) {
		fprintf(stderr, "too deep\n");
		exit(2);
	}
	run->calls[run->nr_calls++] = (struct call){ address, slot, exact };
}

static void follow_step(struct run *run, const struct user_regs_struct *old)
{
	const struct user_regs_struct *now = &run->regs;
	uint64_t pushed;

	while (run->nr_calls && run->calls[run->nr_calls - 1].slot < now->rsp)
		run->nr_calls--;
	if (now->rsp != old->rsp - word_of(run))
		return;
	pushed = read_word(run, now->rsp);
	if (pushed > old->rip && pushed - old->rip < 16 && pushed != now->rip)
		add_call(run, pushed, now->rsp, false);
}

/* The handler runs: it returns to the trampoline, and that to what was interrupted. */
static void follow_signal(struct run *run, const struct user_regs_struct *old)
{
	add_call(run, old->rip, run->regs.rsp + 64, true);
	add_call(run, read_word(run, run->regs.rsp), run->regs.rsp, false);
}

/* --- comparing --- */

static size_t fill_registers(const struct run *run, uint64_t *out)
{
	const struct user_regs_struct *r = &run->regs;
	const uint64_t values[] = { r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi,
				    r->rbp, r->rsp, r->rip, r->r8,  r->r9,  r->r10,
				    r->r11, r->r12, r->r13, r->r14, r->r15 };
	const size_t n = is_32bit(run) ? 9 : 17;

	memcpy(out, values, n * sizeof(values[0]));
	return n;
}

/* The first frames must be right in any case. Whether all must be there is the test's to say. */
static bool is_equal(struct run *run, const struct ps_chain *chain)
{
	if (chain->nr_frames && chain->frames[chain->nr_frames - 1].flags & PS_CHAIN_GUESSED) {
		run->guessed++;
		if (!run->compares_guesses)
			return true;
	}
	if (!chain->nr_frames || chain->nr_frames > run->nr_calls + 1)
		return false;
	for (size_t i = 1; i < chain->nr_frames; i++) {
		const struct call *call = &run->calls[run->nr_calls - i];

		if (chain->frames[i].addr != call->address ||
		    !(chain->frames[i].flags & PS_CHAIN_RETURN) != call->exact)
			return false;
	}
	run->cut[chain->end] += chain->nr_frames <= run->nr_calls;
	return true;
}

static void print_difference(struct run *run, const struct ps_chain *chain)
{
	const struct mapping *m = find_mapping(run, run->regs.rip);

	run->different++;
	for (size_t i = 0; i < run->nr_seen; i++)
		if (run->seen[i] == run->regs.rip)
			return;
	if (run->nr_seen == MAX_SEEN)
		return;
	run->seen[run->nr_seen++] = run->regs.rip;
	printf("different %" PRIx64 " %s %" PRIx64 ": expected", (uint64_t)run->regs.rip,
	       m ? run->files[m->file] : "-",
	       m ? (uint64_t)run->regs.rip - m->map.addr + m->map.pgoff : 0);
	for (size_t i = run->nr_calls; i-- > 0;)
		printf(" %" PRIx64 "%s", run->calls[i].address, run->calls[i].exact ? "x" : "");
	printf(", found");
	for (size_t i = 1; i < chain->nr_frames; i++)
		printf(" %" PRIx64 "%s", chain->frames[i].addr,
		       chain->frames[i].flags & PS_CHAIN_RETURN ? "" : "x");
	printf(" %s\n", ps_end_name(chain->end));
}

static bool is_same_chain(const struct ps_chain *a, const struct ps_chain *b)
{
	if (a->end != b->end || a->nr_frames != b->nr_frames)
		return false;
	for (size_t i = 0; i < a->nr_frames; i++)
		if (a->frames[i].addr != b->frames[i].addr ||
		    a->frames[i].flags != b->frames[i].flags)
			return false;
	return true;
}

static void unwind(struct run *run, struct ps_chain *chain)
{
	struct ps_chain other;
	uint64_t registers[32];
	struct ps_copied_stack in = {
		.arch = ps_arch_find(EM_X86_64, is_32bit(run) ? PS_ABI_32 : PS_ABI_64),
		.mask = is_32bit(run) ? MASK_32 : MASK_64,
		.registers = registers,
		.size = run->size,
		.locate = locate,
		.ctx = run,
	};

	if (!find_mapping(run, run->regs.rip))
		read_maps(run);
	in.generation = run->generation;
	in.nr_registers = fill_registers(run, registers);
	in.bytes = (struct pd_bytes){ run->bytes,
				      copy_memory(run, run->regs.rsp, run->bytes, run->size) };
	ps_unwind(run->unwinder, &in, chain);
	if (!run->small)
		return;
	ps_unwind(run->small, &in, &other);
	run->cached_otherwise += !is_same_chain(chain, &other);
}

static void compare(struct run *run)
{
	struct ps_chain chain;

	unwind(run, &chain);
	run->stacks++;
	run->ends[chain.end]++;
	if (!is_equal(run, &chain))
		print_difference(run, &chain);
}

/* Takes the callers as they are found, and prints how many there are. */
static void take_callers(struct run *run)
{
	struct ps_chain chain;

	unwind(run, &chain);
	for (size_t i = chain.nr_frames; i-- > 1;)
		add_call(run, chain.frames[i].addr, UINT64_MAX, false);
	printf("callers %zu %s\n", run->nr_calls, ps_end_name(chain.end));
}

/* --- running --- */

static void start(struct run *run, char **argv)
{
	run->pid = fork();
	if (run->pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	if (run->pid < 0)
		fail("fork");
}

/* Waits for the next stop. Returns its signal, or 0: the program has ended. */
static int wait_stop(struct run *run)
{
	int status;

	if (waitpid(run->pid, &status, 0) < 0)
		fail("waitpid");
	if (!WIFSTOPPED(status)) {
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			printf("the program failed: %x\n", (unsigned int)status);
		return 0;
	}
	if (ptrace(PTRACE_GETREGS, run->pid, NULL, &run->regs))
		fail("PTRACE_GETREGS");
	return WSTOPSIG(status);
}

static bool is_at_trap(const struct run *run, uint64_t pc)
{
	uint8_t byte = 0;

	return copy_memory(run, pc, &byte, 1) && byte == 0xcc;
}

static void go_to_trap(struct run *run)
{
	if (ptrace(PTRACE_CONT, run->pid, NULL, NULL))
		fail("PTRACE_CONT");
	if (wait_stop(run) != SIGTRAP) {
		puts("the program has no int3");
		exit(2);
	}
	read_maps(run);
	take_callers(run);
}

static void follow(struct run *run, uint64_t steps)
{
	int signal = 0;

	for (uint64_t i = 0; i < steps; i++) {
		const struct user_regs_struct old = run->regs;
		const int injected = signal;

		if (is_at_trap(run, old.rip))
			break;
		if (ptrace(PTRACE_SINGLESTEP, run->pid, NULL, (void *)(intptr_t)signal))
			fail("PTRACE_SINGLESTEP");
		signal = wait_stop(run);
		if (!signal)
			return;
		if (signal == SIGTRAP)
			signal = 0;
		if (injected && injected != SIGCHLD)
			follow_signal(run, &old);
		else
			follow_step(run, &old);
		compare(run);
	}
	kill(run->pid, SIGKILL);
	waitpid(run->pid, NULL, 0);
}

int main(int argc, char **argv)
{
	struct run *run = calloc(1, sizeof(*run));
	struct ps_unwinder_options o = { .budget = &run->images.budget }, small = o;
	uint64_t steps = UINT64_MAX;
	bool from_trap = false;
	int first = 1;

	run->images.budget.limit = 1ull << 30;
	run->size = 8192;
	for (; first < argc && strchr(argv[first], '='); first++) {
		const uint64_t value = strtoull(strchr(argv[first], '=') + 1, NULL, 0);

		if (argv[first][0] == 's')
			steps = value;
		else if (argv[first][0] == 'f')
			from_trap = true;
		else if (argv[first][0] == 'g')
			run->compares_guesses = true;
		else if (argv[first][1] == 'y')
			run->size = value;
		else
			small.cache_bits = (unsigned int)value;
	}
	run->bytes = malloc(run->size);
	run->unwinder = ps_unwinder_new(&o);
	if (small.cache_bits)
		run->small = ps_unwinder_new(&small);
	start(run, argv + first);
	if (wait_stop(run) != SIGTRAP)
		return 2;
	read_maps(run);
	if (from_trap)
		go_to_trap(run);
	follow(run, steps);
	printf("stacks %" PRIu64 " different %" PRIu64 " guessed %" PRIu64 "\n", run->stacks,
	       run->different, run->guessed);
	for (unsigned int i = 0; i <= PS_END_MAX_FRAMES; i++)
		if (run->ends[i])
			printf("%s %" PRIu64 " cut %" PRIu64 "\n", ps_end_name(i), run->ends[i],
			       run->cut[i]);
	if (run->small)
		printf("with the small cache %" PRIu64 " otherwise\n", run->cached_otherwise);
	ps_unwinder_free(run->unwinder);
	ps_unwinder_free(run->small);
	close_images(&run->images);
	for (unsigned int i = 0; i < run->nr_files; i++)
		free(run->files[i]);
	free(run->bytes);
	free(run);
	return 0;
}
