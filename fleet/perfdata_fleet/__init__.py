"""Recordings of many machines as tables: conversion, compaction and questions, with Spark or
without it.

    objects     the recordings of a raw folder, their identities, and parts of 64 MB
    convert     a recording to Parquet files; a file that is no recording becomes rows
    compact     the files of an hour to few, with numbers that hold across recordings
    services    the service and version that a sample belongs to
    hourly      the counts of an hour by service, version and stack
    sampling    how often the hosts of a service record
    retention   what is kept for how long
    symbols     names for the addresses that were hit
    queries     the questions of fleet/sql on DuckDB, Spark and ClickHouse
    datasource  recordings as a data source of Spark
    jobs        conversion and compaction as jobs of Spark
"""
