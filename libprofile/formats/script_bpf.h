/* script_bpf.h - what a BPF program wrote, in the layout of perf script. */
#ifndef PP_SCRIPT_BPF_H
#define PP_SCRIPT_BPF_H

#include "encoding/out.h"

/* Writes the lines of the bytes in a sample of the event bpf-output, and an empty one. */
void pp_put_bpf_output(struct pp_out *out, struct pd_bytes bytes);

#endif
