/* status.h - the result of reading a file for its names. */
#ifndef PS_IMAGE_STATUS_H
#define PS_IMAGE_STATUS_H

enum ps_status {
	PS_OK,
	PS_NOT_ELF,
	PS_BAD_FILE,	/* unreadable, damaged, or beyond a fixed limit */
	PS_OVER_LIMIT,	/* the memory limit is reached, or malloc failed */
};

#endif
