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
from collections.abc import Callable
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
            found = pool.map(lambda thread: work(store, names[thread], int(name[1:]) * 100 + thread + 1000), range(2))
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
    assert sorted(one.id for one in store.list()) == sorted(kept)


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


def test_an_index_that_is_closed_while_it_merges_can_be_opened_at_once(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path / "index", DIMS)
    index.add(vectors(20_000))
    with ThreadPoolExecutor(1) as pool:
        merging = pool.submit(index.optimize)
        time.sleep(0.1)
        index.close()
        with VectorIndex(tmp_path / "index") as again:
            again.add(vectors(1))
            assert len(again) == 20_001 and again.verify() == []
        assert merging.exception() is None or isinstance(merging.exception(), memorist.Closed)


def test_others_run_while_the_engine_works(tmp_path: Path) -> None:
    base = vectors(30_000)
    with VectorIndex(tmp_path / "index", DIMS) as index:
        index.add(base)
        queries = vectors(2_000, seed=1)
        calls = [index.optimize, lambda: index.search(queries, 10, exact=True), lambda: index.add(base), index.verify]
        for call in calls:
            took, longest = beside(call)
            # A call that holds the interpreter would block this thread until the end.
            assert longest < max(0.5 * took, 0.1), (call, took, longest)


def test_others_run_while_a_store_works(store: Store) -> None:
    texts, made = [f"text {at} of many" for at in range(4_000)], vectors(4_000)
    calls = [lambda: store.add_many(texts, vectors=made), store.flush]
    for call in calls:
        took, longest = beside(call)
        assert longest < max(0.5 * took, 0.1), (call, took, longest)


def beside(call: Callable[[], object]) -> tuple[float, float]:
    """How long a call took, and the longest time that another thread had to wait meanwhile."""
    working = threading.Thread(target=call)
    began = before = time.perf_counter()
    longest = 0.0
    working.start()
    while working.is_alive():
        time.sleep(0.001)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    return time.perf_counter() - began, longest


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


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_while_closing_leaves_the_store_open(tmp_path: Path) -> None:
    code = """
        import os, signal, sys, threading, time, numpy, memorist
        def embed(texts):
            time.sleep(2 if texts == ["q"] else 0.1)
            return numpy.ones((len(texts), 4), dtype=numpy.float32)
        store = memorist.Store(sys.argv[1], embed=embed, dimensions=4, model="ones")
        store.add_many([f"m {at}" for at in range(100)])
        searching = threading.Thread(target=store.search, args=("q",))
        searching.start()
        time.sleep(0.3)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            store.close()
        except KeyboardInterrupt:
            print("interrupted", store.closed)
        searching.join()
        store.close()
        print(store.closed)
    """
    ended = run(code, tmp_path / "store")
    out, err = ended.communicate(timeout=60)
    assert (ended.returncode, out, err) == (0, "interrupted False\nTrue\n", "")


def output(code: str, folder: Path, timeout: float = 60) -> str:
    """What another Python has printed, which must end by itself."""
    child = run(code, folder)
    try:
        out, err = child.communicate(timeout=timeout)
    finally:
        child.kill()
    assert (child.returncode, err) == (0, ""), (child.returncode, out, err)
    return out


@pytest.mark.parametrize("by", ["store.flush()", "store.search('x')", "store.add('y')", "others()"])
@pytest.mark.parametrize("used", ["store.close()", "store.flush()", "store.add('z')", "store.search('z')", "store.sync()"])
def test_a_function_that_embeds_cannot_use_the_store_that_calls_it(tmp_path: Path, used: str, by: str) -> None:
    """39.17: most of them waited for ever."""
    code = f"""
        import sys, time, numpy, memorist
        raised = []
        def embed(texts):
            try:
                {used}
            except memorist.Locked as error:
                raised.append(error)
            return numpy.ones((len(texts), 8), dtype=numpy.float32)
        def others():
            while not raised:
                time.sleep(0.01)
        store = memorist.Store(sys.argv[1], embed=embed, model="ones", dimensions=8)
        store.add_many(["x"])
        {by}
        others()
        store.close()
        print(raised[0])
    """
    said = output(code, tmp_path / "store", 20)
    assert said == "the function embed cannot use the store that calls it; use the store before, or afterwards\n"


def test_a_function_that_embeds_uses_another_store(tmp_path: Path) -> None:
    with Store(tmp_path / "other", embed=None) as other, Store(tmp_path / "store", embed=None) as plain:
        other.add("boats", vector=[1.0, 0.0])

        def cached(texts: list[str]) -> list[list[float]]:
            assert plain.path and other.search("boats", mode="keyword")
            return [[1.0, 0.0] for _ in texts]

        with Store(tmp_path / "store", embed=cached, model="cached", dimensions=2) as store:
            store.add("ships")
            store.flush()
            assert store.stats().pending_embeddings == 0


