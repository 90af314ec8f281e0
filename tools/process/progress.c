/* progress.c - draw the progress line. */
#include "process/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "process/clock.h"

enum {
	BAR_WIDTH = 24,
	LINE_MAX_WIDTH = 160,
	DEFAULT_COLUMNS = 80,
};

static const uint64_t second = 1000000000;

static size_t terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return DEFAULT_COLUMNS;
}

/* A background job must not draw on the terminal. */
static bool is_foreground(void)
{
	return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* Formats as "1.4 GiB", with at most three digits. */
static const char *format_bytes(double bytes, char *buf, size_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	while (bytes >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, size, unit && bytes < 10 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
	return buf;
}

static size_t format_line(const struct progress *p, uint64_t done, uint64_t at, char *line,
			  size_t size)
{
	double seconds = (double)(at - p->started) / (double)second;
	char bar[BAR_WIDTH + 1], have[16], all[16], rate[16];
	double part;
	int n;

	format_bytes((double)done, have, sizeof(have));
	format_bytes((double)done / seconds, rate, sizeof(rate));
	if (!p->total) {
		n = snprintf(line, size, "%s  %s/s", have, rate);
	} else {
		part = done < p->total ? (double)done / (double)p->total : 1;
		memset(bar, '.', BAR_WIDTH);
		memset(bar, '#', (size_t)(part * BAR_WIDTH));
		bar[BAR_WIDTH] = '\0';
		n = snprintf(line, size, "%3d%% [%s] %s of %s  %s/s", (int)(part * 100), bar, have,
			     format_bytes((double)p->total, all, sizeof(all)), rate);
	}
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* One write(2), as a line in parts flickers. A failure is harmless. */
static void write_line(const char *text, size_t length)
{
	if (write(STDERR_FILENO, text, length) < 0)
		return;
}

void progress_start(struct progress *p, uint64_t total)
{
	*p = (struct progress){ .on = isatty(STDERR_FILENO), .total = total };
	if (p->on)
		p->started = clock_ns();
}

void progress_draw(struct progress *p, uint64_t done)
{
	char line[2 * LINE_MAX_WIDTH];
	size_t room = terminal_width();
	uint64_t at = clock_ns();
	size_t length;

	p->next = done + PROGRESS_STEP;
	if (at - p->started < second || at - p->drawn < second / 10 || !is_foreground())
		return;
	p->drawn = at;
	length = format_line(p, done, at, line + 1, LINE_MAX_WIDTH);
	if (length >= room)	/* the last column stays free: a full line may wrap */
		length = room - 1;
	line[0] = '\r';
	for (size_t i = length; i < p->width && i < LINE_MAX_WIDTH; i++)
		line[1 + i] = ' ';
	write_line(line, 1 + (length > p->width ? length : p->width));
	p->width = length;
}

void progress_clear(struct progress *p)
{
	char line[LINE_MAX_WIDTH + 2];

	if (!p->width)
		return;
	memset(line, ' ', sizeof(line));
	line[0] = '\r';
	line[1 + p->width] = '\r';
	write_line(line, p->width + 2);
	p->width = 0;
	p->drawn = clock_ns();
}

void progress_end(struct progress *p)
{
	progress_clear(p);
	p->on = false;
}
