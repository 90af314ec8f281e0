/* synth_bpf_images.c - BPF code outside of programs: trampolines from kernel functions to programs,
 * and dispatchers that jump to the program in use. bpf(2) does not report them; kallsyms does. */
#include "bpf/synth_bpf_prog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TYPE_BPF = 1 };	/* PERF_RECORD_KSYMBOL_TYPE_BPF */

bool bpf_prog_may_have_image(const struct bpf_prog *p)
{
	static const uint64_t kinds = 1ull << BPF_PROG_TYPE_XDP | 1ull << BPF_PROG_TYPE_TRACING |
		1ull << BPF_PROG_TYPE_STRUCT_OPS | 1ull << BPF_PROG_TYPE_EXT |
		1ull << BPF_PROG_TYPE_LSM;

	return p->info.type < 64 && kinds >> p->info.type & 1;
}

/* Lines are "ffffffffc0026500 t bpf_dispatcher_xdp	[bpf]". */
static bool is_image(const char *line, uint64_t *address, char name[128])
{
	char module[16] = "";

	if (!strstr(line, "[bpf]") ||
	    sscanf(line, "%" SCNx64 " %*c %127s %15s", address, name, module) != 3)
		return false;
	return *address && strcmp(module, "[bpf]") == 0 &&
	       (strncmp(name, "bpf_trampoline_", 15) == 0 ||
		strncmp(name, "bpf_dispatcher_", 15) == 0);
}

int bpf_images_synth(struct pd_writer *w, int event, struct pd_error *e)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], name[128], buffer[65536];
	uint64_t address;
	int ret = 0;

	if (!file)
		return 0;
	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	while (ret == 0 && fgets(line, sizeof(line), file)) {
		if (!is_image(line, &address, name))
			continue;
		const struct pd_value v[] = {
			PD_NUMBER("addr", address), PD_NUMBER("len", sysconf(_SC_PAGESIZE)),
			PD_NUMBER("ksym_type", TYPE_BPF), PD_NUMBER("flags", 0),
			PD_TEXT("name", name),
		};
		ret = pd_writer_record(w, PD_RECORD_KSYMBOL, 0, event, v, 5, (struct pd_bytes){ 0 },
				       e);
	}
	fclose(file);
	return ret;
}
