/* session.h - the parts of a session: images with their files, the kernel, JIT code, and what was
 * found so far. */
#ifndef PS_SESSION_SESSION_H
#define PS_SESSION_SESSION_H

#include <pthread.h>
#include <time.h>

#include "base/arena.h"
#include "base/map.h"
#include "bpf/lines.h"
#include "bundle/bundle.h"
#include "bundle/simpleperf.h"
#include "debug/index.h"
#include "find/candidates.h"
#include "find/verdict.h"
#include "image/binary.h"
#include "jit/code.h"
#include "kernel/kallsyms.h"
#include "pd/symbols.h"
#include "unwind/unwind.h"

/* Bits of pd_image_file.sources besides those of enum ps_source. */
enum {
	PS_FROM_DEBUG_FILE = PS_FROM_FDE + 1,
	PS_FROM_RECORD,		/* KSYMBOL: the recording has the name */
	PS_FROM_JITDUMP_UNTIMED,	/* its times are of another clock */
	PS_FROM_BUNDLE,		/* feature PD_SYMBOLS */
	PS_FROM_SPLIT,		/* .dwo or .dwp */
	PS_FROM_SIMPLEPERF,	/* features of simpleperf */
	PS_NR_SOURCES,
};

/* Whether the session's own thread opens the debug information of an image. */
enum ps_opening { PS_SETTLED, PS_WAITING, PS_OPENING };

/* The files of an image of the history. */
struct ps_loaded {
	bool tried;
	struct ps_binary binary;	/* if why is PD_WHY_FOUND */
	struct ps_elf alt;
	struct ps_elf dwp;		/* `elf` is NULL: not found so far */
	bool has_no_dwp;
	struct ps_session *session;
	const char *recorded_path;	/* without what the kernel appends for deleted files */
	/* Only the thread that opens it uses it until `opening` is PS_SETTLED: both are read by
	 * ps_session_has_debug(). */
	struct ps_debug debug;
	bool has_debug;
	bool is_debug_deferred;		/* not opened: the bundle has what it would tell */
	bool lacks_memory;		/* for it, or for a part of it */
	enum ps_opening opening;	/* under the lock */
	struct ps_loaded *next_waiting;
	struct ps_cfi *cfi;		/* NULL: not asked for yet */
	uint8_t why;
	enum ps_match match;
	bool is_given;			/* names of the recording were used */
	const char *path, *debug_path;
	const char *lacks[PS_NR_LACKS];	/* NULL: nothing. The thread that opens the debug
					 * information sets PS_LACK_READABLE */
	enum ps_file_place place, debug_place;
	struct ps_mapper from;		/* the process that led to it; pid 0: none */
	struct pd_bytes other_id;
	uint32_t sources;
};

struct ps_kernel {
	bool tried_vmlinux, tried;
	struct ps_loaded *vmlinux;	/* NULL: not found */
	uint64_t slide;		/* an address then, less that in vmlinux */
	uint8_t why;		/* PD_WHY_FOUND: kallsyms is there */
	struct pd_buf text;
	struct ps_kallsyms kallsyms;
	struct pd_map places;	/* name in kallsyms, by its address -> where the file of its module
				 * has it */
};

/* Times of the recording at which the last process with a number ran. */
struct ps_life {
	uint64_t start;		/* 0: not known, or before the recording */
	uint64_t end;		/* of its last thread; PD_NO_TIME: not recorded */
	bool is_second;		/* another process had the number before, in the recording */
};

/* Names that a JIT compiler wrote for its code. */
struct ps_jit_file {
	bool is_found;
	bool is_unverified;	/* there is a file, but no time of day to compare its age with */
	uint64_t written;	/* as a time of the recording; PD_NO_TIME: not known */
	struct pd_buf text;
	struct ps_jit_code code;
};

/* The addresses that were found, for a bundle. */
struct ps_hit;

struct ps_collected {
	struct pd_map seen;	/* address -> the first struct ps_hit there */
	struct ps_hit *first;
	size_t nr;
};

struct ps_process_code {
	struct ps_jit_file dump, map;	/* the first has times */
	const struct ps_life *life;	/* NULL: not known */
	struct ps_collected collected;
	int32_t pid;
	struct ps_process_code *next;	/* of all processes */
};

