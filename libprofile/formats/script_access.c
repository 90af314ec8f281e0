/* script_access.c - the text of memory accesses: see script_access.h. */
#include "formats/script_access.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pd/enums.h"

enum {
	SOURCE_MOST = 99,	/* characters that perf has room for */
	LEVELS_BUT_RESULTS = ~(PD_MEM_LVL_HIT | PD_MEM_LVL_MISS),
	TLBS_BUT_RESULTS = ~(PD_MEM_DTLB_HIT | PD_MEM_DTLB_MISS),
};

/* perf's names, by the bits of data_src or the values of a part of it. */
static const char *const ops[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };
static const char *const levels[] = {
	"N/A", "HIT", "MISS", "L1", "LFB/MAB", "L2", "L3", "Local RAM", "Remote RAM (1 hop)",
	"Remote RAM (2 hops)", "Remote Cache (1 hop)", "Remote Cache (2 hops)", "I/O", "Uncached",
};
static const char *const level_numbers[] = {
	"", "L1", "L2", "L3", "L4", "L2 MHB", "Memory-side Cache", "Unknown level 7", "Uncached",
	"CXL", "I/O", "Any cache", "LFB/MAB", "RAM", "PMEM", "N/A",
};
static const char *const hops[] = {
	"", "core, same node ", "node, same socket ", "socket, same board ", "board ", "", "", "",
};
static const char *const snoops[] = { "N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer" };
static const char *const tlbs[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };

#define NAMES(table) table, sizeof(table) / sizeof(*(table))

struct text {
	char bytes[512];	/* more than the names of all bits */
	size_t size;
};

static void append_word(struct text *t, const char *word)
{
	const size_t size = strlen(word);

	memcpy(t->bytes + t->size, word, size);
	t->size += size;
}

/* Adds the names of the bits that are set. Returns how many. */
static unsigned int add_bits(struct text *t, uint64_t bits, const char *const *names, size_t nr)
{
	unsigned int added = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!(bits >> i & 1))
			continue;
		append_word(t, added++ ? " or " : "");
		append_word(t, names[i]);
	}
	return added;
}

static void add_result(struct text *t, bool is_hit, bool is_miss)
{
	append_word(t, is_hit ? " hit" : "");
	append_word(t, is_miss ? " miss" : "");
}

/* The level of memory that had the data. */
struct level {
	uint64_t bits, number, hop;
	bool is_remote;
};

/* perf 6.1 has both the bits and the number that newer CPUs have instead. */
static void add_levels(struct text *t, const struct level *l)
{
	const size_t before = t->size;
	unsigned int added = 0;

	append_word(t, l->is_remote ? "Remote " : "");
	append_word(t, hops[l->hop]);
	if (!l->hop)
		added = add_bits(t, l->bits & LEVELS_BUT_RESULTS, NAMES(levels));
	append_word(t, added && l->number ? " or " : "");
	append_word(t, level_numbers[l->number]);
	append_word(t, t->size == before ? "N/A" : "");
	add_result(t, l->bits & PD_MEM_LVL_HIT, l->bits & PD_MEM_LVL_MISS);
}

/* Later ones have the number, or else the bits. */
static void add_level(struct text *t, const struct level *l)
{
	const bool is_hit = l->bits & PD_MEM_LVL_HIT;
	const uint64_t bits = l->bits & LEVELS_BUT_RESULTS & ~PD_MEM_LVL_NA;
	const bool has_number = l->number && l->number != PD_MEM_LVL_NUM_NA;

	if (has_number) {
		append_word(t, l->is_remote ? "Remote " : "");
		append_word(t, hops[l->hop]);
		append_word(t, level_numbers[l->number]);
	} else {
		add_bits(t, bits, NAMES(levels));
	}
	if (!has_number && !bits)
		append_word(t, "N/A");
	else
		append_word(t, is_hit ? " hit" : l->bits & PD_MEM_LVL_MISS ? " miss" : " ");
}

static void add_tlb(struct text *t, uint64_t tlb)
{
	if (!add_bits(t, tlb & TLBS_BUT_RESULTS, NAMES(tlbs)))
		append_word(t, "N/A");
	add_result(t, tlb & PD_MEM_DTLB_HIT, tlb & PD_MEM_DTLB_MISS);
}

