import base64
import json
import time
import urllib.parse
from pathlib import Path

import pytest

from echelon_rayworker.redaction import Redactor, secret_values

SECRET = "s3cr/et+va lue%1Z-9kq\"x"
REDACTOR = Redactor([SECRET])


def encoded(offset: int, urlsafe: bool = False) -> str:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    return encode(b"user:x"[:offset] + SECRET.encode() + b" and more").decode()


@pytest.mark.parametrize(
    "form",
    [
        SECRET, json.dumps(SECRET), repr(SECRET), urllib.parse.quote(SECRET), urllib.parse.quote(SECRET, safe=""),
        urllib.parse.quote_plus(SECRET), SECRET.encode().hex(), SECRET.encode().hex().upper(),
        base64.b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_value_is_masked_in_every_form(form: str) -> None:
    masked = REDACTOR.text(f"before {form} after")
    assert masked.startswith("before ") and masked.endswith(" after") and "***" in masked
    assert SECRET not in masked and form[4:-4] not in masked


GOLDEN = json.loads((Path(__file__).parents[3] / "test/golden/vectors/redaction.json").read_text())


@pytest.mark.parametrize("one", GOLDEN["hidden"], ids=lambda one: one["form"])
def test_a_value_is_masked_in_every_form_that_the_service_masks(one: dict[str, str]) -> None:
    redactor = Redactor([GOLDEN["secret"]])
    for mask in (redactor.text, redactor.line):
        shown = mask(f"before {one['text']} after")
        assert shown.startswith("before ") and shown.endswith(" after") and "***" in shown
        # What base64 and base32 leave at the edges belongs to the neighbours.
        assert len(shown) < len("before *** after") + 40 and one["text"][8:16] not in shown


FORMS = json.loads((Path(__file__).parents[3] / "test/golden/vectors/secret-forms.json").read_text())


@pytest.mark.parametrize("one", FORMS["masked"], ids=lambda one: one["text"])
def test_secrets_by_form_and_context_are_masked_as_the_service_masks_them(one: dict[str, str]) -> None:
    assert Redactor().text(one["text"]) == one["shown"]


@pytest.mark.parametrize("text", FORMS["plain"])
def test_a_text_that_only_resembles_one_stays(text: str) -> None:
    assert Redactor().text(text) == text


@pytest.mark.parametrize("text", GOLDEN["shown"])
def test_a_text_without_the_value_stays_as_it_is(text: str) -> None:
    assert Redactor([GOLDEN["secret"]]).line(text) == text


@pytest.mark.parametrize("offset", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("urlsafe", [False, True])
def test_base64_is_found_at_any_offset_within_other_text(offset: int, urlsafe: bool) -> None:
    text = encoded(offset, urlsafe)
    masked = REDACTOR.text(text)
    # No part of what is left decodes to a part of the value that is worth having.
    assert "***" in masked and len(masked) < len(text) - 20


@pytest.mark.parametrize("at", range(1, len(SECRET)))
def test_a_value_over_two_lines_never_shows_whole(at: int) -> None:
    lines = REDACTOR.lines()
    shown = lines.line(f"text {SECRET[:at]}") + lines.line(f"{SECRET[at:]} text")
    left = shown.replace("text", "").replace("***", "").strip()
    # What stays is too little on either side to be found.
    assert SECRET not in shown and len(left) < 8, left


def test_a_long_value_that_is_wrapped_shows_in_no_line() -> None:
    value = "".join(chr(33 + (7 * i) % 90) for i in range(200))
    redactor = Redactor([value])
    for text in (value, base64.b64encode(value.encode()).decode()):
        for at in range(0, len(text), 60):
            line = redactor.line(text[at : at + 60])
            assert line == "***" or len(line.replace("***", "")) < 12, line


def test_each_line_of_a_value_of_several_lines_is_masked() -> None:
    redactor = Redactor(["-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n-----END KEY-----"])
    assert redactor.text("got mnopqrstuvwx!") == "got ***!"
    assert redactor.text("-----BEGIN KEY-----") == "-----BEGIN KEY-----"


def test_a_private_key_is_masked_to_its_end_and_no_further() -> None:
    lines = Redactor().lines()
    shown = [lines.line(line) for line in ("x -----BEGIN RSA PRIVATE KEY-----", "MIIabc", "-----END RSA PRIVATE KEY-----", "y")]
    assert shown == ["x ***", "***", "***", "y"]


@pytest.mark.parametrize(
    "secret",
    [
        "hf_" + "aB3dE5" * 6, "sk-proj-" + "aB3_dE5-" * 5, "ghp_" + "aB3dE5" * 6, "AKIA" + "ABCD2345" * 2,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz", "glpat-" + "aB3dE5" * 4,
    ],
)
def test_known_kinds_of_tokens_are_masked_without_being_known(secret: str) -> None:
    assert Redactor().text(f"using {secret}.") == "using ***."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://user:pa55word@host/1", "redis://***@host/1"), ("Authorization: Bearer abcdefgh12345678", "Authorization: Bearer ***"),
        ("WANDB_API_KEY=0123456789abcdef", "WANDB_API_KEY=***"), ("{'password': 'hunter22'}", "{'password': '***'}"),
        ("hf_token = a1b2c3d4e5f6a7b8c9d0e1", "hf_token = ***"),
        # Ordinary words of trainings stay.
        ("max_tokens=512, eos_token: <|endoftext|>", "max_tokens=512, eos_token: <|endoftext|>"),
        ("https://host:8080/a@b", "https://host:8080/a@b"), ("tokenizer=Qwen/Qwen2.5-1.5B-Instruct", "tokenizer=Qwen/Qwen2.5-1.5B-Instruct"),
        ("commit 0123456789abcdef0123456789abcdef01234567", "commit 0123456789abcdef0123456789abcdef01234567"),
        ("task-sk-learning of the secret garden", "task-sk-learning of the secret garden"),
        ("actor/token_mean_loss: 0.123, key=value", "actor/token_mean_loss: 0.123, key=value"),
    ],
)
def test_what_looks_like_a_secret_is_masked_and_what_does_not_stays(text: str, shown: str) -> None:
    assert Redactor().text(text) == shown


def test_bytes_keep_their_length() -> None:
    data = b"\x00" + SECRET.encode() + b"\xff"
    masked = REDACTOR.data(data)
    assert len(masked) == len(data) and SECRET.encode() not in masked


@pytest.mark.parametrize(
    ("element", "shown"),
    [
        ("trainer.api_key=abc", "trainer.api_key=***"), ("+env.WANDB_API_KEY=abc", "+env.WANDB_API_KEY=***"),
        ("hf_token=x=y", "hf_token=***"), ("data.max_token=512", "data.max_token=512"), ("lr=1e-6", "lr=1e-6"),
        ("note=it is s3cret-value", "note=it is ***"), ("algorithm.use_token=true", "algorithm.use_token=***"),
    ],
)
def test_a_shown_command_has_no_secret(element: str, shown: str) -> None:
    assert Redactor(["s3cret-value"]).command([element]) == [shown]


def test_the_argument_after_a_secret_option_is_not_shown() -> None:
    command = ["python", "x.py", "--password", "hunter2", "--hf-token", "abc", "--max-tokens", "5", "--token", "--x"]
    assert Redactor().command(command) == [
        "python", "x.py", "--password", "***", "--hf-token", "***", "--max-tokens", "5", "--token", "--x",
    ]


def test_secret_values_are_those_of_secret_names_and_of_the_named() -> None:
    environment = {"WANDB_API_KEY": "abcdefgh", "RAY_AUTH_TOKEN": "abcdefghij", "PATH": "/usr/bin", "TOKEN": "short"}
    assert secret_values(environment) == ["abcdefghij", "abcdefgh"]
    assert secret_values({"PLAIN": "abcdefg", "OTHER": "abcdefgh"}, ["PLAIN"]) == ["abcdefg"]


def test_lines_without_secrets_cost_little() -> None:
    redactor = Redactor([f"{n}-" + "x7Kq" * 10 for n in range(4)]).lines()
    line = "step 17: loss 0.1234, reward 0.75, tokens/s 12345.6, grad_norm 0.03 " * 2
    began = time.process_time()
    for _ in range(1_000):
        assert redactor.line(line) == line
    # Some 50 µs a line are seen; a form of quadratic cost would be far from this.
    assert time.process_time() - began < 5.0
