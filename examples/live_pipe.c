/* live_pipe.c - prints samples as they are recorded: precord -o - ... | live_pipe
 *
 * A program with an event loop would call feed_bytes() when its descriptor is readable.
 *
 *	cc -O2 -o live_pipe live_pipe.c $(pkg-config --cflags --libs libdecode)
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <pd/feed.h>
#include <pd/pd.h>

static void print_sample(const struct pd_record *record)
{
	const char *event = pd_attr_name(pd_record_attr(record));
	uint64_t tid = 0, ip = 0, time = 0;

	pd_record_time(record, &time);
	pd_record_get_number(record, "tid", &tid);
	pd_record_get_number(record, "ip", &ip);
	printf("%" PRIu64 " %s tid=%" PRId32 " ip=0x%" PRIx64 "\n", time, event, (int32_t)tid, ip);
}

/* Prints the samples that are whole with these bytes. Returns 0, or -1 and *e. */
static int feed_bytes(struct pd_feed *feed, struct pd_bytes bytes, struct pd_error *e)
{
	const struct pd_record *record;
	int got;

	if (bytes.size ? pd_feed_add(feed, bytes, e) : pd_feed_end(feed, e))
		return -1;
	while ((got = pd_feed_next(feed, &record, e)) == 1)
		if (pd_record_type(record) == PD_RECORD_SAMPLE)
			print_sample(record);
	fflush(stdout);
	return got;
}

int main(void)
{
	struct pd_error e;
	struct pd_feed *feed = pd_feed_new(NULL, &e);
	uint8_t buffer[4096];
	int failed = !feed;
	char text[256];
	ssize_t n = 1;

	while (!failed && n > 0) {
		n = read(STDIN_FILENO, buffer, sizeof(buffer));
		failed = n < 0 || feed_bytes(feed, (struct pd_bytes){ buffer, (size_t)n }, &e);
	}
	if (failed)
		fprintf(stderr, "live_pipe: %s\n",
			n < 0 ? "the input cannot be read" : pd_error_text(&e, text, sizeof(text)));
	pd_feed_free(feed);
	return failed;
}
