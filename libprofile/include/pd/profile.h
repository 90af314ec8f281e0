/* profile.h - where a recording's time goes: its samples, weighed and merged into a tree of calls.
 *
 * A library of its own, libpdprofile: libdecode does not need it. Names: pp_OBJECT_VERB().
 *
 *	struct pp_profile *p = pp_new(PP_OPTIONS(.history = h), &e);
 *
 *	pp_add(p, reader, &e);			// the samples of the whole recording
 *	pp_merge(p, PP_SHAPE(.idle = PP_IDLE_DROP), &e);
 *	pp_write(p, PP_WRITE(.format = PP_FOLDED), output);
 *
 * Threads: the library has no global state. Calls on one profile must not overlap; different
 * profiles are independent.
 *
 * Arguments: as in pd/pd.h, a call with a NULL that is not allowed, or with what does not exist,
 * has no effect. So has one that comes too late: after pp_merge() nothing is added.
 *
 * Lifetime: what a profile returns is valid until pp_free(), unless its documentation says
 * otherwise. It keeps nothing of a reader.
 *
 * The library does not print, and opens no files but one: samples that are kept one by one
 * (enum pp_keep) and for which there is no memory go to an unlinked temporary file in $TMPDIR,
 * /tmp, /var/tmp or /dev/shm.
 */
#ifndef PD_PROFILE_H
#define PD_PROFILE_H

#include "pd/history.h"
#include "pd/names.h"
#include "pd/pd.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PP_API __attribute__((visibility("default")))

/* --- a profile --- */

struct pp_profile;

/* Frames above the stacks, from the root. */
enum pp_group {
	PP_GROUP_COMM = 1 << 0,
	PP_GROUP_PID = 1 << 1,		/* "pid 7"; in the virtual machine of process 500
					 * "pid 7@500" */
	PP_GROUP_TID = 1 << 2,		/* likewise */
	PP_GROUP_CPU = 1 << 3,		/* the innermost */
	PP_GROUP_CGROUP = 1 << 4,	/* the outermost */
};

/* Whether samples are kept one by one. */
enum pp_keep {
	PP_KEEP_SUMS,
	PP_KEEP_SAMPLES,	/* the time of each, too: about 10 bytes, in a temporary file as far
				 * as a quarter of memory_limit is too small. The reader need
				 * not give records by time, but for PP_LABEL_TIME: PD_BY_TIME */
	PP_KEEP_WHAT_FITS,	/* the same, but in the file beyond a 32nd of memory_limit, and none
				 * if there is neither a file nor memory for all of them */
};

/* Which time of the threads a profile has. Times off the CPU are an event of their own, the main
 * one, in ns; the reader must be PD_BY_TIME then. */
enum pp_state {
	PP_ON_CPU,	/* the samples */
	PP_OFF_CPU,	/* the waits: between context switches, and the samples of offcpu-time that
			 * perf record --off-cpu writes; and the other events. A filter's time is
			 * taken from it (pd_filter_take_time()): waits count as far as they are
			 * within */
	PP_WALL,	/* both in one event: waits, and the samples of clocks */
};

/* Whether an event of two PMUs is one: on machines with two kinds of cores cpu_core/cycles/ and
 * cpu_atom/cycles/. */
enum pp_pmus { PP_PMUS_APART, PP_PMUS_MERGED };

struct pp_options {
	size_t size;			/* PP_OPTIONS() sets it */
	const struct pd_history *history;	/* sealed, of the same recording; borrowed until
						 * pp_free() */
	/* Names functions, and unwinds copied stacks if it can; borrowed until pp_free(). NULL:
	 * there are no names, and the stacks are those that the kernel walked. */
	const struct pd_namer *namer;
	struct pd_filter *filter;	/* borrowed until the last pp_add(), or NULL */
	uint64_t memory_limit;		/* bytes that input can make the profile allocate; 0:
					 * 256 MiB. Stacks beyond a quarter of it are counted as
					 * "[small]" */
	uint32_t groups;		/* enum pp_group */
	enum pp_keep keep;
	/* Returns whether samples of an event are wanted. NULL: those of all are. A filter can't
	 * choose the events of a group: their values are in the samples of its leader. */
	bool (*wants_event)(void *ctx, const char *name);
	void *ctx;	/* of wants_event and on_progress */
	enum pp_state state;
	/* Called with the place in the file of what was read last, now and then. NULL: not. */
	void (*on_progress)(void *ctx, uint64_t offset);
	enum pp_pmus pmus;
	/* Returns what gives names to functions of an image, or of none if it is NULL, that have no
	 * name for a reason of enum pd_why: a part of a sentence, "" if nothing does. NULL: the
	 * table does not say what helps. */
	const char *(*help)(unsigned int why, const struct pd_image *image);
};
#define PP_OPTIONS(...) PD_OPTIONS_OF(pp_options, __VA_ARGS__)

