/* synth_bpf_prog.h - a BPF program and BPF type information (BTF), as bpf(2) returns them. */
#ifndef RECORD_SYNTH_BPF_PROG_H
#define RECORD_SYNTH_BPF_PROG_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/bpf_abi.h"
#include "pd/write.h"

struct bpf_prog {
	struct bpf_program_info info;	/* its pointers are the members below */
	uint8_t *code;			/* info.jited_prog_len: machine code */
	uint64_t *ksyms;		/* info.nr_jited_ksyms: addresses of the functions */
	uint32_t *lens;			/* info.nr_jited_func_lens, the same number */
	uint8_t *functions;		/* info.nr_func_info of info.func_info_rec_size */
	uint8_t *lines;			/* info.nr_line_info */
	uint8_t *code_lines;		/* info.nr_jited_line_info */
	uint8_t *tags;			/* info.nr_prog_tags of BPF_TAG_SIZE */
	bool lacks_memory;		/* for some of them, which are left out */
};

struct bpf_btf {
	uint32_t id, size;
	uint8_t *data;
	bool lacks_memory;	/* for the data */
};

/* Returns false, with nothing to release, if the program can't be read. */
bool bpf_prog_read(struct bpf_prog *p, int fd);
void bpf_prog_release(struct bpf_prog *p);
/* Returns the type id of a function; 0: none. */
uint32_t bpf_prog_function_type(const struct bpf_prog *p, size_t function);

/* Returns whether trampolines or dispatchers may call the program; searching kallsyms for them
 * takes long. */
bool bpf_prog_may_have_image(const struct bpf_prog *p);
/* Writes KSYMBOL records for such code. Returns 0, or -1 and *e. */
int bpf_images_synth(struct pd_writer *w, int event, struct pd_error *e);

bool bpf_btf_read(struct bpf_btf *b, int fd, uint32_t id);
/* Returns the name of the type, borrowed from b; NULL: none. */
const char *bpf_btf_function(const struct bpf_btf *b, uint32_t type);

/* An element of feature BPF_PROG_INFO. Borrows from the program. */
struct bpf_prog_values {
	struct pd_value all[5], info[44], data[8];
	struct pd_value *tags;
	uint64_t *lens;
};
/* Returns the number of values in `all`; 0 without memory. */
size_t bpf_prog_values(const struct bpf_prog *p, struct bpf_prog_values *v);
void bpf_prog_values_release(struct bpf_prog_values *v);

#endif
