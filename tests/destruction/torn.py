"""Makes of the data.mdb of a cepd that was killed what a power cut may leave where the last commit was cut short.

LMDB writes changed pages beside the old ones and at last one of the first two pages, the one with the smaller transaction
number, which makes it the newest. So of a commit that was cut short there may be anything in pages behind the last one
that the newest of the two knows of, and in the fields that the other one gets before its number.
"""

import random
import struct

PAGE = 4096
HEADER = 16
MAGIC = 0xBEEFC0DE
# Of a meta page, behind the header: magic, version, address, size of the map, two trees of 48 bytes, last page, number.
TREES, LAST_PAGE, NUMBER = HEADER + 24, HEADER + 120, HEADER + 128
# The first field of the first tree is the page size, the same in every commit.
TORN_FROM = TREES + 4


def tear(path, chance: random.Random):
    """True when there was a commit to tear."""
    with open(path, "r+b") as file:
        metas = []
        for page in (0, 1):
            file.seek(page * PAGE)
            meta = file.read(PAGE)
            if len(meta) < PAGE or struct.unpack_from("<I", meta, HEADER)[0] != MAGIC:
                return False  # killed before its first commit
            metas.append(meta)
        numbers = [struct.unpack_from("<Q", meta, NUMBER)[0] for meta in metas]
        newest = 0 if numbers[0] > numbers[1] else 1
        size = file.seek(0, 2)

        first = struct.unpack_from("<Q", metas[newest], LAST_PAGE)[0] + 1
        pages = min(chance.randrange(1, 20), size // PAGE - first)
        for page in range(first, first + pages):
            # The last one only in part.
            file.seek(page * PAGE)
            file.write(chance.randbytes(PAGE if page + 1 < first + pages else chance.randrange(1, PAGE)))

        upto = chance.randrange(TORN_FROM + 1, NUMBER + 1)
        file.seek((1 - newest) * PAGE + TORN_FROM)
        file.write(chance.randbytes(upto - TORN_FROM))
    return True
