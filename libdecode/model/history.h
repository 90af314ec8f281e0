/* history.h - the parts of a history: see pd/history.h.
 *
 * Learning (history_learn.c) appends a change for each side-band record, and a map for each that
 * maps. Sealing (history_seal.c) puts the changes in the order of their moments
 * (history_order.c): a change's place in that order, from 1 on, is its rank, and stands for its
 * moment from then on. Then it replays them: tasks by tid (history_tasks.c), spaces by process
 * (history_spaces.c), the maps of each space into pieces, which are found by address and rank
 * (history_maps.c). Virtual machines have tasks and spaces of their own (history_guests.c).
 */
#ifndef PD_MODEL_HISTORY_H
#define PD_MODEL_HISTORY_H

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include "model/history_bits.h"
#include "model/history_index.h"
#include "pd/history.h"
#include "stream/record.h"

#define PD_NOTHING UINT32_MAX
#define PD_BUILD_ID_MAX 20

enum pd_change_kind {
	PD_CHANGE_COMM,		/* item: the name */
	PD_CHANGE_EXEC,		/* the same, and a new image */
	PD_CHANGE_FORK,
	PD_CHANGE_THERE,	/* a synthesized FORK: the task was there */
	PD_CHANGE_EXIT,
	PD_CHANGE_NAMESPACES,	/* item */
	PD_CHANGE_MAP,		/* item */
};

struct pd_change {
	uint64_t time;			/* PD_NO_TIME: none; once ordered, that of the change before
					 * it, if there is one */
	uint64_t offset : 48, machine : 8, kind : 4;
	uint64_t was_latest : 1;	/* when it came */
	uint64_t is_minor : 1;		/* of a task that is known, and no concern of its space */
	uint32_t pid, tid;
	union {
		struct {
			uint32_t ppid, ptid;
		};
		uint32_t item;
	};
};

/* Owner of the maps of an address space. */
enum pd_space_of {
	PD_SPACE_OF_PROCESS,
	PD_SPACE_OF_KERNEL,		/* pid 0 */
	PD_SPACE_OF_KSYMBOLS,		/* hides the kernel's */
	PD_SPACE_OF_GUEST_PROCESS,
	PD_SPACE_OF_GUEST_KERNEL,	/* pid: the virtual machine's, 0: the only one */
	PD_NR_SPACES_OF,
};

enum pd_map_flag {
	PD_MAP_DATA = 1 << 0,
	/* anonymous and executable: may be a copy of a file's text */
	PD_MAP_COPY = 1 << 1,
	PD_MAP_OPEN = 1 << 2,		/* of no known length: up to the next map */
	PD_MAP_END = 1 << 3,		/* nothing is mapped there from now on */
};

struct pd_learned_map {
	uint64_t start, len, pgoff;
	uint32_t prot, flags;
	uint32_t image;
	uint32_t pid;			/* of the space */
	uint32_t rank, until;		/* of its last piece; its own: it repeats another map */
	uint8_t space_of, cpumode, is;	/* enum pd_space_of; enum pd_map_flag */
	uint8_t machine;		/* of the space */
};

/* A map, or what is left of one, from a rank on until another. */
struct pd_map_piece {
	uint64_t start, end;
	uint32_t from, until;		/* PD_NOTHING: for good */
	uint32_t map;
	uint32_t node;			/* while the index is built */
};

enum pd_space_flag {
	PD_SPACE_CUT = 1 << 0,		/* what it shares with its parent did not fit */
	PD_SPACE_TREE = 1 << 1,		/* pieces have ended; else they are ordered by address */
};

struct pd_space {
	uint32_t pid;
	uint8_t machine, of;		/* enum pd_space_of */
	uint8_t depth, flags;
	uint32_t from;			/* rank; 0: before the recording */
	uint32_t parent, parent_rank;	/* whose maps it has, as of that rank; PD_NOTHING: none */
	uint32_t first;			/* of the pieces, or the tree; before they are made, of
					 * space_maps */
	uint32_t count;
	uint32_t own_from;		/* rank of the first piece */
	uint32_t last_change;		/* rank of the last piece */
};

