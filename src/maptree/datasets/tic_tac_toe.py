"""``Dataset``, and one that needs no file: every final board of tic-tac-toe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BLANK, _O, _X = 0, 1, 2
_PLAYER = {_BLANK: "blank", _O: "o", _X: "x"}
_SQUARES = [
    f"{row} {column}".replace("middle middle", "centre")
    for row in ("top", "middle", "bottom")
    for column in ("left", "middle", "right")
]
_LINES = (
    *((3 * i, 3 * i + 1, 3 * i + 2) for i in range(3)),
    *((i, i + 3, i + 6) for i in range(3)),
    (0, 4, 8),
    (2, 4, 6),
)

Board = tuple[int, ...]


@dataclass(frozen=True)
class Dataset:
    """A table with its labels, and the names of its columns and classes."""

    data: NDArray[np.uint8]
    target: NDArray[np.int64]
    feature_names: list[str]
    target_names: list[str]


def load_tic_tac_toe() -> Dataset:
    """Return the 958 boards on which a game of tic-tac-toe can end, x moving first.

    The label is 1 where x has won (626 boards). There are 27 binary features: for each square,
    row by row, whether it is blank, o or x.

    >>> boards = load_tic_tac_toe()
    >>> boards.data.shape, int(boards.target.sum())
    ((958, 27), 626)
    >>> boards.feature_names[:3]
    ['top left = blank', 'top left = o', 'top left = x']
    """
    boards = sorted(_final_boards(), key=_file_order)
    squares = np.array(boards)[:, :, np.newaxis] == [_BLANK, _O, _X]
    return Dataset(
        data=squares.reshape(len(boards), -1).astype(np.uint8),
        target=np.array([_has_won(board, _X) for board in boards], dtype=np.int64),
        feature_names=[f"{square} = {word}" for square in _SQUARES for word in _PLAYER.values()],
        target_names=["x has not won", "x has won"],
    )


def _final_boards() -> set[Board]:
    """Play every game to its end."""
    final: set[Board] = set()
    seen: set[Board] = set()
    open_games: list[tuple[Board, int]] = [((_BLANK,) * 9, _X)]
    while open_games:
        board, player = open_games.pop()
        if board in seen:
            continue
        seen.add(board)
        if _has_won(board, _X) or _has_won(board, _O) or _BLANK not in board:
            final.add(board)
            continue
        for square in range(9):
            if board[square] == _BLANK:
                after = (*board[:square], player, *board[square + 1 :])
                open_games.append((after, _O if player == _X else _X))
    return final


def _has_won(board: Board, player: int) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)


def _file_order(board: Board) -> tuple[bool, bool, tuple[int, ...]]:
    """Order boards as in the well-known file: won by x, won by o, drawn; x before o."""
    return not _has_won(board, _X), not _has_won(board, _O), tuple(-square for square in board)
