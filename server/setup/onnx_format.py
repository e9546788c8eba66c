"""Reads and writes the few parts of the ONNX file format that the model set-up needs.

An ONNX file is one protocol-buffer message. The set-up must run on a bare machine with nothing but Python's standard
library, so the dozen message fields in use are written here by hand instead of asking for the `onnx` package and its
compiled dependencies. The numbers below are the field numbers of `onnx.proto`.
"""

import struct

# Element types of a tensor (TensorProto.DataType).
FLOAT, UINT8, INT32, INT64 = 1, 2, 6, 7

# Kinds of an attribute (AttributeProto.AttributeType).
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7

# Wire types of protocol buffers.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def _varint(number):
    """Encodes an integer in groups of seven bits, the lowest first; a negative one as its 64-bit two's complement."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def integer_field(field, number):
    """Encodes a field that holds an integer."""
    return _varint(field << 3 | _VARINT) + _varint(number)


def bytes_field(field, content):
    """Encodes a field that holds bytes, a string or a nested message."""
    if isinstance(content, str):
        content = content.encode()
    return b"".join((_varint(field << 3 | _BYTES), _varint(len(content)), content))


def read_fields(message):
    """Yields `(field, value)` of a message: an integer for varints, a `memoryview` for everything else."""
    message = memoryview(message)
    position = 0

    def varint():
        nonlocal position
        number = shift = 0
        while True:
            byte = message[position]
            position += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    while position < len(message):
        key = varint()
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            yield field, varint()
            continue
        if wire not in (_FIXED64, _BYTES, _FIXED32):
            raise ValueError(f"field {field} has the unknown wire type {wire}")
        length = varint() if wire == _BYTES else 8 if wire == _FIXED64 else 4
        if position + length > len(message):
            raise ValueError(f"field {field} runs past the end of its message")
        yield field, message[position : position + length]
        position += length


class Graph:
    """Collects constants and nodes and writes them as an ONNX model.

    Every method that adds something returns the name under which later nodes refer to it, so that a network reads as
    a chain of calls.
    """

    def __init__(self, name):
        self._name = name
        self._constants = []
        self._nodes = []

    def constant(self, name, element_type, shape, content):
        """Adds a tensor; `content` is its elements in row-major order, little-endian."""
        tensor = [integer_field(1, size) for size in shape]
        tensor += [integer_field(2, element_type), bytes_field(8, name), bytes_field(9, content)]
        self._constants.append(bytes_field(5, b"".join(tensor)))
        return name

    def node(self, operator, inputs, output, domain="", **attributes):
        """Adds an operation with one output."""
        return self.nodes(operator, inputs, [output], domain, **attributes)[0]

    def nodes(self, operator, inputs, outputs, domain="", **attributes):
        """Adds an operation with several outputs."""
        parts = [bytes_field(1, name) for name in inputs]
        parts += [bytes_field(2, name) for name in outputs]
        parts += [bytes_field(3, f"{operator}:{outputs[0]}"), bytes_field(4, operator)]
        for name, value in sorted(attributes.items()):
            parts.append(bytes_field(5, _attribute(name, value)))
        if domain:
            parts.append(bytes_field(7, domain))
        self._nodes.append(bytes_field(1, b"".join(parts)))
        return outputs

    def model(self, inputs, outputs, operator_sets, format_version):
        """Returns the bytes of the whole model.

        `inputs` and `outputs` are `(name, element type, shape)`, where a shape holds sizes and names of free sizes;
        `operator_sets` maps a domain to the version of its operators.
        """
        graph = self._nodes + [bytes_field(2, self._name)] + self._constants
        graph += [bytes_field(11, _value(*value)) for value in inputs]
        graph += [bytes_field(12, _value(*value)) for value in outputs]
        model = [integer_field(1, format_version), bytes_field(2, "polymnemo"), bytes_field(7, b"".join(graph))]
        for domain, version in operator_sets.items():
            model.append(bytes_field(8, bytes_field(1, domain) + integer_field(2, version)))
        return b"".join(model)


def _attribute(name, value):
    encoded = bytes_field(1, name)
    if isinstance(value, int):
        return encoded + integer_field(3, value) + integer_field(20, _ATTRIBUTE_INT)
    if isinstance(value, float):
        return encoded + _varint(2 << 3 | _FIXED32) + struct.pack("<f", value) + integer_field(20, _ATTRIBUTE_FLOAT)
    return encoded + b"".join(integer_field(8, item) for item in value) + integer_field(20, _ATTRIBUTE_INTS)


def _value(name, element_type, shape):
    sizes = b"".join(
        bytes_field(1, integer_field(1, size) if isinstance(size, int) else bytes_field(2, size)) for size in shape
    )
    tensor_type = integer_field(1, element_type) + bytes_field(2, sizes)
    return bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor_type))


def inline_external_data(model, weights):
    """Returns `model` with every tensor that lies in the separate file `weights` moved into the model itself.

    One self-contained file can be checked by one hash and loaded from memory, wherever it lies.
    """
    return b"".join(
        bytes_field(7, b"".join(_inlined_graph_fields(value, weights))) if field == 7 else _copy_field(field, value)
        for field, value in read_fields(model)
    )


def _inlined_graph_fields(graph, weights):
    for field, value in read_fields(graph):
        yield bytes_field(5, _inlined_tensor(value, weights)) if field == 5 else _copy_field(field, value)


def _inlined_tensor(tensor, weights):
    kept, place = [], {}
    for field, value in read_fields(tensor):
        if field == 13:  # external_data, one key and value a field
            entry = dict(read_fields(value))
            place[bytes(entry[1]).decode()] = bytes(entry[2]).decode()
        elif field != 14:  # data_location
            kept.append(_copy_field(field, value))
    if not place:
        return tensor
    start, length = int(place.get("offset", "0")), int(place["length"])
    if start + length > len(weights):
        raise ValueError("a tensor lies past the end of the file of weights")
    return b"".join(kept) + bytes_field(9, memoryview(weights)[start : start + length])


def _copy_field(field, value):
    """Re-encodes a field as it was read. The messages copied here hold no fixed-size fields."""
    return integer_field(field, value) if isinstance(value, int) else bytes_field(field, value)