/* The index of pieces some of which have ended: see history_maps.c. */
struct pd_space_tree {
	uint32_t first_piece, first_coord, nr_coords, first_node;
};

/* A life of a tid. */
struct pd_life {
	uint32_t tid, pid, ppid, ptid;
	uint32_t from, end;		/* ranks; from 0: before; end PD_NOTHING: none */
	uint32_t comm;			/* at its start, PD_NOTHING: not known */
	uint32_t first_name, first_ns;	/* up to those of the next life */
	uint32_t execs : 24, machine : 8;
};

/* A path that maps have, and what is known of it. */
struct pd_known_path {
	const char *text;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	bool has_inode, is_ambiguous;	/* maps show an inode; more than one */
	uint8_t build_id_size;
	uint8_t build_id[PD_BUILD_ID_MAX];	/* of the header */
};

#define PD_FIRST_MARKER ((uint64_t)-4095)	/* PERF_CONTEXT_MAX: from here on no addresses */

enum { PD_NR_MARKERS = 8 };

/* Values that records have, by their names in the tables. */
struct pd_history_bits {
	uint64_t mmap_data, comm_exec, fork_exec, prot_exec, map_hugetlb, unregister,
		ksym_bpf, bpf_load;
	uint64_t user, deferred;	/* context markers: before user addresses, and before a
					 * cookie */
	struct {
		uint64_t value;
		uint8_t mode;		/* enum pd_cpumode of the addresses after it */
	} markers[PD_NR_MARKERS];	/* of a callchain; value 0: none */
};

/* Addresses and markers of a deferred chain. Kernels record 127 addresses at most, unless
 * kernel.perf_event_max_stack was raised. */
enum { PD_DEFERRED_MOST = 1024 };

/* The user part of callchains that the kernel recorded later, when the task returned from the
 * kernel. */
struct pd_deferred_chain {
	size_t count;
	uint64_t ips[];
};

struct pd_history_plans;
struct pd_live;
struct pd_stitcher;

struct pd_history {
	uint64_t memory_limit;
	uint32_t word_size;		/* of the options, as is the scope */
	enum pd_history_scope scope;
	struct pd_budget budget;	/* while learning: half of that */
	struct pd_arena arena;
	struct pd_history_bits bits;
	struct pd_history_plans *plans;	/* how to read records */
	uint64_t seed;
	/* learned */
	struct pd_array changes, maps;
	struct pd_array inner;		/* uint64_t, by change: as pd_moment; none before the first
					 * that was compressed */
	struct pd_array comms;		/* const char * */
	struct pd_array namespaces;	/* struct pd_namespaces * */
	struct pd_array images;		/* struct pd_image * */
	/* by hash: struct pd_kept */
	struct pd_map comm_of, namespaces_of, path_of, image_of;
	struct pd_map cgroups;		/* id -> struct pd_kept * */
	struct pd_map programs;		/* tag of a BPF program -> its id, uint32_t */
	struct pd_map guests;		/* id of an event -> struct pd_guest */
	struct pd_array machines;	/* int32_t: their processes, by number - 1 */
	struct pd_map deferred;		/* cookie -> struct pd_deferred_chain */
	bool has_times, is_limited, is_sealed;
	bool lacks_memory;		/* when it was sealed, for maps too; or its reader did */
	bool has_hidden_kernel;		/* a map of the kernel states no address */
	uint64_t lost, lost_time, lost_offset;	/* the first LOST, by either */
	uint64_t text_pokes, damaged, left_out;
	uint64_t nr_changes;		/* that are applied, and no longer in `changes` */
	/* sealed */
	struct pd_array keys;		/* uint64_t: pd_change_key() of each PD_RANKS_A_KEY-th */
	struct pd_bit_tree latest;	/* ranks of changes that were the latest when they came */
	struct pd_array lives;		/* by tid, from */
	struct pd_array names, ns_since;	/* uint32_t: ranks of the changes, by life */
	struct pd_array spaces;		/* by pd_key_of_space(), from */
	struct pd_array space_maps;	/* uint32_t: map, by space, until the pieces are made */
	struct pd_array pieces;
	struct pd_array trees, coords, nodes;
	struct pd_key_index life_of, space_of;	/* the host's lives by tid, and spaces of
						 * processes by pid */
	uint64_t copied;		/* pieces looked at to copy what a child shares */
	struct pd_stitcher *stitcher;	/* NULL: call stacks are as the CPU kept them */
	struct pd_live *live;		/* instead of all that is sealed; or NULL */
};

