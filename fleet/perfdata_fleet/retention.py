"""Removes what is old, by the date of upload in its key. Objects without a date stay.

An hour without samples keeps what its hourly counts need. Its pointer states that before the first
object is removed, so that readers never see a part, and late recordings do not start it again."""
import datetime
import re
import typing

from . import compact, convert, objects

_DATE = re.compile(r"(?:^|/)date=(\d{4}-\d{2}-\d{2})/")
_COMPACTED = re.compile(
    r"compact/(?P<hour>.+)/generation=(?P<generation>\d+)/t=(?P<table>\w+)/[^/]+")


class Days(typing.NamedTuple):
    """The days that each is kept. Raw recordings, if they were converted or not, go first: those
    that stay would be converted again."""
    raw: int = 3
    samples: int = 30
    hourly: int = 396


def _is_older(key, today, days):
    """The date itself may be none."""
    found = _DATE.search(key)
    try:
        return found is not None and (
            today - datetime.date.fromisoformat(found[1])).days > days
    except ValueError:
        return False


def _old(store, folder, today, days):
    return [item.key for item in objects.find(store, folder) if _is_older(item.key, today, days)]


def _end_samples(store, today, days):
    """States of the old hours that they have no samples."""
    places = {place_key.rpartition("/")[0] for place_key in convert.converted(store)}
    for hour_key in sorted(places | set(compact.current_hours(store))):
        pointer = compact.read_pointer(store, hour_key)
        if pointer["has_samples"] and _is_older(f"{hour_key}/", today, days):
            compact.keep_schemas(store, hour_key)
            compact.switch(store, hour_key, {**pointer, "has_samples": False})


def _unused(store, keys):
    """Those of the keys that belong to earlier generations, or to tables that an hour has no more.
    A later generation is one that is being made."""
    pointers = compact.current_hours(store)
    for key in keys:
        found = _COMPACTED.fullmatch(key)
        pointer = pointers.get(found["hour"]) if found else None
        if pointer and (int(found["generation"]) < pointer["generation"] or not (
                pointer["has_samples"] or found["table"] in compact.LASTING)):
            yield key


def expire(raw, store, today, days=Days()):
    """Removes what is older than `days`, seen from the date `today`. Returns the keys: {"raw": [],
    "store": []}."""
    if not days.raw <= days.samples <= days.hourly:
        raise ValueError(f"{days}: raw recordings go first, hourly counts last")
    gone = _old(raw, "", today, days.raw)
    objects.remove(raw, gone)
    _end_samples(store, today, days.samples)
    old = [key for key in _old(store, "", today, days.samples) if key.startswith("t=")]
    hours = _old(store, "compact", today, days.hourly)
    # the pointers first
    old += sorted(hours, key=lambda key: not key.endswith("/current.json"))
    rest = set(_old(store, "compact", today, days.raw)) - set(hours)
    old += sorted(_unused(store, rest))
    objects.remove(store, old)
    return {"raw": gone, "store": old}
