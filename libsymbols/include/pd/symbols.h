/* symbols.h - names for the addresses of a recording.
 *
 * A library of its own, libpdsymbols: libdecode does not need it. Names: ps_OBJECT_VERB().
 *
 * Threads: the library has no global state. Calls on one object must not overlap unless their
 * documentation says otherwise; different objects are independent.
 *
 * Arguments: as in pd/pd.h, a call with a NULL that is not allowed, or with what does not exist,
 * has no effect.
 *
 * The library opens no files, starts no processes and does not read the environment: it asks its
 * caller for descriptors.
 */
#ifndef PD_SYMBOLS_H
#define PD_SYMBOLS_H

#include "pd/history.h"
#include "pd/names.h"
#include "pd/pd.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PS_API __attribute__((visibility("default")))

/* --- files --- */

/* Purpose of a requested file. */
enum ps_want {
	PS_WANT_IMAGE,		/* the mapped file itself */
	PS_WANT_DEBUG,		/* its separate debug information */
	PS_WANT_ALT,		/* what dwz(1) moved out of several debug files */
	PS_WANT_KERNEL,		/* vmlinux */
	PS_WANT_KALLSYMS,
	PS_WANT_VDSO,
	PS_WANT_PACKAGE,	/* the .dwp of the mapped file: its split debug information */
	PS_WANT_OBJECT,		/* the .dwo of a unit */
	PS_WANT_MODULE,		/* a kernel module, which may be compressed by xz, zstd or gzip */
	PS_WANT_VDSO_32,	/* that of 32-bit processes of a 64-bit kernel */
};

/* How a name for a file came about. */
enum ps_file_place {
	PS_PLACE_NAMED,		/* from a directory or file of ps_places that the user named */
	PS_PLACE_SYSROOT,	/* to be resolved inside ps_places.sysroot */
	PS_PLACE_BUILD_ID,	/* from the build id, in the usual directories */
	PS_PLACE_RECORDED,	/* the recorded path */
	PS_PLACE_RUNNING,	/* of the running kernel: /proc/kallsyms, /sys/kernel/notes,
				 * /proc/PID/stat, or PS_RUNNING_VDSO and PS_RUNNING_VDSO_32, which
				 * are no files */
	PS_PLACE_TEMPORARY,	/* what a JIT compiler writes while it runs */
	PS_PLACE_DEBUGLINK,	/* what .gnu_debuglink names, next to the recorded path and in the
				 * usual directories; the path in .gnu_debugaltlink */
	PS_PLACE_PROCESS,	/* the same and the recorded path, to be resolved inside the root
				 * directory of a process: after "/proc/PID/root", or one
				 * of ps_places.roots */
	PS_PLACE_DEBUGINFOD,	/* no path, but what a debuginfod server is asked for:
				 * "debuginfod:BUILD_ID/executable", or .../debuginfo */
	PS_PLACE_MAPPED,	/* what a process still has mapped, though no path may lead to it:
				 * "/proc/PID/map_files/START-END"; or one of ps_places.files */
};

/* Whether files are asked for that are nowhere on this machine. */
enum ps_network { PS_OFFLINE, PS_DEBUGINFOD };

#define PS_RUNNING_VDSO "[vdso]"
#define PS_RUNNING_VDSO_32 "[vdso32]"	/* which the kernel maps by ARCH_MAP_VDSO_32 */

#define PS_BUILD_ID_MAX 64	/* bytes */

/* A file that is kept open, though no path may lead to it. */
struct ps_held_file {
	const char *path;		/* "/proc/PID/fd/N" */
	uint64_t ino;
};

/* A process that may have ended: where its JIT compiler wrote perf-PID.map or a jitdump. */
struct ps_held_process {
	int32_t pid;
	int32_t inner_pid;		/* its number in its own PID namespace */
	const char *root;		/* "/proc/PID/fd/N"; NULL: the caller's root directory */
};

/* A copy of what the JIT compiler of a process that has ended wrote: perf-PID.map or a jitdump. */
struct ps_jit_copy {
	int32_t pid;
	enum ps_jit_copy_of { PS_COPY_PERF_MAP, PS_COPY_JITDUMP } of;
	const char *path;		/* "/proc/PID/fd/N" */
};