/* Creates a profile. `o` is copied. Returns NULL on failure and sets *e: PD_E_NOMEM, or
 * PD_E_ARGUMENT without a history. Free it with pp_free(). */
PP_API struct pp_profile *pp_new(const struct pp_options *o, struct pd_error *e);

/* Frees the profile and all that it returned. `p` may be NULL. */
PP_API void pp_free(struct pp_profile *p);

/* Adds the samples that the reader still has. Returns 0, or -1 and *e when reading cannot continue,
 * or with PD_E_LIMIT when there is no memory for the events, or for the samples that are kept, or,
 * with a text, when the weights are too large for a sum, or with PD_E_IO when the temporary file
 * can't be written. Samples read before stay. */
PP_API int pp_add(struct pp_profile *p, struct pd_reader *r, struct pd_error *e);

/* The same for the next `count` records. */
PP_API int pp_add_records(struct pp_profile *p, struct pd_reader *r, uint64_t count,
			  struct pd_error *e);

/* --- parts of a recording, read by several threads ---
 *
 * Each part is read into a profile of its own, with the same options, from another reader
 * (pd/index.h); then they are put together in their order. The result is that of one reader. */

/* Returns whether a recording can be read in parts: not with a filter or times off the CPU,
 * nor where samples have the values of counters. */
PP_API bool pp_is_divisible(const struct pp_profile *p, const struct pd_reader *r);

/* Adds what the profile of the next part has, before pp_merge(). `later` can only be freed then.
 * Returns 0, or -1 and *e as pp_add() does. */
PP_API int pp_append(struct pp_profile *p, struct pp_profile *later, struct pd_error *e);

/* Treatment of samples of an idle CPU: pid 0 in a function that waits. */
enum pp_idle { PP_IDLE_KEEP, PP_IDLE_DROP, PP_IDLE_ONLY };

/* Whether stacks that lack their root have a frame "[cut stack]" there. */
enum pp_cut { PP_CUT_HIDDEN, PP_CUT_SHOWN };

/* How a function without a name is called. */
enum pp_unnamed {
	PP_UNNAMED_IMAGE,	/* [libfoo.so.6] */
	PP_UNNAMED_ADDRESS,	/* [libfoo.so.6+0x1234]: offset in the file */
};

/* Whether a function that calls itself is one frame. */
enum pp_recursion { PP_RECURSION_KEPT, PP_RECURSION_FOLDED };

/* Where a tree begins. */
enum pp_direction {
	PP_FROM_ROOT,
	PP_FROM_LEAF,	/* with the innermost function: below it is who calls it. For PP_FOLDED,
			 * PP_TREE, PP_SVG and PP_FLAMEGRAPH */
};

/* Whether places in different lines of a function are one. PP_KEY_LINE needs them apart. */
enum pp_lines_of { PP_LINES_TOGETHER, PP_LINES_APART };

/* Where a wait is shown whose stack is that of the switch: in the scheduler, which is the same for
 * all, or in the function that called it. */
enum pp_waits { PP_WAITS_WHOLE, PP_WAITS_OF_CALLER };

