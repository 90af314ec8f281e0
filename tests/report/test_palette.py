"""The colors of the page: text on them can be read, and any two are told apart, also by those who
see fewer colors."""
import itertools
import re

import pytest

from conftest import ROOT

SOURCE = (ROOT / "libprofile" / "page" / "colors.js").read_text()
PICTURE = (ROOT / "libprofile" / "page" / "out_svg.c").read_text()
TEXTS = {"LIGHT": "#151515", "DARK": "#f4f2ee"}
CONTRAST, DISTANCE, SHADE = 4.5, 0.099, 6
# Machado, Oliveira, Fernandes 2009: full deficiency
VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
               (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
               (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
               (0.004733, 0.691367, 0.303900)),
}


def palette(name):
    found = re.search(rf"^const {name} = \[(.*)\];", SOURCE, re.M)
    return re.findall(r"#[0-9a-f]{6}", found[1])


def linear(color):
    parts = (int(color[i:i + 2], 16) / 255 for i in (1, 3, 5))
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def apply(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def luminance(color):
    return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear(color)))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def oklab(color, vision):
    seen = [min(max(c, 0), 1) for c in apply(VISIONS[vision], linear(color))]
    roots = [c ** (1 / 3) for c in apply(((0.4122214708, 0.5363325363, 0.0514459929),
                                          (0.2119034982, 0.6806995451, 0.1073969566),
                                          (0.0883024619, 0.2817188376, 0.6299787005)), seen)]
    return apply(((0.2104542553, 0.7936177850, -0.0040720468),
                  (1.9779984951, -2.4285922050, 0.4505937099),
                  (0.0259040371, 0.7827717662, -0.8086757660)), roots)


def shaded(color, by):
    parts = (int(color[i:i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{max(0, min(255, part + by)):02x}" for part in parts)


@pytest.mark.parametrize("theme", TEXTS)
def test_text_has_contrast_on_each_shade(theme):
    for color, by in itertools.product(palette(theme), (-SHADE, 0, SHADE)):
        assert contrast(shaded(color, by), TEXTS[theme]) >= CONTRAST, color


@pytest.mark.parametrize("theme", TEXTS)
@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_colors_are_told_apart(theme, vision):
    colors = set(palette(theme))
    assert len(colors) == 6
    for a, b in itertools.combinations(sorted(colors), 2):
        x, y = oklab(a, vision), oklab(b, vision)
        assert sum((i - j) ** 2 for i, j in zip(x, y)) ** 0.5 >= DISTANCE, (a, b)


def test_the_picture_has_the_colors_of_the_page():
    found = re.search(r"colors\[\] = \{(.*?)\};", PICTURE, re.S)
    assert re.findall(r"#[0-9a-f]{6}", found[1]) == palette("LIGHT")


def test_the_shades_are_those_that_are_checked():
    assert f"% 3 * {SHADE} - {SHADE})" in SOURCE
