"""What pages say of themselves and to their readers, told by the words alone."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 150
_PAGE = r"(?:page|article|section|topic|guide|document\w*|docs?|content|information|answer|tutorial)"
_HOST = r"(?:\s+(?:on|in|at|via)\s+(?:github|gitlab|bitbucket|sourcehut|codeberg|gitea))?"
_CHATTER: Final = re.compile(
    rf"""
      (?:this\s+)?(?:{_PAGE}\s+)?(?:was\s+)?last\s+(?:updated?|modified|edited|changed|reviewed|revised)\b.*
    | updated\s+(?:about\s+)?(?:\d+|an?|over\s+\w+)\s+\w+\s+ago\b.*
    | (?:was|is|did|does)\s+this\s+(?:{_PAGE}\s+)?(?:helpful|useful|help)\b.*
    | (?:how\s+did\s+we\s+do|thank\s+you\s+for\s+your\s+feedback|tell\s+us\s+how\s+we\s+can\s+improve)\b.*
    | (?:edit|improve|suggest\s+(?:an\s+)?(?:edits?|changes?))(?:\s+to)?(?:\s+(?:this|the))?(?:\s+{_PAGE})?{_HOST}
    | (?:view|show|see)\s+(?:the\s+)?(?:page\s+)?source{_HOST}
    | (?:report|file|open|create)\s+(?:an?\s+)?(?:doc\w*\s+)?(?:issue|bug|problem)(?:\s+(?:with|about|on)\s+.*)?
    | (?:on|in)\s+this\s+{_PAGE}:?
    | (?:back|return|scroll|go)\s+to\s+(?:the\s+)?top(?:\s+of\s+(?:the\s+)?page)?\W*
    | (?:skip|jump)\s+to\s+(?:the\s+)?(?:main\s+)?(?:content|navigation|search)\b.*
    | (?:estimated\s+)?(?:reading\s+time:?\s+)?(?:about\s+)?\d+\s*-?\s*min(?:ute)?s?(?:\s+(?:read|to\s+read))
    | (?:expand|collapse)\s+(?:all|description) | copy\s+(?:code|to\s+clipboard|page|link) | copied!?
    | share\s+(?:this|on|via)\b.* | loading\s*(?:\.\.\.|…) | (?:this|our|we)\s+(?:(?:web)?site\s+)?uses?\s+cookies\b.*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_STEP: Final = re.compile(
    r"""\W*(?:
      (?:previous|prev|next)(?:\s+(?:page|chapter|article|post|topic|section|class|package|lesson|up))?
    | zurück|weiter|vorherige\w*|nächste\w*|précédent\w*|suivant\w*|anterior|siguiente|próxim[oa]|precedente
    | successiv[oa]|vorige|volgende|poprzedni\w*|następn\w*|назад|вперёд|вперед|далее|предыдущая|следующая
    | 前へ|次へ|前のページ|次のページ|前の章|次の章|上一[页頁篇章节節]|下一[页頁篇章节節]|이전|다음
    )\W*""",
    re.IGNORECASE | re.VERBOSE,
)


def is_chatter(text: str) -> bool:
    """Whether a block says when the page was changed, whether it helped, what can be done with it, or the like."""
    return len(text) <= _LONGEST and _CHATTER.fullmatch(text) is not None


def is_step(text: str) -> bool:
    """Whether the text of a link is nothing but a word for the previous or the next page."""
    return len(text) <= 30 and _STEP.fullmatch(text) is not None
