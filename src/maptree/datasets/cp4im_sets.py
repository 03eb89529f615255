"""The sixteen sets of the CP4IM collection that the MAPTree paper uses, and how to tell them."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Cp4imSet(NamedTuple):
    """Name and shape of a set, and the checksum of its matrix."""

    name: str
    rows: int
    columns: int
    sha256: str


def checksum(table: NDArray[np.uint8]) -> str:
    """Return the SHA-256 of a table (label first, then the items in the order of their numbers).

    It is taken of the parsed matrix, so that it is the same for every format and compression.

    >>> checksum(np.array([[1, 0, 1], [0, 1, 1]], dtype=np.uint8))[:16]
    '7095bf38ade62ce9'
    """
    rows, width = table.shape
    shape = f"{rows} {width - 1}\n".encode()
    return hashlib.sha256(shape + np.ascontiguousarray(table).tobytes()).hexdigest()


# Name, rows, columns, checksum.
_TABLE = """
anneal             812  93 1bfb9fb17f0c82073bc488548f6053e37c2d00e5a7f8aaf52583c2465bee8073
audiology          216 148 047681a757aa13c7485131d7a154d5685dc8c02eb73e1a3b76b8504484d42a3b
australian-credit  653 125 d51cdc453f3b4a087a1e5adcd8eb45acdbe712ef8cd92cccff0cfeb84c683f00
german-credit     1000 112 e5959fcd409569e1de32f7bb634c5aba8a063ff1e37a3aa60687ba2b12035b83
heart-cleveland    296  95 94caa90f0766496cbad365bb680bf5d018dac09ba10143d215893c0c576fc2f0
hepatitis          137  68 e142131f9b3b0f45012d194cda09204309b43e43d1a9f29f9dd04861fe7a9374
hypothyroid       3247  88 ee5d65975f689e0125b2ea2662d68e80a41fc7728b948707a5b52d6fc8919097
kr-vs-kp          3196  73 2a108e173caccf66db01fa3fe33855938abcfcab20868da3afd1b57df1789bfc
lymph              148  68 940f3b53d5eb8089f246e759136c3988c55e45ce890bb27d79d07821f29d3d08
mushroom          8124 119 88455ec3e99fbf7f7bd2ed71727aa8b9dba51b9ecccc160a66ee7d064ed0ca14
primary-tumor      336  31 65c4d33211de6dc5a3d539d2719ddb69d42447fa906f74410d0948a743ebcb4a
soybean            630  50 f3dffa86553a119763af4781c319236e43b90c0ed4950fde37d81357c0f14a6b
splice-1          3190 287 5cdad23c4f67e38cad88ee29682f931f87978f0aae49bb41caebb250a0c98534
tic-tac-toe        958  27 b17bf5c9c8f6df288bd960d0c00a5fc4fe65447b3e9de968eb827a2b01fbe838
vote               435  48 afb3ae171c89ef19df87a82356b3c4a3824bdaa4e497c218c7b42cbff16db671
zoo-1              101  36 47f65925057d65a10bc1ccf9eaefa90715ee8c10fe6878e1c3085b0939017340
"""

CP4IM_SETS = tuple(
    Cp4imSet(name, int(rows), int(columns), sha256)
    for name, rows, columns, sha256 in map(str.split, _TABLE.split("\n")[1:-1])
)
