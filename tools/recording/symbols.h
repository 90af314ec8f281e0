/* symbols.h - names of functions, for --symbols. */
#ifndef PD_TOOLS_SYMBOLS_H
#define PD_TOOLS_SYMBOLS_H

#include <sys/utsname.h>

#include "cli/cli.h"
#include "files/input.h"
#include "recording/opener.h"

/* The options. */
struct symbol_settings {
	const char *depth;		/* --symbols; NULL: no names */
	bool no_inline, lines, linkage_names, strict, stitch_lbr;
	unsigned int max_frames;
	const char *sysroot, *kallsyms, *vmlinux;
	const char *file;		/* --symbols-file */
	struct cli_list debug_dirs, prefixes;
	bool debuginfod;
	unsigned int unverified;
};

#define SYMBOLS_FULL "full"
/* Room for the reasons of enum pd_why, of which there are fewer. */
#define SYMBOL_REASONS 32
extern const char *const symbol_unverified[];

#define SYMBOL_STITCH_OPTION(type, member)						\
	CLI_FLAG(0, "stitch-lbr", type, member.stitch_lbr,				\
		 "add to call stacks that were too deep for the CPU (--call-graph lbr) the "	\
		 "calls of the sample before; a guess")

#define SYMBOL_PREFIX_OPTION(type, member)						\
	CLI_LIST(0, "prefix-map", "OLD=NEW", type, member.prefixes,			\
		 "source files whose path begins with OLD: write NEW in its place")

#define SYMBOL_MAX_FRAMES_OPTION(type, member)						\
	CLI_NUMBER(0, "max-frames", "N", type, member.max_frames,			\
		   "unwind at most N frames of a copied stack, or stitch at most N calls "	\
		   "(default and 0: 127)")

/* The options that ask for names. */
#define SYMBOL_NAME_OPTIONS(type, member)						\
	CLI_OPTIONAL(0, "symbols", "full|table|names", type, member.depth, SYMBOLS_FULL,	\
		     "as --resolve, and add to frames the names of their functions, "	\
		     "those inlined there included; opens the mapped files on this "	\
		     "machine. table writes each frame once, at the end, and its id to "	\
		     "samples; names writes nothing else to frames where there is one"),	\
	CLI_FLAG(0, "lines", type, member.lines, "add source files and lines, too"),	\
	SYMBOL_PREFIX_OPTION(type, member),						\
	CLI_FLAG(0, "no-inline", type, member.no_inline,				\
		 "no functions that are inlined: reads no debug information"),		\
	CLI_FLAG(0, "linkage-names", type, member.linkage_names,			\
		 "add the names as files have them, where they are mangled"),		\
	SYMBOL_MAX_FRAMES_OPTION(type, member),						\
	SYMBOL_STITCH_OPTION(type, member),						\
	CLI_FLAG(0, "symbols-strict", type, member.strict,				\
		 "end with status 1 if a frame has no name")

/* The options that say where files are, for a tool whose settings have a struct symbol_settings. */
#define SYMBOL_FILE_OPTIONS(type, member)						\
	CLI_STRING(0, "sysroot", "DIR", type, member.sysroot,				\
		   "look for the mapped files and kernel modules below DIR first"),	\
	CLI_LIST(0, "debug-dir", "DIR", type, member.debug_dirs,			\
		 "look for files, debug files, .dwp and .dwo in DIR first: they alone, "	\
		 "or a copy of /usr/lib/debug, of ~/.debug, of a debuginfod cache or "	\
		 "of a tree, or what perf archive packed, unpacked there"),		\
	CLI_STRING(0, "kallsyms", "FILE", type, member.kallsyms,			\
		   "a copy of /proc/kallsyms of the recorded machine, made since it was " \
		   "started"),							\
	CLI_STRING('k', "vmlinux", "FILE", type, member.vmlinux,			\
		   "the recorded kernel with its symbols"),				\
	CLI_STRING(0, "symbols-file", "FILE", type, member.file,				\
		   "names that precord --symbols-file wrote beside a stream, in place of "	\
		   "those in the recording"),						\
	CLI_FLAG(0, "debuginfod", type, member.debuginfod,				\
		 "download files that are not on this machine, by build id, from the "	\
		 "servers in DEBUGINFOD_URLS"),						\
	CLI_CHOICE(0, "unverified", NULL, type, member.unverified, symbol_unverified,	\
		   "use files of which no build id was recorded: yes, if they are older " \
		   "than the recording (default), which must state the time of day: those "	\
		   "of perf do only with -k; no; always, and mark what they name: "		\
		   "perf 6.1 records no build ids of callers")

