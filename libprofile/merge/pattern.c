/* pattern.c - which functions an option names: see pattern.h. */
#include "merge/pattern.h"

#include <fnmatch.h>
#include <string.h>

static bool is_function(const struct pp_named *f)
{
	return f->kind != PP_KIND_THREAD && f->kind != PP_KIND_EVENT;
}

static const char *name_of(const struct pp_profile *p, uint32_t function)
{
	return (const char *)pp_strings_at(&p->strings, p->functions[function].name).data;
}

struct pp_pattern pp_pattern_of(const struct pp_profile *p, const char *text)
{
	struct pp_pattern pattern = { .text = text };

	for (uint32_t i = 0; text && i < p->nr_functions && !pattern.is_name; i++)
		pattern.is_name = is_function(&p->functions[i]) &&
				  strcmp(name_of(p, i), text) == 0;
	return pattern;
}

bool pp_pattern_names(const struct pp_pattern *pattern, const struct pp_profile *p,
		      uint32_t function)
{
	const char *text = pattern->text;

	if (!text || !is_function(&p->functions[function]))
		return false;
	return pattern->is_name ? strcmp(text, name_of(p, function)) == 0 :
				  fnmatch(text, name_of(p, function), 0) == 0;
}
