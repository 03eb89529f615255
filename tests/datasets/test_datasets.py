"""The generated tic-tac-toe boards, and the real files where they are there."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from maptree.datasets import CP4IM_SETS, load_tic_tac_toe
from maptree.datasets.cp4im import checksum, parse
from mirror import dense, items

LINES = ["012", "345", "678", "036", "147", "258", "048", "246"]


def squares(board):
    """A row of 27 answers as a word of nine letters."""
    return "".join("_ox"[int(np.argmax(three))] for three in board.reshape(9, 3))


def test_it_is_the_well_known_file_row_by_row(cp4im):
    X, y = cp4im("tic-tac-toe")
    boards = load_tic_tac_toe()
    np.testing.assert_array_equal(boards.data, X)
    np.testing.assert_array_equal(boards.target, y)


def test_every_board_is_a_distinct_end_of_a_game_with_x_first():
    boards = load_tic_tac_toe()
    words = [squares(board) for board in boards.data]
    assert len(set(words)) == len(words) == 958
    assert (boards.data.reshape(-1, 9, 3).sum(axis=2) == 1).all()
    for word, won in zip(words, boards.target, strict=True):
        lines = {"".join(word[int(i)] for i in line) for line in LINES}
        x_lines, o_lines = "xxx" in lines, "ooo" in lines
        assert won == x_lines
        assert not (x_lines and o_lines)
        assert word.count("x") - word.count("o") == (0 if o_lines else 1)
        assert x_lines or o_lines or "_" not in word


def test_names_describe_the_columns():
    boards = load_tic_tac_toe()
    assert len(boards.feature_names) == len(set(boards.feature_names)) == 27
    assert boards.target_names == ["x has not won", "x has won"]
    first = dict(zip(boards.feature_names, boards.data[0], strict=True))
    assert squares(boards.data[0]) == "xxxxooxoo"
    assert first["top left = x"] == first["middle left = x"] == first["bottom right = o"] == 1
    assert first["centre = x"] == first["centre = blank"] == 0


def test_it_is_frozen():
    boards = load_tic_tac_toe()
    with pytest.raises(dataclasses.FrozenInstanceError):
        boards.target = boards.target + 1


@pytest.mark.parametrize("known", CP4IM_SETS, ids=lambda known: known.name)
def test_the_real_files_are_those_of_the_checksums_in_both_formats(known, cp4im):
    X, y = cp4im(known.name)
    assert X.shape == (known.rows, known.columns)
    table = np.column_stack([y.astype(np.uint8), X])
    assert checksum(table) == known.sha256
    if known.rows <= 1000:  # the others take a while to be written as text
        assert checksum(parse(items(table))) == known.sha256
        assert checksum(parse(dense(table))) == known.sha256
