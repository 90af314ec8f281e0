"""The tests' own description of perf.data: it shares nothing with libdecode, on purpose.

Making files:      wire, attr, records, sample, features, tracing, container
A file of each:    catalog (case, catalog_*), with what the JSON has to show
Turning them:      swap (turner, swap_records, swap_features, swap_zstd), written apart from that

Layouts come from the kernel's and perf's formats as they are published, and from real files.
"""
