/* synth_bpf_prog.c - a BPF program, as bpf(2) returns it. */
#include "bpf/synth_bpf_prog.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARRAY_MOST (256u << 20)	/* bytes of one array */

/* Bits of `arrays` in feature BPF_PROG_INFO: the arrays that follow, in this order. */
enum {
	ARRAY_CODE = 0, ARRAY_KSYMS = 3, ARRAY_LENS = 4, ARRAY_FUNCTIONS = 5, ARRAY_LINES = 6,
	ARRAY_CODE_LINES = 7, ARRAY_TAGS = 8,
};

static bool get_info(int fd, void *info, uint32_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = size;
	attr.info.info = (uintptr_t)info;
	return syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) == 0;
}

static void *alloc_array(struct bpf_prog *p, uint64_t count, uint64_t size)
{
	void *array;

	if (!count || !size || count > ARRAY_MOST / size)
		return NULL;
	array = calloc(count, size);
	p->lacks_memory |= !array;
	return array;
}

static uint32_t count_if(const void *array, uint32_t count)
{
	return array ? count : 0;
}

/* The first call returns the sizes, the second fills the arrays. An array without elements, or
 * without memory, stays NULL and is not requested. */
bool bpf_prog_read(struct bpf_prog *p, int fd)
{
	struct bpf_program_info i = { 0 };

	memset(p, 0, sizeof(*p));
	if (!get_info(fd, &i, sizeof(i)))
		return false;
	p->code = alloc_array(p, i.jited_prog_len, 1);
	p->ksyms = alloc_array(p, i.nr_jited_ksyms, sizeof(*p->ksyms));
	p->lens = alloc_array(p, i.nr_jited_func_lens, sizeof(*p->lens));
	p->functions = alloc_array(p, i.nr_func_info, i.func_info_rec_size);
	p->lines = alloc_array(p, i.nr_line_info, i.line_info_rec_size);
	p->code_lines = alloc_array(p, i.nr_jited_line_info, i.jited_line_info_rec_size);
	p->tags = alloc_array(p, i.nr_prog_tags, BPF_TAG_SIZE);
	p->info = (struct bpf_program_info){
		.jited_prog_len = count_if(p->code, i.jited_prog_len),
		.jited_prog_insns = (uintptr_t)p->code,
		.nr_jited_ksyms = count_if(p->ksyms, i.nr_jited_ksyms),
		.jited_ksyms = (uintptr_t)p->ksyms,
		.nr_jited_func_lens = count_if(p->lens, i.nr_jited_func_lens),
		.jited_func_lens = (uintptr_t)p->lens,
		.nr_func_info = count_if(p->functions, i.nr_func_info),
		.func_info = (uintptr_t)p->functions,
		.func_info_rec_size = i.func_info_rec_size,
		.nr_line_info = count_if(p->lines, i.nr_line_info),
		.line_info = (uintptr_t)p->lines,
		.line_info_rec_size = i.line_info_rec_size,
		.nr_jited_line_info = count_if(p->code_lines, i.nr_jited_line_info),
		.jited_line_info = (uintptr_t)p->code_lines,
		.jited_line_info_rec_size = i.jited_line_info_rec_size,
		.nr_prog_tags = count_if(p->tags, i.nr_prog_tags),
		.prog_tags = (uintptr_t)p->tags,
	};
	if (!get_info(fd, &p->info, sizeof(p->info)) || !p->ksyms || !p->lens ||
	    p->info.nr_jited_func_lens != p->info.nr_jited_ksyms)
		p->info.nr_jited_ksyms = p->info.nr_jited_func_lens = 0;
	p->info.jited_prog_len = count_if(p->code, i.jited_prog_len);
	p->info.nr_func_info = count_if(p->functions, i.nr_func_info);
	p->info.nr_line_info = count_if(p->lines, i.nr_line_info);
	p->info.nr_jited_line_info = count_if(p->code_lines, i.nr_jited_line_info);
	p->info.nr_prog_tags = count_if(p->tags, i.nr_prog_tags);
	return true;
}

void bpf_prog_release(struct bpf_prog *p)
{
	free(p->code);
	free(p->ksyms);
	free(p->lens);
	free(p->functions);
	free(p->lines);
	free(p->code_lines);
	free(p->tags);
	memset(p, 0, sizeof(*p));
}

uint32_t bpf_prog_function_type(const struct bpf_prog *p, size_t function)
{
	struct bpf_func_info info;

	if (function >= p->info.nr_func_info || p->info.func_info_rec_size < sizeof(info))
		return 0;
	memcpy(&info, p->functions + function * p->info.func_info_rec_size, sizeof(info));
	return info.type_id;
}

/* Appends an array to the data, aligned to 8 bytes. Returns its offset, which replaces the pointer
 * in the kernel's struct. */
static uint64_t append_array(uint64_t *arrays, unsigned int bit, uint64_t *at, uint64_t size)
{
	uint64_t here = *at;

	if (size == 0)
		return 0;
	*arrays |= 1ULL << bit;
	*at = (here + size + 7) & ~7ULL;
	return here;
}

struct array_offsets {
	uint64_t arrays, size, code, ksyms, lens, functions, lines, code_lines, tags;
};

static struct array_offsets lay_out_arrays(const struct bpf_program_info *i)
{
	struct array_offsets p = { 0 };
	uint64_t *arrays = &p.arrays, *at = &p.size;

