"""Office documents put together from strings of XML, as small as they can be."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

_OOXML = "http://schemas.openxmlformats.org"
_RELATION = f"{_OOXML}/officeDocument/2006/relationships"
_NAMES = {
    "w": f"{_OOXML}/wordprocessingml/2006/main",
    "r": _RELATION,
    "m": f"{_OOXML}/officeDocument/2006/math",
    "mc": f"{_OOXML}/markup-compatibility/2006",
    "v": "urn:schemas-microsoft-com:vml",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "c": f"{_OOXML}/drawingml/2006/chart",
    "a": f"{_OOXML}/drawingml/2006/main",
    "dgm": f"{_OOXML}/drawingml/2006/diagram",
}
_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_ODF_NAMES = {name: f"{_ODF}{name}:1.0" for name in ("office", "text", "table", "style")} | {
    "draw": f"{_ODF}drawing:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
    "fo": f"{_ODF}xsl-fo-compatible:1.0",
}
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def zipped(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of the given parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def element(name: str, inner: str, names: Mapping[str, str] = _NAMES) -> str:
    """Return an element that declares all prefixes."""
    declared = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in names.items())
    return f"<{name} {declared}>{inner}</{name}>"


def relations(entries: Mapping[str, tuple[str, str]]) -> str:
    """Return a listing of relations: id to kind and target."""
    inner = "".join(
        f'<Relationship Id="{identifier}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for identifier, (kind, target) in entries.items()
    )
    return f'<Relationships xmlns="{_OOXML}/package/2006/relationships">{inner}</Relationships>'


def docx(body: str, *, parts: Mapping[str, str | bytes] | None = None, kind: str = WORD_TYPE, **related: str) -> bytes:
    """Return a Word document of a body; `related` are the contents of styles, numbering, footnotes, header1 and so on.

    The id of the relation to each of those parts is its name. `parts` are added as they are.
    """
    roots = {"styles": "w:styles", "numbering": "w:numbering", "footnotes": "w:footnotes", "endnotes": "w:endnotes"}
    listed = {name: (name.rstrip("123"), f"{name}.xml") for name in related}
    contents = {
        f"word/{name}.xml": element(roots.get(name, "w:hdr" if name.startswith("header") else "w:ftr"), inner)
        for name, inner in related.items()
    }
    return zipped(
        {
            "[Content_Types].xml": f'<Types><Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
            "_rels/.rels": relations({"main": ("officeDocument", "word/document.xml")}),
            "word/document.xml": element("w:document", f"<w:body>{body}</w:body>"),
            "word/_rels/document.xml.rels": relations(listed),
            **contents,
            **(parts or {}),
        }
    )


def paragraph(text: str, properties: str = "") -> str:
    """Return a paragraph of one run."""
    return f"<w:p><w:pPr>{properties}</w:pPr>{run(text)}</w:p>"


def run(text: str, properties: str = "") -> str:
    """Return a run."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def styled(text: str, style: str) -> str:
    """Return a paragraph in a style."""
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def table(*rows: str) -> str:
    """Return a table of rows."""
    return f"<w:tbl><w:tblPr/>{''.join(rows)}</w:tbl>"


def row(*cells: str, properties: str = "") -> str:
    """Return a row; a cell that is no markup is one paragraph."""
    inner = "".join(cell if cell.startswith("<w:tc") else f"<w:tc>{paragraph(cell)}</w:tc>" for cell in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{inner}</w:tr>"


def cell(content: str, properties: str = "") -> str:
    """Return a cell of the given blocks."""
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def odt(body: str, *, automatic: str = "", parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return an OpenDocument text; `automatic` are its automatic styles."""
    styles = f"<office:automatic-styles>{automatic}</office:automatic-styles>"
    content = f"{styles}<office:body><office:text>{body}</office:text></office:body>"
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": odf("office:document-content", content),
            **(parts or {}),
        }
    )


def odf(name: str, inner: str) -> str:
    """Return an element of OpenDocument that declares all prefixes."""
    return element(name, inner, _ODF_NAMES)
