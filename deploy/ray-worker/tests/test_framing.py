import pytest

from echelon_rayworker.framing import HEADER, DamagedFrame, encode_frame, read_frames


def test_frames_come_back_in_order_with_their_places() -> None:
    buffer = encode_frame(b"one") + encode_frame(b"three")
    frames = list(read_frames(buffer))
    assert [frame.payload for frame in frames] == [b"one", b"three"]
    assert frames[0].end == frames[1].offset and frames[1].end == len(buffer)


def test_a_torn_tail_ends_the_reading_at_every_cut() -> None:
    first, second = encode_frame(b"first"), encode_frame(b"second")
    for cut in range(len(second)):
        assert [frame.payload for frame in read_frames(first + second[:cut])] == [b"first"]


def test_a_tail_of_zeros_is_damage_not_an_empty_record() -> None:
    with pytest.raises(DamagedFrame) as caught:
        list(read_frames(encode_frame(b"x") + bytes(64)))
    assert caught.value.offset == len(encode_frame(b"x"))


def test_every_flipped_bit_of_a_payload_is_noticed() -> None:
    frame = encode_frame(b"payload")
    for position in range(HEADER.size, len(frame)):
        for bit in range(8):
            flipped = bytearray(frame)
            flipped[position] ^= 1 << bit
            with pytest.raises(DamagedFrame):
                list(read_frames(bytes(flipped)))


@pytest.mark.parametrize("payload", [b"", bytes(5 * 1024 * 1024)])
def test_payloads_outside_the_bounds_are_refused(payload: bytes) -> None:
    with pytest.raises(ValueError):
        encode_frame(payload)
