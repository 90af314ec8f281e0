/* options.h - builds a struct of options from named members, with one syntax for C and C++11.
 *
 * PD_READER_OPTIONS(.order = PD_BY_TIME, .ctx = &mine) and the macros like it are arguments for a
 * call: the pointer is valid until the end of the block in C, of the full expression in C++.
 * Members not named are 0. In C++ the members may be in any order, at most 12 of them, and a value
 * with a comma outside parentheses must be parenthesized.
 */
#ifndef PD_OPTIONS_H
#define PD_OPTIONS_H

/* The memory_limit of all options in which it is 0, bytes. */
#define PD_MEMORY_LIMIT (256ull << 20)

#ifndef __cplusplus

#define PD_OPTIONS_OF(type, ...) (&(struct type){ .size = sizeof(struct type), __VA_ARGS__ })

#else

/* C++ has designated initializers only since C++20, only in declaration order, and compilers warn
 * about omitted members. So each `.name = value` becomes the statement `options.name = value`. */
#define PD_OPTIONS_OF(type, ...) \
	(static_cast<const struct type *>(pd_options_of<struct type>([&](struct type &pd_it_) { \
		PD_EACH_(__VA_ARGS__, PD_12_, PD_11_, PD_10_, PD_9_, PD_8_, PD_7_, PD_6_, PD_5_, \
			 PD_4_, PD_3_, PD_2_, PD_1_, 0) \
		(__VA_ARGS__) })))
#define PD_EACH_(a, b, c, d, e, f, g, h, i, j, k, l, set, ...) set
#define PD_1_(a) (void)(pd_it_ a);
#define PD_2_(a, ...) PD_1_(a) PD_1_(__VA_ARGS__)
#define PD_3_(a, ...) PD_1_(a) PD_2_(__VA_ARGS__)
#define PD_4_(a, ...) PD_1_(a) PD_3_(__VA_ARGS__)
#define PD_5_(a, ...) PD_1_(a) PD_4_(__VA_ARGS__)
#define PD_6_(a, ...) PD_1_(a) PD_5_(__VA_ARGS__)
#define PD_7_(a, ...) PD_1_(a) PD_6_(__VA_ARGS__)
#define PD_8_(a, ...) PD_1_(a) PD_7_(__VA_ARGS__)
#define PD_9_(a, ...) PD_1_(a) PD_8_(__VA_ARGS__)
#define PD_10_(a, ...) PD_1_(a) PD_9_(__VA_ARGS__)
#define PD_11_(a, ...) PD_1_(a) PD_10_(__VA_ARGS__)
#define PD_12_(a, ...) PD_1_(a) PD_11_(__VA_ARGS__)

extern "C++" {

/* Holds the options until the end of the full expression that creates it. */
template <class T> struct pd_options_of {
	T it;

	template <class Set> explicit pd_options_of(Set set) : it()
	{
		it.size = sizeof(it);
		set(it);
	}
	operator const T *() const { return &it; }
};

}

#endif
#endif
