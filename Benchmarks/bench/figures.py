"""A measured figure and its bound; the table of them."""

import dataclasses


@dataclasses.dataclass
class Figure:
    name: str
    value: float | None  # None: could not be measured here
    form: str = "{:.3f}"
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def bound(self):
        if self.at_most is not None:
            return "≤ " + self.form.format(self.at_most)
        return "" if self.at_least is None else "≥ " + self.form.format(self.at_least)

    @property
    def verdict(self):
        if self.value is None:
            return "not measured"
        if self.at_most is None and self.at_least is None:
            return ""
        high = self.at_most is not None and self.value > self.at_most
        low = self.at_least is not None and self.value < self.at_least
        return "MISSED" if high or low else "holds"

    @property
    def text(self):
        return "-" if self.value is None else self.form.format(self.value)


def show(figures):
    wide = max(len(figure.name) for figure in figures)
    print(f"{'figure':<{wide}}  {'measured':>12}  {'bound':>12}  verdict")
    for figure in figures:
        note = f"   {figure.note}" if figure.note else ""
        print(f"{figure.name:<{wide}}  {figure.text:>12}  {figure.bound:>12}  {figure.verdict:<7}{note}".rstrip())


def missed(figures):
    return [figure for figure in figures if figure.verdict == "MISSED"]
