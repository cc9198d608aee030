from email.message import EmailMessage

from services.chunker.blocks import Document
from services.chunker.mail import parse_mail
from services.chunker.parsing import parse


def mail(subject: str = "Lamps für alle") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Anna Ångström <anna@example.org>"
    message["To"] = "b@example.org"
    message["Date"] = "Mon, 01 Jan 2024 10:00:00 +0000"
    message["Subject"] = subject
    message["X-Other"] = "hidden"
    return message


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


HEAD = "From: Anna Ångström <anna@example.org>\nTo: b@example.org\nDate: Mon, 01 Jan 2024 10:00:00 +0000"


def test_a_plain_mail() -> None:
    message = mail()
    message.set_content("Hello,\n\n> quoted\n> more\n\nGrüße\n", charset="iso-8859-1", cte="quoted-printable")
    document = parse(message.as_bytes(), name="a.eml")
    assert (document.title, document.media_type) == ("Lamps für alle", "message/rfc822")
    assert texts(document) == ["Lamps für alle", HEAD, "Hello,", "> quoted\n> more", "Grüße"]
    assert document.blocks[3].kind.value == "quote"


def test_the_plain_alternative_is_read_and_attachments_are_named() -> None:
    message = mail()
    message.set_content("Plain text.")
    message.add_alternative("<p>HTML text.</p>", subtype="html")
    message.add_attachment(b"secret " * 100, maintype="application", subtype="pdf", filename="Größe.pdf")
    message.add_attachment("attached text", filename="note.txt")
    document = parse_mail(message.as_bytes())
    assert texts(document)[2:] == ["Plain text.", "Attachments: Größe.pdf, note.txt"]


def test_html_is_read_where_there_is_no_text() -> None:
    message = mail()
    message.set_content("  \n")
    message.add_alternative("<h2>Title</h2><p>HTML <b>text</b>.</p><script>x</script>", subtype="html")
    assert texts(parse_mail(message.as_bytes()))[2:] == ["Title", "HTML text."]


def test_a_mail_within_a_mail() -> None:
    inner = mail("Inner")
    inner.set_content("Inner text.")
    message = mail("Outer")
    message.set_content("Outer text.")
    message.add_attachment(inner)
    document = parse_mail(message.as_bytes())
    assert texts(document) == ["Outer", HEAD, "Outer text.", "Inner", HEAD, "Inner text."]
    assert document.blocks[-1].heading_path == ("Outer", "Inner")


def test_flowed_lines_are_joined() -> None:
    body = b"Subject: s\nContent-Type: text/plain; format=flowed\n\none \ntwo\nthree\n-- \nsignature\n"
    assert texts(parse_mail(body)) == ["s", "one two\nthree\n-- \nsignature"]


def test_headers_in_every_writing() -> None:
    body = (
        b"\nSubject: =?utf-8?B?R3LDtsOf?= =?utf-8?Q?e_A?= x\\u12\nFrom: J\xf6rg <j@x>\nTo: =?koi8-r?B?!!!?=\n\nText.\n"
    )
    document = parse_mail(body)
    assert document.title == "Größe A x\\u12"
    assert "From: J" in document.text
    assert "Text." in document.text


def test_a_broken_mail_is_read_as_far_as_it_goes() -> None:
    body = (
        b"Subject: Broken\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=none\n\n"
        b"First part.\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\nPHA+U2Vjb25kPC9w\n"
    )
    assert texts(parse_mail(body)) == ["Broken", "First part.", "Second"]


def test_a_text_that_is_no_mail() -> None:
    assert "Just some text" in parse(b"Just some text, and no header.\n\nMore.", name="a.eml").text
