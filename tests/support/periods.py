"""Periods of samples, according to the JSON."""


def fixed_period(attr):
    """The period of samples that do not state theirs, of a JSON attribute; 0: there is none."""
    if "PERIOD" in attr.get("sample_type", {}).get("names", ()):
        return 0
    return attr.get("sample_period", 0)