#define PS_CHAIN_MAX 128		/* functions at an address; the outermost are left out */
#define PS_CHAIN_TEXT 65536		/* bytes of their names and paths, or only the outermost
					 * is there */

/* The functions at an address. */
struct ps_known {
	const struct pd_function *functions;
	size_t nr_functions;
	uint64_t start;		/* of the last one, or of the extent */
	uint64_t base;		/* the same, as an offset in the file or, outside of files, as an
				 * address of the process */
	uint64_t elf_address;	/* that was looked up in an ELF file; 0: in none */
	uint64_t from;		/* of the times of JIT code at which this is known: the first, by
				 * the clock of the recording; 0: all */
	uint8_t why;
	uint8_t source;		/* PS_FROM_BUNDLE, PS_FROM_SIMPLEPERF; 0: others */
	bool has_extent, is_in_file, is_unverified;
};

/* Which processes mapped an image. */
enum {
	PS_MAPPERS = 4,		/* kept */
	PS_MAPPERS_MOST = 8,	/* with some of their children */
};

struct ps_mappers {
	struct ps_mapper of[PS_MAPPERS];	/* the latest first */
	uint8_t nr;
	bool is_here, is_elsewhere;	/* in the mount namespace of this machine's paths, or not */
};

struct ps_mapped_by {
	bool tried;
	struct ps_namespace host;	/* inode 0: not known */
	struct ps_mappers *images;	/* by index of the history */
	struct pd_map children;		/* pid -> that of a child */
};

/* A thread that opens debug information, under the session's lock. */
struct ps_background {
	pthread_t thread;
	bool is_started, is_over;
	pthread_cond_t changed;
	struct ps_loaded *first;	/* of those that wait */
};

#define PS_LAST_WORKERS 16	/* a power of 2 */

/* An unwinder that a thread has used last and no thread uses, in a cache line of its own. Accessed
 * atomically, without the lock. */
struct ps_used_last {
	struct ps_stack_worker *worker;		/* NULL: none */
	char apart[64 - sizeof(void *)];
};

#define PS_RECENT 8192		/* a power of 2 */

/* The functions at an address in a file: not changed once other threads can find them. */
struct ps_known_address {
	uint64_t key;		/* image and address */
	struct ps_known known;
};

struct ps_session {
	struct ps_options options;
	bool is_of_this_machine;	/* the recording, by its name */
	struct ps_places places;
	struct pd_budget budget;
	struct pd_arena arena;
	pthread_mutex_t lock;
	struct ps_loaded *images;	/* by index of the history */
	size_t nr_images;
	struct ps_mapped_by mapped_by;
	struct ps_kernel kernel;
	struct pd_map processes;	/* pid + 1 -> struct ps_process_code */
	/* ns since 1970 at the recording's time 0; may wrap */
	uint64_t wall_at_0;
	bool has_wall;
	struct pd_map lives;		/* pid + 1 -> struct ps_life */
	bool has_lives;
	struct pd_map dumps;		/* pid + 1 -> struct pd_image of its jitdump */
	bool has_dumps;
	struct ps_process_code *first_process;
	struct pd_map jit_frames;	/* struct ps_jit_range, by its address -> struct
					 * ps_jit_frames */
	uint32_t nr_jit_frames;
	struct ps_jit_frames *kept_jit_frames;	/* the first, for a bundle */
	struct pd_buf bundle;		/* as it was given */
	bool given_is_whole;		/* all of it could be read */
	bool given_has_inlined;		/* see struct ps_bundle_images */
	struct ps_bundle_image **given;	/* by index of the history; NULL: none at all */
	struct pd_map given_code;	/* pid + 1 -> struct ps_bundle_image */
	struct pd_map given_chains;	/* ps_bundle_image.hits[i] -> struct pd_function, several */
	struct pd_buf device_text;	/* the section of simpleperf, as it was given */
	struct ps_simpleperf_file *device_files;
	size_t nr_device_files;
	struct ps_simpleperf_file **device;	/* by index of the history; NULL: none at all */
	struct ps_collected *collected;	/* by index of the history; NULL: nothing is kept */
	struct pd_buf made;		/* by ps_bundle() */
	struct pd_map known;		/* image and address -> struct ps_known_address */
	/* These by hash, as far as there is room: set under the lock, read without it. */
	struct ps_known_address *recent[PS_RECENT];
	struct pd_map named;		/* mangled name, by its address -> struct pd_function */
	struct ps_bpf bpf;
	struct pd_map placed;		/* a line of JIT or BPF code, by its address -> struct
					 * pd_function */
	struct pd_map source_paths;	/* path, by its address -> with another beginning */
	struct ps_row_keeper asked_rows;	/* for a bundle; its memory is taken from the
						 * budget of the session */
	struct pd_budget rows_budget;
	struct ps_stack_worker *idle;	/* unwinders that no thread uses, under the lock */
	struct ps_used_last used_last[PS_LAST_WORKERS];
	struct ps_background background;
};

