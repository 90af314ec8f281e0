// api_cplusplus.cc - the same headers from C++: api_cplusplus FILE
#include <cstdio>

#include <pd/pd.h>
#include <pd/schema.h>
#include <pd/write.h>

int main(int argc, char **argv)
{
	pd_options options = {};
	const pd_record *record;
	pd_error error;
	unsigned long samples = 0;
	uint64_t ip;

	if (argc != 2)
		return 2;
	options.size = sizeof(options);
	pd_reader *reader = pd_open_path(argv[1], &options, &error);
	if (!reader)
		return 1;
	while (pd_next(reader, &record, &error) == 1)
		samples += pd_get_number(record, "ip", &ip);
	std::printf("samples %lu\n", samples);
	pd_close(reader);
	return 0;
}