/* Where to look for files besides the usual directories. Members may be NULL. */
struct ps_places {
	size_t size;			/* PS_PLACES() sets it */
	const char *sysroot;
	/* with files, or copies of a tree, /usr/lib/debug, ~/.debug or a debuginfod cache */
	const char *const *debug_dirs;
	size_t nr_debug_dirs;
	const char *home;		/* perf keeps files in .debug below it */
	const char *debuginfod_cache;
	const char *vmlinux, *kallsyms;
	enum ps_network network;
	/* Root directories of processes that may have ended, "/proc/PID/fd/N": for images that are
	 * nowhere else, as PS_PLACE_PROCESS */
	const char *const *roots;
	size_t nr_roots;
	/* Files of such processes: for images that are nowhere else */
	const struct ps_held_file *files;
	size_t nr_files;
	/* Processes whose JIT code is not in /tmp/perf-PID.map under their number here, or below
	 * another root directory */
	const struct ps_held_process *processes;
	size_t nr_processes;
	/* The latest of a process counts. They have the times of what they are copies of. */
	const struct ps_jit_copy *copies;
	size_t nr_copies;
};
#define PS_PLACES(...) PD_OPTIONS_OF(ps_places, __VA_ARGS__)

/* A process, and where it mapped a file; end 0: not known. */
struct ps_mapper {
	int32_t pid;
	uint64_t start, end;
	const char *root;		/* its root directory; NULL: "/proc/PID/root" */
};

struct ps_wanted {
	enum ps_want kind;
	const char *path;		/* as recorded, or NULL; of PS_WANT_ALT as the file states
					 * it that needs it */
	struct pd_bytes build_id;	/* as recorded; empty: unknown */
	const char *debuglink;		/* name and checksum that the image states for its debug */
	uint32_t crc;			/* file; NULL: none */
	/* Processes that mapped the file: if one still runs, the path means what it means there. */
	const struct ps_mapper *mappers;
	size_t nr_mappers;
	const char *linking;		/* PS_WANT_ALT: the file that needs it, to whose directory a
					 * path may be relative; NULL: none */
	enum ps_file_place linking_place;
	uint64_t ino;			/* as recorded; 0: unknown */
};

/* How it is known that a file is the one of the recording. */
enum ps_match {
	PS_MISMATCH,		/* it is another file: never used */
	PS_MATCH_BUILD_ID,
	PS_MATCH_DEBUGLINK,	/* the checksum of .gnu_debuglink */
	PS_MATCH_INODE,		/* no build id was recorded; inode, device and age fit. Weak */
	PS_MATCH_NAME_ONLY,	/* no build id was recorded; the path and the age fit. Weaker */
	PS_MATCH_UNVERIFIED,	/* no build id was recorded; only the path fits. Says nothing */
};

/* Returns the name of a match, "BUILD_ID". Static. Safe in any thread. */
PS_API const char *ps_match_name(enum ps_match match);

/* --- names --- */

/* Length of the longest demangled name, its NUL included. Longer ones stay mangled. */
#define PS_NAME_MAX 65536

/* Writes the readable form of a C++, Rust or OCaml name, without parameters, to `buf`:
 * NUL-terminated. Returns its length, or 0 if the name is not a mangled one, is longer than 16 KiB,
 * or does not fit into `size` bytes or PS_NAME_MAX; `buf` is then undefined. Takes bounded time and
 * no heap memory that outlives the call. Safe in any thread. */
PS_API size_t ps_demangle(struct pd_bytes name, char *buf, size_t size);

/* Names of functions, and paths of source files, that sessions return have fewer bytes: of longer
 * ones the beginning is kept, and "..." stands for the rest. No compiler is known to need as many.
 * (A callchain has eight bytes for an address.) */
enum { PS_FUNCTION_MAX = 8192, PS_SOURCE_PATH_MAX = 4096 };

/* --- a recording --- */

/* Names for the addresses of one recording. Files are opened on first need. */
struct ps_session;

enum ps_depth {
	PS_NAMES,		/* of functions */
	PS_INLINES,		/* and of the functions that are inlined there */
	PS_LINES,		/* and files and lines */
};

/* Treatment of files without a recorded build id. */
enum ps_unverified {
	PS_UNVERIFIED_USE,	/* used if they are older than the recording, and marked */
	PS_UNVERIFIED_REFUSE,
	PS_UNVERIFIED_ALWAYS,	/* also if their age is not known, or they are newer */
};

/* Whether a session keeps what it found, for ps_bundle(). */
enum ps_collect { PS_FORGET, PS_COLLECT };

enum ps_bundle_is {
	PS_BUNDLE_WHOLE,
	PS_BUNDLE_CUT,		/* not all addresses of the recording were looked up */
	PS_BUNDLE_FEWER_INLINED, /* all were, but not all functions inlined there */
};