/* Items of the arrays. */
static inline struct pd_change *pd_change_at(const struct pd_history *h, uint32_t rank)
{
	return (struct pd_change *)h->changes.items + rank - 1;
}

/* Returns what the changes are ordered by: time or offset. Records that were synthesized for what
 * existed before have the time 0. */
static inline uint64_t pd_change_key(const struct pd_history *h, const struct pd_change *c)
{
	return !h->has_times ? c->offset : c->time == PD_NO_TIME ? 0 : c->time;
}

static inline struct pd_learned_map *pd_map_at(const struct pd_history *h, uint32_t i)
{
	return (struct pd_learned_map *)h->maps.items + i;
}

static inline struct pd_space *pd_space_at(const struct pd_history *h, uint32_t i)
{
	return (struct pd_space *)h->spaces.items + i;
}

static inline struct pd_map_piece *pd_map_piece_at(const struct pd_history *h, uint32_t i)
{
	return (struct pd_map_piece *)h->pieces.items + i;
}

static inline struct pd_image *pd_image_at(const struct pd_history *h, uint32_t i)
{
	return ((struct pd_image **)h->images.items)[i];
}

/* The processes of the host are the first. */
static inline uint64_t pd_space_key(uint8_t machine, enum pd_space_of of, uint32_t pid)
{
	return (uint64_t)machine << 35 | (uint64_t)of << 32 | pid;
}

static inline uint64_t pd_key_of_space(const struct pd_space *s)
{
	return pd_space_key(s->machine, (enum pd_space_of)s->of, s->pid);
}

static inline uint64_t pd_task_key(uint8_t machine, uint32_t tid)
{
	return (uint64_t)machine << 32 | tid;
}

/* Returns the first piece of a space whose pieces are made. */
static inline uint32_t pd_first_piece(const struct pd_history *h, const struct pd_space *s)
{
	return s->flags & PD_SPACE_TREE ?
		       ((const struct pd_space_tree *)h->trees.items + s->first)->first_piece :
		       s->first;
}

/* Returns the end of a map, exclusive; the last byte of the address space is in none. */
static inline uint64_t pd_map_end(const struct pd_learned_map *m)
{
	return m->is & PD_MAP_OPEN || m->len > UINT64_MAX - m->start ? UINT64_MAX :
								       m->start + m->len;
}

/* history_text.c: what is kept once. */
struct pd_kept {
	struct pd_kept *same_hash;
	void *value;			/* NULL until the caller sets it */
	uint32_t item;			/* the same */
	uint32_t size;
	uint8_t bytes[];		/* with a NUL after them */
};

/* Returns what is kept for these bytes in *m, or NULL without memory. Two sets of bytes that differ
 * are kept apart. */
struct pd_kept *pd_history_keep(struct pd_history *h, struct pd_map *m, struct pd_bytes bytes);
/* Each returns the item's number, or -1 without memory. */
int64_t pd_history_add_comm(struct pd_history *h, struct pd_bytes comm);
int64_t pd_history_add_namespaces(struct pd_history *h, const struct pd_namespaces *ns);
/* Keeps the path of a cgroup; a later one of the same id replaces it. Returns 0, or -1. */
int pd_history_add_cgroup(struct pd_history *h, uint64_t id, struct pd_bytes path);

