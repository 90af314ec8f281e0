/* api_nothing.c - calls every function of libpdsymbols, libpdprofile and libpdcolumns with nothing
 * and with what does not exist; and those again that may be called once.
 *
 * api_nothing FILE
 */
#include <fcntl.h>
#include <string.h>

#include <pd/columns.h>
#include <pd/profile.h>
#include <pd/symbols.h>

#include "check.h"

static const struct pd_bytes lie = { NULL, 10 };
static const struct pd_output nowhere = { NULL, NULL };
static struct pd_error e;

static int take(void *ctx, const void *p, size_t n)
{
	(void)ctx;
	(void)p;
	(void)n;
	return 0;
}

static const struct pd_output output = { take, NULL };

static int open_file(void *ctx, const char *path, enum ps_file_place place)
{
	(void)ctx;
	(void)place;
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns whether the call before it was refused with a reason. */
static int was_refused(void)
{
	const int is = e.code == PD_E_ARGUMENT && e.text;

	memset(&e, 0, sizeof(e));
	return is;
}

static void call_symbols(const struct pd_history *h)
{
	static const uint8_t mangled[] = "_ZN1a1bEv";
	const struct pd_bytes name = { mangled, sizeof(mangled) - 1 };
	struct ps_session *s = ps_new(PS_OPTIONS(.history = h, .open = open_file), &e);
	struct pd_frame_names names = { .nr_functions = 1 };
	struct ps_options unset = { .history = h, .open = open_file };
	enum ps_end end = PS_END_LIMIT;
	char text[8];

	CHECK(s && !ps_new(NULL, &e) && was_refused());
	CHECK(!ps_new(&unset, &e) && was_refused());
	CHECK(!ps_new(PS_OPTIONS(.history = h), &e) && was_refused());
	CHECK(!ps_new(PS_OPTIONS(.open = open_file), NULL));
	CHECK(!ps_new(PS_OPTIONS(.history = h, .open = open_file, .depth = (enum ps_depth)9), &e) &&
	      was_refused());
	ps_resolve(NULL, 1, NULL, &names);
	CHECK(!names.nr_functions);
	ps_resolve(s, 1, NULL, &names);
	ps_resolve(s, 1, NULL, NULL);
	CHECK(!ps_frames(NULL, NULL, NULL, 0, &end) && end == PS_END_NONE);
	CHECK(!ps_frames(s, NULL, NULL, 0, NULL));
	CHECK(!ps_session_image(NULL, 0, NULL) && !ps_session_image(s, UINT32_MAX, NULL));
	CHECK(!ps_session_lacks(NULL, 0, PS_LACK_SPLIT) &&
	      !ps_session_lacks(s, UINT32_MAX, PS_LACK_SPLIT) &&
	      !ps_session_lacks(s, 0, (enum ps_lack)99));
	CHECK(!ps_session_lacks_memory(NULL) && !ps_session_lacks_memory(s) &&
	      !pd_reader_lacks_memory(NULL));
	CHECK(!ps_session_has_bundle(NULL) && !ps_bundle(NULL, PS_BUNDLE_WHOLE).size);
	CHECK(!ps_bundle(s, PS_BUNDLE_WHOLE).size);
	CHECK(!ps_collect_inlined(NULL, PS_LINES, NULL, NULL));
	CHECK(!ps_collect_inlined(s, PS_LINES, NULL, NULL));
	CHECK(ps_session_namer(NULL).size && ps_match_name((enum ps_match)99));
	CHECK(ps_end_name((enum ps_end)99));
	CHECK(!ps_demangle(lie, text, sizeof(text)) && !ps_demangle(name, NULL, sizeof(text)));
	CHECK(!ps_demangle(name, text, 4) && ps_demangle(name, text, sizeof(text)) == 4);
	ps_free(s);
	ps_free(NULL);
}

static void call_unmerged_profile(struct pp_profile *p, struct pd_reader *r)
{
	char text[8];

	CHECK(!pp_new(NULL, &e) && was_refused() && !pp_new(PP_OPTIONS(.groups = 1), &e));
	CHECK(was_refused());
	CHECK(pp_add(NULL, r, &e) && was_refused() && pp_add(p, NULL, &e) && was_refused());
	CHECK(pp_add_records(NULL, r, 1, NULL) && pp_add_records(p, NULL, 1, NULL));
	CHECK(!pp_is_divisible(NULL, r) && !pp_is_divisible(p, NULL));
	CHECK(pp_append(p, NULL, &e) && was_refused() && pp_append(NULL, p, NULL));
	CHECK(pp_append(p, p, &e) && was_refused());
	CHECK(!pp_nr_events(NULL) && !pp_event_at(NULL, 0, NULL) && !pp_main_event(NULL));
	CHECK(!pp_event_at(p, SIZE_MAX, NULL) && !pp_doubt_stacks(NULL, 0, text, sizeof(text)));
	CHECK(!pp_doubt_names(NULL, 0, text, sizeof(text)));
	CHECK(!pp_doubt_weight(NULL, 0, text, sizeof(text)));
	CHECK(!pp_compared_event(NULL, p, 0) && !pp_compared_event(p, NULL, SIZE_MAX));
	pp_count(NULL, NULL);
	pp_count(p, NULL);
	CHECK(pp_share(NULL, 0, "main", PP_BY_PERIOD) <= 0);
	CHECK(pp_share(p, 0, "main", PP_BY_PERIOD) <= 0);
	CHECK(pp_write(NULL, PP_WRITE(.event = 0), output) == -1);
	CHECK(pp_write(p, PP_WRITE(.event = 0), output) == -1);
	CHECK(pp_script(NULL, r, PP_SCRIPT(.fields = 0), output, &e) && was_refused());
	CHECK(pp_script(p, NULL, PP_SCRIPT(.fields = 0), output, NULL));
	CHECK(pp_script(p, r, NULL, output, &e) && was_refused());
	CHECK(pp_script(p, r, PP_SCRIPT(.fields = 0), nowhere, &e) && was_refused());
	CHECK(pp_merge(NULL, PP_SHAPE(.max_depth = 0), &e) && was_refused());
	CHECK(pp_merge(p, NULL, &e) && was_refused());
	CHECK(pp_merge(p, PP_SHAPE(.idle = (enum pp_idle)9), &e) && was_refused());
}

static void call_merged_profile(struct pp_profile *p, struct pd_reader *r)
{
	CHECK(pp_merge(p, PP_SHAPE(.max_depth = 0), &e) && was_refused());
	CHECK(pp_add(p, r, &e) && was_refused());
	CHECK(!pp_doubt_stacks(p, 0, NULL, 0) && !pp_doubt_names(p, 0, NULL, 0));
	CHECK(!pp_doubt_weight(p, 0, NULL, 0));
	CHECK(pp_share(p, 0, NULL, PP_BY_PERIOD) <= 0);
	CHECK(pp_share(p, SIZE_MAX, "main", PP_BY_PERIOD) <= 0);
	CHECK(pp_write(p, NULL, output) == -1);
	CHECK(pp_write(p, PP_WRITE(.event = 0), nowhere) == -1);
	CHECK(pp_write(p, PP_WRITE(.format = (enum pp_format)99), output) == -1);
	CHECK(pp_write(p, PP_WRITE(.event = SIZE_MAX), output) == 0);
	CHECK(pp_write(p, PP_WRITE(.event = 0), output) == 0);
}

static void call_profile(const struct pd_history *h, struct pd_reader *r)
{
	struct pp_profile *p = pp_new(PP_OPTIONS(.history = h), &e);
	struct pp_profile *unmerged = pp_new(PP_OPTIONS(.history = h), NULL);

	CHECK(p && unmerged);
	call_unmerged_profile(p, r);
	CHECK(!pp_add(p, r, NULL) && !pp_merge(p, PP_SHAPE(.max_depth = 0), NULL));
	call_merged_profile(p, r);
	CHECK(pp_append(unmerged, p, &e) && was_refused());
	CHECK(pp_write(p, PP_WRITE(.format = PP_TOP, .base = unmerged), output) == -1);
	pp_free(unmerged);
	pp_free(p);
	pp_free(NULL);
}

static void call_columns(const struct pd_history *h, struct pd_reader *r)
{
	struct pd_output outputs[64] = { { NULL, NULL } };
	struct pc_options unset = { .history = h };
	const struct pc_owner caller = { NULL, NULL };
	struct pc_columns *c = pc_new(PC_OPTIONS(.history = h), NULL);
	struct ArrowArrayStream stream;
	size_t i = 7;

	CHECK(c && pc_nr_tables() <= sizeof(outputs) / sizeof(*outputs));
	CHECK(!pc_table_at(SIZE_MAX) && !pc_group_name(SIZE_MAX) && !pc_group_find(NULL));
	CHECK(!pc_table_find(NULL, &i) && !pc_table_find("no table", &i) && i == 7);
	CHECK(pc_table_find("samples", NULL));
	CHECK(!pc_new(NULL, &e) && was_refused() && !pc_new(&unset, &e) && was_refused());
	CHECK(!pc_new(PC_OPTIONS(.with = 0), &e) && was_refused());
	CHECK(!pc_new(PC_OPTIONS(.history = h, .reading = (enum pc_reading)9), &e) &&
	      was_refused());
	pc_add_error(NULL, &e);
	pc_add_error(c, NULL);
	CHECK(!pc_error_is_of_payload(NULL));
	CHECK(pc_write_parquet(NULL, r, outputs, &e) == -1 && was_refused());
	CHECK(pc_write_parquet(c, NULL, outputs, NULL) == -1);
	CHECK(pc_write_parquet(c, r, NULL, &e) == -1 && was_refused());
	CHECK(pc_write_arrow(NULL, r, 0, output, NULL) == -1);
	CHECK(pc_write_arrow(c, NULL, 0, output, &e) == -1 && was_refused());
	CHECK(pc_write_arrow(c, r, 0, nowhere, &e) == -1 && was_refused());
	CHECK(pc_write_arrow(c, r, SIZE_MAX, output, &e) == -1 && was_refused());
	CHECK(pc_open_stream(NULL, r, 0, caller, &stream, &e) == -1 && was_refused());
	CHECK(pc_open_stream(c, NULL, 0, caller, &stream, NULL) == -1);
	CHECK(pc_open_stream(c, r, 0, caller, NULL, &e) == -1 && was_refused());
	CHECK(pc_write_parquet(c, r, outputs, NULL) == 0);
	CHECK(pc_write_parquet(c, r, outputs, &e) == -1 && was_refused());
	CHECK(pc_write_arrow(c, r, 0, output, &e) == -1 && was_refused());
	CHECK(pc_open_stream(c, r, 0, caller, &stream, &e) == -1 && was_refused());
	CHECK(pc_write_ddl((enum pc_dialect)9, NULL, output));
	CHECK(pc_write_ddl(PC_SPARK, NULL, nowhere));
	pc_free(c);
	pc_free(NULL);
}

int main(int argc, char **argv)
{
	struct pd_history *h = pd_history_new(NULL, &e);
	struct pd_reader *r = argc > 1 ? pd_reader_open_path(argv[1], NULL, &e) : NULL;

	if (!h || !r || pd_history_seal(h, NULL, &e))
		return 2;
	call_symbols(h);
	call_profile(h, r);
	call_columns(h, r);
	pd_reader_free(r);
	pd_history_free(h);
	return failures != 0;
}
