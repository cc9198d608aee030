"""Charts as a title and a table: a row for each category, a column for each series."""

from __future__ import annotations

from datetime import date, timedelta

from services.chunker.office.content import Item, Paragraph, Row, Table
from services.chunker.office.markup import A, C, Element, texts, whole

# Day 0 of the serial numbers that workbooks have for dates, and the last day that they can write.
_EPOCH = date(1899, 12, 30)
_LAST_DAY = 2958465
_NAMES = (C + "cat", C + "xVal")
_VALUES = (C + "val", C + "yVal")


def chart_items(root: Element) -> list[Item]:
    """Return the title of a chart, the titles of its axes, and its table."""
    titles = [" ".join(_title(title).split()) for title in root.iter(C + "title")]
    items: list[Item] = [Paragraph(title) for title in titles if title]
    series = list(root.iter(C + "ser"))
    names = [" ".join(_series_name(element, place).split()) for place, element in enumerate(series, 1)]
    columns = [_points(element, _VALUES) for element in series]
    categories: dict[int, str] = {}
    for element in series:
        categories = {**_points(element, _NAMES), **categories}
    if series:
        rows = [Row([_cell(text) for text in ["", *names]], heading=True)]
        for place in sorted({place for column in (categories, *columns) for place in column}):
            rows.append(Row([_cell(column.get(place, "")) for column in (categories, *columns)]))
        items.append(Table(rows))
    return items


def _cell(text: str) -> list[Item]:
    return [Paragraph(text)]


def _title(title: Element) -> str:
    rich = " ".join(texts(paragraph, (A + "t",)) for paragraph in title.iter(A + "p"))
    return rich if rich.strip() else texts(title, (C + "v",))


def _series_name(series: Element, place: int) -> str:
    name = series.find(C + "tx")
    return (texts(name, (C + "v",)) if name is not None else "") or f"Series {place}"


def _points(series: Element, tags: tuple[str, str]) -> dict[int, str]:
    """The cached values of a series by place; the names of several levels of categories are joined, outermost first."""
    source = next((found for tag in tags if (found := series.find(tag)) is not None), None)
    if source is None:
        return {}
    levels = list(source.iter(C + "lvl")) or [source]
    named = _level(levels[0])
    for level in levels[1:]:
        outer, last = _level(level), ""
        for place in sorted(named):
            last = outer.get(place, last)
            named[place] = f"{last} {named[place]}".strip()
    return named


def _level(level: Element) -> dict[int, str]:
    code = level.find(f".//{C}formatCode")
    dated = code is not None and "y" in (code.text or "").lower()
    points: dict[int, str] = {}
    for point in level.iter(C + "pt"):
        points[whole(point.get("idx"))] = _shown(point.findtext(C + "v") or "", dated)
    return points


def _shown(value: str, dated: bool) -> str:
    """A number without the noise of its last digits, or the date that it stands for."""
    try:
        number = float(value)
    except ValueError:
        return value
    if dated and 0 < number <= _LAST_DAY:
        return (_EPOCH + timedelta(days=int(number))).isoformat()
    return f"{number:.10g}" if len(value) > 10 and "." in value else value.strip()