def test_a_function_that_embeds_may_let_go_of_its_store(tmp_path: Path) -> None:
    """39.17: the store's thread waited for itself."""
    code = """
        import sys, threading, numpy, memorist
        gone = threading.Event()
        def embed(texts):
            global store
            store = None
            gone.set()
            return numpy.ones((len(texts), 8), dtype=numpy.float32)
        store = memorist.Store(sys.argv[1], embed=embed, model="ones", dimensions=8)
        store.add_many(["x"])
        gone.wait()
        print("end")
    """
    assert output(code, tmp_path / "store", 20) == "end\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("what", ["store.flush()", "store.close()", "store.sync()", "store.search('q')", "del store"])
def test_ctrl_c_does_not_wait_for_a_function_that_embeds(tmp_path: Path, what: str) -> None:
    """39.17: each waited until the function returned."""
    code = f"""
        import os, signal, sys, threading, time, numpy, memorist
        called, returns = threading.Event(), threading.Event()
        def embed(texts):
            called.set()
            returns.wait(20)
            return numpy.ones((len(texts), 4), dtype=numpy.float32)
        def interrupt():
            global began
            called.wait()
            time.sleep(0.5)
            began = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)
        store = memorist.Store(sys.argv[1], embed=embed, dimensions=4, model="slow")
        path = store.path
        store.add_many(["x"])
        if {what!r} in ("store.close()", "del store"):
            called.wait()
        threading.Thread(target=interrupt).start()
        try:
            {what}
            for _ in range(100):
                time.sleep(0.1)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - began < 5)
        returns.set()
        if {what!r} != "del store":
            store.close()
        with memorist.Store(path, embed=None) as store:
            print(store.stats().total_entries)
    """
    assert output(code, tmp_path / "store") == "interrupted True\n1\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_leaves_a_with_statement_at_once_and_the_program_waits_for_its_threads(tmp_path: Path) -> None:
    """39.17: the first of two waited for the function, the other one was lost."""
    code = """
        import os, signal, sys, threading, time, numpy, memorist
        called = threading.Event()
        def embed(texts):
            called.set()
            time.sleep(3)
            print("embedded", flush=True)
            return numpy.ones((len(texts), 4), dtype=numpy.float32)
        def interrupt():
            global began
            called.wait()
            began = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            with memorist.Store(sys.argv[1], embed=embed, dimensions=4, model="slow") as store:
                store.add_many(["x"])
                store.flush()
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - began < 2.5, store.closed, flush=True)
    """
    assert output(code, tmp_path / "store").startswith("interrupted True True\nembedded\n")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_exception_that_is_no_error_goes_through_a_function_that_embeds(
    tmp_path: Path, kind: type[BaseException]
) -> None:
    def stopped(texts: list[str]) -> NDArray[np.float32]:
        if threading.current_thread() is threading.main_thread():
            raise kind("now")
        return embed(texts)

    with Store(tmp_path / "store", embed=stopped, model="stopped", dimensions=256) as store:
        with pytest.raises(kind, match="now"):
            store.search("x")
        with pytest.raises(kind, match="now"):
            store.embed(["x"])


def test_an_error_of_a_function_that_embeds_is_the_cause(tmp_path: Path) -> None:
    def broken(texts: list[str]) -> NDArray[np.float32]:
        raise KeyError("no such word")

    with Store(tmp_path / "store", embed=broken, model="broken", dimensions=256) as store:
        store.add("x")
        with pytest.raises(memorist.ModelError, match="KeyError") as raised:
            store.embed(["x"])
        assert isinstance(raised.value.__cause__, KeyError)
        with pytest.raises(memorist.ModelError, match="KeyError") as raised:
            store.flush()
        assert isinstance(raised.value.__cause__, KeyError)
        assert any("KeyError" in warning for warning in store.search("x").warnings)


def test_an_error_of_a_function_that_embeds_is_the_cause_when_a_store_is_opened(tmp_path: Path) -> None:
    """39.17: it came as it was, which no `except memorist.Error` catches."""

    def broken(texts: list[str]) -> NDArray[np.float32]:
        raise KeyError("no such word")

    with pytest.raises(memorist.ModelError, match="the function embed raised KeyError: 'no such word'") as raised:
        Store(tmp_path / "store", embed=broken)
    assert isinstance(raised.value.__cause__, KeyError)


def test_a_vector_without_a_direction_from_a_function_is_refused(tmp_path: Path) -> None:
    def zeros(texts: list[str]) -> NDArray[np.float32]:
        return np.zeros((len(texts), 8), dtype=np.float32)

    with Store(tmp_path / "store", embed=zeros, model="zeros") as store:
        id = store.add("x").id
        found = store.search("x")
        assert [hit.id for hit in found] == [id] and any("no direction in row 0" in why for why in found.warnings)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_holds_no_index(tmp_path: Path) -> None:
    index, temporary = VectorIndex(tmp_path / "index", DIMS), VectorIndex(dimensions=DIMS)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        index.close()
        temporary.close()
        os.write(writing, b"closed")
        time.sleep(2)
        os._exit(0)
    assert os.read(reading, 10) == b"closed" and os.path.isdir(temporary.path)
    temporary.add(vectors(1))
    index.add(vectors(1))
    index.close()
    with VectorIndex(tmp_path / "index") as again:
        assert len(again) == 1
    temporary.close()
    assert not os.path.exists(temporary.path)
    os.waitpid(child, 0)
