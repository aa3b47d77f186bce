"""Takes secrets out of text before it is written anywhere: known values in every common form, and what looks like one.

A value is found as it is, base64 and base32 (at any offset within other text), percent-encoded once or twice, hexadecimal,
escaped as Python writes it or as JSON does, up to three times, and split by controls of a terminal. The service finds
the same forms (src/core/hidden-values.ts); test/golden/vectors/redaction.json has them all. A line that ends with the beginning of a form, begins with its end, or lies wholly
within one is masked there too, so that a value which was wrapped, cut or printed over two lines does not show. Blind to
values below ``MIN_CHARACTERS``: masking them would mangle ordinary text, and no secret is resolved that short.
"""

from __future__ import annotations

import base64
import json
import re
import urllib.parse
from itertools import pairwise
from typing import Callable, Iterable, Iterator, Mapping

from .secretcontexts import is_secret_option, mask_contexts

MASK = "***"
MIN_CHARACTERS = 6
# So much of a form at a line's edge counts as a part of it; of shorter forms, half.
_EDGE_CHARACTERS = 8
# A line is taken for a part of a form from this length on.
_INNER_CHARACTERS = 12
# A private key that is printed without its end hides no more lines than this.
_KEY_LINES = 200

SECRET_NAME = re.compile(r"token|secret|passw|credential|api_?key|access_?key|private_?key", re.IGNORECASE)
_SECRET_OVERRIDE = re.compile(r"([+~]*[\w.@/-]+)=(.+)", re.DOTALL)
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY")

# Controls of a terminal, which can split a value: sequences of ECMA-48 after ESC or an 8-bit control, and shifts. They are also
# found as JSON, C or Python escape them. Bounded, so that a search is linear in the text.
_ESC = r"(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))"


def _control(digits: str) -> str:
    as_it_is = "".join(rf"\x9{digit}" for digit in digits)
    return rf"(?:[{as_it_is}]|\\{{1,8}}(?:u00|x)9[{digits}{digits.upper()}])"


# Characters without width, which split a value as well; also as JSON escapes them.
_EMPTY = (
    r"(?:[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
    r"|\\{1,8}u(?:00[aA][dD]|034[fF]|061[cC]|180[eE]|200[b-fB-F]|202[a-eA-E]|206[0-9a-fA-F]|[fF][eE]0[0-9a-fA-F]|[fF][eE][fF]{2}))"
)
_END = rf"(?:[\x07\x9c]|{_ESC}\\|\\{{1,8}}(?:(?:u00|x)9[cC]|(?:u00|x)07))"
_STEERING = re.compile(
    rf"(?:{_ESC}\[|{_control('b')})[0-?]*[ -/]*[@-~]"
    rf"|(?:{_ESC}[PX\]^_]|{_control('08def')})[^\x07\x1b\x9c]{{0,1024}}?{_END}"
    rf"|{_ESC}[ -/]*[0-~]"
    r"|[\x0e\x0f\x80-\x9f]"
    rf"|{_EMPTY}"
)
_MAY_STEER = re.compile(r"[\x0e\x0f\x1b\x80-\x9f]|\\(?:u00[19]|x[19]|033|e)|" + _EMPTY)

