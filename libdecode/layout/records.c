/* records.c - finds the description of a record type. */
#include "layout/records.h"

#define KERNEL_FIRST 1
#define KERNEL_LAST 22
#define PERF_FIRST 64
#define PERF_LAST 86
#define SIMPLEPERF_FIRST 32769
#define SIMPLEPERF_LAST 32777

const struct pd_record_desc *pd_record_desc(uint32_t type)
{
	if (type >= KERNEL_FIRST && type <= KERNEL_LAST)
		return &pd_records_kernel[type - KERNEL_FIRST];
	if (type >= PERF_FIRST && type <= PERF_LAST)
		return &pd_records_perf[type - PERF_FIRST];
	if (type >= SIMPLEPERF_FIRST && type <= SIMPLEPERF_LAST)
		return &pd_records_simpleperf[type - SIMPLEPERF_FIRST];
	return NULL;
}

const struct pd_record_desc *pd_record_desc_at(size_t i)
{
	const struct pd_record_desc *const tables[] = { pd_records_kernel, pd_records_perf, pd_records_simpleperf };

	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (const struct pd_record_desc *d = tables[t]; d->name; d++)
			if (i-- == 0)
				return d;
	return NULL;
}
