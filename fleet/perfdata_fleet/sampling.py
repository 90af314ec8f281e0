"""How often the hosts of a service record, so that it has as many samples as its questions need:
20,000 bound the shares of a flame graph to 1 %.

retune(), once a day, writes services/probabilities.json, {"shop": 0.05}. A host reads it before
each slice, records with that probability, and states the weight, its reciprocal, in the raw key:
date=2026-11-22/hour=13/host=web-01/weight=20/NAME."""
import json

import duckdb
import pyarrow
import pyarrow.dataset

from . import compact, objects

TARGET = 40_000     # samples of a service in an hour
_KEY = "services/probabilities.json"
# Samples in an hour if all were recorded, of the event that has the most.
_HOURLY = """
select service, max(samples) from (
    select service, event_name, sum(samples * coalesce(weighed / nullif(
        coalesce(period, samples), 0), 1)) / count(distinct upload_hour) as samples
    from hourly where service is not null and upload_hour >= $since group by all)
group by service order by service"""


def retune(store, since, target=TARGET):
    """Writes, and returns, the probability for each service that has hourly counts from the hour
    `since` (2026-11-22 13) on. Services without a probability record always."""
    keys = compact.current_files(store, "hourly")
    if not target > 0:
        raise ValueError(f"{target} samples are no target")
    found = {}
    if keys:
        db = duckdb.connect()
        db.register("hourly", pyarrow.dataset.dataset(keys, filesystem=store, format="parquet"))
        rows = db.execute(_HOURLY, {"since": since}).fetchall()
        found = {service: min(1.0, target / samples) for service, samples in rows}
    objects.put(store, _KEY, (json.dumps(found, indent=1) + "\n").encode())
    return found
