/* json_resolve.c - writes what a history knows: the task and the frames of samples, and images. */
#include "json/json.h"

#include "layout/names_tables.h"

#define MIN_LOCATIONS 64
#define REPEATED_MAX 512

static void write_text(struct pd_json *j, const char *key, const char *text)
{
	const struct pd_bytes bytes = { (const uint8_t *)text, strlen(text) };

	pd_json_key_with(j, key, "");
	if (pd_jsonw_text(&j->w, bytes) == PD_UTF8)
		return;
	pd_json_key_with(j, key, "_hex");
	pd_jsonw_hex(&j->w, bytes);
}

/* Longer names are not repeated in each sample and frame: 8 bytes of a callchain would become the
 * 64 KiB that a path may have. */
static void write_repeated(struct pd_json *j, const char *key, const char *text)
{
	if (strlen(text) <= REPEATED_MAX)
		write_text(j, key, text);
}

static void write_true(struct pd_json *j, const char *key)
{
	pd_json_key_with(j, key, "");
	pd_jsonw_raw(&j->w, "true", 4);
}

/* --- counts --- */

static struct pd_image_frames *image_counts(struct pd_json *j)
{
	struct pd_json_resolve *res = &j->resolve;
	const size_t nr = pd_history_nr_images(j->options.history);
	size_t room = res->counts ? 2 * res->nr_counts : 0;
	void *p;

	if (nr <= res->nr_counts)	/* more come if the history is live */
		return res->counts;
	room = room < nr ? nr : room;
	p = pd_budget_grow(&j->own, res->counts, res->nr_counts * sizeof(*res->counts),
			   room * sizeof(*res->counts));
	if (!p) {
		res->table.is_cut = true;
		return NULL;
	}
	res->counts = p;
	memset(res->counts + res->nr_counts, 0, (room - res->nr_counts) * sizeof(*res->counts));
	res->nr_counts = room;
	return res->counts;
}

static void count_names(struct pd_json *j, const struct pd_location *l, enum pd_why why,
			uint64_t frames)
{
	struct pd_image_frames *counts = l->image == PD_NO_IMAGE ? NULL : image_counts(j);

	pd_json_name_totals_why(&j->resolve.names, why, frames);
	if (!counts || !frames)
		return;
	if (why == PD_WHY_FOUND)
		counts[l->image].named += frames;
	else if (counts[l->image].why < why)
		counts[l->image].why = (uint8_t)why;
}

/* --- frames --- */

static void write_image_of(struct pd_json *j, const struct pd_location *l)
{
	const struct pd_image *i = pd_history_image(j->options.history, l->image);

	PD_JSONW_KEY(&j->w, "file_offset");
	pd_jsonw_address(&j->w, l->file_offset);
	PD_JSONW_KEY(&j->w, "image");
	pd_jsonw_unsigned(&j->w, l->image);
	write_repeated(j, "dso", i->path);
	if (!i->build_id.size)
		return;
	PD_JSONW_KEY(&j->w, "build_id");
	pd_jsonw_hex(&j->w, i->build_id);
}

/* --- names --- */

static void write_source_line(struct pd_json *j, const struct pd_function *f)
{
	if (!f->file)
		return;
	write_text(j, "file", f->file);
	if (!f->line)
		return;
	PD_JSONW_KEY(&j->w, "line");
	pd_jsonw_unsigned(&j->w, f->line);
}

static void write_symbol(struct pd_json *j, const struct pd_function *f)
{
	if (!f->symbol)
		return;
	write_text(j, "symbol", f->symbol);
	if (j->namer.linkage_names == PD_LINKAGE_NAMES_SHOWN && f->linkage_name &&
	    strcmp(f->linkage_name, f->symbol) != 0)
		write_text(j, "linkage_name", f->linkage_name);
}