static inline enum ps_debug_depth ps_session_depth(const struct ps_session *s)
{
	return s->options.depth >= PS_LINES ? PS_DEBUG_LINES : PS_DEBUG_FUNCTIONS;
}

/* Opens the files of an image on first need. */
struct ps_loaded *ps_session_load(struct ps_session *s, uint32_t index);
/* Opens the debug information of an image whose names were enough so far. */
void ps_session_load_debug(struct ps_session *s, uint32_t index);
/* Returns that of an image's files which may have .debug_frame, or NULL. Looks for a debug file if
 * names did not need it. The lock must be held. */
const struct ps_elf *ps_session_frame_file(struct ps_session *s, struct ps_loaded *l);
void ps_session_unload(struct ps_session *s, struct ps_loaded *l);

/* Returns that of an image's open files which has debug information, or NULL. */
struct ps_elf *ps_session_debug_file(struct ps_loaded *l);
/* Opens the debug information in that file. */
void ps_session_open_debug(struct ps_session *s, struct ps_loaded *l);
/* Has the session's own thread do it, where there is one. */
void ps_session_open_later(struct ps_session *s, struct ps_loaded *l);
/* Returns whether there is debug information. May release the lock for some time, until it is
 * open. */
bool ps_session_has_debug(struct ps_session *s, struct ps_loaded *l);
void ps_session_end_background(struct ps_session *s);

/* Returns what finds the split units of an image's debug information. */
struct ps_split_finder ps_session_split_finder(struct ps_loaded *l);

/* Lists processes that may have the file of an image below their roots, or mapped. Returns their
 * number. */
size_t ps_session_mappers(struct ps_session *s, uint32_t image,
			  struct ps_mapper out[PS_MAPPERS_MOST]);
/* Returns whether only processes of other mount namespaces than that of this machine's paths mapped
 * the image. False if that is not known. */
bool ps_session_is_foreign(struct ps_session *s, uint32_t image);
void ps_session_free_mappers(struct ps_session *s);

/* Returns the recorded kernel's vmlinux, opened on first need, or NULL. */
struct ps_loaded *ps_session_vmlinux(struct ps_session *s);
/* Reads kallsyms as well on first need, if they are those of the recorded kernel as it ran. */
struct ps_kernel *ps_session_kernel(struct ps_session *s);
void ps_session_unload_kernel(struct ps_session *s);

/* Returns what is known of a process's JIT code. Reads it on first need. NULL without memory. */
struct ps_process_code *ps_session_process(struct ps_session *s, int32_t pid);
/* Returns the same, or NULL if there is no file of it. */
struct ps_process_code *ps_session_code(struct ps_session *s, int32_t pid);
/* Returns the JIT code in which to look for a location, or NULL. In memory that a process has from
 * the one that it was forked from, code that is not in its own files is that one's as it was then:
 * the time of *l becomes that of the fork. */
struct ps_process_code *ps_session_code_at(struct ps_session *s, int32_t pid,
					   struct pd_location *l);
/* Finds JIT code as it was when the location was recorded, if that is known. Sets *from to the
 * source. */
enum ps_jit_found ps_session_find_code(const struct ps_session *s, struct ps_process_code *c,
				       const struct pd_location *l, struct ps_symbol *out,
				       unsigned int *from);
