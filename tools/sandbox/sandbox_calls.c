/* sandbox_calls.c - allow only the system calls that reading and writing need, by seccomp. */
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sandbox_internal.h"

/* C libraries differ, so every name of each call is here. N takes no argument, which would be
 * expanded first: musl's headers define pread64 as pread. */
#define N SCMP_SYS

static const int allowed[] = {
	N(read), N(readv), N(pread64), N(write), N(writev), N(pwrite64), N(lseek), N(close), N(dup),
	N(poll), N(ppoll), N(fstat), N(newfstatat), N(statx), N(stat), N(ftruncate), N(fallocate),
	N(fsync), N(brk), N(munmap), N(mremap), N(madvise), N(sysinfo), N(getrandom), N(futex),
	N(set_robust_list), N(rseq), N(sched_yield), N(sched_getaffinity), N(clock_gettime),
	N(gettimeofday), N(clock_nanosleep), N(nanosleep), N(rt_sigaction), N(rt_sigprocmask),
	N(rt_sigreturn), N(restart_syscall), N(geteuid), N(getpid), N(gettid), N(getpgrp),
	N(getpgid), N(exit), N(exit_group),
	/* the 32-bit variants */
	N(geteuid32), N(_llseek), N(fstat64), N(stat64), N(fstatat64), N(ftruncate64),
	N(futex_time64), N(clock_gettime64), N(clock_nanosleep_time64), N(ppoll_time64),
	N(sigreturn),
};

/* For reading directories, removing names, and creating files. */
static const int allowed_to_list[] = { N(getdents64) };
static const int allowed_to_name[] = { N(unlink), N(unlinkat) };
static const int allowed_to_make[] = {
	N(access), N(faccessat), N(faccessat2), N(readlink), N(readlinkat), N(umask), N(fchmod),
	N(linkat), N(rename), N(renameat), N(renameat2),
};

/* For descriptors that another process sends; requests are written. */
static const int allowed_to_receive[] = { N(recvmsg) };

struct call {
	int number;
	const char *name;
};

#define CALL(name) { SCMP_SYS(name), #name }

/* A plain bug never calls these. */
static const struct call fatal[] = {
	CALL(execve), CALL(execveat), CALL(fork), CALL(vfork), CALL(clone),
	CALL(socket), CALL(socketpair), CALL(connect), CALL(bind), CALL(sendto), CALL(sendmsg),
	CALL(ptrace), CALL(process_vm_readv), CALL(process_vm_writev), CALL(pidfd_open), CALL(kill),
	CALL(tkill), CALL(mount), CALL(chroot), CALL(unshare), CALL(setns), CALL(bpf),
	CALL(perf_event_open), CALL(io_uring_setup), CALL(init_module), CALL(finit_module),
	CALL(setuid), CALL(setresuid), CALL(capset), CALL(open_by_handle_at),
};

static const char *tool_name;	/* for the signal handler, which has no argument for it */

/* Async-signal-safe: the process may be in any state. */
static void on_sigsys(int signal_number, siginfo_t *info, void *context)
{
	static const char before[] =
		": the sandbox ends this process: reading a file never needs the system call ";
	static const char after[] = "; the input may be an attack\n";
	const char *name = "it made";
	char line[256], *end;

	(void)context;
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		if (fatal[i].number == info->si_syscall)
			name = fatal[i].name;
	end = stpcpy(stpcpy(stpcpy(stpcpy(line, tool_name), before), name), after);
	if (write(STDERR_FILENO, line, (size_t)(end - line)) < 0)
		_exit(128 + signal_number);
	raise(signal_number);	/* SA_RESETHAND is set: now it ends the process */
}

static void watch_sigsys(const struct cli_tool *tool)
{
	const struct sigaction action = {
		.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER,
	};

	tool_name = tool->name;
	sigaction(SIGSYS, &action, NULL);
}

static int allow_calls(scmp_filter_ctx f, const int *numbers, size_t count)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		error = seccomp_rule_add(f, SCMP_ACT_ALLOW, numbers[i], 0);
	return error;
}

#define ALLOW(f, list) allow_calls(f, list, sizeof(list) / sizeof((list)[0]))

/* Allows the call if the argument, masked, equals value. */
static int allow_if(scmp_filter_ctx f, int number, unsigned int argument, uint64_t mask,
		    uint64_t value)
{
	return seccomp_rule_add(f, SCMP_ACT_ALLOW, number, 1,
				SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, value));
}