	p.code = append_array(arrays, ARRAY_CODE, at, i->jited_prog_len);
	p.ksyms = append_array(arrays, ARRAY_KSYMS, at, 8ULL * i->nr_jited_ksyms);
	p.lens = append_array(arrays, ARRAY_LENS, at, 4ULL * i->nr_jited_func_lens);
	p.functions = append_array(arrays, ARRAY_FUNCTIONS, at, (uint64_t)i->nr_func_info *
				   i->func_info_rec_size);
	p.lines = append_array(arrays, ARRAY_LINES, at,
			       (uint64_t)i->nr_line_info * i->line_info_rec_size);
	p.code_lines = append_array(arrays, ARRAY_CODE_LINES, at, (uint64_t)i->nr_jited_line_info *
				    i->jited_line_info_rec_size);
	p.tags = append_array(arrays, ARRAY_TAGS, at, (uint64_t)BPF_TAG_SIZE * i->nr_prog_tags);
	return p;
}

#define SAME(f) PD_NUMBER(#f, i->f)

static size_t info_values(const struct bpf_program_info *i, const struct array_offsets *p,
			  struct pd_value *v)
{
	const struct pd_value rows[] = {
		SAME(type), SAME(id), PD_BYTES("tag", i->tag, BPF_TAG_SIZE), SAME(jited_prog_len),
		SAME(xlated_prog_len), PD_NUMBER("jited_prog_insns", p->code),
		PD_NUMBER("xlated_prog_insns", 0), SAME(load_time), SAME(created_by_uid),
		SAME(nr_map_ids), PD_NUMBER("map_ids", 0),
		{ .name = "name", .kind = PD_VALUE_TEXT,
		  .bytes = { (const uint8_t *)i->name, strnlen(i->name, sizeof(i->name)) } },
		SAME(ifindex), PD_NUMBER("gpl_compatible", i->gpl_compatible), SAME(netns_dev),
		SAME(netns_ino), SAME(nr_jited_ksyms), SAME(nr_jited_func_lens),
		PD_NUMBER("jited_ksyms", p->ksyms), PD_NUMBER("jited_func_lens", p->lens),
		SAME(btf_id), SAME(func_info_rec_size), PD_NUMBER("func_info", p->functions),
		SAME(nr_func_info), SAME(nr_line_info), PD_NUMBER("line_info", p->lines),
		PD_NUMBER("jited_line_info", p->code_lines), SAME(nr_jited_line_info),
		SAME(line_info_rec_size), SAME(jited_line_info_rec_size), SAME(nr_prog_tags),
		PD_NUMBER("prog_tags", p->tags), SAME(run_time_ns), SAME(run_cnt),
		SAME(recursion_misses), SAME(verified_insns), SAME(attach_btf_obj_id),
		SAME(attach_btf_id),
	};

	memcpy(v, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

static size_t data_values(const struct bpf_prog *p, struct bpf_prog_values *v)
{
	const struct bpf_program_info *i = &p->info;
	size_t n = 0;

	if (i->jited_prog_len)
		v->data[n++] = (struct pd_value)PD_BYTES("jited_insns", p->code, i->jited_prog_len);
	if (i->nr_jited_ksyms)
		v->data[n++] = (struct pd_value)PD_NUMBERS("jited_ksyms", p->ksyms,
							   i->nr_jited_ksyms);
	if (i->nr_jited_func_lens)
		v->data[n++] = (struct pd_value)PD_NUMBERS("jited_func_lens", v->lens,
							   i->nr_jited_func_lens);
	if (i->nr_func_info)
		v->data[n++] = (struct pd_value)PD_BYTES("func_info", p->functions,
			(size_t)i->nr_func_info * i->func_info_rec_size);
	if (i->nr_line_info)
		v->data[n++] = (struct pd_value)PD_BYTES("line_info", p->lines,
			(size_t)i->nr_line_info * i->line_info_rec_size);
	if (i->nr_jited_line_info)
		v->data[n++] = (struct pd_value)PD_BYTES("jited_line_info", p->code_lines,
			(size_t)i->nr_jited_line_info * i->jited_line_info_rec_size);
	if (i->nr_prog_tags)
		v->data[n++] = (struct pd_value)PD_ARRAY("prog_tags", v->tags, i->nr_prog_tags);
	return n;
}

size_t bpf_prog_values(const struct bpf_prog *p, struct bpf_prog_values *v)
{
	struct bpf_program_info info = p->info;
	struct array_offsets at;
	size_t n;

	v->tags = calloc(info.nr_prog_tags + 1, sizeof(*v->tags));
	v->lens = calloc(info.nr_jited_func_lens + 1, sizeof(*v->lens));
	if (!v->tags || !v->lens)
		return 0;
	for (size_t i = 0; i < info.nr_prog_tags; i++)
		v->tags[i] = (struct pd_value)PD_BYTES(NULL, p->tags + i * BPF_TAG_SIZE,
						       BPF_TAG_SIZE);
	for (size_t i = 0; i < info.nr_jited_func_lens; i++)
		v->lens[i] = p->lens[i];
	at = lay_out_arrays(&p->info);
	v->all[0] = (struct pd_value)PD_NUMBER("info_len", sizeof(info));
	v->all[1] = (struct pd_value)PD_NUMBER("data_len", at.size);
	v->all[2] = (struct pd_value)PD_NUMBER("arrays", at.arrays);
	n = info_values(&p->info, &at, v->info);
	v->all[3] = (struct pd_value)PD_OBJECT("info", v->info, n);
	n = data_values(p, v);
	v->all[4] = (struct pd_value)PD_OBJECT("data", v->data, n);
	return 5;
}

void bpf_prog_values_release(struct bpf_prog_values *v)
{
	free(v->tags);
	free(v->lens);
}