# Tokens by their makers' prefixes, signed tokens, credentials in addresses and headers, values that are assigned to
# secret names. Kept in step with src/core/secret-patterns.ts.
_TOKENS = (
    r"(?<![A-Za-z0-9_-])(?:hf_[A-Za-z0-9]{20,}|sk-(?=[\w-]*[0-9])(?=[\w-]*[A-Z])[\w-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_\w{20,}|glpat-[\w-]{20,}|(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])|xox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|AIza[\w-]{35}|nvapi-[\w-]{20,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"
    r"|echelon_[0-9a-hjkmnp-tv-z]{16}_[\w-]{43}|whsec_[A-Za-z0-9+/]{24,128}={0,2}"
    r"|(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)|[\w-]{1,63}\.webhook\.office\.com/webhookb2"
    r"|discord(?:app)?\.com/api/webhooks)/[\w/@-]{16,512})"
)
_ADDRESSES = r"(?<=://)[^\s/:@\"']{0,128}:[^\s/@\"']{1,256}(?=@)"
_BEARER = r"(?i:(?<=bearer )[\w.~+/=-]{12,})"
_PATTERNS = re.compile("|".join((_TOKENS, _ADDRESSES, _BEARER)), re.ASCII)
_ASSIGNED = re.compile(
    r"(?i:((?:api_?key|secret|passw(?:or)?d|access_?key|private_?key|credentials?)[\"']?\s{0,4}[=:]\s{0,4}[\"']?)"
    r"(?!\*|true\b|false\b|none\b|null\b)[^\s\"',;}]{6,512})"
    r"|(?i:(token[\"']?\s{0,4}[=:]\s{0,4}[\"']?)(?=[\w.-]{0,64}[0-9])(?=[\w.-]{0,64}[a-z])[\w.-]{20,512})",
    re.ASCII,
)
# What a text in lower case has in it where either may find something: most lines have none of these, and a search for
# plain words costs a twentieth of one for the patterns.
_TOKEN_SIGNS = ("hf_", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "akia", "asia", "xox", "aiza",
                "nvapi-", "eyj", "://", "bearer ", "echelon_", "whsec_", "hooks.slack", "webhook")
_NAME_SIGNS = ("key", "secret", "passw", "credential", "token")


class Redactor:
    """Knows the values that are secret here. Cheap if there is nothing to mask."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        raw = {piece for value in values for piece in _pieces(value)}
        forms = {form for piece in raw for form in _forms(piece)}
        # Longest first: a form may lie within another.
        self._forms = sorted(forms, key=len, reverse=True)
        self._edges = [(form, max(3, min(_EDGE_CHARACTERS, (len(form) + 1) // 2))) for form in self._forms]
        self._raw = sorted((piece.encode() for piece in raw), key=len, reverse=True)

    def text(self, text: str) -> str:
        """A text of which nothing is cut off."""
        return _unsplit(text, self._text)

    def _text(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return _mask_patterns(text)

    def line(self, text: str) -> str:
        """A line of many: what continues on the next, or was begun on the one before, is masked too."""
        return _unsplit(text, self._line)

    def _line(self, text: str) -> str:
        text = self._text(text)
        stripped = text.strip()
        for form, least in self._edges:
            if len(stripped) >= _INNER_CHARACTERS and stripped in form:
                return MASK
            head, tail = form[:least], form[-least:]
            if tail in text[: len(form)]:
                text = _mask_start(text, form, least)
            if head in text[-len(form) :]:
                text = _mask_end(text, form, least)
        return text

    def data(self, data: bytes) -> bytes:
        """Bytes in which values stand as they are, each character of one replaced: the length stays."""
        for value in self._raw:
            if value in data:
                data = data.replace(value, b"*" * len(value))
        return data

    def lines(self) -> "LineRedactor":
        """For one stream of lines, in order."""
        return LineRedactor(self)

    def command(self, command: Iterable[str]) -> list[str]:
        """A command that may be shown: also the values of its secret-named ``key=value`` arguments are masked."""
        shown: list[str] = []
        for before, element in pairwise(["", *command]):
            if is_secret_option(before) and not element.startswith("-"):
                shown.append(MASK)
                continue
            override = _SECRET_OVERRIDE.fullmatch(element)
            if override and SECRET_NAME.search(override.group(1).rsplit(".", 1)[-1]) and not override.group(2).isdigit():
                element = f"{override.group(1)}={MASK}"
            shown.append(self.text(element))
        return shown


def without_steering(text: str) -> str:
    """The text without the sequences that colour it or move the cursor in a terminal."""
    return _STEERING.sub("", text) if _MAY_STEER.search(text) else text


class LineRedactor:
    """Also masks the lines between the first and the last line of a private key."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._key_lines = 0

    def data(self, data: bytes) -> bytes:
        """As of ``Redactor``."""
        return self._redactor.data(data)

    def line(self, text: str) -> str:
        """The next line, without its secrets."""
        if self._key_lines > 0:
            self._key_lines = 0 if _KEY_END.search(text) else self._key_lines - 1
            return MASK
        begin = _KEY_BEGIN.search(text) if "-----BEGIN" in text else None
        if begin:
            if not _KEY_END.search(text):
                self._key_lines = _KEY_LINES
            return self._redactor.line(text[: begin.start()]) + MASK
        return self._redactor.line(text)


