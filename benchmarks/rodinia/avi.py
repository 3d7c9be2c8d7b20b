"""Writes uncompressed films of grey pixels, as heartwall and leukocyte read them.

An AVI file is a tree of chunks (kind, length, data): headers with the number and
size of the frames, the frames, and an index of where each is. These readers expect
a byte a pixel and the bottom row first, and look at little else.
"""
import random
import struct

HAS_INDEX, KEYFRAME = 0x10, 0x10
RATE = 30


def chunk(kind, data):
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def chunks(kind, name, parts):
    return chunk(kind, name + b"".join(parts))


def film(width, height, frames):
    """The file's bytes; frames: bytes each, top row first."""
    size = width * height
    head = struct.pack("<14I", 1000000 // RATE, size * RATE, 0, HAS_INDEX, len(frames), 0, 1, size,
                       width, height, 0, 0, 0, 0)
    stream = struct.pack("<4s4sIHHIIIIIIIIHHHH", b"vids", b"Y8  ", 0, 0, 0, 0, 1, RATE, 0,
                         len(frames), size, 0, 0, 0, 0, width, height)
    form = struct.pack("<IiiHH4sIiiII", 40, width, height, 1, 8, b"Y8  ", size, 0, 0, 0, 0)
    headers = chunks(b"LIST", b"hdrl", [
        chunk(b"avih", head),
        chunks(b"LIST", b"strl", [chunk(b"strh", stream), chunk(b"strf", form)])])

    parts, index, offset = [], [], 4        # offsets count from the list's name
    for frame in frames:
        assert len(frame) == size
        rows = [frame[row * width:(row + 1) * width] for row in range(height)]
        parts.append(chunk(b"00db", b"".join(reversed(rows))))
        index.append(struct.pack("<4sIII", b"00db", KEYFRAME, offset, size))
        offset += len(parts[-1])
    return chunks(b"RIFF", b"AVI ", [headers, chunks(b"LIST", b"movi", parts),
                                     chunk(b"idx1", b"".join(index))])


def noise(width, height, low, high, seed):
    source = random.Random(seed)
    return bytearray(source.choices(range(low, high), k=width * height))


def ring(pixels, width, x, y, inner, outer, level):
    """Draws a ring around (x, y)."""
    for row in range(y - outer, y + outer + 1):
        for column in range(x - outer, x + outer + 1):
            if inner ** 2 < (row - y) ** 2 + (column - x) ** 2 < outer ** 2:
                pixels[row * width + column] = level
