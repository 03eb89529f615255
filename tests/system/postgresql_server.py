"""A PostgreSQL server of our own, in a folder that is thrown away."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from control import HANGS


def programs() -> Path | None:
    """The folder of the newest server's programs, which Debian keeps out of the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def _version(path: Path) -> float:
    return float(path.parts[4])


@contextmanager
def running_server(bin_folder: Path) -> Iterator[str]:
    """Start a server on a Unix socket; give the socket's folder; stop it in the end.

    The server refuses to be run by root, who runs it as the user postgres instead.
    """
    user = "postgres" if os.geteuid() == 0 else getpass.getuser()
    folder = tempfile.mkdtemp(prefix="maptree-pg-")

    def run(*command: str) -> None:
        subprocess.run(
            command,
            check=True,
            timeout=HANGS,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            user=pwd.getpwnam(user).pw_uid if os.geteuid() == 0 else None,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        )

    try:
        shutil.chown(folder, user)
        data, log = f"{folder}/data", f"{folder}/log"
        encoding = ["--encoding=UTF8", "--locale=C", "--auth=trust", "--no-sync"]
        run(f"{bin_folder}/initdb", "-D", data, "-U", "tester", *encoding)
        options = f"-k {folder} -c listen_addresses='' -F"
        run(f"{bin_folder}/pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "start")
        try:
            yield folder
        finally:
            run(f"{bin_folder}/pg_ctl", "-D", data, "-m", "fast", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
