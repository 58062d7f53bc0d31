"""Recall against queries a second, as SVG: up and to the right is better."""

import math
from html import escape

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 50, 50
COLOURS = (
    *("#d1495b", "#2e86ab", "#3a9d5d", "#e08e2b", "#8a5ac2", "#6b7a8f"),
    *("#b07d62", "#1aa6a6", "#c2559d", "#9aa32c", "#3f4b9e", "#222222"),
)
#: Recall is drawn by what is missing, so that 0.99 and 0.999 are apart.
RECALLS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.995, 0.999)
LEAST_MISSING = 0.0005


def svg(title, curves):
    """`curves`: for each name points of recall and queries a second."""
    points = [point for curve in curves.values() for point in curve]
    if not points:
        raise ValueError("there is nothing to draw")
    across = [missing(recall) for recall, _ in points]
    left, right = max(max(across), 0.1), min(min(across), 0.005)
    low, high = min(rate for _, rate in points) * 0.8, max(rate for _, rate in points) * 1.25

    def x(recall):
        share = math.log(left / missing(recall)) / math.log(left / right)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(rate):
        share = math.log(rate / low) / math.log(high / low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" '
        f'role="img" aria-label="Queries a second against recall: {escape(title, quote=True)}">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="10" y="20" font-size="14">{escape(title)}</text>',
        '<text x="10" y="40">queries a second, one thread</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">recall@10</text>',
    ]
    for recall in RECALLS:
        if right * 0.999 <= missing(recall) <= left * 1.001:
            parts.append(_line(x(recall), TOP, x(recall), HEIGHT - BOTTOM))
            parts.append(f'<text x="{x(recall)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{recall}</text>')
    for rate in rates(low, high):
        parts.append(_line(LEFT, y(rate), WIDTH - RIGHT, y(rate)))
        parts.append(f'<text x="{LEFT - 8}" y="{y(rate) + 4}" text-anchor="end">{rate:,}</text>')
    ends = []
    for at, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[at % len(COLOURS)]
        width = 3 if name == "memorist" else 1.6
        places = [(x(recall), y(rate)) for recall, rate in curve]
        path = " ".join(f"{across},{up}" for across, up in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        parts += [f'<circle cx="{across}" cy="{up}" r="3" fill="{colour}"/>' for across, up in places]
        ends.append((places[-1][1], name, colour))
    below = 0
    for up, name, colour in sorted(ends):
        # Names that would lie on each other are moved down.
        below = max(up + 4, below + 15)
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{below}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def missing(recall):
    """What a recall lacks of 1."""
    return max(1 - recall, LEAST_MISSING)


def rates(low, high):
    """1, 2 and 5 times the powers of ten between two rates."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    all_rates = (round(digit * 10**power, 6) for power in powers for digit in (1, 2, 5))
    return [int(rate) if rate >= 1 else rate for rate in all_rates if low <= rate <= high]


def _line(x1, y1, x2, y2):
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#ddd"/>'