struct pp_shape {
	size_t size;			/* PP_SHAPE() sets it */
	enum pp_idle idle;
	enum pp_cut cut;
	enum pp_unnamed unnamed;
	uint32_t max_depth;	/* functions of a stack at most, from where the tree begins; 0: all.
				 * Deeper ones count for the last of them */
	enum pp_recursion recursion;
	const char *parent;	/* only stacks with a function of this name, or if there is none
				 * one whose name matches, as fnmatch(3) does; NULL: all */
	const char *cut_after;	/* what functions with such a name call counts for them; NULL:
				 * none */
	enum pp_direction direction;
	double min_percent;	/* stacks with a smaller share of their event are one frame,
				 * "[small]", below their callers; 0: none */
	uint32_t one_of;	/* N: with PP_KEEP_SAMPLES, one of N samples of each thread and
				 * event stays, with the weight of all N; 0: all stay */
	enum pp_lines_of lines;
	enum pp_waits waits;
};
#define PP_SHAPE(...) PD_OPTIONS_OF(pp_shape, __VA_ARGS__)

/* Names all addresses and merges the stacks by function. Must be called after the last pp_add() and
 * before pp_write(), once. Returns 0, or -1 and *e: PD_E_LIMIT, or PD_E_IO of the temporary
 * file. */
PP_API int pp_merge(struct pp_profile *p, const struct pp_shape *shape, struct pd_error *e);

/* --- totals --- */

struct pp_event {
	const char *name;
	uint64_t weight, samples;	/* sums over all samples */
	uint64_t idle_weight, idle_samples;	/* part of them, left out by PP_IDLE_DROP */
	uint64_t period;		/* of attr.sample_period; 0: a frequency */
	uint64_t frequency;		/* per second; 0: a period */
	bool is_time;			/* weights are ns of a clock, else counts */
	bool has_no_weight;		/* the recording lacks periods: each sample counts 1 */
	bool is_tracepoint;
	uint64_t enabled, running;	/* ns that a counter was enabled, and really counted; 0: not
					 * recorded */
};

/* Returns the number of events that have samples. */
PP_API size_t pp_nr_events(const struct pp_profile *p);

/* Gets the i-th event, in the order of the recording. Returns false after the last. */
PP_API bool pp_event_at(const struct pp_profile *p, size_t i, struct pp_event *out);

/* Returns the event that a format with one event shows: the first that is no tracepoint, else the
 * first. */
PP_API size_t pp_main_event(const struct pp_profile *p);

/* Returns the event of `older` with which one of `newer` is compared: that of the same name, best
 * in the same place, else the main one, of which only shares can be. */
PP_API size_t pp_compared_event(const struct pp_profile *older, const struct pp_profile *newer,
				size_t event);

struct pp_counts {
	size_t size;		/* the caller's sizeof(struct pp_counts) */
	uint64_t samples;	/* of all events */
	uint64_t lost;		/* records that LOST counts, or LOST_SAMPLES if these are more:
				 * samples are among both */
	uint64_t throttled;	/* THROTTLE records */
	uint64_t cut;		/* samples with as many addresses as the kernel records */
	uint64_t copies_cut;	/* samples whose copied stack is not unwound to its end */
	uint64_t copies_short;	/* part of them: the copy does not reach that far */
	uint64_t copies_foreign; /* another part: stacks of that machine are not unwound */
	uint64_t lone;		/* samples of user code whose chain is one address */
	uint64_t chains;	/* samples with a chain */
	uint64_t small;		/* samples that are counted as "[small]" */
	uint64_t threads;	/* that have samples */
	uint64_t first, last;	/* times of samples, ns; PD_NO_TIME: none */
	uint64_t nodes;		/* of the tree */
	uint64_t memory;	/* bytes allocated */
	uint64_t timer;		/* ns: period of a timer in lockstep with the samples; 0: none */
	uint64_t approximate_waits;	/* waits at the stack of a sample before them */
	bool is_unfinished;	/* the end of the recording is missing */
	uint64_t frames;	/* functions in the merged stacks; 0 before pp_merge() */
	bool lacks_times;	/* PP_KEEP_WHAT_FITS: nothing fitted */
	uint64_t waits;		/* between context switches, or as samples of offcpu-time */
	uint64_t unpacked;	/* bytes of the last pp_write(), before they are compressed */
	uint64_t no_address;	/* samples without any */
	uint64_t waits_nowhere;	/* waits without a stack, of threads that had no sample before */
	/* Other parts of copies_cut: stacks that reach a file that can't be used. */
	uint64_t copies_unverified;	/* no build id shows it to be the recorded one */
	uint64_t copies_mismatched;	/* it is another build */
	uint64_t copies_no_file;	/* it is not there */
	uint64_t no_event;	/* samples that belong to no event; not part of `samples` */
	bool lacks_memory;	/* some was refused: what it was for may be missing */
	uint64_t copies_jit;	/* another part of copies_cut: in JIT code without frame pointers */
	uint64_t too_heavy;	/* samples and waits of 2^56 or more, which only damage makes: they
				 * are left out, and are not part of `samples` */
	uint64_t wrong_times;	/* samples with a time that the recording's span excludes, as only
				 * damage makes it: they count without a time */
};

