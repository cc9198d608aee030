"""From the characters of a page to segments of words, for each direction of text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from services.chunker.pdf.frames import Frame, angles, frame
from services.chunker.pdf.glyphs import Faces, Run
from services.chunker.pdf.letters import plain
from services.chunker.pdf.words import Box, Segment, Style, Word, is_rtl, segment

# In sizes of the font: a wider gap may be that between two columns; one as wide as the second is a blank.
_COLUMN_GAP = 1.0
_BLANK = 0.3


class _Writer:
    """Collects characters of one direction into words and segments."""

    def __init__(self, turned: Frame) -> None:
        self.frame = turned
        self.segments: list[Segment] = []
        self._words: list[Word] = []
        self._letters: list[str] = []
        self._box: Box = (0.0, 0.0, 0.0, 0.0)
        self._last: Box = (0.0, 0.0, 0.0, 0.0)
        self._style = Style(1.0)
        self._spaced = False
        self._place = 0

    def put(self, run: Run, style: Style) -> None:
        """Add characters."""
        first = self.frame.box(*run.first)
        last = first if run.last is run.first else self.frame.box(*run.last)
        if self._letters:
            gap = self._gap(first, run.text[0])
            size = max(style.size, self._style.size)
            if gap is None or gap > _COLUMN_GAP * size:
                self.end_segment()
            elif (
                gap > _BLANK * size
                or (run.spaced and run.text[0] not in ",.)")
                or (style.size != self._style.size and self._is_mark(run.text[0], first, style))
            ):
                self._end_word()
                self._spaced = True
        if self._letters:
            self._letters.append(run.text)
        else:
            self._letters = [run.text]
            self._box = first
            self._style = style
            self._place = self._place if self._words else run.place
        self._widen(first, last)
        self._last = last

    def _widen(self, first: Box, last: Box) -> None:
        x0, y0, x1, y1 = self._box
        self._box = (
            min(x0, first[0], last[0]),
            min(y0, first[1], last[1]),
            max(x1, first[2], last[2]),
            max(y1, first[3], last[3]),
        )

    def _is_mark(self, character: str, box: Box, style: Style) -> bool:
        """Whether a note's raised number begins or ends here; lowered ones, as in formulas, stay with their word."""
        if abs(style.size - self._style.size) < 0.15 * max(style.size, self._style.size):
            return False
        small, large = (box, self._last) if style.size < self._style.size else (self._last, box)
        number = character if style.size < self._style.size else self._letters[-1][-1]
        return number.isdigit() and character.isalnum() and small[1] + small[3] < large[1] + large[3]

    def _gap(self, box: Box, character: str) -> float | None:
        """The gap to the last character in points; None when this one is on another line or a step back."""
        last = self._last
        if box == last:
            return 0.0
        overlap = min(box[3], last[3]) - max(box[1], last[1])
        if overlap < 0.4 * min(box[3] - box[1], last[3] - last[1]):
            return None
        gap = box[0] - last[2]
        if gap >= -0.5 * max(self._style.size, 2.0):
            return gap
        back = last[0] - box[2]
        if is_rtl(character) or is_rtl(self._letters[-1][-1]):
            return max(back, 0.0) if back >= -self._style.size else None
        return 0.0 if unicodedata.combining(character) else None

    def _end_word(self) -> None:
        if self._letters:
            text = plain("".join(self._letters))
            if text:
                self._words.append(Word(text, *self._box, self._style, self._spaced))
            self._letters = []
            self._spaced = False

    def end_segment(self) -> None:
        """What follows belongs to another segment."""
        self._end_word()
        if self._words:
            self.segments.append(segment(self._words, self._place))
            self._words = []


def segments_by_angle(found: Sequence[Run], faces: Faces, visible: Box) -> list[tuple[Frame, list[Segment]]]:
    """Return the segments of each direction of text, the most frequent direction first.

    `visible` is the part of the page that is shown (left, bottom, right, top); what lies outside is dropped.
    """
    angle_of = angles(found, faces)
    writers: dict[int, _Writer] = {}
    for run in found:
        if not _inside(run, visible):
            continue
        angle = angle_of[run.drawn]
        writer = writers.get(angle)
        if writer is None:
            writer = writers[angle] = _Writer(frame(angle))
        writer.put(run, faces.of(run).style)
    for writer in writers.values():
        writer.end_segment()
    parts = [(writer.frame, writer.segments) for writer in writers.values()]
    return sorted(parts, key=lambda part: -sum(len(word.text) for item in part[1] for word in item.words))


def _inside(run: Run, visible: Box) -> bool:
    x, y = (run.first[0] + run.last[2]) / 2, (run.first[1] + run.first[3]) / 2
    return visible[0] <= x <= visible[2] and visible[1] <= y <= visible[3]
