/* pencode_report.c - what the encoder could not write: see pencode_report.h. */
#include "pencode/pencode_report.h"

#include <stdio.h>
#include <string.h>

#include "pd/repair.h"

/* Reports a feature that a pipe can't have. */
static void report_feature_left_out(const struct cli_tool *tool, const char *input,
				    const char *feature)
{
	const bool is_own = strcmp(feature, pd_feature_name(PD_FEATURE_PD_SYMBOLS)) == 0;

	cli_error(tool, "%s: feature %s left out: %s (a file can hold it)", input, feature,
		  is_own ? "perf refuses a pipe with it" :
			   "it exceeds the 64 KiB of a pipe's record");
}

/* Reports members whose values are not in the output, because others say otherwise. */
static bool report_ignored(const struct cli_tool *tool, const char *input,
			   const struct pd_encoder *enc)
{
	uint64_t n;
	const char *path = pd_encoder_ignored(enc, &n);
	const size_t size = path ? strlen(path) : 0;
	char others[64] = "";

	if (!path)
		return false;
	if (n > 1)
		snprintf(others, sizeof(others), " and %llu other member%s",
			 (unsigned long long)n - 1, n == 2 ? "" : "s");
	cli_error(tool, "%s: %s%s ignored: %s", input, path, others,
		  size > 5 && strcmp(path + size - 5, ".name") == 0 ?
		  "names of events are in EVENT_DESC, of a pipe also in EVENT_UPDATE records; "
		  "change them there, too" :
		  "the records of a pipe count, and differ; change them, too, or omit attrs and "
		  "features");
	return true;
}

enum cli_exit report_left_out(const struct cli_tool *tool, const char *input,
			      const struct pd_encoder *enc)
{
	const uint64_t records = pd_encoder_left_out(enc), gaps = pd_encoder_gaps_left_out(enc);
	const char *feature;
	size_t n, raw;

	for (n = 0; (feature = pd_encoder_feature_left_out(enc, n)); n++)
		report_feature_left_out(tool, input, feature);
	for (raw = 0; (feature = pd_encoder_feature_lost_raw(enc, raw)); raw++)
		cli_error(tool,
			  "%s: %s_raw left out: the byte order of bytes that no field describes "
			  "can't be changed",
			  input, feature);
	if (gaps)
		cli_error(tool,
			  "%s: gaps left out: %llu byte%s between sections, which have other "
			  "offsets in the output",
			  input, (unsigned long long)gaps, gaps == 1 ? "" : "s");
	if (records)
		cli_error(tool,
			  "%s: %llu record%s left out: the compressed records hold only a part of "
			  "%s (pdecode --blobs full keeps it)",
			  input, (unsigned long long)records, records == 1 ? "" : "s",
			  records == 1 ? "it" : "each");
	return report_ignored(tool, input, enc) || records || n || raw || gaps ?
		       CLI_ERRORS : CLI_OK;
}