/* The clock of a recording's times. */
enum ps_clock {
	PS_CLOCK_OTHER,
	PS_CLOCK_MONOTONIC,	/* that of jitdump: its code is found as it was at a time */
};

/* Another beginning for paths of source files. */
struct ps_prefix {
	const char *from, *to;
};

struct ps_namespace {
	uint64_t dev, inode;
};

/* A name under which a file may be found. */
struct ps_candidate {
	const char *path;
	enum ps_file_place place;
};

struct ps_options {
	size_t size;			/* PS_OPTIONS() sets it */
	const struct pd_history *history;	/* sealed; borrowed until ps_free() */
	const struct ps_places *places;		/* the same, with its strings; may be NULL */
	uint64_t memory_limit; /* bytes, of files that can't be mapped, tables and names; 0:
					 * 1 GiB */
	enum ps_depth depth;
	enum ps_unverified unverified;
	uint32_t max_frames;		/* of a copied stack; 0: 127 */
	/* A reader of the recording that has given no records yet: ps_new() takes from it when the
	 * recording began, the clock, and names that its features have: PD_SYMBOLS if there is no
	 * bundle, SIMPLEPERF_FILE and SIMPLEPERF_FILE2; with PS_LINES the source lines of
	 * BPF_PROG_INFO and BPF_BTF. A stream has no features before its end. NULL: none. */
	struct pd_reader *recording;
	/* Without `recording`: when it began, in s since 1970; 0: not known. Files without a build
	 * id must be older, files of JIT compilers newer: they are not used if it is not known. */
	uint64_t began;
	/* When it ended, if that was right now on this machine, else 0: files that were written in
	 * the meantime are used if their inode is the recorded one, and the kernel is the
	 * recorded one. */
	uint64_t ended;
	enum ps_clock clock;	/* without `recording` */
	/* A section of feature PD_SYMBOLS, in any byte order. Copied. Its names are used where
	 * there is no other source, with PS_NAMES before all others. */
	struct pd_bytes bundle;
	enum ps_collect collect;
	/* Opens a file for reading: returns a descriptor, which the session closes, or -1. Called
	 * by ps_resolve(), for one file at a time, maybe in different threads. */
	int (*open)(void *ctx, const char *path, enum ps_file_place place);
	void *ctx;
	/* For paths of source files; of several that fit, the last counts. Borrowed until
	 * ps_free(), with the strings. */
	const struct ps_prefix *prefixes;
	size_t nr_prefixes;
	/* The mount namespace of the caller, as stat(2) of /proc/self/ns/mnt has it; inode 0: not
	 * known. Paths that only processes of another one mapped name other files here. */
	struct ps_namespace mount_namespace;
	/* Number of threads that will call ps_frames() and ps_resolve(); 0: 1. With several, the
	 * session has one more that opens debug information while they unwind. */
	uint32_t threads;
	/* The name of this machine, as uname(2) has it: with a `recording` of a machine of that
	 * name, a file at a recorded path that has another inode is another file. NULL: not
	 * known. */
	const char *machine;
	/* With PS_CLOCK_OTHER and `ended`: a moment on the recording's clock and on
	 * CLOCK_MONOTONIC, in ns. The code of a jitdump is found as it was at a time, unless it
	 * changed then, by as much as clocks may differ in a recording as long. Both 0: not
	 * known. */
	uint64_t moment, moment_monotonic;
	/* Opens the first of `n` files that can be opened, and sets *which to its index: one
	 * question to another process in place of many. As `open` otherwise, which is still called
	 * for single files. NULL: `open` is called for each. */
	int (*open_first)(void *ctx, const struct ps_candidate *files, size_t n, size_t *which);
};
#define PS_OPTIONS(...) PD_OPTIONS_OF(ps_options, __VA_ARGS__)

/* Creates a session. `o` is copied. Returns NULL on failure and sets *e: PD_E_NOMEM, or
 * PD_E_ARGUMENT without a history or a function to open files. Free it with ps_free(). */
PS_API struct ps_session *ps_new(const struct ps_options *o, struct pd_error *e);

/* Frees the session and all that it returned. `s` may be NULL. */
PS_API void ps_free(struct ps_session *s);

/* Finds the functions at a location that the history returned for process `pid`. Fills in *out,
 * whose pointers are valid until ps_free(). May be called by any number of threads. */
PS_API void ps_resolve(struct ps_session *s, int32_t pid, const struct pd_location *l,
		       struct pd_frame_names *out);

/* --- copied stacks --- */