/* Returns the bits of a part of a word. */
static uint64_t bits_of_part(const struct pd_item *word, const char *name)
{
	const struct pd_item *item = pd_item_get(word, name);

	return item ? item->number : 0;
}

static void add_block(struct text *t, uint64_t block)
{
	if (!block || block & PD_MEM_BLK_NA)
		append_word(t, " N/A");
	else
		append_word(t, !(block & PD_MEM_BLK_ADDR) ? " Data" :
			    block & PD_MEM_BLK_DATA ? " Data Addr" : " Addr");
}

/* Makes the text of data_src. */
static void make_source(struct text *t, const struct pd_item *source, enum pp_like like)
{
	const struct level level = { bits_of_part(source, "lvl"), bits_of_part(source, "lvl_num"),
				     bits_of_part(source, "hops"), bits_of_part(source, "remote") };
	const uint64_t op = bits_of_part(source, "op"), lock = bits_of_part(source, "lock");

	t->size = (size_t)snprintf(t->bytes, sizeof(t->bytes), "%16" PRIx64 " |OP ",
				   source->number);
	/* only the lowest of the bits that are set */
	if (!add_bits(t, op & (0 - op), NAMES(ops)))
		append_word(t, "No");
	append_word(t, "|LVL ");
	(like == PP_LIKE_PERF_6_1 ? add_levels : add_level)(t, &level);
	append_word(t, "|SNP ");
	if (!add_bits(t, bits_of_part(source, "snoop") | bits_of_part(source, "snoopx") << 5,
		      NAMES(snoops)))
		append_word(t, "N/A");
	append_word(t, "|TLB ");
	add_tlb(t, bits_of_part(source, "dtlb"));
	append_word(t, lock & PD_MEM_LOCK_NA ? "|LCK N/A" : lock ? "|LCK Yes" : "|LCK No");
	append_word(t, "|BLK ");
	add_block(t, bits_of_part(source, "blk"));
}

static void put_source(struct pp_out *out, const struct pd_item *source, enum pp_like like,
		       size_t *widest)
{
	struct text t;
	size_t size;

	make_source(&t, source, like);
	size = t.size < SOURCE_MOST ? t.size : SOURCE_MOST;
	if (size > *widest)
		*widest = size;
	pp_put(out, t.bytes, size);
	for (; size < *widest; size++)
		pp_put_text(out, " ");
}

void pp_put_access(struct pp_out *out, const struct pd_item *sample, enum pp_like like,
		   size_t *widest)
{
	const struct pd_item *item;

	if ((item = pd_item_get(sample, "addr")))
		pp_printf(out, "%16" PRIx64, item->number);
	if ((item = pd_item_get(sample, "data_src")))
		put_source(out, item, like, widest);
	if ((item = pd_item_get(sample, "weight")))
		pp_printf(out, "%16" PRIu64, item->number);
	if ((item = pd_item_get(sample, "weight_struct"))) {
		pp_printf(out, "%16" PRIu64 "%16" PRIu64, bits_of_part(item, "var1_dw"),
			  bits_of_part(item, "var2_w"));
		if (like != PP_LIKE_PERF_6_1)
			pp_printf(out, "%16" PRIu64, bits_of_part(item, "var3_w"));
	}
}

/* A size as perf has it: in a unit of which there are at most 1024. */
static void put_size(struct pp_out *out, uint64_t size)
{
	static const char units[] = "BKMG";
	size_t unit = 0;

	for (; unit < 3 && size > 1024; unit++)
		size /= 1024;
	if (size)
		pp_printf(out, " %" PRIu64 "%c", size, units[unit]);
	else
		pp_put_text(out, " N/A");
}

void pp_put_pages(struct pp_out *out, const struct pd_item *sample)
{
	const struct pd_item *item;

	if ((item = pd_item_get(sample, "phys_addr")))
		pp_printf(out, "%16" PRIx64, item->number);
	if ((item = pd_item_get(sample, "data_page_size")))
		put_size(out, item->number);
	if ((item = pd_item_get(sample, "code_page_size")))
		put_size(out, item->number);
}
