"""Recordings as a data source of Spark 4:

    spark.dataSource.register(PerfDataSource)
    spark.read.format("perfdata").option("table", "samples").load("raw/")

Options: table (samples), partitionBytes (64 MB of input for each partition). A file that cannot be
read has rows in `files` and `errors` only. Spark evaluates all filters; those on pid, tid, cpu,
comm and event_name are libdecode's as well, if spark.sql.python.filterPushdown.enabled is set."""
import pyarrow
from pyspark.sql.datasource import DataSource, DataSourceReader, EqualTo, In, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema

import perfdata

from . import convert, objects
from .schema import arrow_schema

_FILTERS = {"pid": "pid", "tid": "tid", "cpu": "cpu", "comm": "comm", "event_name": "event"}
_NO_TEXT = set("*?[\\\0")     # of patterns; a zero byte ends a text


def _is_exact(value):
    """Whether a filter of libdecode takes it, and for no pattern."""
    return value >= 0 if isinstance(value, int) else (
        isinstance(value, str) and not _NO_TEXT & set(value))


class PerfDataSource(DataSource):
    @classmethod
    def name(cls):
        return "perfdata"

    def schema(self):
        return from_arrow_schema(arrow_schema(self.options.get("table", "samples")))

    def reader(self, schema):
        return PerfDataReader(self.options)


class PerfDataReader(DataSourceReader):
    def __init__(self, options):
        self.path = options["path"]
        self.raw = objects.open_store(self.path)
        self.table = options.get("table", "samples")
        self.limit = int(options.get("partitionBytes", objects.PART_BYTES))
        self.filters = {}

    def pushFilters(self, filters):
        for filter in filters:
            if self.table == "samples":
                self._use(filter)
            yield filter

    def _use(self, filter):
        """Adds a filter of libdecode that leaves out no row which Spark's keeps."""
        if not isinstance(filter, (EqualTo, In)) or filter.attribute[0] not in _FILTERS:
            return
        values = [filter.value] if isinstance(filter, EqualTo) else list(filter.value)
        if values and all(map(_is_exact, values)):
            self.filters.setdefault(_FILTERS[filter.attribute[0]], values)

    def partitions(self):
        found = objects.find(self.raw)
        if not found:
            raise FileNotFoundError(f"{self.path}: no recordings in this folder")
        return [InputPartition(part) for part in objects.split(found, self.limit)]

    def read(self, partition):
        for item in partition.value:
            yield from self._batches(item)

    def _batches(self, item):
        file_id = objects.identity(self.raw, item.key)
        schema = arrow_schema(self.table)
        try:
            recording = perfdata.open(objects.read(self.raw, item.key), **self.filters)
            table = recording.table(self.table, int64=True, file_id=file_id)
            for batch in pyarrow.RecordBatchReader.from_stream(table):
                yield self._named(pyarrow.Table.from_batches([batch]).cast(schema), item)
        except perfdata.Error as error:
            failed = convert.failed_rows(error, file_id, item.size).get(self.table)
            if failed:
                yield self._named(failed, item)

    def _named(self, table, item):
        if self.table == "files":
            row = convert.file_row(table.to_pylist()[0], item.key, 1.0)
            table = pyarrow.Table.from_pylist([row], schema=table.schema)
        return table.combine_chunks().to_batches()[0]
