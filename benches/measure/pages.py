"""The tables of the documents that are written from a file of figures.

A table that is written has a template in docs/figures/, a table of Markdown in which `{hybrid.one-core.no-filter.p50}` is
a figure, `{hybrid.one-core.no-filter.p50~}` the same with the least and the largest of its rounds, and
`{stores.zvec.hybrid-p50?}` a figure that may be missing; `{origin}` says when and where they were taken. It is put between two comments of a page:

    <!-- figures: search -->
    <!-- end of figures -->

Other tables with measured numbers say so in the line before them: `<!-- taken by hand -->`.
"""

import re

from . import tables
from .machine import ROOT

FOLDER = ROOT / "docs/figures"
FILE = FOLDER / "figures.json"
#: The pages that state figures.
PAGES = ("README.md", "index/README.md", "docs/src/figures.md", "docs/src/stores.md")
BY_HAND = "<!-- taken by hand -->"
ORIGIN = "{origin}"
END = "<!-- end of figures -->"
BEGIN = re.compile(r"^<!-- figures: ([a-z-]+) -->$")
#: A figure has a group, so its name has a point.
PLACE = re.compile(r"\{([a-z0-9-]+\.[a-z0-9.-]+)([~?]?)\}")
#: Numbers that are names of what is measured.
NAMES = re.compile(r"\b(?:recall@\d+|p\d\d)\b")
#: Columns that say what is measured, and how.
WORDS = ("", "question", "command", "set", "turn", "option")


class Wrong(Exception):
    """A figure is missing, or a template or page is not as it must be."""


def fill(template, figures, name=""):
    """A template with its figures."""

    def place(match):
        figure = figures.get(match[1])
        if figure is None:
            if match[2] == "?":
                return "-"
            raise Wrong(f"docs/figures/{name}.md: there is no figure {match[1]}")
        shown = tables.number(figure["value"], figure["unit"])
        low, high = (tables.number(figure.get(end, figure["value"]), figure["unit"]) for end in ("low", "high"))
        return f"{shown} ({low} to {high})" if match[2] == "~" and low != high else shown

    return PLACE.sub(place, template)


def origin(template, kept):
    """A sentence that says how the figures of a template were taken."""
    names = {match[1] for match in PLACE.finditer(template)}
    runs = sorted({kept["figures"][name]["run"] for name in names if name in kept["figures"]})
    said = {}
    for run in (kept["runs"][name] for name in runs):
        rounds = {0: "by hand", 1: "one round"}
        more = f"medians of {run['rounds']} rounds, the least and the largest in brackets"
        how = run.get("note", rounds.get(run["rounds"], more))
        where = f"{how}, on {run['machine']['cpu']}, {run['machine']['cores']} cores"
        said.setdefault(where, []).append(f"{run['date']} ({run['commit']})")
    said = "; ".join(f"{', '.join(moments)}: {where}" for where, moments in said.items())
    return f"*Taken {said}.*" if said else ""


def rendered(name, kept):
    """What is between the two comments."""
    try:
        template = (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise Wrong(f"there is no template docs/figures/{name}.md") from error
    return fill(template, kept["figures"], name).replace(ORIGIN, origin(template, kept))


def written(text, kept, path=""):
    """A page with its tables rewritten from what is kept."""
    lines, result = text.split("\n"), []
    at = 0
    while at < len(lines):
        result.append(lines[at])
        if match := BEGIN.match(lines[at]):
            try:
                end = lines.index(END, at)
            except ValueError:
                raise Wrong(f"{path}:{at + 1}: a line {END} is missing") from None
            result += [*rendered(match[1], kept).split("\n"), END]
            at = end
        at += 1
    return "\n".join(result)


def unmarked(text):
    """The lines of tables with measured numbers that are neither written from the file nor said to be taken by hand."""
    found, inside, by_hand, header, fenced = [], False, False, None, False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        if BEGIN.match(line) or line == END:
            inside = line != END
        row = tables.cells(line)
        if row is None:
            header = None
            by_hand = line == BY_HAND or (by_hand and not line.strip())
        elif header is None:
            header = row
        elif not (inside or by_hand or fenced) and measured(header, row):
            found.append(number)
    return found


def measured(header, row):
    """Whether a row of a table has a measured number where figures are."""
    return any(re.search(r"\d", NAMES.sub("", cell)) for name, cell in zip(header, row) if name.lower() not in WORDS)


def literal(template):
    """The lines of a template with a measured number that is no figure of the file."""
    found, header = [], None
    for number, line in enumerate(template.split("\n"), 1):
        row = tables.cells(line)
        if row is None or header is None:
            header = row
        elif measured(header, [PLACE.sub("", cell) for cell in row]):
            found.append(number)
    return found


def there():
    """The pages that exist."""
    return [ROOT / page for page in PAGES if (ROOT / page).is_file()]
