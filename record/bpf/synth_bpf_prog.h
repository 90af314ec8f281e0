/* synth_bpf_prog.h - one BPF program and one set of type information, as bpf(2) hands them out. */
#ifndef RECORD_SYNTH_BPF_PROG_H
#define RECORD_SYNTH_BPF_PROG_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/bpf_abi.h"
#include "pd/write.h"

struct bpf_prog {
	struct bpf_program_info info;	/* its pointers are those below */
	uint8_t *code;			/* info.jited_prog_len: machine code */
	uint64_t *ksyms;		/* info.nr_jited_ksyms: addresses of its functions */
	uint32_t *lens;			/* info.nr_jited_func_lens, as many */
	uint8_t *functions;		/* info.nr_func_info of info.func_info_rec_size */
	uint8_t *lines;			/* info.nr_line_info */
	uint8_t *code_lines;		/* info.nr_jited_line_info */
	uint8_t *tags;			/* info.nr_prog_tags of BPF_TAG_SIZE */
};

struct bpf_btf {
	uint32_t id, size;
	uint8_t *data;
};

/* False: it can't be read, and nothing is held. */
bool bpf_prog_read(struct bpf_prog *p, int fd);
void bpf_prog_release(struct bpf_prog *p);
/* Type id of a function, 0: none. */
uint32_t bpf_prog_function_type(const struct bpf_prog *p, size_t function);

/* Whether other code than its own may lead to it; the search for that takes a while. */
bool bpf_prog_may_have_image(const struct bpf_prog *p);
/* KSYMBOL of such code. 0, or -1 and *e. */
int bpf_images_synth(struct pd_writer *w, int event, struct pd_error *e);

bool bpf_btf_read(struct bpf_btf *b, int fd, uint32_t id);
/* Name of the type, borrowed; NULL: none. */
const char *bpf_btf_function(const struct bpf_btf *b, uint32_t type);

/* An element of feature BPF_PROG_INFO; how many of `all` it takes. Borrows from the program. */
struct bpf_prog_values {
	struct pd_value all[5], info[44], data[8];
	struct pd_value *tags;
	uint64_t *lens;
};
size_t bpf_prog_values(const struct bpf_prog *p, struct bpf_prog_values *v);
void bpf_prog_values_release(struct bpf_prog_values *v);

#endif
