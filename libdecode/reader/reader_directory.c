/* reader_directory.c - how many files a directory has, by its features: with --threads, or
 * --threads=cpu, there is a thread with a file for each CPU that is online. */
#include <string.h>

#include "plan/extract.h"
#include "reader/reader_internal.h"

struct arguments {
	bool has_threads;	/* one for each CPU */
	bool has_cpus;		/* only some of them */
};

static bool begins_with(struct pd_bytes text, const char *with)
{
	const size_t n = strlen(with);

	return text.size >= n && memcmp(text.data, with, n) == 0;
}

static bool is_text(struct pd_bytes text, const char *other)
{
	return text.size == strlen(other) && begins_with(text, other);
}

static void visit_argument(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	struct arguments *a = ctx;

	(void)f;
	a->has_threads |= is_text(text, "--threads") || is_text(text, "--threads=cpu");
	a->has_cpus |= begins_with(text, "-C") || begins_with(text, "--cpu");
}

/* Reads a feature, and measures it. Returns its plan, or NULL. */
static const struct pd_plan *load_feature(struct pd_reader *r, uint32_t id, struct pd_bytes *bytes,
					  struct pd_extent_of *extent)
{
	const size_t n = pd_reader_nr_features(r);
	struct pd_feature feature;
	struct pd_error ignored;

	for (size_t i = 0; i < n; i++) {
		const bool is_read = pd_reader_feature(r, i, &feature, &ignored) == 0;
		struct pd_plan *plan;

		if (feature.id != id || !is_read)
			continue;
		plan = pd_session_feature_plan(&r->session, pd_feature_desc(id));
		*bytes = feature.bytes;
		if (plan)
			pd_measure(plan, *bytes, 0, r->session.swap, PD_TEXT_TO_END, extent);
		return plan;
	}
	return NULL;
}

size_t pd_reader_directory_files(struct pd_reader *r)
{
	static const struct pd_visitor v = { .size = sizeof(v), .text = visit_argument };
	struct arguments a = { false, false };
	struct pd_extent_of extent;
	const struct pd_plan *plan;
	struct pd_bytes bytes;
	uint64_t online = 0;

	plan = load_feature(r, PD_FEATURE_CMDLINE, &bytes, &extent);
	if (plan)
		pd_visit(plan, bytes, 0, r->session.swap, &extent, &v, &a);
	if (!a.has_threads || a.has_cpus)
		return 0;
	plan = load_feature(r, PD_FEATURE_NRCPUS, &bytes, &extent);
	if (plan)
		pd_extract(plan, bytes, r->session.swap,
			   &(struct pd_extract){ "NRCPUS", "online", &online }, 1);
	return (size_t)online;
}
