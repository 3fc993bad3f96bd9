"""One SVG: throughput and processor time per notification, a bar for each sender."""

import html

WIDTH, LABELS, BAR, GAP, TOP = 860, 290, 22, 10, 70
OURS, OTHERS = "#1f6feb", "#8b949e"


class Panel:
    def __init__(self, title, form, bars):
        self.title, self.form, self.bars = title, form, bars

    @property
    def height(self):
        return TOP + len(self.bars) * (BAR + GAP)

    def draw(self, top):
        longest = max(value for _, value in self.bars)
        room = WIDTH - LABELS - 110
        lines = [f'<text x="12" y="{top + 40}" class="title">{html.escape(self.title)}</text>']
        for place, (name, value) in enumerate(self.bars):
            y = top + TOP + place * (BAR + GAP)
            length = max(1, room * value / longest)
            colour = OURS if name.startswith("apns-batch") else OTHERS
            lines += [
                f'<text x="{LABELS - 10}" y="{y + 16}" text-anchor="end">{html.escape(name)}</text>',
                f'<rect x="{LABELS}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{colour}"/>',
                f'<text x="{LABELS + length + 8:.1f}" y="{y + 16}">{self.form.format(value)}</text>',
            ]
        return lines


def write(path, series, below):
    """`series`: of one sender at one server each; `below`: a line about machine and commit."""
    bars = [(f"{one.client.name}, {one.server}", one) for one in series]
    write_panels(path, [
        Panel("Processor time per notification, µs (less is better)", "{:.2f}", [(name, one.micro) for name, one in bars]),
        Panel("Notifications per second, one core for the client where not said otherwise", "{:,.0f}", [(name, one.rate) for name, one in bars]),
    ], below)


def write_panels(path, panels, below):
    height = sum(panel.height for panel in panels) + 50
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        "<style>text{font:14px sans-serif;fill:#24292f}.title{font-size:17px;font-weight:600}.below{font-size:12px}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    top = 0
    for panel in panels:
        lines += panel.draw(top)
        top += panel.height
    lines += [f'<text x="12" y="{top + 30}" class="below">{html.escape(below)}</text>', "</svg>", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