static void write_inlined(struct pd_json *j, const struct pd_frame_names *f)
{
	PD_JSONW_KEY(&j->w, "inlined");
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i + 1 < f->nr_functions; i++) {
		pd_jsonw_comma(&j->w);
		pd_jsonw_char(&j->w, '{');
		write_symbol(j, &f->functions[i]);
		write_source_line(j, &f->functions[i]);
		pd_jsonw_char(&j->w, '}');
	}
	pd_jsonw_char(&j->w, ']');
}

static void write_functions(struct pd_json *j, const struct pd_frame_names *f)
{
	const struct pd_function *last;

	if (f->has_extent) {
		PD_JSONW_KEY(&j->w, "function");
		pd_jsonw_address(&j->w, f->extent);
	}
	if (!f->nr_functions)
		return;
	last = &f->functions[f->nr_functions - 1];
	write_symbol(j, last);
	PD_JSONW_KEY(&j->w, "offset");
	pd_jsonw_unsigned(&j->w, f->offset);
	write_source_line(j, last);
	if (f->nr_functions > 1)
		write_inlined(j, f);
	if (f->is_unverified)
		write_true(j, "unverified");
}

static struct pd_frame_names find_names(struct pd_json *j, int32_t pid,
					const struct pd_location *l)
{
	struct pd_frame_names f = { .why = l->why };

	if (j->namer.frame)
		j->namer.frame(j->namer.ctx, pid, l, &f);
	return f;
}

static void write_why(struct pd_json *j, const struct pd_frame_names *f)
{
	if (f->why == PD_WHY_FOUND)
		return;
	PD_JSONW_KEY(&j->w, "why");
	pd_jsonw_string(&j->w, pd_why_name(f->why));
}

static void write_flags(struct pd_json *j, unsigned int flags)
{
	if (flags & PD_LOCATION_RETURN)
		write_true(j, "return_address");
	if (flags & PD_LOCATION_GUESSED)
		write_true(j, "guessed");
	if (flags & PD_LOCATION_REMAPPED)
		write_true(j, "remapped");
	if (flags & PD_LOCATION_STITCHED)
		write_true(j, "stitched");
}

/* Writes only the symbols. Without any, the image tells what the code is. */
static void write_symbols(struct pd_json *j, const struct pd_location *l,
			  const struct pd_frame_names *f)
{
	if (!f->nr_functions) {
		if (l->image != PD_NO_IMAGE)
			write_image_of(j, l);
		write_functions(j, f);
		write_why(j, f);
		return;
	}
	write_symbol(j, &f->functions[f->nr_functions - 1]);
	if (f->is_unverified)
		write_true(j, "unverified");
	if (f->nr_functions < 2)
		return;
	PD_JSONW_KEY(&j->w, "inlined");
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i + 1 < f->nr_functions; i++) {
		pd_jsonw_comma(&j->w);
		pd_jsonw_char(&j->w, '{');
		write_symbol(j, &f->functions[i]);
		pd_jsonw_char(&j->w, '}');
	}
	pd_jsonw_char(&j->w, ']');
}

/* Its cpumode is written where it is not the record's. */
static void write_details(struct pd_json *j, const struct pd_location *l,
			  const struct pd_frame_names *f, unsigned int cpumode)
{
	if (l->image != PD_NO_IMAGE)
		write_image_of(j, l);
	write_functions(j, f);
	write_why(j, f);
	write_flags(j, l->flags);
	if (l->cpumode == cpumode)
		return;
	PD_JSONW_KEY(&j->w, "cpumode");
	pd_json_name(j, pd_names_cpumode, l->cpumode);
}

static void write_id(struct pd_json *j, const struct pd_location *l, uint64_t frames)
{
	const struct pd_frame_key key = pd_frame_key_of(j->options.history, &j->namer,
							j->resolve.pid, l);

	pd_frame_table_add(&j->resolve.table, &key, l, frames);
	pd_frame_key_write(&j->w, &key);
}

