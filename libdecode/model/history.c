/* history.c - creates and frees histories, and lists what is in them. */
#include "base/argument.h"
#include "base/hash.h"
#include "model/history.h"

#include <stdlib.h>
#include <string.h>

#include "layout/names_tables.h"
#include "model/history_guests.h"
#include "model/history_live.h"
#include "model/history_plans.h"
#include "model/history_stitch.h"

static uint64_t bit_of(const struct pd_name *names, const char *name)
{
	uint64_t value = 0;

	pd_value_of(names, name, &value);
	return value;
}

/* Returns the cpumode of the addresses after a context marker. */
static uint8_t mode_after(const char *marker)
{
	uint64_t mode;

	if (pd_value_of(pd_names_cpumode, marker, &mode) == 0)
		return (uint8_t)mode;
	return strcmp(marker, "HV") == 0	    ? PD_CPUMODE_HYPERVISOR :
	       strcmp(marker, "USER_DEFERRED") == 0 ? PD_CPUMODE_USER :
	       strcmp(marker, "GUEST") == 0	    ? PD_CPUMODE_GUEST_USER :
						      PD_CPUMODE_UNKNOWN;
}

static void find_markers(struct pd_history_bits *b)
{
	const struct pd_name *names = pd_names_callchain;

	b->user = bit_of(names, "USER");
	b->deferred = bit_of(names, "USER_DEFERRED");
	for (size_t i = 0; i < PD_NR_MARKERS && names[i].name; i++) {
		b->markers[i].value = names[i].value;
		b->markers[i].mode = mode_after(names[i].name);
	}
}

static void find_bits(struct pd_history_bits *b)
{
	find_markers(b);
	b->mmap_data = bit_of(pd_names_misc_mmap2, "MMAP_DATA");
	b->comm_exec = bit_of(pd_names_misc_comm, "COMM_EXEC");
	b->fork_exec = bit_of(pd_names_misc_fork, "FORK_EXEC");
	b->prot_exec = bit_of(pd_names_prot, "EXEC");
	b->map_hugetlb = bit_of(pd_names_map, "HUGETLB");
	b->unregister = bit_of(pd_names_ksym, "UNREGISTER");
	b->ksym_bpf = bit_of(pd_names_ksym_type, "BPF");
	b->bpf_load = bit_of(pd_names_bpf_event_type, "PROG_LOAD");
}

static void init_arrays(struct pd_history *h)
{
	const struct {
		struct pd_array *array;
		size_t width;
	} arrays[] = {
		{ &h->changes, sizeof(struct pd_change) },
		{ &h->maps, sizeof(struct pd_learned_map) },
		{ &h->inner, sizeof(uint64_t) },
		{ &h->machines, sizeof(int32_t) },
		{ &h->comms, sizeof(char *) },
		{ &h->namespaces, sizeof(struct pd_namespaces *) },
		{ &h->images, sizeof(struct pd_image *) },
		{ &h->keys, sizeof(uint64_t) },
		{ &h->latest.words, sizeof(uint64_t) },
		{ &h->lives, sizeof(struct pd_life) },
		{ &h->names, sizeof(uint32_t) },
		{ &h->ns_since, sizeof(uint32_t) },
		{ &h->spaces, sizeof(struct pd_space) },
		{ &h->space_maps, sizeof(uint32_t) },
		{ &h->pieces, sizeof(struct pd_map_piece) },
		{ &h->trees, sizeof(struct pd_space_tree) },
		{ &h->coords, sizeof(uint64_t) },
		{ &h->nodes, sizeof(uint32_t) },
		{ &h->life_of.first, sizeof(uint32_t) },
		{ &h->space_of.first, sizeof(uint32_t) },
	};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		*arrays[i].array = (struct pd_array){ .budget = &h->budget,
						      .width = (uint32_t)arrays[i].width };
}

struct pd_history *pd_history_new(const struct pd_history_options *given, struct pd_error *e)
{
	struct pd_history_options o = { .size = 0 };
	struct pd_history *h;

	if (given && (pd_options_take(&o, sizeof(o), given, given->size) ||
		      (unsigned int)o.mode > PD_HISTORY_LIVE ||
		      (unsigned int)o.scope > PD_HISTORY_TASKS)) {
		pd_refuse(e, "an option is invalid");
		return NULL;
	}
	h = calloc(1, sizeof(*h));
	if (h) {
		h->memory_limit = o.memory_limit ? o.memory_limit : PD_MEMORY_LIMIT;
		h->word_size = o.word_size;
		h->scope = o.scope;
		h->budget.limit = h->memory_limit;
		h->plans = pd_history_plans_new();
		h->seed = pd_hash_seed(h);
		h->live = o.mode == PD_HISTORY_LIVE ? pd_live_new(h) : NULL;
		if (!h->live)
			h->budget.limit /= 2;	/* the replay needs about as much */
	}
	if (!h || !h->plans || (o.mode == PD_HISTORY_LIVE && !h->live)) {
		if (h)
			pd_history_plans_free(h->plans);
		free(h);
		if (e)
			*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
		return NULL;
	}
	h->arena.budget = &h->budget;
	h->comm_of.budget = h->namespaces_of.budget = h->path_of.budget = h->image_of.budget =
		h->cgroups.budget = h->programs.budget = h->guests.budget =
			h->deferred.budget = &h->budget;
	find_bits(&h->bits);
	init_arrays(h);
	return h;
}

