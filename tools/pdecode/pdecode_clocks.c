/* pdecode_clocks.c - which clocks are tied to wall time: see pdecode_clocks.h. */
#include "pdecode/pdecode_clocks.h"

void clocks_report_untied(const struct cli_tool *tool, const char *input,
			  const struct pd_reader *reader)
{
	const size_t n = pd_reader_nr_attrs(reader);
	const char *name = NULL;
	size_t untied = 0;
	uint64_t ns;

	for (size_t i = 0; i < n; i++) {
		const struct pd_attr *a = pd_reader_attr(reader, i);

		if (pd_reader_utc(reader, a, 1, &ns))
			continue;
		untied++;
		name = name ? name : pd_attr_name(a);
	}
	if (untied && untied < n)
		cli_error(tool, "%s: --utc: event %s has a clock that the recording does not tie "
			  "to wall time", input, name);
	else if (untied)
		cli_error(tool, "%s: --utc: the recording does not tie its clock to wall time: "
			  "precord does, and perf record with -k mono", input);
}