/* Allows memory without code, threads but no processes, and terminal queries but no typing into
 * terminals. */
static int allow_restricted(scmp_filter_ctx f)
{
	const uint64_t all = UINT32_MAX;
	int error = allow_if(f, SCMP_SYS(mmap), 2, PROT_EXEC, 0);

	error = error ?: allow_if(f, SCMP_SYS(mmap2), 2, PROT_EXEC, 0);
	error = error ?: allow_if(f, SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
	error = error ?: allow_if(f, SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD);
	error = error ?: allow_if(f, SCMP_SYS(tgkill), 0, all, (uint64_t)getpid());
	error = error ?: allow_if(f, SCMP_SYS(fcntl), 1, all, F_GETFL);
	error = error ?: allow_if(f, SCMP_SYS(fcntl64), 1, all, F_GETFL);
	error = error ?: allow_if(f, SCMP_SYS(ioctl), 1, all, TIOCGWINSZ);
	error = error ?: allow_if(f, SCMP_SYS(ioctl), 1, all, TIOCGPGRP);
	error = error ?: allow_if(f, SCMP_SYS(ioctl), 1, all, TCGETS);
#ifdef TCGETS2	/* musl uses TCGETS only */
	error = error ?: allow_if(f, SCMP_SYS(ioctl), 1, all, TCGETS2);
#endif
	return error;
}

static int allow_open(scmp_filter_ctx f, uint64_t flags)
{
	const uint64_t mask = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
	int error = allow_if(f, SCMP_SYS(open), 1, mask, flags & mask);

	return error ?: allow_if(f, SCMP_SYS(openat), 2, mask, flags & mask);
}

/* The library opens its nameless files with O_EXCL: they can't get a name later. */
static int allow_files(scmp_filter_ctx f, const struct sandbox *s,
		       const struct sandbox_temporary *t)
{
	const bool named = s->write_beneath || t->kind == SANDBOX_NAMED_FILE;
	int error = 0;

	if (t->kind != SANDBOX_NO_FILE)
		error = allow_open(f, O_RDWR | O_TMPFILE | O_EXCL);
	if (!error && named)
		error = allow_open(f, O_RDWR | O_CREAT | O_EXCL);
	if (!error && named)
		error = ALLOW(f, allowed_to_name);
	if (!error && (s->read_beneath || s->write_beneath))
		error = allow_open(f, O_RDONLY);
	if (!error && (s->read_beneath || s->write_beneath))
		error = ALLOW(f, allowed_to_list);
	if (!error && s->write_beneath)
		error = allow_open(f, O_RDWR | O_TMPFILE);
	if (!error && s->write_beneath)
		error = ALLOW(f, allowed_to_make);
	return error;
}

static int stop_at_fatal(scmp_filter_ctx f)
{
	int error = seccomp_rule_add(f, SCMP_ACT_TRAP, SCMP_SYS(clone), 1,
				     SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));

	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]) && !error; i++)
		if (fatal[i].number != SCMP_SYS(clone))
			error = seccomp_rule_add(f, SCMP_ACT_TRAP, fatal[i].number, 0);
	return error;
}

/* libseccomp does not report the reason. With seccomp, a NULL filter fails with EFAULT. */
static int seccomp_error(void)
{
	const long ret = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);

	return ret == 0 || errno == EFAULT ? 0 : errno;
}

int sandbox_restrict_calls(const struct sandbox *s, const struct sandbox_temporary *t)
{
	/* ENOSYS makes the C library use an older call: clone3's flags can't be seen by a
	 * filter. */
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int error = f ? -seccomp_error() : -ENOMEM;

	/* Best effort: an old kernel kills only the thread and keeps the store bypass mitigation,
	 * which is slower. */
	if (f) {
		seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
		seccomp_attr_set(f, SCMP_FLTATR_CTL_SSB, 1);
	}
	error = error ?: seccomp_attr_set(f, SCMP_FLTATR_CTL_NNP, 0);
	error = error ?: ALLOW(f, allowed);
	error = error ?: allow_restricted(f);
	error = error ?: allow_files(f, s, t);
	if (!error && s->receive == SANDBOX_RECEIVE_FILES)
		error = ALLOW(f, allowed_to_receive);
	error = error ?: stop_at_fatal(f);
	if (!error) {
		watch_sigsys(s->tool);
		error = seccomp_load(f);
	}
	seccomp_release(f);
	return -error;
}