/* Writes a location as an object, or its id. It counts as `frames` frames of samples. */
static void write_location(struct pd_json *j, const struct pd_location *l, unsigned int cpumode,
			   uint64_t frames)
{
	struct pd_frame_names f;

	if (j->options.frames == PD_JSON_FRAMES_TABLE) {
		write_id(j, l, frames);
		return;
	}
	f = find_names(j, j->resolve.pid, l);
	count_names(j, l, f.why, frames);
	pd_jsonw_char(&j->w, '{');
	PD_JSONW_KEY(&j->w, "addr");
	pd_jsonw_address(&j->w, l->addr);
	if (j->options.frames == PD_JSON_FRAMES_NAMES)
		write_symbols(j, l, &f);
	else
		write_details(j, l, &f, cpumode);
	pd_jsonw_char(&j->w, '}');
}

typedef size_t locate_fn(struct pd_json *j, const struct pd_record *sample,
			 struct pd_location *out, size_t capacity);

static size_t locate_frames(struct pd_json *j, const struct pd_record *sample,
			    struct pd_location *out, size_t capacity)
{
	if (j->namer.frames)
		return j->namer.frames(j->namer.ctx, sample, out, capacity, &j->resolve.stack_end);
	return pd_history_frames(j->options.history, sample, out, capacity);
}

static size_t locate_branches(struct pd_json *j, const struct pd_record *sample,
			      struct pd_location *out, size_t capacity)
{
	return pd_history_branches(j->options.history, sample, out, capacity);
}

/* Returns the number of locations, which are in j->resolve; 0 also without memory. */
static size_t locate_with(struct pd_json *j, const struct pd_record *r, locate_fn *find)
{
	struct pd_json_resolve *res = &j->resolve;
	size_t n = find(j, r, res->locations, res->capacity);

	if (n > res->capacity) {
		const size_t bigger = n < MIN_LOCATIONS ? MIN_LOCATIONS : 2 * n;
		void *p = pd_budget_grow(&j->own, res->locations,
					 res->capacity * sizeof(*res->locations),
					 bigger * sizeof(*res->locations));

		if (!p) {
			res->table.is_cut = true;
			return 0;
		}
		res->locations = p;
		res->capacity = bigger;
		n = find(j, r, res->locations, res->capacity);
	}
	return n;
}

static void count_frames(struct pd_json *j, const struct pd_location *l, size_t n)
{
	struct pd_image_frames *counts = image_counts(j);

	for (size_t i = 0; counts && i < n; i++) {
		if (l[i].image == PD_NO_IMAGE)
			continue;
		counts[l[i].image].frames++;
		counts[l[i].image].samples += i == 0;
	}
}

/* The kernel's callchains begin with ip, which is one frame then. */
static bool begins_with_ip(const struct pd_location *l, size_t n)
{
	return n > 1 && l[0].of == PD_LOCATION_OF_IP && l[0].addr == l[1].addr &&
	       !(l[1].flags & PD_LOCATION_RETURN);
}

/* Other keys, so that no path has two types. */
static bool has_table(const struct pd_json *j)
{
	return j->options.frames == PD_JSON_FRAMES_TABLE;
}

static void write_frames(struct pd_json *j, const struct pd_record *r, unsigned int cpumode)
{
	const struct pd_location *l;
	size_t n;

	j->resolve.stack_end = "";
	n = locate_with(j, r, locate_frames);
	l = j->resolve.locations;
	if (!n)
		return;
	if (begins_with_ip(l, n)) {
		l++;
		n--;
	}
	count_frames(j, l, n);
	pd_json_key_with(j, has_table(j) ? "frame_ids" : "frames", "");
	pd_jsonw_char(&j->w, '[');
	for (; n; n--, l++) {
		pd_jsonw_comma(&j->w);
		write_location(j, l, cpumode, 1);
	}
	pd_jsonw_char(&j->w, ']');
	if (!j->resolve.stack_end[0])
		return;
	pd_json_name_totals_end(&j->resolve.names, j->resolve.stack_end);
	PD_JSONW_KEY(&j->w, "stack_end");
	pd_jsonw_string(&j->w, j->resolve.stack_end);
}

