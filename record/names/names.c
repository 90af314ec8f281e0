/* names.c - looks up the addresses of a recording that has just ended. */
#include "names/names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file_process.h"
#include "base/options.h"
#include "names/names_open.h"
#include "pd/fields.h"
#include "pd/history.h"
#include "pd/pd.h"
#include "sandbox/sandbox.h"

enum {
	BATCH = 128,
	FRAMES_MAX = 512,	/* of a sample; later ones are left out */
	DISTINCT = 1 << 12,	/* addresses remembered, a power of two */
	SECTION_MOST = 1 << 28,	/* bytes */
	SLACK_MS = 2000,	/* after the deadline, for the file that is being read */
};

/* Most samples hit addresses that others hit shortly before. */
struct recent {
	uint64_t addr;
	uint32_t image;
	int32_t pid;
	uint8_t flags, of;
};

/* The recording, as the sandbox can read it. */
struct recorded {
	int fd;				/* a file; -1: a directory */
	char path[32];
};

/* The files of processes that have ended, as libpdsymbols wants them. */
struct held_places {
	char text[HELD_ROOTS_MOST][HELD_PATH];
	const char *roots[HELD_ROOTS_MOST];
	char images[HELD_IMAGES_MOST][HELD_PATH];
	struct ps_held_file files[HELD_IMAGES_MOST];
	struct ps_held_process processes[HELD_PROCESSES_MOST];
	struct opener_writer writers[HELD_PROCESSES_MOST];
	char copies[HELD_COPIES_MOST][HELD_PATH];
	struct ps_jit_copy jit_copies[HELD_COPIES_MOST];
};

struct names {
	const struct names_options *options;
	struct recorded recorded;
	struct names_files files;
	int socket;			/* to the recorder */
	struct pd_history *history;
	struct ps_session *session;
	struct held_places held;
	struct ps_places places;
	struct recent recent[DISTINCT];
	bool lacks_history;		/* for lack of memory */
	bool cut;
};

/* Most bytes are not looked at, so the file is mapped. If somebody makes it shorter, SIGBUS ends
 * the process, and there are no names. */
static struct pd_reader *open_recorded(const struct recorded *r)
{
	const struct pd_reader_options *o = PD_READER_OPTIONS(.access = PD_MAP_OWN);
	struct pd_error e;

	if (r->fd < 0)
		return pd_reader_open_path(r->path, o, &e);
	return lseek(r->fd, 0, SEEK_SET) == 0 ? pd_reader_open_fd(r->fd, o, &e) : NULL;
}

static unsigned int cpu_ms_used(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (unsigned int)used.tv_sec * 1000 + (unsigned int)(used.tv_nsec / 1000000);
}

/* Called by the process that looks up: its clock began with it. */
static bool is_out_of_time(const struct names *n)
{
	return deadline_is_over(&n->options->deadline) || cpu_ms_used() > n->options->cpu_ms;
}

/* Calls `take` for the records of the recording. Returns false when time is over, or if it can't be
 * read. */
static bool read_records(struct names *n, uint32_t want,
			 void (*take)(struct names *n, struct pd_reader *r,
				      const struct pd_fields *item))
{
	struct pd_fields items[BATCH];
	struct pd_fields_batch batch = {
		.size = sizeof(batch), .items = items, .item_size = sizeof(items[0]),
		.capacity = BATCH, .want = want,
	};
	struct pd_reader *r = open_recorded(&n->recorded);
	struct pd_error e;
	bool is_over = !r;
	int nr = 0;

	while (!is_over && (nr = pd_reader_next_fields(r, &batch, &e)) > 0) {
		for (int i = 0; i < nr; i++)
			take(n, r, &items[i]);
		is_over = is_out_of_time(n);
	}
	is_over |= nr < 0 || pd_reader_lacks_memory(r);
	pd_reader_free(r);
	return !is_over;
}

static void learn_record(struct names *n, struct pd_reader *r, const struct pd_fields *item)
{
	struct pd_error e;

	if (item->type && item->type != PD_RECORD_SAMPLE &&
	    pd_history_add_record(n->history, pd_reader_record(r, item), &e))
		n->lacks_history = true;
}

/* The code of a JIT compiler may be another one at each time, if its times are known. */
static bool may_change(const struct names *n, const struct pd_location *l)
{
	const struct pd_image *image = pd_history_image(n->history, l->image);

	return image && pd_image_kind_is_own_code(image->kind) &&
	       (n->options->clock == PS_CLOCK_MONOTONIC || n->options->moment_monotonic);
}

