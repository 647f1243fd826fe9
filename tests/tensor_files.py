"""Reads and writes the files that tacho exchanges tensors in, with nothing but the standard library."""

import ast
import json
import math
import struct

FORMATS = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B"}


def npy_bytes(shape, data, descr="<f4", fortran_order=False, version=1):
    header = repr({"descr": descr, "fortran_order": fortran_order, "shape": tuple(shape)}).encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + b"\n" + data


def float_bytes(values):
    return struct.pack(f"<{len(values)}f", *values)


def read_npy(path):
    """Shape and flat list of values of a version 1 file."""
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\x01\x00", content[:8]
    (length,) = struct.unpack_from("<H", content, 8)
    header = ast.literal_eval(content[10 : 10 + length].decode())
    count = math.prod(header["shape"])
    return header["shape"], list(struct.unpack(f"<{count}{FORMATS[header['descr']]}", content[10 + length :]))


def safetensors_bytes(header, data):
    """A file with this header, an object or raw text, whether or not it tells the truth."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def write_safetensors(path, tensors):
    """tensors: name -> (type such as "F32", shape, bytes in C order)."""
    header, position = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [position, position + len(data)]}
        position += len(data)
    with open(path, "wb") as file:
        file.write(safetensors_bytes(header, b""))
        for _, _, data in tensors.values():
            file.write(data)


def read_safetensors(path):
    """name -> (type, shape, bytes)."""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack_from("<Q", content)
    data = content[8 + length :]
    header = json.loads(content[8 : 8 + length])
    return {
        name: (entry["dtype"], tuple(entry["shape"]), data[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }
