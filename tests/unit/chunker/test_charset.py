import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.charset import decode, wide_order

RUSSIAN = "В гимназии он не был в числе первых учеников, но и не был в числе последних. " * 5
JAPANESE = "ある日の暮方の事である。一人の下人が、羅生門の下で雨やみを待っていた。" * 5
CHINESE = "本指南说明如何在房间里安装灯具，以及灯不亮时应该怎么办。\n" * 5
ARABIC = "هذا الدليل يشرح كيف يمكن تركيب المصباح في الغرفة.\n" * 5
CZECH = "Tato příručka vysvětluje, jak se lampa v pokoji instaluje a co je třeba udělat. " * 5
HEBREW = "המדריך הזה מסביר כיצד מתקינים את המנורה בחדר, ומה צריך לעשות. " * 5
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
        (RUSSIAN, "utf-16-le", None),
        (RUSSIAN, "utf-16-be", "utf-8"),
        (CHINESE, "utf-16-le", None),
        (CHINESE, "gb18030", None),
        (ARABIC, "utf-16-be", None),
        (ARABIC, "cp1256", "utf-8"),
        (HEBREW, "cp1255", None),
        (CZECH, "iso8859-2", None),
        (GERMAN.replace("–", "-"), "cp500", None),
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


@pytest.mark.parametrize(
    ("sample", "order"),
    [
        ("abc".encode("utf-16-le"), "utf-16-le"),
        (RUSSIAN.encode("utf-16-be"), "utf-16-be"),
        (b"123\x00", None),
        (b"One.\x00 Two.\x00 Three.", None),
        ((RUSSIAN + "\x00").encode(), None),
        (b"\x00\x00\x00\x00", None),
        (bytes(range(256)), None),
        (b"\x00\x01\x00\x02" * 50, None),
    ],
)
def test_order_of_wide_characters(sample: bytes, order: str | None) -> None:
    assert wide_order(sample) == order
