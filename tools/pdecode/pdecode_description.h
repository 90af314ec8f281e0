/* pdecode_description.h - the text of the manual page. */
#ifndef PD_TOOLS_PDECODE_DESCRIPTION_H
#define PD_TOOLS_PDECODE_DESCRIPTION_H

extern const char pdecode_description[];

#endif
