"""A virtual environment for each peer, made when it is first needed and kept for the next run."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path


def default_folder():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "certree-peers"


def python_for(solver, folder, given, certree_python):
    """The interpreter that runs a solver."""
    adapter = solver.module()
    if not adapter.PACKAGES:
        return certree_python or sys.executable
    # The name changes with the pins, so that an old environment is never mistaken for a new one.
    pins = hashlib.sha256(" ".join(adapter.PACKAGES).encode()).hexdigest()[:8]
    environment = Path(folder).expanduser() / f"{solver.adapter}-{pins}"
    python = environment / "bin" / "python"
    ready = environment / "ready"
    if not ready.exists():
        create(environment, python, adapter, given)
        ready.touch()
    return str(python)


def create(environment, python, adapter, given):
    interpreter = find_interpreter(adapter.PYTHONS, given)
    print(f"creating {environment.name} with {interpreter}", file=sys.stderr)
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run([interpreter, "-m", "venv", str(environment)], check=True)
    # Wheels only: a peer built here from source might lack the optimisation flags of its published
    # build.
    install = [
        str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *adapter.PACKAGES
    ]
    subprocess.run(install, check=True)


def find_interpreter(versions, given):
    for version in versions:
        for candidate in candidates(version, given):
            if runs(candidate, version):
                return str(candidate)
    raise SystemExit(f"no Python {' or '.join(versions)} found: give one with --python")


def candidates(version, given):
    yield from given
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    # A pyenv shim on the path only works for the versions selected now, so look behind it.
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True).stdout.strip()
        yield from sorted(Path(root, "versions").glob(f"{version}.*/bin/python"))


def runs(candidate, version):
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([str(candidate), "-c", ask], capture_output=True, text=True)
    except OSError:
        return False
    return answer.stdout.strip() == version
