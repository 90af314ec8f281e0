/* history.h - tasks and maps over time: whose sample it is, and which file its addresses are in.
 *
 * A history learns from the side-band (COMM, FORK, EXIT, MMAP2, KSYMBOL, ...), is sealed, and then
 * answers for any moment:
 *
 *	struct pd_history *h = pd_history_new(NULL, &e);
 *
 *	pd_history_learn(h, reader, &e);	// the whole recording
 *	pd_history_seal(h, reader, &e);
 *	// with a second reader, for each sample:
 *	pd_record_moment(sample, &moment);
 *	pd_history_task(h, pid, tid, cpu, &moment, &task);
 *	n = pd_history_frames(h, sample, locations, capacity);
 *
 * It is right for records in any order of the file, because it orders the side-band by time (where
 * that has no times, by offset). An answer that the recording does not contain is absent, with the
 * reason: nothing is guessed.
 *
 * Threads: calls on one history must not overlap until it is sealed. After that they only read it:
 * any number of threads may call the functions that take a const history.
 *
 * Lifetime: all that a history returns is valid until pd_history_free(). It keeps nothing of a
 * reader or a record.
 */
#ifndef PD_HISTORY_H
#define PD_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"
#include "pd/error.h"
#include "pd/fields.h"
#include "pd/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_attr;
struct pd_history;
struct pd_index;

enum pd_history_mode {
	PD_HISTORY_WHOLE,	/* learned, sealed, and asked for any moment */
	/* For a stream that is read once, in the order of time (PD_BY_TIME):
	 * pd_history_add_record() must be called for each record, samples included, and the
	 * answers are for the moment of the last one, whatever moment they are asked for.
	 * Tasks that ended are forgotten when a quarter of the memory is in use, at the earliest
	 * two rounds later. Records that come too late are counted (pd_history_counts.late). It has
	 * images, but lists no tasks and no maps, and is used by one thread. Sealing it completes
	 * the images. */
	PD_HISTORY_LIVE,
};

enum pd_history_scope {
	PD_HISTORY_ALL,		/* tasks, and what is mapped */
	PD_HISTORY_TASKS,	/* no maps and no images: addresses are in no file */
};

struct pd_history_options {
	size_t size;		/* PD_HISTORY_OPTIONS() sets it */
	uint64_t memory_limit;	/* bytes that the recording can make the history allocate; 0:
				 * 256 MiB */
	enum pd_history_mode mode;
	uint32_t word_size;	/* bytes of an address of the kernel, for a recording without the
				 * feature ARCH, such as one that just ended; 0: unknown */
	enum pd_history_scope scope;
};
#define PD_HISTORY_OPTIONS(...) PD_OPTIONS_OF(pd_history_options, __VA_ARGS__)

/* Creates a history. `o` is copied and may be NULL. Returns NULL on failure and sets *e:
 * PD_E_NOMEM. Free it with pd_history_free(). */
PD_API struct pd_history *pd_history_new(const struct pd_history_options *o, struct pd_error *e);

/* Frees the history and all that it returned. `h` may be NULL. */
PD_API void pd_history_free(struct pd_history *h);

/* Learns from all records that the reader still has; samples are skipped quickly. Returns 0, or -1
 * and *e when reading cannot continue, or PD_E_LIMIT when the memory limit is reached: the rest of
 * the recording is then not learned, what was learned still answers, and the rest is LIMIT. */
PD_API int pd_history_learn(struct pd_history *h, struct pd_reader *r, struct pd_error *e);

/* The same, and adds the records to an index (pd/index.h), so that the samples can be read from
 * several places. Where the records cannot be indexed, it has no more entries. `x` may be NULL. */
PD_API int pd_history_learn_index(struct pd_history *h, struct pd_reader *r, struct pd_index *x,
				  struct pd_error *e);

/* Learns from the records that come next, at most some hundred, and adds them to an index: for
 * callers with a loop of their own. Those for which there is no memory are left out. Returns their
 * number, 0 after the last, or -1 and *e when reading cannot continue. `x` may be NULL. */
PD_API int pd_history_learn_next(struct pd_history *h, struct pd_reader *r, struct pd_index *x,
				 struct pd_error *e);

