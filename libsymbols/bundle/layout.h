/* layout.h - numbers of the layout of PD_SYMBOLS. */
#ifndef PS_BUNDLE_LAYOUT_H
#define PS_BUNDLE_LAYOUT_H

enum {
	PS_BUNDLE_VERSION = 1,
	/* the least bytes of an entry, which bound the number of entries */
	PS_BUNDLE_IMAGE_MIN = 32,
	PS_BUNDLE_FUNCTION_MIN = 24,
	PS_BUNDLE_ADDRESS_MIN = 12,
};

#endif
