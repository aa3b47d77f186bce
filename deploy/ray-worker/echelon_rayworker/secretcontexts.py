"""Secrets that only the text before them tells: a value of an option, of a command or of a file of passwords.

The service finds the same (src/core/secret-contexts.ts); test/golden/vectors/secret-forms.json has examples for both.
"""

from __future__ import annotations

import re

_OPTION = re.compile(
    r"--?(?:(?:[\w-]{0,40}[-_])?(?:passw(?:or)?d|passphrase|client[-_]?secret|(?:access|auth|api|hf|bearer|refresh)[-_]?token"
    r"|(?:api|access|private|secret)[-_]?key)|secret|token)",
    re.IGNORECASE | re.ASCII,
)
# A placeholder, a variable, a path, another option.
_NO_VALUE = re.compile(r"[-$<{*@/%]|\.{1,2}/|(?:[A-Z_]+|none|null|true|false|\d+(?:\.\d+)?)$")
# A word of prose.
_WORD = re.compile(r"[A-Za-z]?[a-z]*(?:[-_.,:'][a-z]*)*")

_PASSWORD_OPTION = re.compile(
    r"((?:^|[\s\"'`(])--?(?:[\w-]{0,40}[-_])?(?:passw(?:or)?d|passphrase)[ \t]{1,8}[\"']?)([^\s\"'`|;&)]{4,256})",
    re.IGNORECASE | re.ASCII,
)
_CURL = re.compile(
    r"(\bcurl\b[^\n|;&]{0,300}?\s(?:-[uU][ \t]{0,8}|--(?:proxy-)?user(?:[ \t]{1,8}|=))[\"']?[^\s:\"'`]{1,128}:)(?!//)"
    r"([^\s\"'`]{1,256})",
    re.ASCII,
)
_SSHPASS = re.compile(r"(\bsshpass[ \t]{1,8}-p[ \t]{0,8}[\"']?)([^\s\"'`|;&]{1,256})", re.ASCII)
_NETRC = re.compile(
    r"(\b(?:machine\s{1,8}\S{1,255}|default)\s{1,8}login\s{1,8}\S{1,128}\s{1,8}(?:account\s{1,8}\S{1,128}\s{1,8})?password\s{1,8})"
    r"(\S{1,256})",
    re.ASCII,
)
_NETRC_LINE = re.compile(r"((?:^|\n)[ \t]{0,16}password[ \t]{1,16})(\S{4,256})(?=[ \t]{0,16}(?:\r?\n|$))", re.ASCII)
_PGPASS = re.compile(
    r"((?:^|\n)(?:\*|[A-Za-z0-9][\w.-]{0,255}):(?:\*|[56]\d{3}):(?:\*|[A-Za-z_][^\s:]{0,127}):(?:\*|[A-Za-z_][^\s:]{0,127}):)"
    r"(\S{4,256})(?=[ \t]{0,16}(?:\r?\n|$))",
    re.ASCII,
)
_ANY_VALUE = ((_CURL, "curl"), (_SSHPASS, "sshpass"), (_NETRC, "password"))
_NO_PROSE = ((_PASSWORD_OPTION, "pass"), (_NETRC_LINE, "password"))
_PGPASS_SIGN = re.compile(r":(?:\*|[56]\d{3}):")


def is_secret_option(argument: str) -> bool:
    """Whether the next argument of a command is a secret."""
    return _OPTION.fullmatch(argument) is not None


def mask_contexts(text: str, mask: str) -> str:
    """The text with every such secret replaced by ``mask``."""
    lower = text.lower()
    for form, sign in _ANY_VALUE:
        if sign in lower:
            text = form.sub(lambda match: _masked(match, mask, prose=True), text)
    for form, sign in _NO_PROSE:
        if sign in lower:
            text = form.sub(lambda match: _masked(match, mask, prose=False), text)
    if _PGPASS_SIGN.search(text):
        text = _PGPASS.sub(lambda match: _masked(match, mask, prose=True), text)
    return text


def _masked(match: re.Match[str], mask: str, *, prose: bool) -> str:
    value = match.group(2)
    is_secret = value[0] not in "$<{*" if prose else not (_NO_VALUE.match(value) or _WORD.fullmatch(value))
    return f"{match.group(1)}{mask}" if is_secret else match.group(0)
