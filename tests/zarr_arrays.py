"""Arrays in zarr's format 2, which tacho reads and writes, by zarr-python 2 or 3."""

import pathlib

import zarr

FORMAT = {"zarr_format": 2} if int(zarr.__version__.split(".")[0]) > 2 else {}


def create_array(store, path=None, **options):
    """A new array, in a group where it has a path."""
    if path:
        zarr.open_group(str(store), mode="w", **FORMAT)
    array = zarr.open_array(str(store), path=path, mode="a" if path else "w", **FORMAT, **options)
    # zarr-python 3.0 writes what is no JSON.
    edit_metadata(pathlib.Path(store) / (path or ""), ": NaN", ': "NaN"')
    return array


def edit_metadata(array, old, new):
    file = pathlib.Path(array) / ".zarray"
    file.write_text(file.read_text().replace(old, new))


def save_array(store, data, path=None, **options):
    create_array(store, path, shape=data.shape, dtype=data.dtype, **options)[...] = data
