/* script_head.c - lines about the recording above the text of its samples, as perf script has. */
#include <inttypes.h>

#include "pd/tree.h"
#include "formats/script_head.h"

static const struct {
	uint32_t feature;
	const char *path;
	const char *title, *unit;
} facts[] = {
	{ PD_FEATURE_HOSTNAME, "HOSTNAME", "hostname", "" },
	{ PD_FEATURE_OSRELEASE, "OSRELEASE", "os release", "" },
	{ PD_FEATURE_VERSION, "VERSION", "perf version", "" },
	{ PD_FEATURE_ARCH, "ARCH", "arch", "" },
	{ PD_FEATURE_NRCPUS, "NRCPUS.online", "nrcpus online", "" },
	{ PD_FEATURE_NRCPUS, "NRCPUS.available", "nrcpus avail", "" },
	{ PD_FEATURE_CPUDESC, "CPUDESC", "cpudesc", "" },
	{ PD_FEATURE_CPUID, "CPUID", "cpuid", "" },
	{ PD_FEATURE_TOTAL_MEM, "TOTAL_MEM", "total memory", " kB" },
	{ PD_FEATURE_CMDLINE, "CMDLINE", "cmdline", "" },
};

/* The members of an array are words in a row. */
static void put_item(struct pp_out *out, const struct pd_item *item)
{
	const struct pd_item *member = NULL;

	if (item->kind == PD_ITEM_TEXT)
		pp_put_name(out, item->bytes, 0);
	else if (item->kind == PD_ITEM_NUMBER)
		pp_printf(out, "%" PRIu64, item->number);
	while (item->kind == PD_ITEM_ARRAY && (member = pd_item_next(item, member))) {
		put_item(out, member);
		pp_put_text(out, " ");
	}
}

int pp_put_script_head(struct pp_out *out, struct pd_reader *r)
{
	struct pd_tree *tree = pd_tree_new(NULL);
	struct pd_error e;

	if (!tree)
		return -1;
	pp_put_text(out, "# ========\n");
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		const struct pd_item *item = pd_item_get(
			pd_tree_read_feature(tree, r, facts[i].feature, &e), facts[i].path);

		if (!item)
			continue;
		pp_printf(out, "# %s : ", facts[i].title);
		put_item(out, item);
		pp_printf(out, "%s\n", facts[i].unit);
	}
	for (size_t i = 0; i < pd_reader_nr_attrs(r); i++) {
		pp_put_text(out, "# event : name = ");
		pp_put_name(out, pp_bytes(pd_attr_name(pd_reader_attr(r, i))), 0);
		pp_put_text(out, "\n");
	}
	pp_put_text(out, "# ========\n#\n");
	pd_tree_free(tree);
	return 0;
}