/* Fills in *out. out->size must be set. */
PP_API void pp_count(const struct pp_profile *p, struct pp_counts *out);

/* After pp_merge(): writes to `text` (`size` bytes with the NUL) why many stacks of the i-th event
 * are not those of the program, and how to record it better. Returns false if nothing is known
 * against them. */
PP_API bool pp_doubt_stacks(const struct pp_profile *p, size_t i, char *text, size_t size);

/* The same for functions without a name, if many samples are in those of one file: which, and what
 * gives names to them. Needs options.namer and options.help. */
PP_API bool pp_doubt_names(struct pp_profile *p, size_t i, char *text, size_t size);

/* Writes to `text` that one sample has most of the weight of the i-th event, and what to do then:
 * a number of it may be damaged. Returns false if none has. */
PP_API bool pp_doubt_weight(const struct pp_profile *p, size_t i, char *text, size_t size);

/* --- writing --- */

enum pp_format {
	PP_FOLDED,	/* frame;frame;frame WEIGHT */
	PP_TOP,		/* a summary and a table of functions */
	PP_TREE,	/* the calls, indented */
	PP_FLAMEGRAPH,	/* an HTML page without references to others */
	PP_PPROF,	/* profile.proto, gzip: all events; a location is an address */
	PP_CSV,		/* the table of functions */
	PP_JSON,	/* the same */
	PP_SVG,		/* a flame graph as a picture for documents */
	PP_CALLGRIND,	/* for callgrind_annotate and KCachegrind: all events, costs by line */
	/* The next three need PP_KEEP_SAMPLES; with it, or PP_KEEP_WHAT_FITS, PP_FLAMEGRAPH shows
	 * times: */
	PP_FIREFOX,	/* for the Firefox Profiler, version 60 of its format, gzip */
	PP_SPEEDSCOPE,	/* for speedscope: each thread and event */
	PP_CHROME,	/* trace events: when threads ran, instants for samples, and their stacks */
	PP_OTLP,	/* OpenTelemetry's profiles, of version 1.11 of its protocol: these messages
			 * are not final. All events; a location is an address */
};

enum pp_measure { PP_BY_PERIOD, PP_BY_SAMPLES };
enum pp_sort { PP_SORT_SELF, PP_SORT_TOTAL };

/* The columns of a table, whose lines are the functions with the same values of these. */
enum pp_key {
	PP_KEY_NONE,
	PP_KEY_SYMBOL,	/* the function's name */
	PP_KEY_IMAGE,
	PP_KEY_COMM,	/* this and those below need their group in pp_options */
	PP_KEY_PID,
	PP_KEY_TID,
	PP_KEY_CPU,
	PP_KEY_CGROUP,
	PP_KEY_LINE,	/* source file and line; needs PP_LINES_APART */
	PP_KEY_EVENT,	/* the lines of all events, those of the one with the most samples first.
			 * Shares are of a line's event; not with a pp_write.graph */
};
enum { PP_NR_KEYS = 10 };

/* The calls below each line of a table. */
enum pp_graph {
	PP_GRAPH_NONE,
	PP_GRAPH_CALLERS,	/* who calls it, from it upward */
	PP_GRAPH_CALLEES,	/* what it calls */
};

/* The slices of PP_CHROME. */
enum pp_timeline {
	PP_TIMELINE_STATES,	/* running and waiting, from context switches */
	PP_TIMELINE_STACKS,	/* and the functions of the samples of one event. Some 1,000 bytes
				 * for each sample */
};

