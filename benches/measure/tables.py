"""Numbers as a person reads them, and tables of Markdown."""

#: What a figure can be measured in. Times are kept in seconds.
UNITS = ("s", "recall", "cosine", "times", "MB", "MiB", "count", "rate")


def significant(value, digits=2):
    """A number with so many significant digits, more before the point, and no zeros at its end."""
    if value == 0:
        return "0"
    text = f"{float(f'{value:.{digits}g}'):.12f}" if abs(value) < 10 ** (digits - 1) else f"{value:,.0f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text


def time(seconds):
    """A time in the unit in which it is short."""
    size = abs(seconds)
    if size < 0.9995e-6:
        return f"{significant(seconds * 1e9)} ns"
    if size < 99.5e-6:
        return f"{significant(seconds * 1e6)} µs"
    if size < 0.9995:
        return f"{significant(seconds * 1e3)} ms"
    if size < 120:
        return f"{significant(seconds)} s"
    return f"{significant(seconds / 60)} minutes"


def number(value, unit):
    """A figure as it is shown."""
    if unit == "s":
        return time(value)
    if unit == "recall":
        return f"{value:.3f}"
    if unit == "cosine":
        return f"{value:.7f}"
    if unit in ("MB", "MiB"):
        return f"{significant(value)} {unit}"
    if unit in ("times", "count", "rate"):
        return significant(value)
    raise ValueError(f"{unit!r} is not one of {', '.join(UNITS)}")


def table(header, rows):
    """A table of Markdown."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (header, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]])


def cells(line):
    """The cells of a line of a table; None for another line. The line between header and rows has none."""
    line = line.strip()
    if not (line.startswith("|") and line.endswith("|") and len(line) > 1):
        return None
    if not line.strip("|-: "):
        return []
    return [cell.strip() for cell in line[1:-1].split("|")]
