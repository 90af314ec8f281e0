/* layout.h - numbers of the layout of PD_SYMBOLS. */
#ifndef PS_BUNDLE_LAYOUT_H
#define PS_BUNDLE_LAYOUT_H

enum {
	PS_BUNDLE_OLDEST = 1,		/* without inlined functions */
	PS_BUNDLE_PLACES = 2,		/* with them */
	PS_BUNDLE_VERSION = 3,		/* and with rows of call frame information */
	PS_BUNDLE_OTHER_ORDER = 1 << 16,	/* versions from here on have swapped bytes */
	/* the least bytes of an entry, which bound the number of entries */
	PS_BUNDLE_IMAGE_MIN = 32,
	PS_BUNDLE_FUNCTION_MIN = 24,
	PS_BUNDLE_ADDRESS_MIN = 12,
	PS_BUNDLE_TEXT_MIN = 1,
	PS_BUNDLE_CALL_MIN = 16,
	PS_BUNDLE_ROW_MIN = 4,
	PS_BUNDLE_UNWOUND_MIN = 12,
};

#endif
