"""The part of a text that fits a screen, for `repr`."""

LINES, WIDTH = 24, 120


def screen(text: str) -> str:
    r"""Cut a text to `LINES` lines of `WIDTH` characters.

    >>> screen("a\nb"), screen("long " * 100)[-10:], screen("a\n" * 100).splitlines()[-1]
    ('a\nb', 'long l ...', '... 77 more lines; print() shows all')
    """
    lines = [line if len(line) <= WIDTH else f"{line[: WIDTH - 4]} ..." for line in text.splitlines()]
    if len(lines) > LINES:
        lines[LINES - 1 :] = [f"... {len(lines) - LINES + 1} more lines; print() shows all"]
    return "\n".join(lines)
