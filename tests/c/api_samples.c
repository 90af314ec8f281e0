/* api_samples.c - reads samples from the records of a file, in memory: api_samples FILE CAPACITY.
 *
 * Prints a line for each sample, and how many bytes were left to another way of reading. The memory
 * ends with the records, then is cut at each of the last bytes: no sample may come of one that is
 * cut.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/fields.h>
#include <pd/pd.h>

enum { HEADER = 8, MOST = 512, CUTS = 100 };

static void print_sample(const struct pd_sample *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->callchain.count; i++)
		sum = 31 * sum + pd_number_at(&s->callchain, i);
	printf("sample misc=%u pid=%" PRId32 " time=%" PRIu64 " ip=%" PRIu64 " callchain=%zu,%"
	       PRIu64 "\n", s->misc, s->pid, s->time, s->ip, s->callchain.count, sum);
}

/* The size of a record, by its header in the byte order of the file. */
static size_t size_of(const uint8_t *record, int is_big)
{
	return is_big ? record[6] << 8 | record[7] : record[7] << 8 | record[6];
}

static size_t read_samples(struct pd_reader *r, struct pd_bytes in, size_t capacity,
			   int is_big, size_t *others)
{
	struct pd_sample items[MOST];
	size_t taken, total = 0;

	while (in.size >= HEADER) {
		const size_t n = pd_reader_samples_in(r, in, items, capacity, &taken);

		if (n > capacity || taken > in.size || !n != !taken)
			exit(3);
		for (size_t i = 0; i < n && others; i++)
			print_sample(&items[i]);
		total += n;
		if (!n) {
			taken = size_of(in.data, is_big);
			if (taken < HEADER || taken > in.size)
				break;
			if (others)
				*others += taken;
		}
		in.data += taken;
		in.size -= taken;
	}
	return total;
}

/* A copy of its own, so that reading past its end is seen. */
static size_t read_cut(struct pd_reader *r, struct pd_bytes in, int is_big)
{
	uint8_t *copy = malloc(in.size ? in.size : 1);
	size_t n;

	memcpy(copy, in.data, in.size);
	n = read_samples(r, (struct pd_bytes){ copy, in.size }, MOST, is_big, NULL);
	free(copy);
	return n;
}

int main(int argc, char **argv)
{
	struct pd_error e;
	struct pd_reader *r = argc > 2 ? pd_reader_open_path(argv[1], NULL, &e) : NULL;
	const struct pd_file_info *file = r ? pd_reader_file(r) : NULL;
	uint8_t *data = file ? malloc(file->data_size + 1) : NULL;
	size_t others = 0, n, fewer = 0;
	int is_big;

	if (!data)
		return 2;
	is_big = file->byte_order == PD_BIG_ENDIAN;
	pd_reader_read_at(r, file->data_offset, data, file->data_size);
	n = read_samples(r, (struct pd_bytes){ data, file->data_size },
			 (size_t)atoi(argv[2]), is_big, &others);
	for (size_t cut = 1; cut <= CUTS && cut <= file->data_size; cut++) {
		const struct pd_bytes in = { data, file->data_size - cut };
		const size_t some = read_cut(r, in, is_big);

		if (some > n - fewer)
			return 4;
		fewer = n - some;
	}
	printf("others=%zu fewer=%zu\n", others, fewer);
	free(data);
	pd_reader_free(r);
	return 0;
}
