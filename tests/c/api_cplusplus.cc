// api_cplusplus.cc - the same headers from C++11 and later, all of their macros:
// api_cplusplus FILE OUT
#include <linux/perf_event.h>

#include <cstdio>

#include <pd/history.h>
#include <pd/pd.h>
#include <pd/repair.h>
#include <pd/schema.h>
#include <pd/tree.h>
#include <pd/write.h>

#define HOSTNAME 3
#define CMDLINE 11

namespace {

struct seen {
	unsigned long records, errors, numbers;
};

void on_error(void *ctx, const pd_error *)
{
	static_cast<seen *>(ctx)->errors++;
}

void on_number(void *ctx, const pd_field *, uint64_t)
{
	static_cast<seen *>(ctx)->numbers++;
}

int append(void *ctx, const void *, size_t n)
{
	*static_cast<size_t *>(ctx) += n;
	return 0;
}

int two(int a, int b)
{
	return a + b;
}

int read_it(const char *path)
{
	pd_reader_options options = {};
	const pd_record *record;
	pd_error error;
	unsigned long samples = 0;
	uint64_t ip;
	seen it = { 0, 0, 0 };
	const bool sorted = true;
	pd_visitor visitor = {};

	options.size = sizeof(options);
	pd_reader *reader = pd_reader_open_path(path, &options, &error);
	if (!reader)
		return 1;
	while (pd_reader_next(reader, &record, &error) == 1)
		samples += pd_record_get_number(record, "ip", &ip);
	std::printf("samples %lu\n", samples);
	pd_reader_free(reader);

	// in another order than the members', with commas, with names from here
	reader = pd_reader_open_path(path,
				     PD_READER_OPTIONS(.ctx = &it,
						       .order = sorted ? PD_BY_TIME : PD_AS_WRITTEN,
						       .memory_limit = uint64_t(two(32, 32)) << 20,
						       .on_error = on_error),
				     &error);
	visitor.size = sizeof(visitor);
	visitor.number = on_number;
	for (; reader && pd_reader_next(reader, &record, &error) == 1; it.records++)
		pd_record_visit(record, &visitor, &it);
	std::printf("records %lu errors %lu numbers %d\n", it.records, it.errors,
		    it.numbers > it.records);
	pd_reader_free(reader);

	reader = pd_reader_open_path(path, PD_READER_OPTIONS(), &error);
	std::printf("defaults %d\n", reader != nullptr);
	pd_reader_free(reader);
	return 0;
}

int json_of(const char *path)
{
	pd_error error;
	size_t size = 0;
	pd_output out = { append, &size };
	pd_reader *reader =
		pd_reader_open_path(path, PD_READER_OPTIONS(.stop_at = PD_FATAL), &error);
	pd_history *history =
		pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = PD_MEMORY_LIMIT), &error);
	pd_filter *filter = pd_filter_new(PD_FILTER_OPTIONS(.time = nullptr));
	const pd_namer namer = *PD_NAMER(.ctx = nullptr);
	static_assert(sizeof(PD_DELETED) == 11, "a text");
	static_assert(sizeof(PD_VDSO_32) == 9, "a text");
	pd_sink *sink = pd_sink_new_json(
		PD_JSON_OPTIONS(.blobs = PD_BLOBS_OMIT, .shape = PD_JSON_LINES, .filter = filter,
				.namer = &namer),
		out);

	pd_tree_free(pd_tree_new(PD_TREE_OPTIONS(.memory_limit = 1 << 20)));
	if (!reader || !history || !sink || !filter || pd_pump(reader, sink))
		return 1;
	pd_sink_free(sink);
	sink = pd_sink_new_stats(PD_STATS_OPTIONS(.filter = filter), out);
	pd_sink_free(sink);
	pd_reader_free(reader);
	pd_filter_free(filter);
	pd_history_free(history);
	std::printf("json %d\n", size > 1000);
	return 0;
}

bool write_records(pd_writer *writer, pd_error *error)
{
	static const uint64_t chain[] = { 0x10, 0x20 };
	const pd_value ids[] = { PD_NUMBER("pid", 7), PD_NUMBER("tid", -1) };
	const pd_value comm[] = { PD_NUMBER("pid", 7), PD_TEXT("comm", "worker"),
				  PD_OBJECT("sample_id", ids, 2) };
	const pd_value raw[] = { PD_BYTES("data", chain, 12) };
	const pd_value sample[] = { PD_NUMBER("ip", 0x1234), PD_NUMBERS("callchain", chain, 2),
				    PD_OBJECT("raw", raw, 1) };
	const pd_value words[] = { PD_TEXT(nullptr, "perf"), PD_TEXT(nullptr, "record") };
	const pd_value list = PD_ARRAY(nullptr, words, 2), host = PD_TEXT(nullptr, "box");
	const pd_bytes nothing = { nullptr, 0 };

	return !pd_writer_record(writer, PERF_RECORD_COMM, 0, 0, comm, 3, nothing, error) &&
	       !pd_writer_record(writer, PERF_RECORD_SAMPLE, 0, 0, sample, 3, nothing, error) &&
	       !pd_writer_feature(writer, HOSTNAME, &host, error) &&
	       !pd_writer_feature(writer, CMDLINE, &list, error);
}

int write_it(const char *path)
{
	const uint64_t id = 11;
	perf_event_attr attr = {};
	pd_error error;
	char text[200];
	std::FILE *file = std::fopen(path, "w+");
	pd_writer *writer =
		file ? pd_writer_open_fd(fileno(file), PD_WRITER_OPTIONS(.mode = PD_MODE_FILE),
					 &error)
		     : nullptr;

	attr.size = sizeof(attr);
	attr.sample_id_all = 1;
	attr.sample_type =
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
	if (!writer || pd_writer_add_event(writer, &attr, sizeof(attr), &id, 1, "cycles", &error) ||
	    pd_writer_begin(writer, &error) || !write_records(writer, &error) ||
	    pd_writer_finish(writer, &error)) {
		std::printf("not written: %s\n", pd_error_text(&error, text, sizeof(text)));
		return 1;
	}
	pd_writer_free(writer);
	pd_encoder *encoder = pd_encoder_new(&pd_value_values, fileno(file),
					     PD_ENCODER_OPTIONS(.compress = 1), &error);
	const bool has_encoder = encoder != nullptr;
	pd_encoder_free(encoder);
	std::fclose(file);
	if (!has_encoder)
		return 1;
	return 0;
}

}

int main(int argc, char **argv)
{
	char name[PD_SCHEMA_NAME_SIZE];

	static_assert(PD_VALUE_ARRAY != PD_VALUE_NUMBER && PD_ENCODER_BIG != PD_ENCODER_LITTLE,
		      "in no struct");
	static_assert(PD_WRITER_COMPRESSED_MOST > 65536, "a constant");
	static_assert(PD_NO_TIME > PD_NO_IMAGE && PD_CLOCK_PERF > 11 && PD_MISC_CPUMODE == 7,
		      "constants");
	if (argc != 3)
		return 2;
	std::printf("%s\n", pd_schema_name(PD_SCHEMA_DOCUMENT, name, sizeof(name)));
	std::printf("%s\n", pd_schema_name(PD_SCHEMA_LINE, name, sizeof(name)));
	return read_it(argv[1]) || json_of(argv[1]) || write_it(argv[2]);
}
