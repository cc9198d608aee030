"""A small writer of PDFs: text at places, rules, outlines, labels, fields; just what the tests draw."""

from __future__ import annotations

from dataclasses import dataclass, field

FONTS = {"F": "Helvetica", "B": "Helvetica-Bold", "M": "Courier", "T": "Times-Roman"}
WIDTH, HEIGHT = 612, 792


@dataclass
class Page:
    """Operators of one page, y from the top in points; `extra` are entries of its dictionary."""

    operators: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    extra: str = ""

    def text(self, x: float, y: float, text: str, size: float = 10, font: str = "F", turn: str = "1 0 0 1") -> Page:
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self.operators.append(f"BT /{font} {size} Tf {turn} {x} {HEIGHT - y} Tm ({escaped}) Tj ET")
        return self

    def lines(self, x: float, y: float, lines: list[str], size: float = 10, font: str = "F", step: float = 12) -> Page:
        for number, line in enumerate(lines):
            self.text(x, y + number * step, line, size, font)
        return self

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> Page:
        self.operators.append(f"{x0} {HEIGHT - y0} m {x1} {HEIGHT - y1} l S")
        return self

    def note(self, dictionary: str, x: float, y: float, width: float = 100, height: float = 14) -> Page:
        box = f"{x} {HEIGHT - y - height} {x + width} {HEIGHT - y}"
        self.notes.append(f"<< /Type /Annot /F 4 /Rect [{box}] {dictionary} >>")
        return self


@dataclass
class Drawn:
    """A document; `outline` are (title, page from 0) in one level, `catalog` and `info` entries of dictionaries."""

    pages: list[Page] = field(default_factory=list)
    outline: list[tuple[str, int]] = field(default_factory=list)
    catalog: str = ""
    info: str = ""

    def page(self, extra: str = "") -> Page:
        self.pages.append(Page(extra=extra))
        return self.pages[-1]

    def body(self) -> bytes:
        """The file."""
        return written(self._objects())

    def _objects(self) -> list[str]:
        # 1 catalog, 2 pages, 3 info, 4 outline, 5 to 8 fonts, then two for each page, entries of the outline, notes.
        fonts = [
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>" for name in FONTS.values()
        ]
        resources = "<< /Font << " + " ".join(f"/{key} {5 + n} 0 R" for n, key in enumerate(FONTS)) + " >> >>"
        page_ids = [9 + 2 * n for n in range(len(self.pages))]
        entry_ids = [9 + 2 * len(self.pages) + n for n in range(len(self.outline))]
        next_id = 9 + 2 * len(self.pages) + len(self.outline)
        pages, notes = [], []
        for page, number in zip(self.pages, page_ids, strict=True):
            content = "\n".join(page.operators)
            refs = " ".join(f"{next_id + len(notes) + n} 0 R" for n in range(len(page.notes)))
            notes += page.notes
            pages.append(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources {resources} "
                f"/Contents {number + 1} 0 R /Annots [{refs}] {page.extra} >>"
            )
            pages.append(f"<< /Length {len(content.encode('cp1252'))} >>\nstream\n{content}\nendstream")
        fields = " ".join(f"{next_id + n} 0 R" for n in range(len(notes)))
        form = f"/AcroForm << /Fields [{fields}] >>" if notes else ""
        kids = " ".join(f"{number} 0 R" for number in page_ids)
        return [
            f"<< /Type /Catalog /Pages 2 0 R {'/Outlines 4 0 R' if self.outline else ''} {form} {self.catalog} >>",
            f"<< /Type /Pages /Kids [{kids}] /Count {len(page_ids)} >>",
            f"<< {self.info} >>",
            f"<< /First {entry_ids[0]} 0 R /Last {entry_ids[-1]} 0 R >>" if entry_ids else "<< >>",
            *fonts,
            *pages,
            *self._entries(entry_ids, page_ids),
            *notes,
        ]

    def _entries(self, entry_ids: list[int], page_ids: list[int]) -> list[str]:
        entries = []
        for n, (title, page) in enumerate(self.outline):
            after = f"/Next {entry_ids[n + 1]} 0 R" if n + 1 < len(entry_ids) else ""
            entries.append(f"<< /Title ({title}) /Parent 4 0 R /Dest [{page_ids[page]} 0 R /Fit] {after} >>")
        return entries


def written(objects: list[str], trailer: str = "") -> bytes:
    """A file of `objects`, numbered from 1: the first is the catalog, the third the document's information."""
    body = b"%PDF-1.7\n"
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{one}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 3 0 R {trailer} >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode("cp1252")
