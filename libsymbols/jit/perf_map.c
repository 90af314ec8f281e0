/* perf_map.c - /tmp/perf-PID.map: lines "START SIZE NAME", numbers in hex; names have blanks. */
#include "image/text_line.h"
#include "jit/code.h"

static bool parse_line(struct pd_bytes line, struct ps_jit_range *out)
{
	uint64_t size;

	if (!ps_take_hex(&line, &out->start) || !ps_take_hex(&line, &size))
		return false;
	while (line.size && (line.data[0] == ' ' || line.data[0] == '\t')) {
		line.data++;
		line.size--;
	}
	if (line.size && line.data[line.size - 1] == '\r')
		line.size--;
	out->end = out->start + size;
	out->from = 0;
	out->name = (const char *)line.data;
	out->name_size = line.size < UINT32_MAX ? (uint32_t)line.size : 0;
	return out->name_size && out->end > out->start;
}

enum ps_status ps_jit_read_perf_map(struct ps_jit_code *c, struct pd_bytes text,
				    struct pd_budget *budget)
{
	struct ps_jit_range range;
	struct pd_bytes line;
	int ret = 0;

	*c = (struct ps_jit_code){ .budget = budget, .source = PS_FROM_PERF_MAP };
	while (!ret && ps_take_line(&text, &line))
		if (parse_line(line, &range))
			ret = ps_jit_add(c, &range);
	if (!ret)
		ret = ps_jit_seal(c);
	if (!ret)
		return PS_OK;
	ps_jit_free(c);
	return PS_OVER_LIMIT;
}