def secret_values(environment: Mapping[str, str], names: Iterable[str] = ()) -> list[str]:
    """Values of the variables of ``names`` and of those whose names say that they are secret, longest first; values
    too short to be masked are ignored."""
    named = set(names)
    found = {
        value for name, value in environment.items()
        if (name in named or SECRET_NAME.search(name)) and len(value) >= MIN_CHARACTERS
    }
    return sorted(found, key=len, reverse=True)


def _pieces(value: str) -> list[str]:
    """The value, and each line of one that has several."""
    whole = value.strip()
    lines = [line.strip() for line in whole.splitlines()] if "\n" in whole else []
    return [
        piece for piece in (whole, *lines) if len(piece) >= MIN_CHARACTERS and not (lines and piece.startswith("-----"))
    ]


def _forms(value: str) -> set[str]:
    data = value.encode()
    quoted = {urllib.parse.quote(value, safe=safe) for safe in ("", "/", "!'()*")} | {urllib.parse.quote_plus(value)}
    quoted |= {re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), one) for one in quoted}
    quoted |= {urllib.parse.quote(one, safe="") for one in quoted}
    forms = {value, *quoted, repr(value)[1:-1]}
    # In a row, and in pairs: 61:62, 61 62, 61-62, 61\\x62.
    for between in ("", ":", " ", "-", "\\x"):
        pairs = [f"{byte:02x}" for byte in data]
        forms |= {between.join(pairs), between.join(pair.upper() for pair in pairs)}
    for ascii_only in (True, False):
        escaped = value
        for _ in range(3):
            escaped = json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]
            forms.add(escaped)
    for core in _cores(data, 3, 6, base64.b64encode):
        forms |= {core, core.replace("+", "-").replace("/", "_")}
    for core in _cores(data, 5, 5, base64.b32encode):
        forms |= {core, core.lower()}
    return {form for form in forms if len(form) >= MIN_CHARACTERS}


def _cores(data: bytes, block: int, bits: int, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    """The value at each offset of the encoding's blocks: only the characters that the value alone decides, since those at the
    edges carry bits of their neighbours."""
    for offset in range(block):
        begin, end = -(-offset * 8 // bits), (offset + len(data)) * 8 // bits
        yield encode(bytes(offset) + data).decode()[begin:end]


def _unsplit(text: str, mask: Callable[[str], str]) -> str:
    """The text, masked; without the controls of a terminal if there is something to mask between them."""
    masked = mask(text)
    if not _MAY_STEER.search(masked):
        return masked
    plain = _STEERING.sub("", masked)
    shown = mask(plain)
    return masked if shown == plain else shown


def _mask_start(text: str, form: str, least: int) -> str:
    """The text, without an end of the form at its start."""
    lead = len(text) - len(text.lstrip())
    for length in range(min(len(form) - 1, len(text) - lead), least - 1, -1):
        if text.startswith(form[-length:], lead):
            return text[:lead] + MASK + text[lead + length :]
    return text


def _mask_end(text: str, form: str, least: int) -> str:
    """The text, without a beginning of the form at its end."""
    body = text.rstrip().rstrip("\\-=")
    for length in range(min(len(form) - 1, len(body)), least - 1, -1):
        if body.endswith(form[:length]):
            return body[: len(body) - length] + MASK + text[len(body) :]
    return text


def _mask_patterns(text: str) -> str:
    lower = text.lower()
    if any([sign in lower for sign in _TOKEN_SIGNS]):
        text = _PATTERNS.sub(MASK, text)
    if any([sign in lower for sign in _NAME_SIGNS]):
        text = _ASSIGNED.sub(lambda match: f"{match.group(1) or match.group(2)}{MASK}", text)
    return mask_contexts(text, MASK)
