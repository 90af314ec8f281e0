"""The samples of an hour, counted by service, version, group of hosts, event and stack:
compact/HOUR/generation=N/t=hourly/hour.parquet.

It has what is asked after the samples are removed, and what dashboards read."""
import duckdb

from . import convert, objects

_SELECT = """
select $hour as upload_hour, service, version, host_group, event_name, stack,
    count(*) as samples, sum(period)::bigint as period, sum(coalesce(period, 1) * weight) as weighed
from samples group by all order by all"""


def aggregate(store, hour_key, folder, samples):
    """Writes the counts of `samples`, a dataset of the hour's compacted files, to a folder of the
    generation."""
    db = duckdb.connect(config={"threads": 1})      # the same sums in each run
    db.register("samples", samples)
    counted = db.sql(_SELECT, params={"hour": _name(hour_key)}).to_arrow_table()
    objects.put(store, f"{folder}/t=hourly/hour.parquet", convert.parquet(counted))


def _name(hour_key):
    """2026-11-22 13, of date=2026-11-22/hour=13."""
    return " ".join(part.partition("=")[2] for part in hour_key.split("/"))