/* Why the chain of a copied stack ends where it does. */
enum ps_end {
	PS_END_NONE,		/* not unwound */
	PS_END_BOTTOM,		/* the outermost frame: it has no return address */
	PS_END_STACK_CUT,	/* needs bytes beyond a full copy */
	PS_END_OTHER_STACK,	/* needs bytes of a stack that was not copied */
	PS_END_NO_MAP,		/* the address is in no executable mapping */
	PS_END_NO_FILE,		/* the image's file is not there */
	PS_END_MISMATCH,	/* the file found is another build */
	PS_END_NO_CFI,		/* no call frame information, and no frame pointer to follow */
	/* the information is damaged, or needs a register that is unknown */
	PS_END_BAD_CFI,
	PS_END_NO_PROGRESS,	/* the caller's frame would not be above this one */
	PS_END_MAX_FRAMES,
	PS_END_NO_ARCH,		/* stacks of this machine are not unwound, or it is not recorded */
	PS_END_LIMIT,		/* the memory limit leaves no room to unwind */
};

/* Returns "BOTTOM", ...; "" for PS_END_NONE. Static. Safe in any thread. */
PS_API const char *ps_end_name(enum ps_end end);

/* Locates the addresses of a sample as pd_history_frames() does; but if the sample has a copied
 * stack (pd_record_copied_stack()) of a supported machine, the stack is unwound by the call frame
 * information of the mapped files, and its addresses replace the user part: they come after the
 * kernel's. Fills in up to `capacity` locations and returns the number of addresses,
 * which may be more: all of them are found then by a call with that capacity. Sets *end, which is
 * PS_END_NONE where nothing was unwound. May be called by any number of threads; calls on records
 * of one reader must not overlap. */
PS_API size_t ps_frames(struct ps_session *s, const struct pd_record *sample,
			struct pd_location *out, size_t capacity, enum ps_end *end);

/* Fills in *out for an image of the history. Returns false if no name in it was asked for. Pointers
 * are valid until ps_free(). May be called by any number of threads. */
PS_API bool ps_session_image(struct ps_session *s, uint32_t image, struct pd_image_file *out);

/* A file that has more of an image's names and lines, or would have them, and is not used. */
enum ps_lack {
	PS_LACK_IMAGE,		/* the file that was found is another one, or not shown to be the
				 * recorded one: only the recording has names */
	PS_LACK_SPLIT,		/* a .dwo, or the .dwp next to the image: not found */
	PS_LACK_ALT,		/* what dwz(1) moved out of the debug information: not found */
	PS_LACK_DEBUG,		/* the debug file that was found is of another build, or damaged */
	PS_LACK_READABLE,	/* its debug information is damaged, or can't be expanded */
	PS_LACK_VMLINUX,	/* ps_places.vmlinux: not the recorded kernel, or no symbols */
	PS_LACK_KALLSYMS,	/* ps_places.kallsyms: not of the recorded kernel as it ran */
	PS_LACK_ADDRESSES,	/* the same file: all its addresses are 0 */
	PS_NR_LACKS,
};

/* Returns the path of such a file, the first one if an image lacks several, or NULL. Valid until
 * ps_free(). May be called by any number of threads. */
PS_API const char *ps_session_lacks(struct ps_session *s, uint32_t image, enum ps_lack what);

/* Returns whether memory was refused: names, lines or stacks may be missing. May be called by any
 * number of threads. */
PS_API bool ps_session_lacks_memory(const struct ps_session *s);

/* Returns the session as a source of names for pd_sink_new_json(), pp_new() and pc_new(), without
 * totals(). Valid until ps_free(). */
PS_API struct pd_namer ps_session_namer(struct ps_session *s);

/* Returns whether there is a bundle and it is whole: one that is damaged, or of a later version,
 * has fewer names. */
PS_API bool ps_session_has_bundle(const struct ps_session *s);

/* Looks up the functions that are inlined at the addresses that ps_resolve() found so far, and with
 * PS_LINES files and lines, for ps_bundle(): opens debug information. Calls is_over() between two
 * addresses, and returns false once that returns true: the other addresses have names only. The
 * session must be one for ps_bundle(). */
PS_API bool ps_collect_inlined(struct ps_session *s, enum ps_depth depth,
			       bool (*is_over)(void *ctx), void *ctx);

/* Makes a section of feature PD_SYMBOLS, in this machine's byte order, of what was found so far.
 * The session must have the depth PS_NAMES, and PS_COLLECT. Returns it, valid until the next call
 * or ps_free(); size 0: there are none, or no memory. */
PS_API struct pd_bytes ps_bundle(struct ps_session *s, enum ps_bundle_is is);

#ifdef __cplusplus
}
#endif
#endif