/* From and to of each entry of branch_stack, in its order. */
static void write_branches(struct pd_json *j, const struct pd_record *r, unsigned int cpumode)
{
	const size_t n = locate_with(j, r, locate_branches);
	const struct pd_location *l = j->resolve.locations;

	if (!n)
		return;
	pd_json_key_with(j, has_table(j) ? "branch_frame_ids" : "branch_frames", "");
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i + 1 < n; i += 2) {
		pd_jsonw_comma(&j->w);
		pd_jsonw_char(&j->w, '{');
		PD_JSONW_KEY(&j->w, "from");
		write_location(j, &l[i], cpumode, 0);
		PD_JSONW_KEY(&j->w, "to");
		write_location(j, &l[i + 1], cpumode, 0);
		pd_jsonw_char(&j->w, '}');
	}
	pd_jsonw_char(&j->w, ']');
}

/* The data address, whose mode is not recorded. */
static void write_data(struct pd_json *j, const struct pd_record *r)
{
	struct pd_location l;

	if (!pd_history_data(j->options.history, r, &l))
		return;
	pd_json_key_with(j, has_table(j) ? "addr_frame_id" : "addr_frame", "");
	write_location(j, &l, l.cpumode, 0);
}

static void write_number(struct pd_json *j, const char *key, uint64_t v)
{
	pd_json_key_with(j, key, "");
	pd_jsonw_unsigned(&j->w, v);
}

static void write_comm(struct pd_json *j, const struct pd_record *r)
{
	uint64_t tid;
	struct pd_task task;

	if (!pd_record_number(r, PD_OF_BODY, PD_HOT_TID, &tid))
		return;
	if (pd_history_record_task(j->options.history, r, &task) && task.comm)
		write_repeated(j, "comm", task.comm);
	if (!task.machine_pid)
		return;
	write_number(j, "machine_pid", (uint32_t)task.machine_pid);
	write_number(j, "vcpu", (uint32_t)task.vcpu);
}

void pd_json_resolve(struct pd_json *j, const struct pd_record *r)
{
	const unsigned int cpumode = r->frame.misc & PD_MISC_CPUMODE;
	uint64_t pid;

	j->resolve.pid = pd_record_number(r, PD_OF_BODY, PD_HOT_PID, &pid) ? (int32_t)pid : -1;
	write_comm(j, r);
	write_frames(j, r, cpumode);
	write_branches(j, r, cpumode);
	write_data(j, r);
}

void pd_json_resolve_collect(struct pd_json *all, struct pd_json *worker)
{
	struct pd_image_frames *from = worker->resolve.counts, *to = image_counts(all);

	pd_json_name_totals_add(&all->resolve.names, &worker->resolve.names);
	pd_frame_table_collect(&all->resolve.table, &worker->resolve.table);
	for (size_t i = 0; from && to && i < worker->resolve.nr_counts &&
			   i < all->resolve.nr_counts; i++) {
		pd_image_frames_add(&to[i], &from[i]);
		from[i] = (struct pd_image_frames){ 0 };
	}
}

void pd_json_resolve_free(struct pd_json *j)
{
	struct pd_json_resolve *res = &j->resolve;

	pd_budget_free(&j->own, res->locations, res->capacity * sizeof(*res->locations));
	pd_budget_free(&j->own, res->counts, res->nr_counts * sizeof(*res->counts));
	pd_frame_table_free(&res->table);
}

/* --- images --- */

static void write_build_id(struct pd_json *j, const struct pd_image *i)
{
	PD_JSONW_KEY(&j->w, "build_id");
	pd_jsonw_hex(&j->w, i->build_id);
	PD_JSONW_KEY(&j->w, "build_id_source");
	pd_jsonw_string(&j->w, i->build_id_source == PD_BUILD_ID_OF_MAP ? "MMAP2" : "HEADER");
}

