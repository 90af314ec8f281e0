/* api_tree.c - prints every item of a recording's trees, each found by its path.
 *
 * api_tree FILE              "= KIND NUMBER" for each file, attr, record and feature, then
 *                            "PATH\tVALUE" for each item
 * api_tree FILE KIND NUMBER PATH...   the values of these paths
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/pd.h>
#include <pd/tree.h>

#define PATH_SIZE 1024

static void print_hex(struct pd_bytes bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		printf("%02x", bytes.data[i]);
}

static void print_value(const struct pd_item *i)
{
	if (i->word)
		printf("%s=", i->word);
	switch (i->kind) {
	case PD_ITEM_NUMBER:
		printf("n %" PRIu64, i->number);
		break;
	case PD_ITEM_SIGNED:
		printf("n %" PRId64, (int64_t)i->number);
		break;
	case PD_ITEM_ADDRESS:
		printf("x 0x%" PRIx64, i->number);
		break;
	case PD_ITEM_REAL:
		printf("r %.17g", i->real);
		break;
	case PD_ITEM_TEXT:
	case PD_ITEM_BYTES:
		printf(i->kind == PD_ITEM_TEXT ? "t " : "b ");
		print_hex(i->bytes);
		break;
	case PD_ITEM_OBJECT:
	case PD_ITEM_ARRAY:
		printf(i->kind == PD_ITEM_OBJECT ? "o %zu" : "a %zu", i->count);
		break;
	}
	printf("\n");
}

/* Prints what is inside `of`, whose path is the first n characters of `path`. */
static void print_items(const struct pd_item *root, const struct pd_item *of, char *path, size_t n)
{
	const struct pd_item *i = NULL;
	size_t index = 0;

	while ((i = pd_item_next(of, i))) {
		size_t end = n;

		if (of->kind == PD_ITEM_ARRAY)
			end += (size_t)snprintf(path + n, PATH_SIZE - n, "[%zu]", index);
		else
			end += (size_t)snprintf(path + n, PATH_SIZE - n, "%s%s", n ? "." : "",
						i->name);
		index++;
		if (end >= PATH_SIZE || pd_item_get(root, path) != i) {
			printf("WRONG %s\n", path);
			exit(1);
		}
		printf("%s\t", path);
		print_value(i);
		print_items(root, i, path, end);
	}
	if (index != of->count) {
		printf("WRONG count of %.*s\n", (int)n, path);
		exit(1);
	}
}

static void print_tree(const char *kind, size_t number, const struct pd_item *root,
		       const struct pd_error *e)
{
	char path[PATH_SIZE] = "";

	printf("= %s %zu\n", kind, number);
	if (root)
		print_items(root, root, path, 0);
	else
		printf("error %s\n", pd_code_name(e->code));
}

static void print_payload(struct pd_reader *r)
{
	struct pd_bytes piece;
	struct pd_error e;

	printf("data\tb ");
	while (pd_reader_read_payload(r, 65536, &piece, &e) > 0)
		print_hex(piece);
	printf("\n");
}

static int print_all(struct pd_reader *r, struct pd_tree *t)
{
	const struct pd_record *record;
	struct pd_error e = { .code = PD_OK };
	size_t n = 0;
	int got;

	for (; (got = pd_reader_next(r, &record, &e)) == 1; n++) {
		const uint64_t payload = pd_record_payload_size(record);

		print_tree("record", n, pd_tree_read_record(t, record, &e), &e);
		if (payload)
			print_payload(r);
	}
	print_tree("file", 0, pd_tree_read_file(t, r, &e), &e);
	for (size_t i = 0; i < pd_reader_nr_attrs(r); i++) {
		const struct pd_attr *a = pd_reader_attr(r, i);
		size_t nr_ids;
		const uint64_t *ids = pd_attr_ids(a, &nr_ids);

		if (nr_ids && pd_reader_attr_by_id(r, ids[nr_ids - 1]) != a)
			printf("WRONG event of an id\n");
		print_tree("attr", i, pd_tree_read_attr(t, r, a, &e), &e);
	}
	for (size_t i = 0; i < pd_reader_nr_features(r); i++) {
		struct pd_feature f;

		pd_reader_feature(r, i, &f, &e);
		print_tree("feature", i, pd_tree_read_feature(t, r, f.id, &e), &e);
	}
	return got;
}

static const struct pd_item *find_root(struct pd_reader *r, struct pd_tree *t, const char *kind,
				       size_t number, struct pd_error *e)
{
	const struct pd_record *record = NULL;

	if (strcmp(kind, "file") == 0)
		return pd_tree_read_file(t, r, e);
	if (strcmp(kind, "attr") == 0)
		return pd_tree_read_attr(t, r, pd_reader_attr(r, number), e);
	if (strcmp(kind, "feature") == 0)
		return pd_tree_read_feature(t, r, (uint32_t)number, e);
	for (size_t i = 0; i <= number; i++)
		if (pd_reader_next(r, &record, e) != 1)
			return NULL;
	return pd_tree_read_record(t, record, e);
}

int main(int argc, char **argv)
{
	struct pd_error e = { .code = PD_OK };
	struct pd_reader *r = pd_reader_open_path(argv[1], NULL, &e);
	struct pd_tree *t = pd_tree_new(NULL);
	const struct pd_item *root;
	int failed = !r || !t;

	if (!failed && argc == 2) {
		failed = print_all(r, t);
	} else if (!failed) {
		root = find_root(r, t, argv[2], strtoul(argv[3], NULL, 10), &e);
		for (int i = 4; i < argc; i++) {
			const struct pd_item *item = pd_item_get(root, argv[i]);

			if (item)
				print_value(item);
			else
				printf("-\n");
		}
	}
	if (failed)
		printf("error %s\n", pd_code_name(e.code));
	pd_tree_free(t);
	pd_reader_free(r);
	return 0;
}
