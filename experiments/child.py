"""A process that answers line by line, under a time limit and a memory limit."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time

from experiments import memory

POLL_SECONDS = 0.05
LONGEST_POLL = 1.0  # that a busy machine makes of it
LONGEST_ANSWER = 10**8  # bytes


class EndedError(Exception):
    """The process ended or was killed: the outcome as in a row, and why."""

    def __init__(self, outcome: str, reason: str, seconds: float, grown: int) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason
        self.seconds = seconds
        self.grown = grown


class Child:
    """A running process with pipes. It belongs to one thread; others may only call `kill`."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        # The child's stderr; its last line is read only after the child died.
        self._said = tempfile.TemporaryFile("a+b")  # noqa: SIM115 (closed in `close`)
        self._heard = b""
        # A separate session: Ctrl-C at the terminal reaches the run only, which ends its children.
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
            bufsize=0,
        )

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def exited(self) -> bool:
        """Whether the process exited by itself, with an exit code and not by a signal."""
        code = self._process.poll()
        return code is not None and code >= 0

    def tell(self, line: str) -> None:
        """Send a line. If nobody reads it, the missing answer will show that."""
        assert self._process.stdin is not None
        self._said.truncate(0)
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode() + b"\n")

    def hear(self, seconds: float, max_bytes: int) -> bytes:
        """Wait for a line; if none comes, raise EndedError: the process must then be closed."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        started = now = time.monotonic()
        waited = 0.0
        at_first = most = memory.resident(self._process.pid)
        killed_before = memory.kills_for_memory()

        def ended(outcome: str, reason: str) -> EndedError:
            return EndedError(outcome, reason, time.monotonic() - started, most - at_first)

        while b"\n" not in self._heard:
            if select.select([pipe], [], [], POLL_SECONDS)[0]:
                piece = os.read(pipe, 1 << 16)
                if not piece:
                    if memory.kills_for_memory() > killed_before and self._signal() == "SIGKILL":
                        raise ended("memory", "killed by the system because it ran out of memory")
                    raise ended("crash", self._how_it_died())
                self._heard += piece
                if b"\n" in piece:
                    break
                if len(self._heard) > LONGEST_ANSWER:
                    raise ended("crash", "its answer is too long")
            # If this process was suspended as well, the child is not blamed for the time.
            last, now = now, time.monotonic()
            waited += min(now - last, LONGEST_POLL)
            held = memory.resident(self._process.pid)
            most = max(most, held)
            if held > max_bytes:
                raise ended("memory", f"held {held / 1e9:.1f} GB of {max_bytes / 1e9:.1f} allowed")
            if waited > seconds:
                raise ended("timeout", f"no answer after {seconds:g} s")
        line, _, self._heard = self._heard.partition(b"\n")
        return line

    def last_words(self) -> str:
        """Return the last line that the process wrote to stderr."""
        with contextlib.suppress(ValueError):
            self._said.seek(0)
            lines = self._said.read().decode(errors="replace").split("\n")
            return next((line.strip()[-300:] for line in reversed(lines) if line.strip()), "")
        return ""

    def _signal(self) -> str | None:
        code = self._process.wait()
        return signal.Signals(-code).name if code < 0 else None

    def _how_it_died(self) -> str:
        name = self._signal()
        how = f"exit code {self._process.returncode}" if name is None else f"killed by {name}"
        words = self.last_words()
        return f"{how}: {words}" if words else how

    def kill(self) -> None:
        """Kill the process and all that it started. Another thread may wait for its answer."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and release its resources."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        self._said.close()