/* Learns from one record, for callers that read the records themselves: must be called once for
 * each record of one reader; samples may be left out. Returns 0, or -1 and *e as pd_history_learn()
 * does: once, later records are ignored. */
PD_API int pd_history_add_record(struct pd_history *h, const struct pd_record *r,
				 struct pd_error *e);

/* Takes the build ids of the header's feature BUILD_ID from a reader: for a live history, before
 * its first record; pd_history_seal() does so, too. Returns 0, or -1 and *e: PD_E_LIMIT if not all
 * of them fit into the memory limit. */
PD_API int pd_history_add_features(struct pd_history *h, struct pd_reader *r, struct pd_error *e);

/* Ends the learning and prepares the answers. Takes the build ids of the header's feature BUILD_ID
 * from `r`, which may be NULL. Must be called once. Returns 0, or -1 and *e: PD_E_LIMIT if only a
 * part of what was learned fits into the memory limit; the history answers with that part.
 * PD_E_ARGUMENT if it is sealed. */
PD_API int pd_history_seal(struct pd_history *h, struct pd_reader *r, struct pd_error *e);

/* Returns whether a sealed history lacks a part of what it was to learn, for want of memory of its
 * own or of the reader, and then sets *e to a PD_E_LIMIT that says so. */
PD_API bool pd_history_lacks_memory(const struct pd_history *h, struct pd_error *e);

/* --- moments --- */

#define PD_NO_TIME UINT64_MAX

/* When something was recorded. Moments of one recording are ordered by time; those of the same time
 * (or of no time) by where they stand in the recording. One without a time, where others have one,
 * has the latest time of the side-band before it in the recording. */
struct pd_moment {
	uint64_t time;		/* ns; PD_NO_TIME: none */
	uint64_t offset;	/* of the record, as pd_record_offset() */
	uint64_t inner;		/* offset in the decompressed stream, 0: not compressed */
};

/* Sets *out to the moment of a record. Calls on records of one reader must not overlap. */
PD_API void pd_record_moment(const struct pd_record *r, struct pd_moment *out);

/* --- tasks --- */

enum pd_task_flag {
	PD_TASK_IDLE = 1 << 0,		/* the idle task of `cpu`: tid 0 */
	PD_TASK_WAS_THERE = 1 << 1,	/* no record of its start: it ran before the recording */
	PD_TASK_LEADER = 1 << 2,	/* tid == pid */
};

/* The namespaces of a task, in the order of the kernel: net, uts, ipc, pid, user, mnt, cgroup. */
struct pd_namespaces {
	size_t count;		/* of `of`, at most 7 */
	struct {
		uint64_t dev, inode;
	} of[7];
};

/* A thread, from its start until its tid is reused. */
struct pd_task {
	int32_t pid, tid;
	int32_t ppid, ptid;	/* process and thread that created it, -1: not known */
	const char *comm;	/* its name then, NULL: not known; bytes as recorded, not
				 * necessarily UTF-8 */
	uint64_t start, end;	/* ns; PD_NO_TIME: not recorded. Samples after the end can be the
				 * task's, too: it is recorded early in exit(2) */
	uint32_t flags;		/* enum pd_task_flag */
	uint32_t execs;		/* times that it executed a program, in all its life */
	int32_t cpu;		/* of the idle task, else -1 */
	const struct pd_namespaces *namespaces;	/* NULL: not known */
	int32_t machine_pid;	/* of the virtual machine that it runs in, 0: the host */
	int32_t vcpu;		/* of the machine, for a record's task */
	uint64_t reserved;
};

/* Finds the host's thread `tid` of process `pid` (-1: whichever) at a moment. Tid 0 is the idle
 * task of `cpu` (-1: not known), "swapper". Returns false if the recording does not name it; *out
 * then has only pid, tid, cpu, machine_pid and vcpu. */
PD_API bool pd_history_task(const struct pd_history *h, int32_t pid, int32_t tid, int32_t cpu,
			    const struct pd_moment *at, struct pd_task *out);

/* The same for the thread that a record happened in. Where the recording tells which events are of
 * virtual machines (ID_INDEX), it is the machine's. Calls on records of one reader must not
 * overlap. */
