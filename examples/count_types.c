/* count_types.c - counts records by type: count_types FILE.
 *
 *	cc -O2 -o count_types count_types.c $(pkg-config --cflags --libs libdecode)
 */
#include <inttypes.h>
#include <stdio.h>

#include <pd/pd.h>

#define TYPES 256

int main(int argc, char **argv)
{
	struct {
		const char *name;
		uint64_t count;
	} types[TYPES] = { { NULL, 0 } };
	const struct pd_record *record;
	struct pd_reader *reader;
	struct pd_error e;
	char text[256];
	int got;

	if (argc != 2) {
		fprintf(stderr, "usage: count_types FILE\n");
		return 2;
	}
	reader = pd_reader_open_path(argv[1], NULL, &e);
	if (!reader)
		goto failed;
	while ((got = pd_reader_next(reader, &record, &e)) == 1) {
		/* simpleperf's types are larger: they share the last place */
		uint32_t type = pd_record_type(record) < TYPES ? pd_record_type(record) : TYPES - 1;

		types[type].name = type < TYPES - 1 ? pd_record_name(record) : "other";
		types[type].count++;
	}
	if (got < 0)
		goto failed;
	for (int i = 0; i < TYPES; i++)
		if (types[i].count)
			printf("%" PRIu64 " %s\n", types[i].count, types[i].name);
	pd_reader_free(reader);
	return 0;
failed:
	fprintf(stderr, "count_types: %s: %s\n", argv[1], pd_error_text(&e, text, sizeof(text)));
	pd_reader_free(reader);
	return 1;
}
