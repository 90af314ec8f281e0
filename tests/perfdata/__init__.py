"""The tests' own description of perf.data: it shares nothing with libdecode, on purpose.

Layouts:           attr, sample, records, features, container, in the language of rows; tracing
Making files:      the layouts are called with values; wire has the bytes, container whole files
Swapping them:     swap (swapper, swap_records, swap_zstd) walks a file by the same layouts
A file of each:    catalog (case, catalog_*), with what the JSON has to show

Layouts come from the kernel's and perf's formats as they are published, and from real files.
"""