PD_API bool pd_history_record_task(const struct pd_history *h, const struct pd_record *r,
				   struct pd_task *out);

/* The same for an item of pd_reader_next_fields(), whose `want` must include PID, TID, TIME, CPU
 * and ID. `at` is the moment of its record; NULL: that of its time and offset, which are enough
 * unless a compressed recording has no times. */
PD_API bool pd_history_fields_task(const struct pd_history *h, const struct pd_fields *f,
				   const struct pd_moment *at, struct pd_task *out);

/* Returns the number of threads in the history, without idle tasks: each life of a tid counts. */
PD_API size_t pd_history_nr_tasks(const struct pd_history *h);

/* Gets the i-th thread, with its last name and namespaces: ordered by machine (the host is the
 * first), tid and start. Returns false after the last. */
PD_API bool pd_history_task_at(const struct pd_history *h, size_t i, struct pd_task *out);

/* Returns the path of a cgroup by the id that samples have, or NULL. Valid until
 * pd_history_free(). */
PD_API const char *pd_history_cgroup(const struct pd_history *h, uint64_t id);

/* --- images: what is mapped --- */

#define PD_NO_IMAGE UINT32_MAX

/* The end of the path of a mapped file that was deleted, and of one in memory. */
#define PD_DELETED " (deleted)"

/* The path of the vdso of 32-bit processes of a 64-bit kernel, which records call "[vdso]", too. */
#define PD_VDSO_32 "[vdso32]"

enum pd_image_kind {
	PD_IMAGE_FILE,
	PD_IMAGE_DELETED,	/* a file that its path no longer names */
	PD_IMAGE_MEMFD,
	/* memory without a file, huge pages: code in it is JIT, or a copy */
	PD_IMAGE_ANONYMOUS,
	PD_IMAGE_HEAP,
	PD_IMAGE_STACK,
	PD_IMAGE_VDSO,
	PD_IMAGE_VSYSCALL,
	PD_IMAGE_SPECIAL,	/* [vvar], [uprobes], anon_inode: */
	PD_IMAGE_KERNEL,
	PD_IMAGE_MODULE,
	PD_IMAGE_BPF,		/* a BPF program or trampoline, by KSYMBOL */
	PD_IMAGE_KERNEL_CODE,	/* other code that the kernel made, by KSYMBOL */
};

/* Returns whether memory of that kind is in no file: its code is a process's own, as that of JIT
 * compilers. */
static inline bool pd_image_kind_is_own_code(unsigned int kind)
{
	return kind == PD_IMAGE_ANONYMOUS || kind == PD_IMAGE_HEAP || kind == PD_IMAGE_STACK;
}

enum pd_build_id_source {
	PD_BUILD_ID_UNKNOWN,
	PD_BUILD_ID_OF_MAP,	/* an MMAP2 states it */
	PD_BUILD_ID_OF_HEADER,	/* the feature BUILD_ID, or a record HEADER_BUILD_ID */
};

struct pd_image {
	uint32_t index;			/* for pd_history_image() */
	uint8_t kind;			/* enum pd_image_kind */
	uint8_t build_id_source;	/* enum pd_build_id_source */
	bool is_guest;			/* of a virtual machine */
	bool has_inode;			/* maj to ino_generation are set */
	const char *path;		/* as recorded, not necessarily UTF-8; the kernel's without
					 * its symbol; of KSYMBOL the symbol's name */
	struct pd_bytes build_id;	/* size 0: not known */
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	const char *symbol;		/* the kernel's: the symbol whose address is in its map's
					 * pgoff ("_text"); else NULL */
	uint32_t bpf_id;		/* of a BPF program; 0: not known */
	int32_t machine_pid;		/* process of the virtual machine; 0: the host, or a guest
					 * that the recording does not tell from others */
	bool is_path_ambiguous;		/* another file had this path in the recording, as maps
					 * show by their inodes; set by pd_history_seal() */
};

/* Returns the number of images. */
PD_API size_t pd_history_nr_images(const struct pd_history *h);

/* Returns an image, or NULL after the last. Valid until pd_history_free(). */
PD_API const struct pd_image *pd_history_image(const struct pd_history *h, size_t i);

/* Returns the name of an enum pd_image_kind, "FILE"; "UNKNOWN" for other numbers. Static. Safe in
 * any thread. */