/* history_images.c: images, each kept once. All return -1 without memory. */

/* A map's statements about its image. */
struct pd_image_facts {
	struct pd_bytes path;
	uint8_t machine;
	enum pd_space_of space_of;
	enum pd_image_kind kind;
	struct pd_bytes build_id;
	bool has_inode;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
};

int64_t pd_history_add_image(struct pd_history *h, const struct pd_image_facts *facts);
/* Keeps the header's build id of a path; `misc` has the cpumode. */
int pd_history_add_build_id(struct pd_history *h, uint16_t misc, struct pd_bytes path,
			    struct pd_bytes build_id);
/* Gives images without a build id those of the header. */
void pd_history_apply_build_ids(struct pd_history *h);
/* Keeps the id of a BPF program; programs of the same tag have none. */
int pd_history_add_program(struct pd_history *h, struct pd_bytes tag, uint32_t id);
/* Gives the images of BPF programs their ids, by the tag in the symbol's name. */
void pd_history_apply_programs(struct pd_history *h);
/* Returns the kind of a map's image by its path. */
enum pd_image_kind pd_image_kind_of(struct pd_bytes path, enum pd_space_of of);

/* history_tasks.c. Both return 0, or -1 without memory. */
int pd_history_replay_tasks(struct pd_history *h);
/* history_spaces.c */
int pd_history_replay_spaces(struct pd_history *h);
/* Returns the space of a key at a rank, or PD_NOTHING. */
uint32_t pd_history_find_space(const struct pd_history *h, uint64_t key, uint32_t rank);

/* history_maps.c */
struct pd_map_builder;
struct pd_map_builder *pd_map_builder_new(struct pd_history *h);
void pd_map_builder_free(struct pd_map_builder *b);
/* Adds what is visible in a space at a rank to the next space that is built, from a rank on. */
int pd_map_builder_copy(struct pd_map_builder *b, uint32_t from, uint32_t space, uint32_t rank);
/* Makes the pieces of a space from its maps, over what was copied. */
int pd_map_builder_build(struct pd_map_builder *b, struct pd_space *s);
/* Returns the piece at an address at a rank, in the space or those it shares, or NULL. */
const struct pd_map_piece *pd_history_find_piece(const struct pd_history *h, uint32_t space,
					     uint64_t addr, uint32_t rank);

/* history_order.c: orders the changes. Returns 0, or -1 without memory. */
int pd_history_order_changes(struct pd_history *h);
/* Returns the rank of the last change at or before a moment, 0: none. */
uint32_t pd_history_rank_of(const struct pd_history *h, const struct pd_moment *at);
/* Returns whether a change is at or before a moment, which has a time if the changes have any. */
bool pd_history_is_until(const struct pd_history *h, uint32_t rank, const struct pd_moment *at);
/* history_states.c: returns whether records were lost before a moment. */
bool pd_history_is_after_loss(const struct pd_history *h, const struct pd_moment *at);
/* history_tasks.c: returns the time of a rank; PD_NO_TIME for 0 and PD_NOTHING. */
uint64_t pd_history_time_of(const struct pd_history *h, uint32_t rank);

/* history.c: frees what the replay has made. */
void pd_history_forget_replay(struct pd_history *h);

/* history_learn.c: returns whether records of this type are learned from. */
bool pd_history_wants(const struct pd_history *h, uint32_t type);

/* history_seal.c: orders and replays what was learned. Returns 0, or -1 and *e as
 * pd_history_seal(). */
int pd_history_replay(struct pd_history *h, struct pd_error *e);

/* Returns whether entries of a chain are uint64_t in this machine's byte order, as nearly all are:
 * they can be read without a call of pd_number_at(). */
static inline bool pd_chain_is_plain(const struct pd_numbers *n)
{
	return n->width == sizeof(uint64_t) && !n->swapped;
}

#endif