/* Returns the name of an option that was given and does nothing without names, or NULL. */
const char *symbols_first_option(const struct symbol_settings *s);

enum { SYMBOL_WORST = 3 };

/* Totals of a run: the frames without a name. */
struct symbol_totals {
	uint64_t by_why[SYMBOL_REASONS];	/* frames, by enum pd_why */
	struct symbol_worst {
		const struct pd_image *image;
		uint64_t unnamed;		/* frames */
		unsigned int why;
	} worst[SYMBOL_WORST];			/* images, the worst first */
	uint64_t stacks, cut, foreign, lost;	/* copied ones, those that are cut, of machines
						 * whose stacks are not unwound, and those that
						 * lead into code without frame pointers */
};

/* A session and what it needs. Must be zero-initialized but for the opener. */
struct symbols {
	struct opener opener;
	unsigned int threads;		/* that will use the session, set by the caller; 0: 1 */
	struct ps_namespace mount_namespace;
	struct utsname machine;
	bool is_machine_known;
	struct ps_places places;
	struct pd_bytes file;		/* of --symbols-file, for free() */
	char cache[4096];		/* of debuginfod */
	struct ps_prefix *prefixes;
	size_t nr_prefixes;
	struct ps_session *session;
	struct pd_namer namer;
	const struct pd_history *history;
	struct symbol_totals totals;
};

/* Sets *out to the form that --symbols names. Returns false if it is none. */
bool symbols_form(const struct symbol_settings *s, enum pd_json_frames *out);

/* Checks the options that say where files are. Returns CLI_OK, or CLI_USAGE after a message. */
enum cli_exit symbols_check_files(const struct symbol_settings *s, const struct cli_tool *tool);
/* The same for all. */
enum cli_exit symbols_check(const struct symbol_settings *s, const struct cli_tool *tool);

/* Reads the file of --symbols-file, and starts the process that opens others; to be called before
 * the sandbox. Returns CLI_OK, or CLI_INPUT after a message. */
enum cli_exit symbols_prepare(struct symbols *n, const struct cli_tool *tool,
			      const struct symbol_settings *s);
/* Opens the session, within the limits with which the input is read. Returns CLI_OK, or CLI_INPUT
 * or CLI_OUTPUT after a message. */
enum cli_exit symbols_open(struct symbols *n, const struct cli_tool *tool,
			   const struct symbol_settings *s, const struct input *in,
			   const struct pd_reader_options *reader, const struct pd_history *h);
/* Keeps what symbols_report_unnamed() needs. `symbols` is a struct symbols. */
void symbols_keep_totals(void *symbols, const struct pd_name_totals *totals);
/* Reports how many frames have no name, with the images that have most of them and what helps, and
 * whether stacks are cut. Returns whether there are frames without a name. */
bool symbols_report_unnamed(const struct symbols *n, const struct cli_tool *tool,
			    const char *input);
/* Reports files whose names do not fit into the memory limit. Returns whether there are any. */
bool symbols_report_limit(const struct symbols *n, const struct cli_tool *tool, const char *input);
/* Reports files that nothing shows to be the recorded ones, and those that names or lines are not
 * taken from. */
void symbols_report_files(const struct symbols *n, const struct cli_tool *tool, const char *input);
enum { SYMBOL_LACK_TEXT = 9216 };	/* two paths and what helps */

/* Writes to `text` which file an image lacks, for the first image, and what helps. Returns false if
 * no image lacks one. */
bool symbols_describe_lack(struct ps_session *session, const struct pd_history *history,
			   enum ps_lack what, char *text, size_t size);
void symbols_close(struct symbols *n);

#endif