PD_API const char *pd_image_kind_name(unsigned int kind);

/* Returns the name of a PD_CPUMODE_*, the low three bits of a record's misc: "USER"; NULL for other
 * numbers. Static. Safe in any thread. */
PD_API const char *pd_cpumode_name(unsigned int cpumode);

/* Returns the name of a marker in a callchain, PERF_CONTEXT_*: "USER"; NULL for other entries.
 * Static. Safe in any thread. */
PD_API const char *pd_marker_name(uint64_t entry);

/* --- locations --- */

/* The mode of the CPU at an address: the cpumode of a record's misc. */
enum pd_cpumode {
	PD_CPUMODE_UNKNOWN,	/* the maps of the process are searched, then the kernel's */
	PD_CPUMODE_KERNEL,
	PD_CPUMODE_USER,
	PD_CPUMODE_HYPERVISOR,
	PD_CPUMODE_GUEST_KERNEL,
	PD_CPUMODE_GUEST_USER,
};

/* Why an address has no image, or a frame no name. The later ones are for programs that read the
 * files as well. New ones are appended. */
enum pd_why {
	PD_WHY_FOUND,
	PD_WHY_NO_MAP,		/* in no recorded map */
	PD_WHY_MAPS_LOST,	/* the same, but records were lost before */
	PD_WHY_NO_PID,		/* nothing is recorded of the process */
	PD_WHY_KPTR_RESTRICT,	/* the recorder was not allowed to see kernel addresses */
	PD_WHY_HYPERVISOR,
	PD_WHY_LIMIT,		/* not found, and the history is not complete */
	PD_WHY_NO_FILE,
	PD_WHY_MISMATCH,
	PD_WHY_NOT_ELF,
	PD_WHY_NO_SYMBOLS,
	PD_WHY_NO_SYMBOL,
	PD_WHY_JIT_NO_MAP,
	PD_WHY_NO_KERNEL,
	PD_WHY_FOREIGN_NAMESPACE,
	PD_WHY_BAD_FILE,
	PD_WHY_JIT_REUSED,	/* several functions had the address in turn */
};

/* Returns the word of an enum pd_why, "NO_MAP"; "" for PD_WHY_FOUND, "UNKNOWN" for other numbers.
 * Static. Safe in any thread. */
PD_API const char *pd_why_name(unsigned int why);

enum pd_location_flag {
	PD_LOCATION_DATA = 1 << 0,	/* the map is not executable */
	/* The memory is anonymous and executable, and replaced this map of a file in the same
	 * space: text that was copied to huge pages, unless a JIT symbol is at the address. */
	PD_LOCATION_REMAPPED = 1 << 1,
	PD_LOCATION_RETURN = 1 << 2,	/* pd_history_frames(): a return address, its call is
					 * before it */
	/* ps_frames(): found without call frame information, by instructions or by a frame
	 * pointer, or after such a frame */
	PD_LOCATION_GUESSED = 1 << 3,
	/* pd_history_stitch(): a call that the sample's own branches no longer have */
	PD_LOCATION_STITCHED = 1 << 4,
};

enum pd_location_of {
	PD_LOCATION_OF_IP,
	PD_LOCATION_OF_CALLCHAIN,
	PD_LOCATION_OF_BRANCH_FROM,
	PD_LOCATION_OF_BRANCH_TO,
	PD_LOCATION_OF_STACK,		/* ps_frames(): unwound */
	PD_LOCATION_OF_ADDR,		/* of data, or of what else the event is about */
};

struct pd_location {
	uint64_t addr;
	uint64_t file_offset;	/* addr - start + pgoff; the members from here to map_flags are 0
				 * without an image */
	uint64_t start, len, pgoff;	/* of the map, as recorded; pgoff of the kernel: the address
					 * of pd_image.symbol */
	uint32_t prot, map_flags;	/* of mmap(2); 0: not recorded */
	uint32_t image;		/* for pd_history_image(), or PD_NO_IMAGE */
	uint32_t map;		/* for pd_history_mapping(); of a live history UINT32_MAX */
	uint32_t reserved;
	uint8_t cpumode;	/* enum pd_cpumode */
	uint8_t why;		/* enum pd_why */
	uint8_t flags;		/* enum pd_location_flag */
	uint8_t of;		/* enum pd_location_of; set by pd_history_frames() and the like */
	uint64_t time;		/* ns, of the moment; PD_NO_TIME: none */
};

