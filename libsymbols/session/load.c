/* load.c - opens the files of an image: the one that was recorded, its debug file, and what dwz
 * moved out of that. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "debug/relocate.h"
#include "session/session.h"

static char *keep_text(struct ps_session *s, const char *text)
{
	return pd_arena_text(&s->arena, text, strlen(text));
}

static struct pd_bytes keep_bytes(struct ps_session *s, struct pd_bytes b)
{
	const char *copy = pd_arena_text(&s->arena, b.data, b.size);

	return (struct pd_bytes){ (const uint8_t *)copy, copy ? b.size : 0 };
}

static uint8_t why_of(enum ps_status status)
{
	switch (status) {
	case PS_NOT_ELF:
		return PD_WHY_NOT_ELF;
	case PS_OVER_LIMIT:
		return PD_WHY_LIMIT;
	default:
		return PD_WHY_BAD_FILE;
	}
}

/* --- the image --- */

struct image_search {
	struct ps_loaded *loaded;
	struct ps_identity recorded;
	bool is_foreign, is_path_ambiguous;
	bool is_gone;			/* its path was deleted, and no build id was recorded */
	struct ps_mapper mappers[PS_MAPPERS_MOST];
};

static void identify(int fd, const struct ps_elf *e, struct ps_identity *out)
{
	struct stat st;

	*out = (struct ps_identity){ .build_id = e->build_id };
	if (fstat(fd, &st))
		return;
	out->ino = st.st_ino;
	out->maj = major(st.st_dev);
	out->min = minor(st.st_dev);
	out->changed = (uint64_t)st.st_ctime;
}

static bool is_usable(const struct ps_session *s, enum ps_match match)
{
	switch (match) {
	case PS_MISMATCH:
		return false;
	case PS_MATCH_INODE:
	case PS_MATCH_NAME_ONLY:
		return s->options.unverified != PS_UNVERIFIED_REFUSE;
	default:
		return true;
	}
}

/* Stacked file systems state other devices in stat(2) than in maps; overlayfs has numbers of its
 * layers in the uppermost bits of inodes. */
static bool has_other_inode(const struct ps_identity *recorded, const struct ps_identity *found)
{
	const bool is_same_device = recorded->maj == found->maj && recorded->min == found->min;

	return recorded->ino && (recorded->ino ^ found->ino) << (is_same_device ? 0 : 16) != 0;
}

/* Two files had the path, or on the machine of the recording another one has it. */
static bool is_another(const struct ps_session *s, const struct image_search *i,
		       const struct ps_candidate *candidate, const struct ps_identity *found)
{
	return i->is_path_ambiguous ||
	       ((s->options.ended || s->is_of_this_machine) &&
		candidate->place == PS_PLACE_RECORDED && has_other_inode(&i->recorded, found));
}

/* Right after a recording, files may be as new as its end, if their inode is the recorded one, and
 * the vdso is that of the running kernel. */
static enum ps_match judge_by_evidence(const struct ps_session *s,
				       const struct image_search *i,
				       const struct ps_candidate *candidate,
				       const struct ps_identity *found)
{
	const enum ps_match match = ps_judge_image(&i->recorded, found);
	struct ps_identity recorded = i->recorded;

	if (candidate->place == PS_PLACE_RUNNING && match != PS_MATCH_BUILD_ID)
		return s->options.ended && !recorded.build_id.size ? PS_MATCH_INODE : PS_MISMATCH;
	if (match == PS_MATCH_NAME_ONLY && is_another(s, i, candidate, found))
		return PS_MISMATCH;
	if (match != PS_MISMATCH || !s->options.ended)
		return match;
	recorded.changed = s->options.ended;
	return ps_judge_image(&recorded, found) == PS_MATCH_INODE ? PS_MATCH_INODE : PS_MISMATCH;
}

