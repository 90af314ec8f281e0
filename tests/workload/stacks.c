/* stacks.c - what is hard to unwind, between two int3 or again and again: deep recursion, signals
 * on the same and on another stack, realigned frames, frames of variable size, registers that are
 * saved late, functions that end with a call, PLT and lazy binding, callbacks from the libc, vfork,
 * longjmp, tail calls.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile int sink;
static jmp_buf back;

NOINLINE int leaf(int n)
{
	volatile int red_zone[4] = { n, n + 1, n + 2, n + 3 };

	return red_zone[n & 3] + sink;
}

NOINLINE int recurse(int depth)
{
	volatile char frame[100];

	frame[depth % 100] = (char)depth;
	if (!depth)
		return leaf(1);
	return recurse(depth - 1) + frame[depth % 100];
}

/* Keeps values in all registers that calls preserve. */
NOINLINE int busy(int a, int b, int c, int d, int e, int f)
{
	int s = 0;

	for (int i = 0; i < 2; i++) {
		s += leaf(a) * b + leaf(c) * d + leaf(e) * f;
		a ^= b + s;
		c ^= d + s;
		e ^= f + s;
	}
	return s + a + b + c + d + e + f;
}

NOINLINE int aligned(int n)
{
	_Alignas(64) volatile char frame[64];
	char *more = alloca((size_t)(n & 31) + 1);

	memset(more, n, (size_t)(n & 31) + 1);
	frame[0] = more[0];
	return busy(frame[0], n, 3, 4, 5, 6);
}

NOINLINE int variable(int n)
{
	char frame[n];

	memset(frame, 1, (size_t)n);
	return recurse(frame[n - 1] + 2);
}

/* Saves registers only on the way that needs them. */
NOINLINE int late(int n)
{
	if (n == 0)
		return 0;
	return busy(n, n, n, n, n, n) + busy(n, 2, n, 4, n, 6);
}

__attribute__((noreturn)) NOINLINE void jump_away(int n)
{
	longjmp(back, n);
}

/* Its last instruction is a call: the return address is in the next function. */
NOINLINE void ends_with_call(int n)
{
	leaf(n);
	jump_away(n + 1);
}

NOINLINE int tail(int n)
{
	return n > 3 ? recurse(n) : leaf(n);
}

static void on_signal(int number)
{
	sink += recurse(number & 3);
}

static int compare(const void *a, const void *b)
{
	return leaf(*(const int *)a & 1) * 0 + *(const int *)a - *(const int *)b;
}

NOINLINE int in_child(void)
{
	const pid_t pid = vfork();
	int status = 0;

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return status;
}

static void signals(void)
{
	static char other_stack[65536];
	const stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };
	struct sigaction act = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &act, NULL);
	sigaltstack(&stack, NULL);
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &act, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
}

/* System calls only sometimes: a profile is to have the rest, too. */
NOINLINE void work(int n)
{
	int numbers[] = { 5, 3, 9, 1 };
	char text[64];

	sink += recurse(120);
	sink += busy(1, 2, 3, 4, 5, 6) + aligned(7) + variable(40) + late(0) + late(2) + tail(2) +
		tail(5);
	if (!setjmp(back))
		ends_with_call(1);
	qsort(numbers, 4, sizeof(numbers[0]), compare);
	snprintf(text, sizeof(text), "%d %s %g", sink, getenv("PATH") ? "a" : "b", 1.5);
	if (n % 10 == 0)
		signals();
	if (n % 500 == 0)
		in_child();
	free(malloc(100));
}

/* With an argument: no int3, for that many ms of CPU time. */
int main(int argc, char **argv)
{
	if (argc > 1) {
		for (int n = 0; clock() < atoi(argv[1]) * (CLOCKS_PER_SEC / 1000); n++)
			work(n);
		return 0;
	}
	__asm__ volatile("int3");
	work(0);
	__asm__ volatile("int3");
	_exit(0);
}
