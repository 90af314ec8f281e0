/* synth_bpf.h - records and features for loaded BPF programs. */
#ifndef RECORD_SYNTH_BPF_H
#define RECORD_SYNTH_BPF_H

#include <stdbool.h>

#include "pd/write.h"

struct bpf_progs;

/* Reads all loaded programs; none if bpf(2) is not permitted. Returns NULL without memory. */
struct bpf_progs *bpf_progs_read(void);
/* Adds programs that were loaded since. Unloaded ones stay. */
void bpf_progs_refresh(struct bpf_progs *p);
/* Returns false if some of them, or of what they consist of, are left out for lack of memory. `p`
 * may be NULL: all are. */
bool bpf_progs_are_whole(const struct bpf_progs *p);
void bpf_progs_free(struct bpf_progs *p);	/* NULL is fine */

/* Writes KSYMBOL and BPF_EVENT records. Returns 0, or -1 and *e. */
int bpf_progs_synth(struct pd_writer *w, const struct bpf_progs *p, int event, struct pd_error *e);
/* Writes features BPF_PROG_INFO and BPF_BTF. Returns 0, or -1 and *e. */
int bpf_progs_features(struct pd_writer *w, struct bpf_progs *p, struct pd_error *e);

#endif
