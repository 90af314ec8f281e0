/* sigbus.c - handle SIGBUS for the process. */
#include "process/sigbus.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The handler has no other way to pass data. */
static uintptr_t page_size;
static volatile sig_atomic_t lost_bytes;

/* Maps a page of zeros at the fault, in any thread. mmap() is async-signal-safe in practice: a
 * plain system call. */
static void on_sigbus(int number, siginfo_t *info, void *context)
{
	const uintptr_t page = (uintptr_t)info->si_addr & ~(page_size - 1);

	(void)context;
	if (info->si_code == BUS_ADRERR &&
	    mmap((void *)page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != MAP_FAILED)
		lost_bytes = 1;
	else
		signal(number, SIG_DFL);	/* the fault repeats and ends the process */
}

void sigbus_watch(void)
{
	const struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &action, NULL);
}

bool sigbus_lost_bytes(struct pd_error *e)
{
	if (lost_bytes)
		*e = (struct pd_error){ .code = PD_E_IO, .severity = PD_DAMAGED, .text =
			"it shrank while it was read, or parts can't be read: zeros replace what "
			"is missing" };
	return lost_bytes;
}
