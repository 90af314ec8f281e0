/* tracepoint_fields.c - prints the fields of tracepoints: tracepoint_fields FILE [FIELD].
 *
 * With FIELD ("next_comm") only that one.
 *
 *	cc -O2 -o tracepoint_fields tracepoint_fields.c $(pkg-config --cflags --libs libdecode)
 */
#include <inttypes.h>
#include <stdio.h>

#include <pd/pd.h>
#include <pd/tree.h>

static void print_value(const struct pd_item *value)
{
	const struct pd_item *i = NULL;

	switch (value->kind) {
	case PD_ITEM_SIGNED:
		printf("%" PRId64, (int64_t)value->number);
		break;
	case PD_ITEM_ADDRESS:
		printf("0x%" PRIx64, value->number);
		break;
	case PD_ITEM_TEXT:
		printf("%.*s", (int)value->bytes.size, (const char *)value->bytes.data);
		break;
	case PD_ITEM_BYTES:
		for (size_t n = 0; n < value->bytes.size; n++)
			printf("%02x", value->bytes.data[n]);
		break;
	case PD_ITEM_ARRAY:
		while ((i = pd_item_next(value, i))) {
			print_value(i);
			printf(",");
		}
		break;
	default:
		printf("%" PRIu64, value->number);
		break;
	}
}

static void print_tracepoint(const struct pd_item *tracepoint, const char *wanted)
{
	const struct pd_item *fields = pd_item_get(tracepoint, "fields"), *field = NULL;

	if (wanted && !pd_item_get(fields, wanted))
		return;
	print_value(pd_item_get(tracepoint, "system"));
	printf(":");
	print_value(pd_item_get(tracepoint, "name"));
	while ((field = pd_item_next(fields, field))) {
		if (wanted && field != pd_item_get(fields, wanted))
			continue;
		printf(" %s=", field->name);
		print_value(field);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	struct pd_tree *tree = pd_tree_new(NULL);
	const struct pd_record *record;
	struct pd_reader *reader;
	struct pd_error e;
	char text[256];
	int got = -1;

	if (argc < 2 || !tree) {
		fprintf(stderr, "usage: tracepoint_fields FILE [FIELD]\n");
		return 2;
	}
	reader = pd_reader_open_path(argv[1], NULL, &e);
	while (reader && (got = pd_reader_next(reader, &record, &e)) == 1) {
		const struct pd_item *tracepoint = NULL;

		if (pd_record_type(record) == PD_RECORD_SAMPLE)
			tracepoint = pd_item_get(pd_tree_read_record(tree, record, &e),
						 "raw.tracepoint");
		if (tracepoint)
			print_tracepoint(tracepoint, argc > 2 ? argv[2] : NULL);
	}
	if (got < 0)
		fprintf(stderr, "tracepoint_fields: %s: %s\n", argv[1],
			pd_error_text(&e, text, sizeof(text)));
	pd_reader_free(reader);
	pd_tree_free(tree);
	return got < 0;
}
