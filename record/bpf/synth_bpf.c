/* synth_bpf.c - loaded BPF programs, by bpf(2). */
#include "bpf/synth_bpf.h"

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/synth_bpf_prog.h"

#define TYPE_BPF 1		/* PERF_RECORD_KSYMBOL_TYPE_BPF, PERF_BPF_EVENT_PROG_LOAD */

struct bpf_progs {
	struct bpf_prog *progs;
	size_t n, room;
	struct bpf_btf *btfs;
	size_t nr_btfs, room_btfs;
	bool lacks_memory;
};

static int bpf_call(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int open_by_id(int command, uint32_t id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;	/* btf_id is in the same union */
	return bpf_call(command, &attr);
}

static const struct bpf_btf *find_btf(const struct bpf_progs *p, uint32_t id)
{
	for (size_t i = 0; i < p->nr_btfs && id; i++)
		if (p->btfs[i].id == id)
			return &p->btfs[i];
	return NULL;
}

static bool has_prog(const struct bpf_progs *p, uint32_t id)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->progs[i].info.id == id)
			return true;
	return false;
}

/* Makes room for one more element. Returns the list, or NULL without memory. */
static void *reserve(void *list, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 8;
	void *larger = n < *room ? list : realloc(list, more * size);

	if (larger && n == *room)
		*room = more;
	return larger;
}

static int add_btf(struct bpf_progs *p, uint32_t id)
{
	struct bpf_btf *list;
	int fd;

	if (id == 0 || find_btf(p, id))
		return 0;
	list = reserve(p->btfs, p->nr_btfs, &p->room_btfs, sizeof(*list));
	if (!list)
		return -1;
	p->btfs = list;
	fd = open_by_id(BPF_BTF_GET_FD_BY_ID, id);
	if (fd < 0)
		return 0;
	if (bpf_btf_read(&list[p->nr_btfs], fd, id))
		p->nr_btfs++;
	else
		p->lacks_memory |= list[p->nr_btfs].lacks_memory;
	close(fd);
	return 0;
}

static int add_prog(struct bpf_progs *p, uint32_t id)
{
	struct bpf_prog *list;
	int fd, ret = 0;

	if (has_prog(p, id))
		return 0;
	list = reserve(p->progs, p->n, &p->room, sizeof(*list));
	if (!list)
		return -1;
	p->progs = list;
	fd = open_by_id(BPF_PROG_GET_FD_BY_ID, id);
	if (fd < 0)	/* unloaded meanwhile */
		return 0;
	if (bpf_prog_read(&list[p->n], fd)) {
		ret = add_btf(p, list[p->n].info.btf_id);
		p->lacks_memory |= list[p->n].lacks_memory;
		p->n++;
	}
	close(fd);
	return ret;
}

void bpf_progs_refresh(struct bpf_progs *p)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	while (bpf_call(BPF_PROG_GET_NEXT_ID, &attr) == 0) {
		uint32_t id = attr.next_id;

		if (add_prog(p, id) != 0)
			p->lacks_memory = true;
		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
	}
}

struct bpf_progs *bpf_progs_read(void)
{
	struct bpf_progs *p = calloc(1, sizeof(*p));

	if (p)
		bpf_progs_refresh(p);
	return p;
}

bool bpf_progs_are_whole(const struct bpf_progs *p)
{
	return p && !p->lacks_memory;
}

void bpf_progs_free(struct bpf_progs *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		bpf_prog_release(&p->progs[i]);
	for (size_t i = 0; i < p->nr_btfs; i++)
		free(p->btfs[i].data);
	free(p->progs);
	free(p->btfs);
	free(p);
}

/* bpf_prog_TAG_NAME, as in kallsyms and in KSYMBOL records of the kernel. */
static void function_name(const struct bpf_prog *prog, const struct bpf_btf *btf, size_t i,
			  char *name, size_t size)
{
	const uint8_t *tag = i < prog->info.nr_prog_tags ? prog->tags + i * BPF_TAG_SIZE :
			     prog->info.tag;
	const char *function = btf ? bpf_btf_function(btf, bpf_prog_function_type(prog, i)) : NULL;
	int n = snprintf(name, size, "bpf_prog_");

	for (size_t k = 0; k < BPF_TAG_SIZE; k++)
		n += snprintf(name + n, size - (size_t)n, "%02x", tag[k]);
	if (!function && prog->info.nr_jited_ksyms > 1)
		function = "F";
	else if (!function)
		function = prog->info.name;
	if (function[0])
		snprintf(name + n, size - (size_t)n, "_%s", function);
}

