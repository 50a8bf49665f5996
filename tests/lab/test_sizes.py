"""Sizes as a command line has them."""

import pytest

from glla.errors import OptionError
from glla.lab.sizes import MOST, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512", (512,)),
        ("513,1023", (513, 1023)),
        ("1023, 513,513", (513, 1023)),
        ("64:256:64", (64, 128, 192, 256)),
        ("64:255:64", (64, 128, 192)),
        ("7:7:1", (7,)),
        ("64:2048:log6", (64, 128, 256, 512, 1024, 2048)),
        ("64:2048:log8", (64, 105, 172, 283, 464, 761, 1248, 2048)),
        ("10:1000:log3", (10, 100, 1000)),
        ("2:3:log9", (2, 3)),
        ("5,64:128:64", (5, 64, 128)),
    ],
)
def test_sizes(text, expected):
    assert parse(text) == expected


UNREAD = ["", "a", "64:", "64:128", "64:128:", "64:128:log", "64:128:x4", "-4", "1.5", "8,,9"]
NOWHERE = ["128:64:8", "0:8:1", "8:64:0", "8:64:log1"]
TOO_MANY = ["0", "4,0", f"1:{MOST + 1}:1", f"1:9999999:log{MOST + 1}", "1:999999999999:1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, r"64:2048:log8 is 8 sizes from 64 to 2048.*got ") for text in UNREAD),
        *((text, f"a range runs from a size to a larger one.*got '{text}'") for text in NOWHERE),
        *((text, f"1 to {MOST} sizes, from 1 on, got ") for text in TOO_MANY),
    ],
)
def test_what_is_no_sizes(text, message):
    with pytest.raises(OptionError, match=message):
        parse(text)
