"""zip() of equally long parts; its argument `strict` is newer than Python 3.9."""


def zip_all(*parts):
    parts = [list(part) for part in parts]
    assert len({len(part) for part in parts}) == 1, [len(part) for part in parts]
    return zip(*parts)
