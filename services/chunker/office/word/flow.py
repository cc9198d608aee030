"""The text of one paragraph: runs, links, results of fields and accepted changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from services.chunker.office.equations import equation
from services.chunker.office.margins import PAGE_NUMBER
from services.chunker.office.markup import DGM, MC, C, Element, M, R, W, chosen_branch, switched_on, whole
from services.chunker.office.word.notes import Notes
from services.chunker.office.word.styles import Style, Styles
from services.chunker.office.word.symbols import spelled, symbol

_PAGE_FIELDS = frozenset(("PAGE", "NUMPAGES", "SECTIONPAGES"))
_SKIPPED_NAMES = "pPr rPr sdtPr sdtEndPr fldData del moveFrom instrText delText delInstrText rt tblPr trPr tcPr"
_SKIPPED = frozenset(W + name for name in _SKIPPED_NAMES.split())


@dataclass(slots=True)
class Field:
    """A field that has begun: its code so far, and whether its result is being read."""

    code: list[str] = field(default_factory=list)
    in_result: bool = False

    @property
    def is_page(self) -> bool:
        """Whether its result is a page number."""
        return not _PAGE_FIELDS.isdisjoint("".join(self.code).upper().split(maxsplit=1)[:1])


class Flow:
    """Reads one paragraph. `boxes` are the bodies of text boxes in it, `charts` and `diagrams` the ids of those parts.

    Deleted text, hidden text and codes of fields are left out; a picture has no text.
    """

    def __init__(self, styles: Styles, notes: Notes, style: Style) -> None:
        self.boxes: list[Element] = []
        self.charts: list[str] = []
        self.diagrams: list[str] = []
        self._styles = styles
        self._notes = notes
        self._style = style
        self._run = style
        self._font: str | None = None
        self._pieces: list[str] = []
        self._fields: list[Field] = []
        self._fixed = True

    @property
    def text(self) -> str:
        """The text so far; line feeds are line breaks."""
        return "".join(self._pieces)

    @property
    def mono(self) -> bool:
        """Whether all of it is in a font of fixed width; with no text, whether that of the paragraph's end is."""
        return self._fixed if self._pieces else bool(self._style.mono)

    def read(self, node: Element) -> None:
        """Take in all text under `node`."""
        for child in node:
            handler = _HANDLERS.get(child.tag)
            if handler is not None:
                handler(self, child)
            elif child.tag not in _SKIPPED:
                self.read(child)

    def _add(self, text: str) -> None:
        if self._run.hidden or not text or not all(entry.in_result for entry in self._fields):
            return
        if not self._run.mono and not text.isspace():
            self._fixed = False
        self._pieces.append(text)

    def _read_run(self, run: Element) -> None:
        properties = run.find(W + "rPr")
        if properties is not None:
            self._run = self._styles.of_run(properties, self._style)
            fonts = properties.find(W + "rFonts")
            self._font = fonts.get(W + "ascii") if fonts is not None else None
        self.read(run)
        self._run, self._font = self._style, None

    def _read_text(self, node: Element) -> None:
        self._add(spelled(node.text or "", self._font))

    def _read_symbol(self, node: Element) -> None:
        code = node.get(W + "char", "")
        if len(code) <= 4 and code.isalnum() and code.isascii():
            try:
                self._add(symbol(int(code, 16), node.get(W + "font")))
            except ValueError:
                return

    def _read_field_mark(self, node: Element) -> None:
        kind = node.get(W + "fldCharType")
        if kind == "begin":
            self._add(_form_value(node))
            self._fields.append(Field())
        elif kind == "separate" and self._fields:
            page = self._fields[-1].is_page
            self._fields[-1].in_result = not page
            if page and all(entry.in_result for entry in self._fields[:-1]):
                self._pieces.append(PAGE_NUMBER)
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _read_field_code(self, node: Element) -> None:
        if self._fields and not self._fields[-1].in_result:
            self._fields[-1].code.append(node.text or "")

    def _read_simple_field(self, node: Element) -> None:
        if Field([node.get(W + "instr", "")]).is_page:
            self._add(PAGE_NUMBER)
        else:
            self.read(node)

    def _read_alternate(self, node: Element) -> None:
        branch = chosen_branch(node)
        if branch is not None:
            self.read(branch)

    def _read_note(self, node: Element) -> None:
        self._add(self._notes.refer(node.tag, node.get(W + "id", "")))


def _form_value(mark: Element) -> str:
    """The value of a form field that has no text as its result: the sign of a box to tick, or the chosen entry."""
    box = mark.find(f"{W}ffData/{W}checkBox")
    if box is not None:
        state = box.find(W + "checked")
        return "☒" if switched_on(state if state is not None else box.find(W + "default"), W + "val") else "☐"
    choice = mark.find(f"{W}ffData/{W}ddList")
    if choice is None:
        return ""
    entries = [entry.get(W + "val", "") for entry in choice.iterfind(W + "listEntry")]
    state = choice.find(W + "result")
    place = whole(state.get(W + "val")) if state is not None else 0
    return entries[place] if place < len(entries) else ""


_HANDLERS: dict[str, Callable[[Flow, Element], None]] = {
    W + "r": Flow._read_run,
    W + "t": Flow._read_text,
    W + "tab": lambda flow, _: flow._add("\t"),
    W + "ptab": lambda flow, _: flow._add("\t"),
    W + "br": lambda flow, _: flow._add("\n"),
    W + "cr": lambda flow, _: flow._add("\n"),
    W + "noBreakHyphen": lambda flow, _: flow._add("-"),
    W + "pgNum": lambda flow, _: flow._add(PAGE_NUMBER),
    W + "sym": Flow._read_symbol,
    W + "fldChar": Flow._read_field_mark,
    W + "instrText": Flow._read_field_code,
    W + "fldSimple": Flow._read_simple_field,
    W + "footnoteReference": Flow._read_note,
    W + "endnoteReference": Flow._read_note,
    W + "txbxContent": lambda flow, node: flow.boxes.append(node),
    MC + "AlternateContent": Flow._read_alternate,
    M + "oMath": lambda flow, node: flow._add(equation(node)),
    C + "chart": lambda flow, node: flow.charts.append(node.get(R + "id", "")),
    DGM + "relIds": lambda flow, node: flow.diagrams.append(node.get(R + "dm", "")),
}
