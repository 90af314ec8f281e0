/* count_comms.c - samples by the name of their thread, from batches of columns: count_comms FILE.
 *
 *	cc -O2 -o count_comms count_comms.c $(pkg-config --cflags --libs libpdcolumns)
 *
 * The batches are those of Arrow's C stream interface, which most data frame libraries take as they
 * are; here a column is read by hand.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/columns.h>

struct count {
	char *comm;
	uint64_t samples;
};

struct counts {
	struct count *items;
	size_t n;
};

/* Adds samples to a name of `size` bytes. Returns 0, or an errno. */
static int add(struct counts *all, const char *comm, size_t size, uint64_t samples)
{
	struct count *items;

	for (size_t i = 0; i < all->n; i++)
		if (strlen(all->items[i].comm) == size &&
		    !memcmp(all->items[i].comm, comm, size)) {
			all->items[i].samples += samples;
			return 0;
		}
	items = realloc(all->items, (all->n + 1) * sizeof(*items));
	if (!items)
		return ENOMEM;
	all->items = items;
	items[all->n] = (struct count){ strndup(comm, size), samples };
	return items[all->n++].comm ? 0 : ENOMEM;
}

/* Adds the rows of one batch. A text column has indices in its second buffer and the texts in its
 * dictionary: offsets and bytes. */
static int add_batch(struct counts *all, const struct ArrowArray *batch)
{
	const struct ArrowArray *column = batch->children[0], *texts = column->dictionary;
	const uint8_t *valid = column->buffers[0];	/* NULL: all are */
	const int32_t *index = column->buffers[1];
	const int32_t *offsets = texts->buffers[1];
	const char *bytes = texts->buffers[2];
	uint64_t *rows = calloc((size_t)texts->length + 1, sizeof(*rows));
	int error = rows ? 0 : ENOMEM;

	for (int64_t i = 0; rows && i < batch->length; i++)
		if (!valid || valid[i / 8] >> i % 8 & 1)
			rows[index[i]]++;
	for (int64_t i = 0; i < texts->length && !error; i++)
		if (rows[i])
			error = add(all, bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i]),
				    rows[i]);
	free(rows);
	return error;
}

/* Returns 0, or an errno. */
static int count_stream(struct counts *all, struct ArrowArrayStream *stream)
{
	struct ArrowArray batch;
	int error;

	while (!(error = stream->get_next(stream, &batch)) && batch.release) {
		error = add_batch(all, &batch);
		batch.release(&batch);
		if (error)
			break;
	}
	if (error)
		fprintf(stderr, "count_comms: %s\n", stream->get_last_error(stream));
	stream->release(stream);
	return error;
}

/* Opens the column comm of the table samples. Returns 0, or -1 and *e. */
static int open_stream(struct pc_columns **c, struct pd_reader *r, const struct pd_history *h,
		       struct ArrowArrayStream *out, struct pd_error *e)
{
	const struct pc_table *table;
	uint64_t columns = 0;
	size_t samples;

	pc_table_find("samples", &samples);
	table = pc_table_at(samples);
	for (size_t i = 0; i < table->nr_columns; i++)
		if (!strcmp(table->columns[i].name, "comm"))
			columns |= UINT64_C(1) << i;
	*c = pc_new(PC_OPTIONS(.history = h, .tables = UINT64_C(1) << samples,
			       .columns = columns), e);
	return *c ? pc_open_stream(*c, r, samples, (struct pc_owner){ NULL, NULL }, out, e) : -1;
}

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

int main(int argc, char **argv)
{
	struct counts all = { NULL, 0 };
	struct pc_columns *c = NULL;
	struct pd_reader *r = NULL;
	struct ArrowArrayStream stream;
	struct pd_history *h;
	struct pd_error e;
	char text[256];
	int failed;

	if (argc != 2) {
		fprintf(stderr, "usage: count_comms FILE\n");
		return 2;
	}
	h = read_history(argv[1], &e);
	if (h)
		r = pd_reader_open_path(argv[1], NULL, &e);
	failed = !r || open_stream(&c, r, h, &stream, &e);
	if (failed)
		fprintf(stderr, "count_comms: %s: %s\n", argv[1],
			pd_error_text(&e, text, sizeof(text)));
	else
		failed = count_stream(&all, &stream);
	for (size_t i = 0; i < all.n; i++) {
		printf("%" PRIu64 " %s\n", all.items[i].samples, all.items[i].comm);
		free(all.items[i].comm);
	}
	free(all.items);
	pc_free(c);
	pd_reader_free(r);
	pd_history_free(h);
	return failed != 0;
}
