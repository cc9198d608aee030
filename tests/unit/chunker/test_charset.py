import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.charset import decode

RUSSIAN = "В гимназии он не был в числе первых учеников, но и не был в числе последних. " * 5
JAPANESE = "ある日の暮方の事である。一人の下人が、羅生門の下で雨やみを待っていた。" * 5
GERMAN = "Größe, Äpfel, Überblick und Straße – schöne Grüße aus Köln. " * 5


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (GERMAN, "utf-8", None),
        (GERMAN, "utf-8-sig", None),
        (GERMAN, "utf-16", None),
        (GERMAN, "utf-16-le", None),
        (GERMAN, "utf-16-be", None),
        (GERMAN, "utf-32", None),
        (GERMAN, "cp1252", "iso-8859-1"),
        (GERMAN, "utf-8", "iso-8859-1"),
        (JAPANESE, "shift_jis", "Shift_JIS"),
        (JAPANESE, "shift_jis", None),
        (JAPANESE, "euc_jp", None),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        (RUSSIAN, "koi8_r", "koi8-r"),
        (RUSSIAN, "koi8_r", None),
        (RUSSIAN, "cp1251", "utf-8"),
        (RUSSIAN, "cp1251", "iso-8859-1"),
        (RUSSIAN, "cp1251", "no-such-charset"),
    ],
)
def test_text_comes_back(text: str, encoding: str, declared: str | None) -> None:
    assert decode(text.encode(encoding), declared, markup=False).text == text


@pytest.mark.parametrize(
    "head", ['<META http-equiv="Content-Type" content="text/html; charset=EUC-KR">', "<meta charset=euc-kr>"]
)
def test_meta_counts_in_markup(head: str) -> None:
    decoded = decode((head + "아파치 웹서버").encode("euc_kr"), None, markup=True)
    assert decoded.text.endswith("아파치 웹서버")
    assert decoded.charset == "euc-kr"
    assert not decoded.warnings


def test_damaged_utf8_is_repaired_with_a_warning() -> None:
    decoded = decode(("Grüße " * 200).encode() + b"\xff" + ("Grüße " * 200).encode(), "utf-8", markup=False)
    assert decoded.text.count("Grüße") == 400


def test_noise_is_refused() -> None:
    noise = bytes((i * 7919 + i * i * 31) % 251 for i in range(4096))
    with pytest.raises(SourceRefused) as refused:
        decode(noise, None, markup=False)
    assert refused.value.code is Code.UNSUPPORTED_TYPE