/* How a flame graph is shown at first: PP_SVG knows the first two. */
enum pp_view {
	PP_VIEW_FLAME,
	PP_VIEW_ICICLE,		/* the root above */
	PP_VIEW_CALLERS,
	PP_VIEW_TIME,		/* a heat map and the stacks of each thread, if samples are kept */
};

/* Functions that have a suffix in folded stacks: _[k], _[j], _[i]. */
enum pp_mark {
	PP_MARK_KERNEL = 1 << 0,
	PP_MARK_JIT = 1 << 1,
	PP_MARK_INLINED = 1 << 2,
};

/* Names in folded stacks. */
enum pp_names {
	PP_NAMES_SHORT,		/* no parameters and quotes, as stackcollapse-perf.pl */
	PP_NAMES_WHOLE,		/* all that a line can have: ";" is ":", a control "?" */
};

/* Labels of samples in PP_PPROF, besides pp_options.groups. */
enum pp_label {
	PP_LABEL_MODE = 1 << 0,	/* execution_mode: "Host Kernel", "Host User" and others */
	PP_LABEL_TIME = 1 << 1,	/* timestamp_ns: samples are not merged. Needs PP_KEEP_SAMPLES */
};

/* The measure by which two recordings are compared. */
enum pp_compare {
	PP_COMPARE_SHARES,	/* of each one's own total: recordings of different lengths */
	PP_COMPARE_SUMS,	/* in the page shares, too, but of the larger total */
};

/* Whether a file is compressed, with gzip. */
enum pp_compression {
	PP_COMPRESSION_OF_FORMAT,	/* PP_PPROF and PP_FIREFOX are, the others not */
	PP_COMPRESSED,
	PP_NOT_COMPRESSED,
};

enum pp_theme { PP_THEME_OF_SYSTEM, PP_THEME_LIGHT, PP_THEME_DARK };
enum pp_colors { PP_PLAIN, PP_COLORS };

struct pp_write {
	size_t size;		/* PP_WRITE() sets it */
	enum pp_format format;
	size_t event;		/* of those that pp_event_at() counts */
	enum pp_measure measure;
	enum pp_sort sort;	/* PP_TOP */
	enum pp_colors colors;	/* PP_TOP, PP_TREE */
	size_t rows;		/* PP_TOP, PP_CSV, PP_JSON: at most; 0: all */
	size_t columns;		/* PP_TOP, PP_TREE: longer lines are cut; 0: not */
	unsigned int min_permyriad;	/* PP_TOP, PP_TREE: leave out shares below, in 1/100 % */
	const char *title;	/* of the recording; NULL: none */
	/* PP_TOP, PP_CSV, PP_JSON, PP_FLAMEGRAPH, PP_PPROF: differences to this profile, merged
	 * before; NULL: none. */
	struct pp_profile *base;
	const char *base_title;
	enum pp_theme theme;	/* PP_FLAMEGRAPH */
	/* PP_TOP, PP_CSV, PP_JSON: up to the first PP_KEY_NONE. None: a line for each function */
	enum pp_key keys[PP_NR_KEYS];
	enum pp_view view;	/* PP_FLAMEGRAPH, PP_SVG */
	uint32_t marks;		/* PP_FOLDED: of enum pp_mark */
	enum pp_graph graph;	/* PP_TOP; its calls of min_permyriad, or if that is 0 of 50 */
	enum pp_names names;	/* PP_FOLDED */
	uint32_t labels;	/* PP_PPROF: of enum pp_label */
	enum pp_compare compare;	/* PP_TOP, PP_FLAMEGRAPH, with `base` */
	enum pp_compression compression;
	enum pp_timeline timeline;	/* PP_CHROME */
	unsigned int threads;	/* 2 and more: a thread compresses; the bytes are the same */
};
#define PP_WRITE(...) PD_OPTIONS_OF(pp_write, __VA_ARGS__)

/* Returns the share, in percent, of an event's samples that have a function in their stacks whose
 * name is `glob`, or if there is none matches it, as fnmatch(3) does. Must be called after
 * pp_merge(). */
PP_API double pp_share(const struct pp_profile *p, size_t event, const char *glob,
		       enum pp_measure by);