static enum ps_match judge(const struct ps_session *s, const struct image_search *i,
			   const struct ps_candidate *candidate, const struct ps_identity *found)
{
	const enum ps_match match = judge_by_evidence(s, i, candidate, found);

	return match == PS_MISMATCH && !i->recorded.build_id.size &&
	       s->options.unverified == PS_UNVERIFIED_ALWAYS ? PS_MATCH_UNVERIFIED : match;
}

/* A path of another namespace, or one that was deleted, names another file here, and another
 * process may have a pid by now: the names of files say nothing then. */
static bool is_other_file(const struct image_search *i, const struct ps_candidate *candidate)
{
	return (i->is_foreign || i->is_gone) && candidate->place == PS_PLACE_RECORDED;
}

static bool is_of_process(const struct ps_candidate *candidate)
{
	return candidate->place == PS_PLACE_PROCESS || candidate->place == PS_PLACE_MAPPED;
}

/* Keeps below which root a file was found: its debug files are below the same. */
static void set_root(struct ps_session *s, struct ps_loaded *l,
		     const struct ps_candidate *candidate)
{
	const size_t n = strlen(candidate->path), m = strlen(l->recorded_path);

	if (!is_of_process(candidate))
		return;
	sscanf(candidate->path, "/proc/%" SCNd32, &l->from.pid);
	if (candidate->place == PS_PLACE_PROCESS && n > m)
		l->from.root = pd_arena_text(&s->arena, candidate->path, n - m);
}

static bool is_by_chance(const struct image_search *i, const struct ps_candidate *candidate,
			 enum ps_match match)
{
	return (match >= PS_MATCH_NAME_ONLY && is_of_process(candidate)) ||
	       (match == PS_MISMATCH && candidate->place == PS_PLACE_MAPPED) ||
	       (match != PS_MATCH_BUILD_ID && is_other_file(i, candidate));
}

static bool use_image(struct ps_search *search, int fd, const struct ps_candidate *candidate)
{
	struct image_search *i = search->ctx;
	struct ps_session *s = search->session;
	struct ps_loaded *l = i->loaded;
	struct ps_identity found;
	enum ps_status status = search->what.kind == PS_WANT_MODULE ?
					ps_binary_open_module(&l->binary, fd, &s->budget) :
					ps_binary_open_fd(&l->binary, fd, &s->budget);

	if (status != PS_OK) {
		if (l->why == PD_WHY_NO_FILE && !is_other_file(i, candidate))
			l->why = why_of(status);
		return false;
	}
	identify(fd, &l->binary.image, &found);
	l->match = judge(s, i, candidate, &found);
	if (is_by_chance(i, candidate, l->match)) {
		l->match = PS_MISMATCH;
		ps_binary_close(&l->binary);
		return false;
	}
	if (is_usable(s, l->match)) {
		l->why = PD_WHY_FOUND;
		l->lacks[PS_LACK_IMAGE] = NULL;
		l->path = keep_text(s, candidate->path);
		l->place = candidate->place;
		set_root(s, l, candidate);
		return true;
	}
	if (!l->other_id.size)
		l->other_id = keep_bytes(s, found.build_id);
	if (s->options.depth != PS_NAMES && !l->lacks[PS_LACK_IMAGE])
		l->lacks[PS_LACK_IMAGE] = keep_text(s, candidate->path);
	l->why = PD_WHY_MISMATCH;
	ps_binary_close(&l->binary);
	return false;
}

/* The path without what the kernel appends to that of a deleted file. */
static const char *path_of(struct ps_session *s, const struct pd_image *image)
{
	const size_t n = strlen(image->path), m = sizeof(PD_DELETED) - 1;

	if (n <= m || strcmp(image->path + n - m, PD_DELETED) != 0)
		return image->path;
	return pd_arena_text(&s->arena, image->path, n - m);
}