static bool is_recent(struct names *n, int32_t pid, const struct pd_location *l)
{
	struct recent *r = &n->recent[(l->addr ^ l->addr >> 12) & (DISTINCT - 1)];

	if (r->addr == l->addr && r->image == l->image && r->pid == pid && r->flags == l->flags &&
	    r->of == l->of)
		return true;
	*r = (struct recent){ l->addr, l->image, pid, l->flags, l->of };
	return false;
}

/* Looks up the variable at the data address. */
static void look_up_data(struct names *n, struct pd_reader *r, const struct pd_fields *item)
{
	struct pd_frame_names found;
	struct pd_location l;

	if (item->has & PD_HAS_ADDR && item->addr &&
	    pd_history_data(n->history, pd_reader_record(r, item), &l) &&
	    !is_recent(n, item->pid, &l))
		ps_resolve(n->session, item->pid, &l, &found);
}

static size_t find_frames(struct names *n, struct pd_reader *r, const struct pd_fields *item,
			  struct pd_location *out)
{
	enum ps_end end;

	if (n->options->stacks == NAMES_WITHOUT_STACKS && !pd_attr_has_call_stacks(item->attr))
		return pd_history_fields_frames(n->history, item, out, FRAMES_MAX);
	return ps_frames(n->session, pd_reader_record(r, item), out, FRAMES_MAX, &end);
}

static void look_up_sample(struct names *n, struct pd_reader *r, const struct pd_fields *item)
{
	struct pd_location frames[FRAMES_MAX];
	struct pd_frame_names found;
	size_t nr;

	if (item->type != PD_RECORD_SAMPLE)
		return;
	nr = find_frames(n, r, item, frames);
	for (size_t i = 0; i < nr && i < FRAMES_MAX; i++)
		if (may_change(n, &frames[i]) || !is_recent(n, item->pid, &frames[i]))
			ps_resolve(n->session, item->pid, &frames[i], &found);
	look_up_data(n, r, item);
}

/* Returns the path of a root directory, or NULL for the recorder's. */
static const char *root_of(const struct held_files *held, const struct held_places *list, int root)
{
	for (size_t i = 0; i < held->n; i++)
		if (held->fds[i] == root)
			return list->roots[i];
	return NULL;
}

static void list_processes(const struct held_files *held, struct held_places *list)
{
	for (size_t i = 0; i < held->nr_processes; i++) {
		const struct held_process *p = &held->processes[i];

		list->processes[i] = (struct ps_held_process){
			p->pid, p->inner_pid, root_of(held, list, p->root),
		};
		list->writers[i] = (struct opener_writer){ p->inner_pid, p->user };
	}
}

static void list_copies(const struct held_files *held, struct held_places *list)
{
	static const enum ps_jit_copy_of kinds[] = {
		[HELD_PERF_MAP] = PS_COPY_PERF_MAP, [HELD_JITDUMP] = PS_COPY_JITDUMP,
	};

	for (size_t i = 0; i < held->nr_copies; i++) {
		held_path(held->copier, held->copies[i].fd, list->copies[i]);
		list->jit_copies[i] = (struct ps_jit_copy){
			held->copies[i].pid, kinds[held->copies[i].of], list->copies[i],
		};
	}
}

static struct ps_places list_places(const struct held_files *held, struct held_places *list)
{
	const size_t n = held ? held->n : 0, nr_images = held ? held->nr_images : 0;

	for (size_t i = 0; i < n; i++) {
		held_path(held->holder, held->fds[i], list->text[i]);
		list->roots[i] = list->text[i];
	}
	for (size_t i = 0; i < nr_images; i++) {
		held_path(held->holder, held->images[i].fd, list->images[i]);
		list->files[i] = (struct ps_held_file){ list->images[i],
							held->images[i].ino };
	}
	if (held) {
		list_processes(held, list);
		list_copies(held, list);
	}
	return (struct ps_places){
		.size = sizeof(struct ps_places), .roots = list->roots, .nr_roots = n,
		.files = list->files, .nr_files = nr_images, .processes = list->processes,
		.nr_processes = held ? held->nr_processes : 0,
		.copies = list->jit_copies, .nr_copies = held ? held->nr_copies : 0,
	};
}

