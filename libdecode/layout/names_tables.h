/* names_tables.h - the tables of names that layouts use: values, or flags where noted. */
#ifndef PD_LAYOUT_NAMES_TABLES_H
#define PD_LAYOUT_NAMES_TABLES_H

#include "layout/names.h"

extern const struct pd_name pd_names_none[];		/* no rows: all bits unknown */

/* misc of the record header, flags by record type (names_records.c). */
extern const struct pd_name pd_names_cpumode[];		/* values of misc & 7 */
extern const struct pd_name pd_names_misc_mmap[];
extern const struct pd_name pd_names_misc_comm[];
extern const struct pd_name pd_names_misc_fork[];
extern const struct pd_name pd_names_misc_sample[];
extern const struct pd_name pd_names_misc_mmap2[];
extern const struct pd_name pd_names_misc_lost_samples[];
extern const struct pd_name pd_names_misc_switch[];
extern const struct pd_name pd_names_misc_build_id[];
extern const struct pd_name pd_names_misc_default[];	/* every other type */

/* Bodies of the kernel's records (names_records.c). */
extern const struct pd_name pd_names_prot[];		/* flags */
extern const struct pd_name pd_names_map[];		/* flags, as on most architectures */
extern const struct pd_name pd_names_aux[];		/* flags */
extern const struct pd_name pd_names_ksym_type[];
extern const struct pd_name pd_names_ksym[];		/* flags */
extern const struct pd_name pd_names_bpf_event_type[];
extern const struct pd_name pd_names_namespace[];	/* index in NAMESPACES */

/* Bodies of perf's own records and features (names_perf.c). */
extern const struct pd_name pd_names_feature[];		/* feature ids */
extern const struct pd_name pd_names_cpu_map_type[];
extern const struct pd_name pd_names_auxtrace_type[];
extern const struct pd_name pd_names_auxtrace_error_type[];
extern const struct pd_name pd_names_stat_config[];
extern const struct pd_name pd_names_stat_round_type[];
extern const struct pd_name pd_names_event_update_type[];
extern const struct pd_name pd_names_compression[];
extern const struct pd_name pd_names_bpf_prog_type[];
extern const struct pd_name pd_names_elf_machine[];

/* struct perf_event_attr, bits numbered as on little-endian machines (names_attr.c). */
extern const struct pd_name pd_names_attr_type[];
extern const struct pd_name pd_names_attr_flags[];	/* flags */
extern const struct pd_name pd_names_hardware[];	/* config of HARDWARE, its low 32 bits */
extern const struct pd_name pd_names_software[];	/* config of SOFTWARE */
extern const struct pd_name pd_names_synth[];		/* config of SYNTH */
extern const struct pd_name pd_names_sample_type[];	/* flags */
extern const struct pd_name pd_names_read_format[];	/* flags */
extern const struct pd_name pd_names_branch_sample_type[];	/* flags */
extern const struct pd_name pd_names_aux_action[];	/* flags */
extern const struct pd_name pd_names_bp_type[];
extern const struct pd_name pd_names_clockid[];

/* Parts of a sample (names_sample.c). */
extern const struct pd_name pd_names_callchain[];	/* markers, as u64 */
extern const struct pd_name pd_names_regs_abi[];
extern const struct pd_name pd_names_branch_type[];
extern const struct pd_name pd_names_branch_spec[];
extern const struct pd_name pd_names_branch_new_type[];
extern const struct pd_name pd_names_branch_priv[];
extern const struct pd_name pd_names_transaction[];	/* flags */
/* data_src, its parts shifted down. */
extern const struct pd_name pd_names_mem_op[];		/* flags */
extern const struct pd_name pd_names_mem_lvl[];		/* flags */
extern const struct pd_name pd_names_mem_snoop[];	/* flags */
extern const struct pd_name pd_names_mem_lock[];	/* flags */
extern const struct pd_name pd_names_mem_dtlb[];	/* flags */
extern const struct pd_name pd_names_mem_lvl_num[];
extern const struct pd_name pd_names_mem_remote[];	/* flags */
extern const struct pd_name pd_names_mem_snoopx[];	/* flags */
extern const struct pd_name pd_names_mem_blk[];		/* flags */
extern const struct pd_name pd_names_mem_hops[];
extern const struct pd_name pd_names_mem_region[];

#endif
