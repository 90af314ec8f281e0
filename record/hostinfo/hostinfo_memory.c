/* hostinfo_memory.c - features of memory: its size, NUMA nodes and memory blocks. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/read_text.h"
#include "hostinfo/hostinfo_internal.h"

#define NODES "/sys/devices/system/node"
#define MEMINFO_MAX (1u << 16)
#define MAX_NODES (1u << 16)
#define MAX_BLOCK (1u << 24)

/* Lines are "MemTotal:   123 kB", or "Node 0 MemTotal: ..." */
static uint64_t meminfo_field(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static int write_total(struct pd_writer *w, struct host_values *h, struct pd_error *e)
{
	char text[4096];
	uint64_t size;

	if (read_text(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) <= 0)
		return 0;
	size = meminfo_field(text, "MemTotal:");
	return host_feature(w, h, PD_FEATURE_TOTAL_MEM, (struct pd_value)PD_NUMBER(NULL, size), e);
}

static struct pd_value numa_node(struct host_values *h, unsigned int node)
{
	char text[MEMINFO_MAX], cpus[8192], path[64];
	const struct pd_value none = { .name = NULL };

	snprintf(path, sizeof(path), NODES "/node%u/meminfo", node);
	if (read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return none;
	snprintf(path, sizeof(path), NODES "/node%u/cpulist", node);
	if (read_text(AT_FDCWD, path, cpus, sizeof(cpus)) < 0)
		cpus[0] = '\0';
	return host_object(h, NULL, (const struct pd_value[]){
		PD_NUMBER("node", node), PD_NUMBER("mem_total", meminfo_field(text, "MemTotal:")),
		PD_NUMBER("mem_free", meminfo_field(text, "MemFree:")),
		host_text(h, "cpus", cpus) }, 4);
}

static void set_bit(uint64_t *words, unsigned int bit)
{
	words[bit / 64] |= 1ULL << bit % 64;
}

/* The memory blocks of a node are memoryN in its directory. */
static struct pd_value memory_node(struct host_values *h, unsigned int node)
{
	const struct pd_value none = { .name = NULL };
	unsigned int *blocks, size;
	uint64_t *words;
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), NODES "/node%u", node);
	if (list_numbered(path, "memory", &blocks, &n))
		h->failed = true;
	size = n ? blocks[n - 1] + 1 : 0;
	words = size && size < MAX_BLOCK ? host_alloc(h, (size / 64 + 1) * sizeof(*words)) : NULL;
	for (size_t i = 0; words && i < n; i++)
		set_bit(words, blocks[i]);
	free(blocks);
	if (!words)
		return none;
	return host_object(h, NULL, (const struct pd_value[]){
		PD_NUMBER("node", node), PD_NUMBER("size", size), PD_NUMBER("nbits", size),
		PD_NUMBERS("bits", words, (size + 63) / 64) }, 4);
}

static int write_memory_topology(struct pd_writer *w, struct host_values *h,
				 const struct host_list *nodes, struct pd_error *e)
{
	uint64_t block;

	if (nodes->n == 0 ||
	    !read_text_number(AT_FDCWD, "/sys/devices/system/memory/block_size_bytes", 16, &block))
		return 0;
	const struct pd_value v[] = {
		PD_NUMBER("version", 1), PD_NUMBER("block_size", block),
		host_array(nodes, "nodes"),
	};
	return host_feature(w, h, PD_FEATURE_MEM_TOPOLOGY, host_object(h, NULL, v, 3), e);
}

/* Their numbers, for free(). */
static size_t online_nodes(struct host_values *h, unsigned int **nodes)
{
	char list[4096];
	size_t n;

	if (read_text(AT_FDCWD, NODES "/online", list, sizeof(list)) <= 0) {
		if (list_numbered(NODES, "node", nodes, &n))
			h->failed = true;
		return n;
	}
	n = parse_cpu_list(list, NULL, 0);
	*nodes = n < MAX_NODES ? malloc((n + 1) * sizeof(**nodes)) : NULL;
	if (!*nodes && n < MAX_NODES)
		h->failed = true;
	return *nodes ? parse_cpu_list(list, *nodes, n) : 0;
}

int hostinfo_memory(struct pd_writer *w, struct host_values *h, struct pd_error *e)
{
	struct host_list numa = { .h = h }, memory = { .h = h };
	unsigned int *nodes;
	size_t n;

	if (write_total(w, h, e) != 0)
		return -1;
	n = online_nodes(h, &nodes);
	for (size_t i = 0; i < n; i++) {
		struct pd_value v = numa_node(h, nodes[i]);

		if (v.kind == PD_VALUE_OBJECT)
			host_add(&numa, v);
		v = memory_node(h, nodes[i]);
		if (v.kind == PD_VALUE_OBJECT)
			host_add(&memory, v);
	}
	free(nodes);
	if (numa.n && host_feature(w, h, PD_FEATURE_NUMA_TOPOLOGY, host_array(&numa, NULL), e) != 0)
		return -1;
	return write_memory_topology(w, h, &memory, e);
}
