"""The tables' columns as types of Arrow. Unsigned numbers are int64 of the same bits, since Spark
has no unsigned types; texts have no dictionaries, which differ from file to file."""
import pyarrow

import perfdata

_EMPTY = b"PERFILE2" + (16).to_bytes(8, "little")        # a pipe's header


def _without_dictionary(kind):
    if pyarrow.types.is_list(kind):
        return pyarrow.list_(_without_dictionary(kind.value_type))
    return kind.value_type if pyarrow.types.is_dictionary(kind) else kind


def arrow_schema(table):
    with perfdata.open(_EMPTY) as recording:
        stated = pyarrow.schema(recording.table(table, int64=True))
    return pyarrow.schema([(field.name, _without_dictionary(field.type)) for field in stated])
