/* records.c - find the description of a record type. */
#include "layout/records.h"

const struct pd_record_desc *pd_record_desc_of_user(uint32_t type)
{
	if (type >= PD_RECORD_USER_START && type < PD_RECORD_USER_END)
		return &pd_records_perf[type - PD_RECORD_USER_START];
	if (type >= PD_RECORD_SIMPLEPERF_START && type < PD_RECORD_SIMPLEPERF_END)
		return &pd_records_simpleperf[type - PD_RECORD_SIMPLEPERF_START];
	return NULL;
}

const struct pd_record_desc *pd_record_desc_at(size_t i)
{
	const struct pd_record_desc *const tables[] = { pd_records_kernel, pd_records_perf,
		pd_records_simpleperf };

	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (const struct pd_record_desc *d = tables[t]; d->name; d++)
			if (i-- == 0)
				return d;
	return NULL;
}
