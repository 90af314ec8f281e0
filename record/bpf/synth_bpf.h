/* synth_bpf.h - the BPF programs that are loaded, as bpf(2) tells of them. */
#ifndef RECORD_SYNTH_BPF_H
#define RECORD_SYNTH_BPF_H

#include "pd/write.h"

struct bpf_progs;

/* All that are loaded now; none where bpf(2) is forbidden. NULL: no memory. */
struct bpf_progs *bpf_progs_read(void);
/* Those that were loaded since, too. Programs that are gone stay. */
int bpf_progs_refresh(struct bpf_progs *p);
size_t bpf_progs_count(const struct bpf_progs *p);
void bpf_progs_free(struct bpf_progs *p);	/* NULL is fine */

/* KSYMBOL and BPF_EVENT records. */
int bpf_progs_synth(struct pd_writer *w, const struct bpf_progs *p, int event, struct pd_error *e);
/* Features BPF_PROG_INFO and BPF_BTF. */
int bpf_progs_features(struct pd_writer *w, const struct bpf_progs *p, struct pd_error *e);

#endif