void pd_history_forget_replay(struct pd_history *h)
{
	struct pd_array *const made[] = { &h->keys, &h->latest.words, &h->lives, &h->names,
					  &h->ns_since, &h->spaces, &h->space_maps, &h->pieces,
					  &h->trees, &h->coords, &h->nodes, &h->life_of.first,
					  &h->space_of.first };

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		pd_array_free(made[i]);
	h->copied = 0;
}

void pd_history_free(struct pd_history *h)
{
	if (!h)
		return;
	pd_live_free(h->live);
	pd_stitcher_free(h->stitcher);
	pd_history_forget_replay(h);
	pd_array_free(&h->changes);
	pd_array_free(&h->maps);
	pd_array_free(&h->inner);
	pd_array_free(&h->comms);
	pd_array_free(&h->namespaces);
	pd_array_free(&h->images);
	pd_array_free(&h->machines);
	pd_map_free(&h->comm_of);
	pd_map_free(&h->namespaces_of);
	pd_map_free(&h->path_of);
	pd_map_free(&h->image_of);
	pd_map_free(&h->cgroups);
	pd_map_free(&h->programs);
	pd_map_free(&h->guests);
	pd_map_free(&h->deferred);
	pd_arena_free(&h->arena);
	pd_history_plans_free(h->plans);
	free(h);
}

size_t pd_history_nr_mappings(const struct pd_history *h)
{
	return h ? h->maps.nr : 0;
}

static bool is_of_kernel(const struct pd_learned_map *m)
{
	return m->space_of != PD_SPACE_OF_PROCESS && m->space_of != PD_SPACE_OF_GUEST_PROCESS;
}

/* Returns the rank from which nothing of a map is left: it was replaced, or its space. */
static uint32_t end_of(const struct pd_history *h, const struct pd_learned_map *m)
{
	const uint64_t key = pd_space_key(m->machine, m->space_of, m->pid);
	const uint32_t space = pd_history_find_space(h, key, m->rank);

	if (!m->until)		/* maps no byte */
		return m->rank;
	if (m->until != PD_NOTHING || space == PD_NOTHING || space + 1 == h->spaces.nr ||
	    pd_key_of_space(pd_space_at(h, space + 1)) != key)
		return m->until;
	return pd_space_at(h, space + 1)->from;
}

bool pd_history_mapping(const struct pd_history *h, size_t i, struct pd_mapping *out)
{
	const struct pd_learned_map *m;
	struct pd_mapping unused = { .pid = 0 };

	out = out ? out : &unused;
	*out = (struct pd_mapping){ .image = PD_NO_IMAGE, .time = PD_NO_TIME,
				    .until = PD_NO_TIME };
	if (!h || i >= h->maps.nr)
		return false;
	m = pd_map_at(h, (uint32_t)i);
	*out = (struct pd_mapping){
		.pid = is_of_kernel(m) ? -1 : (int32_t)m->pid, .image = m->image,
		.time = pd_history_time_of(h, m->rank),
		.until = pd_history_time_of(h, end_of(h, m)),
		.start = m->start, .len = m->len, .pgoff = m->pgoff, .prot = m->prot,
		.flags = m->flags, .cpumode = m->cpumode, .is_data = m->is & PD_MAP_DATA,
		.machine_pid = pd_history_machine_pid(h, m->machine),
	};
	return true;
}

bool pd_history_lacks_memory(const struct pd_history *h, struct pd_error *e)
{
	struct pd_error ignored;

	if (!h || (!h->lacks_memory && !h->left_out))
		return false;
	*pd_error_or(e, &ignored) = (struct pd_error){
		.code = PD_E_LIMIT, .severity = PD_DAMAGED,
		.text = "more tasks and maps than the memory limit (--memory) allows, or "
			"deferred call chains of more than 1,024 addresses: some names, images or "
			"frames are missing" };
	return true;
}

void pd_history_count(const struct pd_history *h, struct pd_history_counts *out)
{
	struct pd_history_counts c;

	if (!h || !out)
		return;
	c = (struct pd_history_counts){
		.size = out->size, .changes = h->nr_changes + h->changes.nr, .spaces = h->spaces.nr,
		.text_pokes = h->text_pokes, .lost = h->lost, .damaged = h->damaged,
		.left_out = h->left_out, .memory = h->budget.used,
	};
	if (h->live)
		pd_live_count(h, &c);
	memcpy(out, &c, c.size < sizeof(c) ? c.size : sizeof(c));
}

const char *pd_cpumode_name(unsigned int cpumode)
{
	return pd_name_of(pd_names_cpumode, cpumode);
}

const char *pd_marker_name(uint64_t entry)
{
	return pd_name_of(pd_names_callchain, entry);
}