static void write_inode(struct pd_json *j, const struct pd_image *i)
{
	write_number(j, "maj", i->maj);
	write_number(j, "min", i->min);
	write_number(j, "ino", i->ino);
	write_number(j, "ino_generation", i->ino_generation);
}

static void write_sources(struct pd_json *j, const struct pd_image_file *f)
{
	PD_JSONW_KEY(&j->w, "sources");
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i < f->nr_sources && i < PD_SOURCES_MAX; i++) {
		pd_jsonw_comma(&j->w);
		pd_jsonw_string(&j->w, f->sources[i]);
	}
	pd_jsonw_char(&j->w, ']');
}

/* Where the names of an image come from, if a frame was in it. */
static void write_image_file(struct pd_json *j, uint32_t index)
{
	struct pd_image_file f = { .match = NULL };

	if (!j->namer.image(j->namer.ctx, index, &f))
		return;
	if (f.match)
		write_text(j, "match", f.match);
	if (f.path)
		write_text(j, "file", f.path);
	if (f.debug_path)
		write_text(j, "debug_file", f.debug_path);
	if (f.nr_sources)
		write_sources(j, &f);
	if (f.other_id.size) {
		PD_JSONW_KEY(&j->w, "other_build_id");
		pd_jsonw_hex(&j->w, f.other_id);
	}
	if (f.why != PD_WHY_FOUND) {
		PD_JSONW_KEY(&j->w, "why");
		pd_jsonw_string(&j->w, pd_why_name(f.why));
	}
}

void pd_json_table_frame(struct pd_json *j, const struct pd_frame_entry *entry)
{
	const struct pd_location *l = &entry->location;
	const struct pd_frame_names f = find_names(j, entry->key.pid, l);

	count_names(j, l, f.why, entry->frames);
	PD_JSONW_KEY(&j->w, "id");
	pd_frame_key_write(&j->w, &entry->key);
	if (l->image == PD_NO_IMAGE) {
		PD_JSONW_KEY(&j->w, "addr");
		pd_jsonw_address(&j->w, l->addr);
	}
	write_details(j, l, &f, l->cpumode);
	if (entry->key.pid >= 0)
		write_number(j, "pid", (uint64_t)entry->key.pid);
}

void pd_json_image(struct pd_json *j, size_t index)
{
	const struct pd_image *i = pd_history_image(j->options.history, index);
	const struct pd_image_frames *counts = image_counts(j);

	write_number(j, "index", index);
	PD_JSONW_KEY(&j->w, "image_kind");
	pd_jsonw_string(&j->w, pd_image_kind_name(i->kind));
	write_text(j, "path", i->path);
	if (i->build_id.size)
		write_build_id(j, i);
	if (i->has_inode)
		write_inode(j, i);
	if (i->is_guest)
		write_true(j, "guest");
	if (i->machine_pid)
		write_number(j, "machine_pid", (uint32_t)i->machine_pid);
	if (i->symbol)
		write_text(j, "symbol", i->symbol);
	if (i->bpf_id)
		write_number(j, "bpf_id", i->bpf_id);
	if (j->namer.image)
		write_image_file(j, (uint32_t)index);
	if (!counts)
		return;
	write_number(j, "samples", counts[index].samples);
	write_number(j, "frames", counts[index].frames);
	if (j->namer.frame)
		write_number(j, "named", counts[index].named);
}

/* --- totals --- */

void pd_json_name_summary(struct pd_json *j)
{
	struct pd_json_resolve *res = &j->resolve;
	const struct pd_name_totals totals = {
		.by_why = res->names.by_why, .nr_why = PD_JSON_WHYS, .images = res->counts,
		.nr_images = res->nr_counts, .ends = res->names.ends,
		.nr_ends = res->names.nr_ends,
	};

	if (!j->namer.frame)
		return;
	PD_JSONW_KEY(&j->w, "frames");
	pd_json_name_totals_write(&j->w, &res->names);
	if (j->namer.totals)
		j->namer.totals(j->namer.totals_ctx, &totals);
}
