/* bpf_abi.h - what bpf(2) reports about a program.
 *
 * The headers of the build machine may be older than the running kernel: struct bpf_program_info is
 * struct bpf_prog_info of linux/bpf.h up to attach_btf_id (6.0). An older kernel leaves the last
 * members 0.
 */
#ifndef RECORD_BPF_ABI_H
#define RECORD_BPF_ABI_H

#include <linux/bpf.h>
#include <stdint.h>

typedef uint64_t bpf_u64 __attribute__((aligned(8)));	/* on 32-bit machines, too */

struct bpf_program_info {
	uint32_t type, id;
	uint8_t tag[BPF_TAG_SIZE];
	uint32_t jited_prog_len, xlated_prog_len;
	bpf_u64 jited_prog_insns, xlated_prog_insns, load_time;
	uint32_t created_by_uid, nr_map_ids;
	bpf_u64 map_ids;
	char name[BPF_OBJ_NAME_LEN];
	uint32_t ifindex, gpl_compatible : 1, : 31;
	bpf_u64 netns_dev, netns_ino;
	uint32_t nr_jited_ksyms, nr_jited_func_lens;
	bpf_u64 jited_ksyms, jited_func_lens;
	uint32_t btf_id, func_info_rec_size;
	bpf_u64 func_info;
	uint32_t nr_func_info, nr_line_info;
	bpf_u64 line_info, jited_line_info;
	uint32_t nr_jited_line_info, line_info_rec_size, jited_line_info_rec_size, nr_prog_tags;
	bpf_u64 prog_tags, run_time_ns, run_cnt;
	bpf_u64 recursion_misses;		/* 5.12 */
	uint32_t verified_insns;		/* 5.16 */
	uint32_t attach_btf_obj_id, attach_btf_id;	/* 6.0 */
};
_Static_assert(sizeof(struct bpf_program_info) == 232, "the layout of 6.0");

#endif