void ps_session_unload_code(struct ps_session *s);
/* Returns whether the process that ran at the location's time may have written the file. */
bool ps_session_is_file_of(const struct ps_process_code *c, const struct ps_jit_file *f,
			   const struct pd_location *l);

/* Returns when the code at the location ran, by the clock of the process's jitdump. */
struct ps_jit_time ps_session_time_in_dump(const struct ps_session *s,
					   const struct ps_process_code *c,
					   const struct pd_location *l);
/* Returns since when a search has found what it finds there, in the dump or else in the map, by the
 * clock of the recording; 0: at all times. */
uint64_t ps_session_code_since(const struct ps_session *s, struct ps_process_code *c,
			       const struct pd_location *l);
/* The same of names, whatever their source: pd_namer.since(). */
uint64_t ps_session_since(struct ps_session *s, int32_t pid, const struct pd_location *l);
/* Finds the call frame information that the process's jitdump has for the code at a location. False
 * if there is none. Sets *is_of_time if that depends on the location's time. The lock must be
 * held. */
bool ps_session_jit_place(struct ps_session *s, int32_t pid, const struct pd_location *l,
			  struct ps_place *out, bool *is_of_time);
/* Returns copies of the rows of a process's JIT code that were asked for, as far as only one piece
 * of code was ever at their addresses. */
const struct ps_asked_row *ps_session_jit_asked(struct ps_session *s,
						struct ps_process_code *code);
void ps_session_free_jit_frames(struct ps_session *s);

/* Returns when the last process with that number ran; NULL: not known. */
const struct ps_life *ps_session_life(struct ps_session *s, int32_t pid);
/* Returns whether a process of the recording still runs that began before `wall`, a time before the
 * recording. */
bool ps_session_ran_before(struct ps_session *s, int32_t pid, const struct timespec *wall);
/* Returns the time of any clock in ns. */
uint64_t ps_time_in_ns(const struct timespec *t);
/* Returns wall time as a time of the recording; PD_NO_TIME if that does not tie its clock to it. */
uint64_t ps_session_recorded_time(const struct ps_session *s, const struct timespec *wall);

/* Finds the functions at an address of an image whose files are open. */
void ps_session_functions(struct ps_session *s, struct ps_loaded *l, uint64_t address,
			  struct ps_known *out);
/* The same where the symbol is known: with what is inlined there. Nothing is set if it has no name
 * and the debug information has none. */
void ps_session_chain(struct ps_session *s, struct ps_loaded *l, uint64_t address,
		      const struct ps_symbol *symbol, struct ps_known *out);
/* Finds the functions at an address of a kernel module, in a function of kallsyms. Returns false if
 * the module's file does not tell. */
bool ps_session_module_function(struct ps_session *s, struct ps_loaded *l,
				const struct ps_symbol *symbol, uint64_t address,
				struct ps_known *out);
/* Returns the function of a mangled name. Functions are kept by the addresses of their names. NULL
 * without memory. */
const struct pd_function *ps_session_name(struct ps_session *s, struct pd_bytes name);
/* Returns a copy of fewer than `max` bytes: of a longer text the beginning, and "...". NULL without
 * memory. */
const char *ps_session_text(struct ps_session *s, struct pd_bytes text, size_t max);
/* Returns whether the functions at an address have no more text than PS_CHAIN_TEXT. */
bool ps_session_is_short(const struct pd_function *functions, size_t n);
/* Sets *out to one function. */
void ps_session_symbol(struct ps_session *s, const struct ps_symbol *symbol, struct ps_known *out);

/* Sets the file and line of a name that has none. Functions are kept by the address of `line`. */
void ps_session_place(struct ps_session *s, const void *line, const char *file, uint32_t number,
		      struct ps_known *out);

/* Returns the path of a source file as the options want it; NULL without memory, or if it is
 * NULL. Paths are kept by their addresses. */
const char *ps_session_source_path(struct ps_session *s, const char *path);

/* Returns how a chain ends that comes from a call in the function of that name, if that went on to
 * another stack; else PS_END_NONE. */