static bool make_session(struct names *n)
{
	const struct ps_options o = {
		.size = sizeof(o), .history = n->history, .places = &n->places,
		.depth = PS_NAMES, .began = n->options->began, .ended = (uint64_t)time(NULL) + 1,
		.clock = n->options->clock, .moment = n->options->moment,
		.moment_monotonic = n->options->moment_monotonic,
		.collect = PS_COLLECT, .open = names_open,
		.open_first = names_open_first,
		.mount_namespace = opener_mount_namespace(),
		.ctx = &n->files,
	};
	struct pd_error e;

	if (pd_history_seal(n->history, NULL, &e))
		n->lacks_history = true;
	n->session = ps_new(&o, &e);
	return n->session != NULL;
}

static void find_names(struct names *n)
{
	const uint32_t want = PD_HAS_PID | PD_HAS_TIME | PD_HAS_IP | PD_HAS_CALLCHAIN | PD_HAS_ADDR;

	n->cut = !read_records(n, PD_HAS_TIME, learn_record) || !make_session(n) ||
		 !read_records(n, want, look_up_sample) || n->lacks_history ||
		 ps_session_lacks_memory(n->session);
}

/* --- the process that looks up --- */

/* The head of a section on the socket. */
struct answer {
	uint64_t size;
	uint64_t is;			/* enum ps_bundle_is */
	uint64_t lack_size;		/* of the text that is sent before the section */
};

static void describe_lack(const struct names *n, struct names_lack *lack)
{
	for (unsigned int what = 0; what < PS_NR_LACKS; what++)
		if (symbols_describe_lack(n->session, n->history, (enum ps_lack)what, lack->text,
					  sizeof(lack->text)))
			return;
}

static bool send_section(const struct names *n, int socket, enum ps_bundle_is is)
{
	const struct pd_bytes none = { NULL, 0 };
	const struct pd_bytes section = n->session ? ps_bundle(n->session, is) : none;
	struct names_lack lack = { "" };
	struct answer answer = { section.size, is, 0 };

	if (!section.size && ps_session_lacks_memory(n->session))
		answer.is = PS_BUNDLE_CUT;
	describe_lack(n, &lack);
	answer.lack_size = strlen(lack.text);
	return file_process_send(socket, &answer, sizeof(answer)) &&
	       file_process_send(socket, lack.text, answer.lack_size) &&
	       file_process_send(socket, section.data, section.size);
}

static bool is_over(void *ctx)
{
	const struct names *n = ctx;

	return is_out_of_time(n);
}

/* Names are sent before debug information is read, which may take too long. */
static enum cli_exit look_up_confined(void *arg)
{
	struct names *n = arg;
	bool is_whole;

	find_names(n);
	if (!send_section(n, n->socket, n->cut ? PS_BUNDLE_CUT : PS_BUNDLE_FEWER_INLINED) ||
	    n->cut || !n->session)
		return CLI_OK;
	is_whole = ps_collect_inlined(n->session, n->options->depth, is_over, n) &&
		   !ps_session_lacks_memory(n->session);
	send_section(n, n->socket, is_whole ? PS_BUNDLE_WHOLE : PS_BUNDLE_FEWER_INLINED);
	return CLI_OK;
}

/* Opens a file once more, with an offset of its own. Returns false if it can't be read. */
static bool find_recorded(struct recorded *r, int file)
{
	struct stat st;

	snprintf(r->path, sizeof(r->path), "/proc/self/fd/%d", file);
	r->fd = -1;
	if (fstat(file, &st))
		return false;
	if (!S_ISDIR(st.st_mode))
		r->fd = open(r->path, O_RDONLY | O_CLOEXEC);
	return S_ISDIR(st.st_mode) || r->fd >= 0;
}

/* The files that were hit belong to others. They are opened by a process that reads nothing of
 * them, and read by one that can do nothing else. */
static void look_up(void *arg, int socket, int file)
{
	struct names *n = arg;
	struct sandbox s = {
		.tool = &record_tool, .receive = SANDBOX_RECEIVE_FILES,
		.limits = SANDBOX_READER_LIMITS,
	};

	n->socket = socket;
	n->files = (struct names_files){ OPENER_CLOSED, n->options->silent,
					n->options->replaced };
	n->places = list_places(n->options->held, &n->held);
	n->files.opener.writers = n->held.writers;
	n->files.opener.nr_writers = n->places.nr_processes;
	n->files.opener.copier = n->options->held ? n->options->held->copier : 0;
	if (!find_recorded(&n->recorded, file) || opener_start(&n->files.opener)) {
		send_section(n, socket, PS_BUNDLE_WHOLE);
		return;
	}
	if (n->recorded.fd < 0)
		s.read_beneath = n->recorded.path;
	sandbox_run(&s, SANDBOX_IN_PROCESS, look_up_confined, n);
}

