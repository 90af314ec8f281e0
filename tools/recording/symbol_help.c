/* symbol_help.c - what gives names to frames that have none. */
#include "recording/symbol_help.h"

#include <string.h>

/* Instructions under probes are executed in a copy. */
static bool is_of_kernel(const struct pd_image *image)
{
	return strcmp(image->path, PD_VDSO_32) == 0 || strcmp(image->path, "[uprobes]") == 0;
}

static const char *help_without_file(const struct pd_image *image)
{
	if (image && is_of_kernel(image))
		return "it is memory that the kernel maps, in no file";
	if (image && (image->kind == PD_IMAGE_DELETED || image->kind == PD_IMAGE_MEMFD))
		return "only its processes had the file; precord that ends before them, as with "
		       "--duration, records the names";
	return "the file is not here; give a copy with --sysroot or --debug-dir, or let "
	       "'precord --symbols=names' record the names";
}

static const char *help_with_another_file(const struct pd_image *image)
{
	if (image && pd_image_kind_is_own_code(image->kind))
		return "nothing shows that its map here, /tmp/perf-PID.map, is of that process; "
		       "precord, and perf record -k CLOCK_MONOTONIC, record when it ran, "
		       "--unverified=always uses this one";
	return image && image->build_id.size ?
		"the file here is another build; give a copy of the recorded one with "
		"--debug-dir" :
		"nothing shows that the file here is the recorded one; precord --buildid-mmap "
		"records which it is, --unverified=always uses this one";
}

static const char *help_without_symbol(const struct pd_image *image)
{
	if (image && pd_image_kind_is_own_code(image->kind))
		return "what its compiler wrote lacks that code; /tmp/perf-PID.map must be written "
		       "from the start on, and a jitdump (node --perf-prof) also has code that was "
		       "replaced";
	return "its symbol tables have none there; its debug symbols, installed or given with "
	       "--debug-dir, may have more";
}

const char *symbol_help(unsigned int why, const struct pd_image *image)
{
	switch (why) {
	case PD_WHY_NO_MAP:
	case PD_WHY_NO_PID:
		return image ? "it has data, no code: the chain got lost there" :
			       "the addresses are in no recorded map; record from the start of the "
			       "program";
	case PD_WHY_MAPS_LOST:
		return "the records of its maps are lost; record with larger buffers, precord -m "
		       "4M";
	case PD_WHY_KPTR_RESTRICT:
		return "kernel addresses are hidden; record as root, or after sysctl "
		       "kernel.kptr_restrict=0";
	case PD_WHY_LIMIT:
		return "there was no memory for them; allow more with --memory";
	case PD_WHY_NO_FILE:
		return help_without_file(image);
	case PD_WHY_MISMATCH:
		return help_with_another_file(image);
	case PD_WHY_NO_SYMBOLS:
		return "it is stripped; install its debug symbols (Debian: find-dbgsym-packages "
		       "names the package), or give its debug file with --debug-dir";
	case PD_WHY_NO_SYMBOL:
		return help_without_symbol(image);
	case PD_WHY_JIT_NO_MAP:
		return "its compiler wrote no map, /tmp/perf-PID.map; node --perf-basic-prof, java "
		       "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit";
	case PD_WHY_JIT_REUSED:
		return "several functions had that memory in turn; a jitdump (node --perf-prof) "
		       "and precord -k mono have the times";
	case PD_WHY_NO_KERNEL:
		return "the kernel's symbols are not here; give the recorded kernel's --vmlinux, "
		       "or a copy of its /proc/kallsyms with --kallsyms";
	case PD_WHY_FOREIGN_NAMESPACE:
		return "the file is in a container; give its file system with --sysroot, as "
		       "/proc/PID/root";
	default:
		return "";
	}
}