static void find_image(struct ps_session *s, struct ps_loaded *l, const struct pd_image *image)
{
	const bool is_32 = strcmp(image->path, PD_VDSO_32) == 0;
	struct image_search i = {
		.loaded = l, .is_foreign = ps_session_is_foreign(s, image->index),
		.is_path_ambiguous = image->is_path_ambiguous,
		.is_gone = image->kind == PD_IMAGE_DELETED && !image->build_id.size,
		.recorded = { .build_id = image->build_id, .changed = s->options.began,
			      .ino = image->has_inode ? image->ino : 0, .maj = image->maj,
			      .min = image->min },
	};
	struct ps_search search = { .what = { .kind = PS_WANT_IMAGE, .path = l->recorded_path,
					      .build_id = image->build_id, .mappers = i.mappers,
					      .ino = i.recorded.ino },
				    .use = use_image, .session = s, .ctx = &i };

	l->why = PD_WHY_NO_FILE;
	/* no recording has its build id: at the end of one it is that of this kernel */
	if (is_32 && !s->options.ended)
		return;
	search.what.nr_mappers = ps_session_mappers(s, image->index, i.mappers);
	if (image->kind == PD_IMAGE_VDSO)
		search.what.kind = is_32 ? PS_WANT_VDSO_32 : PS_WANT_VDSO;
	if (image->kind == PD_IMAGE_KERNEL)
		search.what.kind = PS_WANT_KERNEL;
	if (image->kind == PD_IMAGE_MODULE)
		search.what.kind = PS_WANT_MODULE;
	ps_session_search(&search);
	if (l->why == PD_WHY_NO_FILE && i.is_foreign)
		l->why = PD_WHY_FOREIGN_NAMESPACE;
}

/* --- debug files --- */

static bool use_debug(struct ps_search *search, int fd, const struct ps_candidate *candidate)
{
	struct ps_loaded *l = search->ctx;
	struct ps_session *s = search->session;
	const struct ps_identity image = { .build_id = l->binary.image.build_id };
	struct ps_identity found;

	if (!l->lacks[PS_LACK_DEBUG])
		l->lacks[PS_LACK_DEBUG] = keep_text(s, candidate->path);
	if (ps_binary_add_debug_fd(&l->binary, fd) != PS_OK)
		return false;
	identify(fd, &l->binary.debug, &found);
	if (ps_judge_debug(&image, &found, &search->what, l->binary.debug.bytes) != PS_MISMATCH) {
		ps_debug_take_addresses(&l->binary.debug, &l->binary.image);
		l->debug_path = keep_text(s, candidate->path);
		l->debug_place = candidate->place;
		l->sources |= 1u << PS_FROM_DEBUG_FILE;
		l->lacks[PS_LACK_DEBUG] = NULL;
		return true;
	}
	ps_elf_close(&l->binary.debug);
	return false;
}

static void search_debug(struct ps_session *s, struct ps_loaded *l)
{
	struct ps_search search = { .what = { .kind = PS_WANT_DEBUG, .path = l->recorded_path,
					      .build_id = l->binary.image.build_id,
					      .mappers = &l->from,
					      .nr_mappers = l->from.pid != 0 },
				    .use = use_debug, .session = s, .ctx = l };

	search.what.debuglink = ps_binary_debuglink(&l->binary, &search.what.crc);
	ps_session_search(&search);
}

static void find_debug(struct ps_session *s, struct ps_loaded *l)
{
	if (!ps_elf_section_named(&l->binary.image, ".symtab") ||
	    (s->options.depth != PS_NAMES && !ps_session_debug_file(l)))
		search_debug(s, l);
}

/* --- the supplementary file --- */

static bool use_alt(struct ps_search *search, int fd, const struct ps_candidate *candidate)
{
	struct ps_loaded *l = search->ctx;

	(void)candidate;
	if (ps_elf_open_fd(&l->alt, fd, &search->session->budget) != PS_OK)
		return false;
	if (ps_build_ids_agree(search->what.build_id, l->alt.build_id))
		return true;
	ps_elf_close(&l->alt);
	return false;
}

