"""Loading the CP4IM sets: where they are looked for, both formats, mirrors that fail."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest

from control import HANGS, wait_until
from maptree.datasets import CP4IM_SETS, DatasetNotFoundError, load_cp4im
from maptree.datasets import cp4im as module
from maptree.datasets import download as download_module
from maptree.datasets.cp4im import Cp4imSet, FormatError, cache_folder, checksum, parse
from maptree.files.whole_file import write_whole
from mirror import dense, items, serving

TABLE = np.random.default_rng(7).integers(2, size=(60, 9), dtype=np.uint8)
NAME = "made-up"
KNOWN = Cp4imSet(NAME, 60, 8, checksum(TABLE))


@pytest.fixture(autouse=True)
def made_up(monkeypatch, tmp_path):
    """A set of our own beside the real ones, an empty cache, and no folder."""
    monkeypatch.setattr(module, "CP4IM_SETS", (*CP4IM_SETS, KNOWN))
    monkeypatch.delenv("MAPTREE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache" / "maptree")
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture(scope="module")
def mirror():
    with serving(TABLE) as mirror:
        yield mirror


@pytest.fixture
def mirrors(monkeypatch, mirror):
    """Let the mirrors be these ways of answering."""

    def use(*ways):
        mirror.asked.clear()
        monkeypatch.setattr(module, "MIRRORS", tuple(mirror.url(way) for way in ways))

    return use


def cached(tmp_path):
    return tmp_path / "cache" / "maptree" / "cp4im" / f"{NAME}.txt.gz"


def check_loaded(dataset):
    np.testing.assert_array_equal(dataset.data, TABLE[:, 1:])
    np.testing.assert_array_equal(dataset.target, TABLE[:, 0])
    assert dataset.data.dtype == np.uint8
    assert dataset.target.dtype == np.int64
    assert len(dataset.feature_names) == 8


@pytest.mark.parametrize(
    "way", ["dense", "items", "dense-gzip", "items-gzip", "items-shuffled", "moved"]
)
def test_every_format_gives_the_same_and_is_kept(way, mirrors, mirror, tmp_path):
    mirrors(way)
    check_loaded(load_cp4im(NAME))
    assert parse(cached(tmp_path).read_bytes()).tolist() == TABLE.tolist()
    asked = len(mirror.asked)
    check_loaded(load_cp4im(NAME))
    assert len(mirror.asked) == asked, "the second time it comes from the cache"
    assert [path.name for path in cached(tmp_path).parent.iterdir()] == [f"{NAME}.txt.gz"]


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("gone", "404 Not Found"),
        ("broken", "500"),
        ("cut-off", "ended after"),
        ("cut-off-unsaid", "line 60 does not have 9 values of 0 or 1"),
        ("cut-off-gzip", "truncated or damaged"),
        ("silent", "no complete answer within 20 s"),
        ("drip", "no complete answer within 20 s"),
        ("other-values", "checksum"),
        ("other-shape", "59 rows and 8 columns, not 60 and 8"),
        ("page", "line 1 does not have"),
        ("noise", "not text"),
        ("empty", "empty"),
    ],
)
def test_a_mirror_that_fails_is_named_with_the_reason_and_the_next_is_asked(
    way, why, mirrors, mirror, monkeypatch, clock, tmp_path
):
    # Time passes for this mirror alone.
    if way == "drip":
        clock.step = 21.0
        clock.runs = lambda: f"/{way}/" in "".join(mirror.asked[-1:])
    if way == "silent":

        def impatient(request, timeout):
            return urlopen(request, timeout=0.1 if way in request.full_url else timeout)

        monkeypatch.setattr(download_module, "urlopen", impatient)
    mirrors(way)
    with pytest.raises(DatasetNotFoundError) as caught:
        load_cp4im(NAME)
    message = str(caught.value)
    assert f"/{way}/{NAME}.txt: " in message
    assert "DownloadError" not in message  # the reason itself, not an error about it
    assert why in message
    assert not cached(tmp_path).exists()

    mirrors(way, "items")
    check_loaded(load_cp4im(NAME))
    wait_until(lambda: len(mirror.asked) == 2)  # the silent one may hear of it later
    assert {path.split("/")[1] for path in mirror.asked} == {way, "items"}


def test_offline_one_error_says_what_was_tried_and_what_to_do(monkeypatch, tmp_path):
    with serving(TABLE) as gone:
        nobody = gone.url("dense")  # nobody listens there when the block is left
    monkeypatch.setattr(module, "MIRRORS", (nobody, nobody.replace("dense", "items")))
    monkeypatch.setenv("MAPTREE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetNotFoundError) as caught:
        load_cp4im(NAME)
    message = str(caught.value)
    for part in (
        str(tmp_path / "nowhere" / f"{NAME}.txt.gz: no such file"),
        str(tmp_path / "nowhere" / f"{NAME}.txt: no such file"),
        f"{cached(tmp_path)}: no such file",
        f"/dense/{NAME}.txt: no connection",
        f"/items/{NAME}.txt: no connection",
        "the environment variable MAPTREE_DATA",
    ):
        assert part in message
    monkeypatch.delenv("MAPTREE_DATA")
    with pytest.raises(DatasetNotFoundError, match=r"\$MAPTREE_DATA: it is not set"):
        load_cp4im(NAME)


def test_without_download_nobody_is_asked(mirrors, mirror):
    mirrors("dense")
    with pytest.raises(DatasetNotFoundError, match="download=False"):
        load_cp4im(NAME, download=False)
    assert mirror.asked == []


@pytest.mark.parametrize("ending", ["txt", "txt.gz"])
@pytest.mark.parametrize("write", [dense, items])
def test_the_folder_comes_first(ending, write, mirrors, mirror, monkeypatch, tmp_path):
    mirrors("dense")
    content = write(TABLE)
    path = tmp_path / f"{NAME}.{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    monkeypatch.setenv("MAPTREE_DATA", str(tmp_path))
    check_loaded(load_cp4im(NAME))
    assert mirror.asked == []
    assert not cached(tmp_path).exists(), "what the user keeps is not copied"


def test_a_wrong_file_is_ignored_with_a_warning(mirrors, monkeypatch, tmp_path):
    mirrors("dense")
    (tmp_path / f"{NAME}.txt").write_bytes(dense(1 - TABLE))
    monkeypatch.setenv("MAPTREE_DATA", str(tmp_path))
    with pytest.warns(UserWarning, match=r"made-up.txt is ignored: its checksum differs"):
        check_loaded(load_cp4im(NAME))


def test_a_damaged_cache_is_replaced(mirrors, tmp_path):
    mirrors("items")
    cached(tmp_path).parent.mkdir(parents=True)
    cached(tmp_path).write_bytes(gzip.compress(dense(TABLE))[:-20])
    with pytest.warns(UserWarning, match="truncated or damaged"):
        check_loaded(load_cp4im(NAME))
    check_loaded(load_cp4im(NAME))


def test_a_cache_that_cannot_be_written_does_not_lose_the_data(mirrors, tmp_path):
    mirrors("items")
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="could not be saved in the cache"):
        check_loaded(load_cp4im(NAME))


def test_threads_that_load_at_once_all_get_the_data(mirrors, tmp_path):
    mirrors("dense")
    together = threading.Barrier(8)

    def load(_):
        together.wait()
        return load_cp4im(NAME)

    with ThreadPoolExecutor(8) as pool:
        for dataset in pool.map(load, range(8)):
            check_loaded(dataset)
    assert [path.name for path in cached(tmp_path).parent.iterdir()] == [f"{NAME}.txt.gz"]


def test_nobody_sees_a_part_of_a_file(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([value]) * 200_000 for value in (1, 2)]
    write_whole(path, contents[0])
    done = threading.Event()

    def read():
        seen = set()
        while not done.is_set():
            seen.add(path.read_bytes())
        return seen

    with ThreadPoolExecutor(3) as pool:
        reader = pool.submit(read)
        for _ in pool.map(lambda i: write_whole(path, contents[i % 2]), range(60)):
            pass
        done.set()
        assert reader.result() <= set(contents)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_processes_that_load_at_once_all_get_the_data(mirror, tmp_path):
    code = (
        "from maptree.datasets import cp4im\n"
        f"cp4im.MIRRORS = ({mirror.url('items')!r},)\n"
        f"cp4im.CP4IM_SETS = (cp4im.Cp4imSet{tuple(KNOWN)!r},)\n"
        f"print(cp4im.load_cp4im({NAME!r}).data.sum())\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in running:
        printed, _ = process.communicate(timeout=HANGS)
        assert printed.strip() == str(TABLE[:, 1:].sum())


def test_a_name_that_is_unknown_is_told_which_are_known():
    with pytest.raises(ValueError, match=r"no CP4IM set 'iris' here: choose one of anneal, .*zoo"):
        load_cp4im("iris")


def test_the_generated_set_is_the_one_of_the_checksum():
    known = {known.name: known for known in CP4IM_SETS}["tic-tac-toe"]
    boards = load_cp4im("tic-tac-toe")
    assert checksum(np.column_stack([boards.target.astype(np.uint8), boards.data])) == known.sha256


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "it is empty"),
        (b"\n\n", "it is empty"),
        (b"0 1 1\n0 1\n", "line 2 does not have 3 values of 0 or 1"),
        (b"0 2 1\n", "line 1 does not have"),
        (b"0 1 1\n0 11\n", "line 2 does not have"),
        (b"@relation a\n@0: b\n", "no line @data"),
        (b"@0: b\nhello\n@data\n", "line 2 is before @data but has no @"),
        (b"@0: b\n@data\n0 1\n7 1\n", "line 4 has an item '7'"),
        (b"@0: b\n@data\n0 2\n", "line 3 ends with the label '2'"),
    ],
)
def test_what_is_no_table_is_refused_with_the_line(text, why):
    with pytest.raises(FormatError, match=why):
        parse(text)


def test_rows_without_items_and_items_without_rows_are_kept():
    text = b"@relation r\n@2: c\n@0: a\n@1: b\n@class: k\n@data\n1\n2 0\n0 2 1\n"
    assert parse(text).tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [1, 1, 0, 1]]


def test_the_cache_is_the_users(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == Path("~/.cache/maptree").expanduser()
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(cache_folder()) == "/somewhere/maptree"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder().parts[-3:] == ("Library", "Caches", "maptree")
