/* idle_writer.h - what record/run/drain.c calls besides: for programs that do not look at it. */
#ifndef IDLE_WRITER_H
#define IDLE_WRITER_H

#include "capture/aux_area.h"
#include "pd/write.h"

uint64_t pd_writer_size(const struct pd_writer *w)
{
	(void)w;
	return 0;
}

int pd_writer_flush(struct pd_writer *w, struct pd_error *e)
{
	(void)w, (void)e;
	return 0;
}

int aux_area_write(struct aux_area *a, struct pd_writer *w, struct pd_error *e)
{
	(void)a, (void)w, (void)e;
	return 0;
}

#endif