/* --- the recorder --- */

/* Receives a section, for free(), which is NULL if it is empty. A file that was read may have made
 * the process send anything. */
static enum file_answer receive_section(const struct file_process *p,
					const struct deadline *deadline, struct answer *answer,
					struct names_lack *lack, uint8_t **section)
{
	enum file_answer received = file_process_receive(p, answer, sizeof(*answer), deadline);

	*section = NULL;
	if (received == FILE_ANSWERED && (answer->is > PS_BUNDLE_FEWER_INLINED ||
				     answer->lack_size >= sizeof(lack->text)))
		return FILE_ENDED;
	if (received == FILE_ANSWERED) {
		memset(lack, 0, sizeof(*lack));
		received = file_process_receive(p, lack->text, answer->lack_size, deadline);
	}
	if (received != FILE_ANSWERED || !answer->size || answer->size > SECTION_MOST)
		return received;
	*section = malloc(answer->size);
	received = *section ? file_process_receive(p, *section, answer->size, deadline) :
			      FILE_ENDED;
	if (received == FILE_ANSWERED)
		return received;
	free(*section);
	*section = NULL;
	return received;
}

/* Returns why an answer is missing. */
static enum names_result explain_missing(enum file_answer received, enum names_result late,
					 const struct deadline *deadline)
{
	if (deadline_is_hurried(deadline))
		return late == NAMES_SILENT ? NAMES_CUT : late;
	return received == FILE_ENDED ? NAMES_ENDED : late;
}

/* Returns the last whole section, for free(), or NULL and why there is none. */
static uint8_t *receive_names(const struct file_process *p, const struct deadline *deadline,
			      struct answer *answer, struct names_lack *lack,
			      enum names_result *result)
{
	static const enum names_result results[] = {
		[PS_BUNDLE_WHOLE] = NAMES_WHOLE, [PS_BUNDLE_CUT] = NAMES_CUT,
		[PS_BUNDLE_FEWER_INLINED] = NAMES_FEWER_INLINED,
	};
	enum file_answer received;
	struct answer second;
	uint8_t *names, *all;

	received = receive_section(p, deadline, answer, lack, &names);
	if (received != FILE_ANSWERED) {
		*result = explain_missing(received, NAMES_SILENT, deadline);
		return NULL;
	}
	*result = results[answer->is];
	if (!names && *result == NAMES_FEWER_INLINED)
		*result = NAMES_WHOLE;
	if (!names || answer->is == PS_BUNDLE_CUT)
		return names;
	received = receive_section(p, deadline, &second, lack, &all);
	if (received != FILE_ANSWERED)
		*result = explain_missing(received, NAMES_FEWER_INLINED, deadline);
	if (!all)
		return names;
	free(names);
	*answer = second;
	*result = results[second.is];
	return all;
}

static struct pd_bytes find_section(struct names *n, int fd, enum names_result *result,
				    struct names_lack *lack)
{
	struct file_process process = FILE_PROCESS_NONE;
	const struct deadline deadline = deadline_later(&n->options->deadline, SLACK_MS);
	struct answer answer = { 0 };
	uint8_t *section;

	*result = NAMES_CUT;
	if (!file_process_start(&process, look_up, n, fd))
		return (struct pd_bytes){ NULL, 0 };
	section = receive_names(&process, &deadline, &answer, lack, result);
	file_process_end(&process);
	return (struct pd_bytes){ section, section ? answer.size : 0 };
}

struct pd_bytes names_find(int fd, const struct names_options *o, enum names_result *result,
			   struct names_lack *lack)
{
	struct names *n = calloc(1, sizeof(*n));
	struct pd_bytes section = { NULL, 0 };
	struct pd_error ignored;

	*result = NAMES_CUT;
	lack->text[0] = '\0';
	if (!n)
		return section;
	n->options = o;
	n->history = pd_history_new(PD_HISTORY_OPTIONS(.word_size = sizeof(void *)), &ignored);
	if (n->history)
		section = find_section(n, fd, result, lack);
	pd_history_free(n->history);
	free(n);
	return section;
}