/* Finds what is mapped at an address of the host's process `pid`. Returns whether it was found; if
 * not, *out has the address, PD_NO_IMAGE and why. */
PD_API bool pd_history_locate(const struct pd_history *h, int32_t pid, uint64_t addr,
			      enum pd_cpumode mode, const struct pd_moment *at,
			      struct pd_location *out);

/* Locates the addresses of a sample: ip, then the callchain, innermost first. The cpumode of each
 * is that of the record, or of the context marker before it; markers are left out. A user part that
 * the kernel recorded later (CALLCHAIN_DEFERRED) stands where its cookie does. The user part of an
 * event with call stacks in branches (pd_attr_has_call_stacks()) is the first address after its
 * marker (if there is none, the target of the newest branch), then the source of each branch: a
 * call, no return address. A sample without branches keeps the callchain. Fills in up to `capacity`
 * locations and returns the number of addresses, which may be more. Calls on records of one reader
 * must not overlap. */
PD_API size_t pd_history_frames(const struct pd_history *h, const struct pd_record *sample,
				struct pd_location *out, size_t capacity);

/* The same for an item of pd_reader_next_fields(), whose `want` must include PID, TIME, IP,
 * CALLCHAIN and ID. It has no branches, so the callchain is taken as it is. */
PD_API size_t pd_history_fields_frames(const struct pd_history *h, const struct pd_fields *sample,
				       struct pd_location *out, size_t capacity);

/* Returns whether samples of an event have call stacks that the CPU recorded as branches (perf's
 * --call-graph lbr). */
PD_API bool pd_attr_has_call_stacks(const struct pd_attr *a);

/* Makes call stacks in branches longer than a CPU keeps them: pd_history_frames() then adds the
 * calls that a sample has lost, if its oldest call is in the same register of the CPU as in the
 * sample before of the same thread. That is a guess: exceptions and longjmp() return from calls
 * without the CPU's notice. At most max_frames calls (0: 127) are in a stack then. Must be called
 * once after pd_history_seal(), before the first question, with a reader of the whole recording by
 * time (PD_BY_TIME). Returns 0, or -1 and *e: PD_E_LIMIT if not all stacks fit into the memory
 * limit; PD_E_ARGUMENT if the recording has no call stacks in branches, or does not state how many
 * of them its CPU keeps (features CPU_PMU_CAPS, PMU_CAPS). */
PD_API int pd_history_stitch(struct pd_history *h, struct pd_reader *r, uint32_t max_frames,
			     struct pd_error *e);

/* Returns a number for what is known at a moment: where it is the same, tasks are the same, and
 * what is mapped where. A live history's is that of the last record. */
PD_API uint64_t pd_history_state_at(const struct pd_history *h, const struct pd_moment *at);

/* The same. Needs no search if the moment's state is that of another moment near it, which the
 * history returned before. */
PD_API uint64_t pd_history_state_near(const struct pd_history *h, const struct pd_moment *at,
				      uint64_t near);

/* Returns whether two states are known to be the same for a thread of the host and its process.
 * States that are far apart are not compared. */
PD_API bool pd_history_same_state(const struct pd_history *h, int32_t pid, int32_t tid,
				  uint64_t one, uint64_t other);

/* Returns how many addresses at the ends of two callchains have the same mode and flags in both:
 * where pid, id and state are the same, pd_history_frames() finds the same for them. Sets *entries
 * to the number of entries that they are, context markers included. A chain without them has the
 * other addresses. */
PD_API size_t pd_history_common_frames(const struct pd_history *h, const struct pd_numbers *one,
				       const struct pd_numbers *other, size_t *entries);

/* Lists the addresses that pd_history_fields_frames() locates, without a search: for callers that
 * keep the locations of those they had before. Only addr, cpumode, flags, of and time are set; the
 * image is PD_NO_IMAGE. */
PD_API size_t pd_history_fields_addresses(const struct pd_history *h,
					  const struct pd_fields *sample, struct pd_location *out,
					  size_t capacity);

