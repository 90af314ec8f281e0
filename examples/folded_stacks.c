/* folded_stacks.c - the call stacks of a recording, with the names of functions, in the form that
 * flame graph programs read: folded_stacks FILE.
 *
 *	cc -o folded_stacks folded_stacks.c $(pkg-config --cflags --libs libpdprofile libpdsymbols)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include <pd/profile.h>
#include <pd/symbols.h>

/* The library opens no files itself. This program lets it have any: one for recordings of strangers
 * would look at `place`, and would open recorded paths in no other process than its own. */
static int open_file(void *ctx, const char *path, enum ps_file_place place)
{
	(void)ctx;
	(void)place;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static int write_output(void *stream, const void *p, size_t n)
{
	return fwrite(p, 1, n, stream) == n ? 0 : errno;
}

/* Reads the side-band: the maps of all processes over time. Returns NULL and *e on failure. */
static struct pd_history *read_history(const char *path, struct pd_error *e)
{
	struct pd_reader *r = pd_reader_open_path(path, NULL, e);
	struct pd_history *h = r ? pd_history_new(NULL, e) : NULL;

	if (h && (pd_history_learn(h, r, e) || pd_history_seal(h, r, e))) {
		pd_history_free(h);
		h = NULL;
	}
	pd_reader_free(r);
	return h;
}

/* Reads the samples and writes their stacks. Returns 0, or -1 and *e. */
static int write_stacks(struct pd_reader *r, const struct pd_history *h,
			const struct pd_namer *namer, struct pd_error *e)
{
	const struct pd_output out = { write_output, stdout };
	struct pp_profile *p = pp_new(PP_OPTIONS(.history = h, .namer = namer,
						 .groups = PP_GROUP_COMM), e);
	int err = p ? pp_add(p, r, e) : -1;

	if (!err)
		err = pp_merge(p, PP_SHAPE(.cut = PP_CUT_HIDDEN), e);
	if (!err && pp_write(p, PP_WRITE(.format = PP_FOLDED, .event = pp_main_event(p)), out)) {
		*e = (struct pd_error){ .code = PD_E_IO, .have = (uint64_t)errno };
		err = -1;
	}
	pp_free(p);
	return err;
}

int main(int argc, char **argv)
{
	struct ps_session *session = NULL;
	struct pd_reader *reader = NULL;
	struct pd_history *h;
	struct pd_namer namer;
	struct pd_error e;
	char text[256];
	int err = -1;

	if (argc != 2) {
		fprintf(stderr, "usage: folded_stacks FILE\n");
		return 2;
	}
	h = read_history(argv[1], &e);
	if (h)
		reader = pd_reader_open_path(argv[1], NULL, &e);
	if (reader)
		session = ps_new(PS_OPTIONS(.history = h, .recording = reader, .depth = PS_INLINES,
					    .open = open_file), &e);
	if (session) {
		namer = ps_session_namer(session);
		err = write_stacks(reader, h, &namer, &e);
	}
	if (err)
		fprintf(stderr, "folded_stacks: %s: %s\n", argv[1],
			pd_error_text(&e, text, sizeof(text)));
	ps_free(session);
	pd_reader_free(reader);
	pd_history_free(h);
	return err != 0;
}