enum ps_end ps_session_switched(const char *name, size_t size);

/* stack.c: frees the unwinders. */
void ps_session_free_unwinders(struct ps_session *s);

/* A return address belongs to the call before it. */
static inline uint64_t ps_lookup_of(const struct pd_location *l, uint64_t address)
{
	return l->flags & PD_LOCATION_RETURN && address ? address - 1 : address;
}

#define PS_OF_DATA (1ull << 63)		/* no offset or address of a process has it */

/* Returns the address of a location in a bundle, where data has other names than code. */
static inline uint64_t ps_address_in_bundle(const struct pd_location *l, uint64_t address)
{
	return l->of == PD_LOCATION_OF_ADDR ? address | PS_OF_DATA : ps_lookup_of(l, address);
}

/* The address to look up in a table of the kernel's symbols. Its chains have some exact
 * addresses: where entry code begins that no call has as its return address, as ret_from_fork. */
uint64_t ps_lookup_in_kernel(const struct pd_location *l, const struct ps_symtab *symbols,
			     uint64_t address);

/* Reads what the recording has, if the options name it. */
void ps_session_read_recording(struct ps_session *s);
/* Reads a bundle, and assigns its names to the images of the history. Without memory there are
 * fewer. */
void ps_session_read_bundle(struct ps_session *s, struct pd_bytes section);
/* Returns whether the bundle has all that debug information would add to an image: the recorder
 * had it, as some functions are inlined. Files that the user names may add more. */
bool ps_session_is_inlined_given(const struct ps_session *s, uint32_t image);
/* Finds a location in the bundle. Returns false if it is not there. */
bool ps_session_given(struct ps_session *s, int32_t pid, const struct pd_location *l,
		      struct ps_known *out);
/* Sets *since as ps_session_since() returns it. Returns false if the location is not there. */
bool ps_session_given_since(struct ps_session *s, int32_t pid, const struct pd_location *l,
			    uint64_t *since);
/* Notes that a location has a name of the recording. */
void ps_session_mark_given(struct ps_session *s, const struct pd_location *l,
			   const struct ps_known *given);
/* Finds the variable at a data address, or why there is none. Returns false if it may be a
 * function's. The lock must be held. */
bool ps_session_variable(struct ps_session *s, int32_t pid, const struct pd_location *l,
			 struct ps_known *out);
/* The same for what simpleperf found. */
void ps_session_read_device(struct ps_session *s, struct pd_bytes section,
			    enum ps_simpleperf_form form);
bool ps_session_device(struct ps_session *s, const struct pd_location *l, struct ps_known *out);
void ps_session_free_device(struct ps_session *s);
/* Returns the call frame information of an image in the bundle, or NULL. */
struct ps_cfi *ps_session_given_cfi(struct ps_session *s, uint32_t image);
/* From now on keeps the rows of call frame information that unwinding asks for, for a bundle. */
void ps_session_keep_rows(struct ps_session *s, struct ps_cfi *cfi);
/* Sets the rows of an image. Without memory there are none. */
void ps_session_set_rows(struct ps_session *s, const struct ps_loaded *l,
			 struct ps_bundle_image *image);
/* The same for the JIT code of a process. */
void ps_session_set_jit_rows(struct ps_session *s, const struct ps_asked_row *asked,
			     struct ps_bundle_image *image);
void ps_session_free_rows(struct ps_session *s);
/* Keeps where a variable begins and ends, for a bundle. */
void ps_session_collect_variable(struct ps_session *s, int32_t pid, const struct pd_location *l,
				 const struct ps_known *found, uint64_t size);
/* Keeps what was found at a location, for a bundle. */
void ps_session_collect(struct ps_session *s, int32_t pid, const struct pd_location *l,
			const struct ps_known *found);
void ps_session_free_bundle(struct ps_session *s);

/* Opens candidates for a file, one after the other, until `use` takes one. */
struct ps_search {
	struct ps_wanted what;
	/* Returns whether the search is over. */
	bool (*use)(struct ps_search *search, int fd, const struct ps_candidate *found);
	struct ps_session *session;
	void *ctx;
};
bool ps_session_search(struct ps_search *search);

#endif
