"""Reads one frame with zarr-python, independently of barchan, and prints its contents as JSON."""

import json
import sys
import warnings

import zarr

warnings.simplefilter("error")
frame = zarr.open_group(sys.argv[1], mode="r")["frames/000003"]
columns = {}
for name, array in frame.arrays():
    values = array[:]
    columns[name] = {
        "shape": list(values.shape),
        "type": str(values.dtype),
        "unit": array.attrs["unit"],
        "error_bound": array.attrs["error_bound"],
        "first": values[:2].reshape(-1).tolist(),
        "last": values[-1:].reshape(-1).tolist(),
    }
    assert (array[100:103] == values[100:103]).all(), "a slice"
print(json.dumps({"attributes": frame.attrs.asdict(), "columns": columns}))
