"""Which addresses belong to a site, and which of them are likely to hold a document."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from schemas.urls import Address, InvalidUrl, normalize, parse, resolve

_PICTURES = "apng avif bmp gif heic ico jpeg jpg png psd svg svgz tif tiff webp"
_SOUND_AND_FILM = "aac avi flac m4a m4v mid mkv mov mp3 mp4 mpeg mpg oga ogg ogv opus wav webm wma wmv"
_ARCHIVES = "7z br bz2 cab crate deb dmg gem gz iso jar lz4 msi pkg rar rpm tar tbz tgz txz war whl xz zip zst"
_PROGRAMS = "apk bin class com dll dylib exe img node o obj pdb pyc so wasm"
_PARTS_OF_PAGES = "atom css eot inv js json map mjs otf rss ttf webmanifest woff woff2 xml xsl xslt"
_NO_DOCUMENTS = frozenset(
    " ".join((_PICTURES, _SOUND_AND_FILM, _ARCHIVES, _PROGRAMS, _PARTS_OF_PAGES)).split(),
)


@dataclass(frozen=True, slots=True)
class Scope:
    """One host, and the beginning of all paths. `start` and `final`: the normalized URLs of the first page."""

    start: str
    final: str
    scheme: str
    authority: str
    prefix: str

    def page(self, url: str) -> str | None:
        """The normalized URL of a page of the site, of the site's own scheme; None for any other address."""
        try:
            address = parse(normalize(url))
        except InvalidUrl:
            return None
        if address.authority != self.authority or not address.path.startswith(self.prefix):
            return None
        name, dot, ending = unquote(address.path).rpartition("/")[2].rpartition(".")
        if dot and name and ending.lower() in _NO_DOCUMENTS:
            return None
        page = str(address._replace(scheme=self.scheme))
        return self.start if page == self.final else page

    def link(self, base: str, reference: str) -> str | None:
        """The page that a reference on the page `base` leads to, as `page` gives it."""
        try:
            return self.page(resolve(base, reference))
        except InvalidUrl:
            return None


def scope_of(start: str, final: str, prefix: str | None) -> Scope:
    """The site of a page, by its URL and where that led to. Without a prefix it is the folder of the page.

    Where the start leads to another host, the site is there.
    """
    wished, reached = parse(start), parse(final)
    if prefix is None:
        moved = wished.authority != reached.authority or reached.path == f"{wished.path}/"
        prefix = _folder(reached if moved else wished)
    else:
        prefix = parse(str(reached._replace(path=prefix, query=""))).path
    return Scope(start, final, reached.scheme, reached.authority, prefix)


def _folder(address: Address) -> str:
    return address.path[: address.path.rindex("/") + 1]


def is_same_page(url: str, other: str) -> bool:
    """Whether the addresses differ only in how servers let one page be called: query, index file, ending."""
    return _stem(url) == _stem(other)


def _stem(url: str) -> tuple[str, str]:
    address = parse(url)
    folder, _, name = address.path.rpartition("/")
    stem, _, ending = name.rpartition(".")
    if ending.lower() in {"html", "htm", "php", "xhtml"} and stem:
        name = "" if stem.lower() == "index" else stem
    return address.authority, f"{folder}/{name}".rstrip("/")