#ifdef __cplusplus	/* hides the constructor of the struct of that name */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/* Writes one format. An event without samples has no output. Returns 0, what the output's function
 * returned, or -1: for the call, or when the memory limit is reached or the temporary file can't be
 * read. */
PP_API int pp_write(struct pp_profile *p, const struct pp_write *o, struct pd_output out);
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

/* --- samples one by one --- */

/* The perf whose text is written: 6.12 prints addresses as they are, and threads in 7 columns. */
enum pp_like { PP_LIKE_PERF_6_12, PP_LIKE_PERF_6_1 };

/* Samples without a call chain: in one line, as perf has them, or, for programs that read stacks
 * only, with the address as a stack of one function. */
enum pp_layout { PP_LAYOUT_PERF, PP_LAYOUT_STACKS };

/* Parts of a sample's text. */
enum pp_field {
	PP_FIELD_COMM = 1 << 0,
	PP_FIELD_PID = 1 << 1,
	PP_FIELD_TID = 1 << 2,
	PP_FIELD_CPU = 1 << 3,
	PP_FIELD_TIME = 1 << 4,
	PP_FIELD_PERIOD = 1 << 5,
	PP_FIELD_EVENT = 1 << 6,
	PP_FIELD_TRACE = 1 << 7,	/* of tracepoints */
	PP_FIELD_IP = 1 << 8,		/* and the addresses of its call chain, as those below */
	PP_FIELD_SYMBOL = 1 << 9,
	PP_FIELD_OFFSET = 1 << 10,	/* of the symbol */
	PP_FIELD_IMAGE = 1 << 11,
	PP_FIELD_LONE_IP = 1 << 12,	/* PP_FIELD_IP of tracepoints without a call chain, too */
	PP_FIELD_ACCESS = 1 << 13,	/* of events by a number of the CPU: addr, data_src, weight,
					 * ins_lat, retire_lat, phys_addr and the sizes of pages */
	PP_FIELD_BPF_OUTPUT = 1 << 14,	/* what a BPF program wrote */
};

enum {
	/* The fields that perf script prints of itself: those of tracepoints, and of the others. */
	PP_FIELDS_OF_TRACEPOINTS = PP_FIELD_COMM | PP_FIELD_TID | PP_FIELD_CPU | PP_FIELD_TIME |
		PP_FIELD_EVENT | PP_FIELD_TRACE | PP_FIELD_IP | PP_FIELD_SYMBOL |
		PP_FIELD_OFFSET | PP_FIELD_IMAGE,
	PP_FIELDS = (PP_FIELDS_OF_TRACEPOINTS & ~PP_FIELD_TRACE) | PP_FIELD_PERIOD |
		PP_FIELD_ACCESS | PP_FIELD_BPF_OUTPUT,
};

enum pp_times { PP_TIMES_US, PP_TIMES_NS };

/* Whether lines about the recording are above the samples, each with a '#'. */
enum pp_head { PP_HEAD_HIDDEN, PP_HEAD_SHOWN };

struct pp_script {
	size_t size;		/* PP_SCRIPT() sets it */
	enum pp_like like;
	enum pp_layout layout;
	enum pp_cut cut;	/* PP_CUT_SHOWN: "[cut stack]" is the last line of such a stack */
	uint32_t fields;	/* of enum pp_field; 0: PP_FIELDS */
	uint32_t trace_fields;	/* of tracepoints; 0: PP_FIELDS_OF_TRACEPOINTS */
	enum pp_times times;
	enum pp_head head;
	uint32_t max_depth;	/* addresses of a stack at most, innermost first; 0: all */
};
#define PP_SCRIPT(...) PD_OPTIONS_OF(pp_script, __VA_ARGS__)

#ifdef __cplusplus	/* hides the constructor of the struct of that name */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/* Writes the samples that the reader still has as text, in the layout of perf script, instead of
 * adding them to the profile: only pp_event_at() and pp_count() see them. The reader should give
 * records by time, PD_BY_TIME. Returns what pp_add() does, or what the output's function
 * returned. */
PP_API int pp_script(struct pp_profile *p, struct pd_reader *r, const struct pp_script *o,
		     struct pd_output out, struct pd_error *e);
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
}
#endif
#endif
