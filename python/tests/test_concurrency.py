"""Eight threads and four processes on one store, forks, ends and interruptions."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import memorist
import numpy as np
import pytest
from memorist import Store, VectorIndex
from numpy.typing import NDArray

from helpers import DIMS, embed, vectors

THREADS = 8
PROCESSES = 4
EACH = 25


def work(store: Store, name: str, seed: int) -> list[int]:
    """Saves, finds, changes and deletes, and checks that it sees what it has done."""
    made = vectors(EACH, seed=seed)
    kept = []
    for at in range(EACH):
        text = f"note {at} of worker {name}"
        id = store.add(text, vector=made[at], tags=[name]).id
        assert store.search(text, mode="keyword", tags=[name], limit=1)[0].id == id
        assert id in [hit.id for hit in store.search(vector=made[at], limit=5)]
        if at % 5 == 0:
            assert store.delete(id)
            assert store.get(id) is None
        else:
            assert store.update(id, importance=9).version == 2
            kept.append(id)
    kept += [one.id for one in store.add_many([f"batch {at} of worker {name}" for at in range(50)], vectors=vectors(50))]
    return kept


def process(folder: str, name: str, results: multiprocessing.SimpleQueue[object]) -> None:
    """Two threads on a store of its own opening."""
    try:
        with Store(folder, embed=None) as store, ThreadPoolExecutor(2) as pool:
            names = [f"{name}-{thread}" for thread in range(2)]
            found = pool.map(lambda thread: work(store, names[thread], hash(names[thread]) % 2**31), range(2))
            results.put([id for kept in found for id in kept])
    except BaseException as error:
        results.put(repr(error))
        raise


def test_eight_threads_share_a_store(store: Store) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        kept = [id for ids in pool.map(lambda at: work(store, f"t{at}", at), range(THREADS)) for id in ids]
    assert len(set(kept)) == len(kept) == THREADS * (EACH * 4 // 5 + 50)
    assert store.stats().total_entries == len(kept)
    store.flush()
    assert sorted(one.id for one in store.entries()) == sorted(kept)


def test_four_processes_share_a_store_with_eight_threads_of_this_one(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.SimpleQueue[object] = context.SimpleQueue()
    folder = str(tmp_path / "store")
    with Store(folder, embed=None) as store:
        store.add("the first", vector=vectors(1)[0])
        children = [context.Process(target=process, args=(folder, f"p{at}", results)) for at in range(PROCESSES)]
        for child in children:
            child.start()
        with ThreadPoolExecutor(THREADS) as pool:
            kept = [id for ids in pool.map(lambda at: work(store, f"t{at}", at), range(THREADS)) for id in ids]
        for _ in children:
            got = results.get()
            assert isinstance(got, list), got
            kept += got
        for child in children:
            child.join()
            assert child.exitcode == 0
        expected = (THREADS + 2 * PROCESSES) * (EACH * 4 // 5 + 50)
        assert len(set(kept)) == expected and store.stats().total_entries == expected + 1
        store.flush()
        indexes = store.stats().indexes
        assert indexes is not None and indexes["vectors"] == indexes["documents"] == expected + 1


def test_an_index_is_searched_while_it_is_changed(tmp_path: Path) -> None:
    base, queries = vectors(4_000), vectors(16, seed=1)
    with VectorIndex(tmp_path / "index", DIMS) as index:
        index.add(base[:1_000])
        stop = threading.Event()

        def searches() -> int:
            done = 0
            while not stop.is_set():
                ids = index.search(queries, 10).ids
                assert (ids >= 0).all() and all(len(set(row)) == 10 for row in ids)
                done += 1
            return done

        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(searches) for _ in range(3)]
            merging = pool.submit(index.optimize)
            for first in range(1_000, 4_000, 250):
                index.add(base[first : first + 250])
                index.remove(np.arange(first, first + 10))
            merging.result()
            stop.set()
            assert all(reader.result() > 0 for reader in readers)
        index.optimize()
        assert len(index) == 4_000 - 12 * 10 and index.verify() == []


def test_others_run_while_the_engine_works(tmp_path: Path) -> None:
    base = vectors(30_000)
    with VectorIndex(tmp_path / "index", DIMS) as index:
        index.add(base)
        working = threading.Thread(target=index.optimize)
        working.start()
        ticks, longest = 0, 0.0
        while working.is_alive():
            before = time.perf_counter()
            sum(range(1_000))
            longest = max(longest, time.perf_counter() - before)
            ticks += 1
            time.sleep(0.001)
        assert ticks > 20, ticks


def test_a_function_that_embeds_is_called_by_another_thread_and_can_be_closed_over(tmp_path: Path) -> None:
    threads = set()

    def slow(texts: list[str]) -> NDArray[np.float32]:
        threads.add(threading.get_ident())
        time.sleep(0.02)
        return embed(texts)

    store = Store(tmp_path / "store", embed=slow, model="slow", dimensions=256)
    store.add_many([f"text {at}" for at in range(200)])
    time.sleep(0.1)
    # Not closed: the thread that embeds is waited for, and needs the interpreter.
    del store
    with Store(tmp_path / "store", embed=slow, model="slow", dimensions=256) as store:
        store.flush()
        assert store.stats().pending_embeddings == 0 and len(threads) >= 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_is_told_to_open_it_again(store: Store) -> None:
    store.add("x")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            store.add("y")
        except memorist.Closed as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    said = os.read(reading, 1000).decode()
    os.waitpid(child, 0)
    assert "forked" in said and store.stats().total_entries == 1


def run(code: str, folder: Path) -> subprocess.Popen[str]:
    """Another Python. Its working folder is not that of the package's sources."""
    command = [sys.executable, "-c", textwrap.dedent(code), str(folder)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=folder.parent)


def test_a_program_that_closes_nothing_ends(tmp_path: Path) -> None:
    code = """
        import sys, time, numpy, memorist
        def embed(texts):
            time.sleep(0.01)
            return numpy.ones((len(texts), 8), dtype=numpy.float32)
        store = memorist.Store(sys.argv[1], embed=embed, model="ones")
        store.add_many([f"text {at}" for at in range(2000)])
        kept = store.search
        print("end")
    """
    ended = run(code, tmp_path / "store")
    out, err = ended.communicate(timeout=60)
    assert (ended.returncode, out, err) == (0, "end\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("what", ["optimize", "add_many", "flush"])
def test_ctrl_c_ends_long_calls(tmp_path: Path, what: str) -> None:
    code = f"""
        import sys, time, numpy, memorist
        def embed(texts):
            time.sleep(0.005 * len(texts))
            return numpy.ones((len(texts), 8), dtype=numpy.float32)
        what = {what!r}
        if what == "optimize":
            index = memorist.VectorIndex(sys.argv[1], 128)
            index.add(numpy.random.default_rng(1).standard_normal((60_000, 128)).astype(numpy.float32))
        else:
            store = memorist.Store(sys.argv[1], embed=embed, model="ones", dimensions=8)
            texts = [f"text {{at}} of a long list" for at in range(400_000 if what == "add_many" else 4_000)]
            if what == "flush":
                store.add_many(texts)
        print("begin", flush=True)
        try:
            index.optimize() if what == "optimize" else store.add_many(texts) if what == "add_many" else store.flush()
            print("done")
        except KeyboardInterrupt:
            print("interrupted")
    """
    child = run(code, tmp_path / "it")
    assert child.stdout is not None and child.stdout.readline() == "begin\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = child.communicate(timeout=60)
    assert out == "interrupted\n", (out, err)
    assert time.monotonic() - began < 20