/* .gnu_debugaltlink: a path, its NUL, and the build id. */
static void find_alt(struct ps_session *s, struct ps_loaded *l, const struct ps_elf *file)
{
	const struct ps_section *section = ps_elf_section_named(file, ".gnu_debugaltlink");
	const bool is_debug = file == &l->binary.debug;
	struct ps_search search = { .what = { .kind = PS_WANT_ALT, .mappers = &l->from,
					      .nr_mappers = l->from.pid != 0,
					      .linking = is_debug ? l->debug_path : l->path,
					      .linking_place = is_debug ? l->debug_place :
									  l->place },
				    .use = use_alt, .session = s, .ctx = l };
	struct pd_bytes b;
	size_t n;

	if (!section)
		return;
	b = ps_elf_section_bytes(file, section);
	n = pd_text_length(b);
	if (n + 1 >= b.size)
		return;
	search.what.path = (const char *)b.data;
	search.what.build_id = (struct pd_bytes){ b.data + n + 1, b.size - n - 1 };
	if (!ps_session_search(&search))
		l->lacks[PS_LACK_ALT] = keep_text(s, search.what.path);
}

/* Returns whether symbols need nothing of the file that has the debug information. */
static bool may_open_later(const struct ps_session *s, const struct ps_loaded *l,
			   const struct ps_elf *file, const struct pd_image *image)
{
	return s->options.threads > 1 && file == &l->binary.debug &&
	       file->header.e_type != ET_REL && image->kind != PD_IMAGE_KERNEL &&
	       image->kind != PD_IMAGE_MODULE;
}

static void open_debug(struct ps_session *s, struct ps_loaded *l, const struct pd_image *image)
{
	struct ps_elf *file = ps_session_debug_file(l);

	if (!file || s->options.depth == PS_NAMES)
		return;
	find_alt(s, l, file);
	l->debug.finder = ps_session_split_finder(l);
	if (may_open_later(s, l, file, image))
		ps_session_open_later(s, l);
	else
		ps_session_open_debug(s, l);
}

struct ps_loaded *ps_session_load(struct ps_session *s, uint32_t index)
{
	struct ps_loaded *l = &s->images[index];
	const struct pd_image *image = pd_history_image(s->options.history, index);

	if (l->tried)
		return l;
	l->tried = true;
	l->session = s;
	l->recorded_path = path_of(s, image);
	find_image(s, l, image);
	if (l->why != PD_WHY_FOUND)
		return l;
	find_debug(s, l);
	if (ps_binary_read_symbols(&l->binary) != PS_OK) {
		l->why = PD_WHY_LIMIT;
		ps_binary_close(&l->binary);
		return l;
	}
	for (unsigned int i = 0; i < PS_SOURCES; i++)
		l->sources |= l->binary.has[i] ? 1u << i : 0;
	l->is_debug_deferred = image->kind < PD_IMAGE_KERNEL &&
			       ps_session_is_inlined_given(s, index);
	if (!l->is_debug_deferred)
		open_debug(s, l, image);
	return l;
}

void ps_session_load_debug(struct ps_session *s, uint32_t index)
{
	const struct pd_image *image = pd_history_image(s->options.history, index);
	struct ps_loaded *l = &s->images[index];

	l->is_debug_deferred = false;
	if (l->has_debug)
		return;
	if (!l->binary.debug.elf)
		find_debug(s, l);
	open_debug(s, l, image);
}

const struct ps_elf *ps_session_frame_file(struct ps_session *s, struct ps_loaded *l)
{
	if (ps_elf_section_named(&l->binary.image, ".debug_frame"))
		return &l->binary.image;
	if (!l->binary.debug.elf && s->options.depth == PS_NAMES && !ps_session_debug_file(l))
		search_debug(s, l);
	return l->binary.debug.elf ? &l->binary.debug : NULL;
}

void ps_session_unload(struct ps_session *s, struct ps_loaded *l)
{
	(void)s;
	ps_cfi_free(l->cfi);
	if (l->has_debug)
		ps_debug_close(&l->debug);
	if (l->alt.elf)
		ps_elf_close(&l->alt);
	if (l->dwp.elf)
		ps_elf_close(&l->dwp);
	if (l->tried && l->binary.budget)
		ps_binary_close(&l->binary);
}