static int write_ksymbols(struct pd_writer *w, const struct bpf_prog *prog,
			  const struct bpf_btf *btf, int event, struct pd_error *e)
{
	char name[512];

	for (size_t i = 0; i < prog->info.nr_jited_ksyms; i++) {
		function_name(prog, btf, i, name, sizeof(name));
		const struct pd_value v[] = {
			PD_NUMBER("addr", prog->ksyms[i]), PD_NUMBER("len", prog->lens[i]),
			PD_NUMBER("ksym_type", TYPE_BPF), PD_NUMBER("flags", 0),
			PD_TEXT("name", name),
		};

		if (pd_writer_record(w, PD_RECORD_KSYMBOL, 0, event, v, 5, (struct pd_bytes){ 0 },
				     e))
			return -1;
	}
	return 0;
}

int bpf_progs_synth(struct pd_writer *w, const struct bpf_progs *p, int event, struct pd_error *e)
{
	bool images = false;

	for (size_t k = 0; k < p->n; k++) {
		const struct bpf_prog *prog = &p->progs[k];
		const struct bpf_btf *btf = find_btf(p, prog->info.btf_id);
		const struct pd_value v[] = {
			PD_NUMBER("bpf_type", TYPE_BPF), PD_NUMBER("flags", 0),
			PD_NUMBER("id", prog->info.id),
			PD_BYTES("tag", prog->info.tag, BPF_TAG_SIZE),
		};

		images = images || bpf_prog_may_have_image(prog);
		if (write_ksymbols(w, prog, btf, event, e) != 0)
			return -1;
		if (pd_writer_record(w, PD_RECORD_BPF_EVENT, 0, event, v, 4, (struct pd_bytes){ 0 },
				     e) != 0)
			return -1;
	}
	return images ? bpf_images_synth(w, event, e) : 0;
}

static int write_btfs(struct pd_writer *w, struct bpf_progs *p, struct pd_error *e)
{
	struct pd_value (*rows)[3] = calloc(p->nr_btfs + 1, sizeof(*rows));
	struct pd_value *items = calloc(p->nr_btfs + 1, sizeof(*items)), value;
	int ret = 0;

	for (size_t i = 0; rows && items && i < p->nr_btfs; i++) {
		rows[i][0] = (struct pd_value)PD_NUMBER("id", p->btfs[i].id);
		rows[i][1] = (struct pd_value)PD_NUMBER("data_size", p->btfs[i].size);
		rows[i][2] = (struct pd_value)PD_BYTES("data", p->btfs[i].data, p->btfs[i].size);
		items[i] = (struct pd_value)PD_OBJECT(NULL, rows[i], 3);
	}
	value = (struct pd_value)PD_ARRAY("BPF_BTF", items, p->nr_btfs);
	p->lacks_memory |= !rows || !items;
	if (rows && items)
		ret = pd_writer_feature(w, PD_FEATURE_BPF_BTF, &value, e);
	free(rows);
	free(items);
	return ret;
}

int bpf_progs_features(struct pd_writer *w, struct bpf_progs *p, struct pd_error *e)
{
	struct bpf_prog_values *rows = calloc(p->n + 1, sizeof(*rows));
	struct pd_value *items = calloc(p->n + 1, sizeof(*items)), value;
	int ret = 0;

	for (size_t i = 0; rows && items && i < p->n; i++) {
		size_t n = bpf_prog_values(&p->progs[i], &rows[i]);

		p->lacks_memory |= n == 0;
		items[i] = (struct pd_value)PD_OBJECT(NULL, rows[i].all, n);
	}
	p->lacks_memory |= !rows || !items;
	value = (struct pd_value)PD_ARRAY("BPF_PROG_INFO", items, p->n);
	if (rows && items)
		ret = pd_writer_feature(w, PD_FEATURE_BPF_PROG_INFO, &value, e);
	for (size_t i = 0; rows && i < p->n; i++)
		bpf_prog_values_release(&rows[i]);
	free(rows);
	free(items);
	return ret == 0 ? write_btfs(w, p, e) : ret;
}
