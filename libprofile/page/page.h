/* page.h - the flame graph page, which the build makes of page/. */
#ifndef PP_PAGE_H
#define PP_PAGE_H

#define PP_PAGE_DATA "@DATA@"	/* stands where the data goes */

extern const char pp_page[];
extern const char pp_svg_script[];	/* of a picture */

#endif