/* Locates one of these addresses in place, at the state of the sample's moment. Returns whether it
 * was found. */
PD_API bool pd_history_locate_address(const struct pd_history *h, const struct pd_fields *sample,
				      uint64_t state, struct pd_location *address);

/* Returns a number for what is mapped where at the state of a sample's moment: in its process (mode
 * PD_CPUMODE_USER), or in the kernel (PD_CPUMODE_KERNEL). Where it is the same, an address of that
 * mode has the same location, except for the time. 0: it has no number, as in virtual machines. */
PD_API uint64_t pd_history_mapped(const struct pd_history *h, const struct pd_fields *sample,
				  enum pd_cpumode mode, uint64_t state);

/* Returns a key for an address that pd_history_fields_addresses() has listed: together with `addr`
 * it stands for one location, except for the time. 0: there is no such key. `process`, `kernel`: of
 * pd_history_mapped(). Safe in any thread. */
static inline uint64_t pd_location_key(const struct pd_location *address, uint64_t process,
				       uint64_t kernel)
{
	const uint64_t in = address->cpumode == PD_CPUMODE_KERNEL ? kernel :
			    address->cpumode == PD_CPUMODE_USER	  ? process :
								    0;

	return in ? in << 1 | ((address->flags & PD_LOCATION_RETURN) != 0) : 0;
}

/* Locates the branches of a sample, newest first: from, to, from, to. Else as
 * pd_history_frames(). */
PD_API size_t pd_history_branches(const struct pd_history *h, const struct pd_record *sample,
				  struct pd_location *out, size_t capacity);

/* Locates the data address of a sample (PERF_SAMPLE_ADDR): in the process, else in the kernel. Maps
 * of data must be recorded. Returns false, without *out, if the sample has none, or 0. */
PD_API bool pd_history_data(const struct pd_history *h, const struct pd_record *sample,
			    struct pd_location *out);

/* --- maps --- */

struct pd_mapping {
	int32_t pid;		/* -1: the kernel */
	uint32_t image;		/* PD_NO_IMAGE: KSYMBOL that ends what is mapped there */
	uint64_t time;		/* ns, PD_NO_TIME: none */
	uint64_t until;		/* ns: when other maps or an exec had replaced the last of it;
				 * PD_NO_TIME: not before the end, or at a time not recorded */
	uint64_t start, len, pgoff;	/* as recorded */
	uint32_t prot, flags;	/* of mmap(2); 0: not recorded */
	uint8_t cpumode;	/* enum pd_cpumode */
	bool is_data;		/* not executable */
	uint16_t reserved;
	int32_t machine_pid;	/* process of the virtual machine, 0: the host */
};

/* Returns the number of MMAP, MMAP2 and KSYMBOL records in the history. */
PD_API size_t pd_history_nr_mappings(const struct pd_history *h);

/* Gets the i-th map, in the order of the recording. Returns false after the last. */
PD_API bool pd_history_mapping(const struct pd_history *h, size_t i, struct pd_mapping *out);

/* Totals of a history. */
struct pd_history_counts {
	size_t size;		/* the caller's sizeof(struct pd_history_counts) */
	uint64_t changes;	/* records that were learned */
	uint64_t spaces;	/* address spaces: a process has one for each fork and exec */
	uint64_t text_pokes;	/* TEXT_POKE records: code that the kernel changed keeps its name */
	uint64_t lost;		/* records that LOST counts */
	uint64_t damaged;	/* side-band records that could not be used */
	uint64_t left_out;	/* side-band records after the memory limit was reached */
	uint64_t memory;	/* bytes allocated */
	/* Records that came after others of a later time, so that answers of a live history may
	 * have lacked or mixed up what they say; user parts of callchains that came after their
	 * sample are among them. */
	uint64_t late;
	uint64_t forgotten;	/* tasks that a live history forgot */
	/* Samples without a time, while the side-band has times: a live history answers for the
	 * moment they were added. */
	uint64_t untimed;
};

/* Fills in *out. out->size must be set. */
PD_API void pd_history_count(const struct pd_history *h, struct pd_history_counts *out);

#ifdef __cplusplus
}
#endif
#endif
