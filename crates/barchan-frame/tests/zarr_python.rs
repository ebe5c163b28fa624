//! The cache is plain Zarr: zarr-python reads physical values, types, units and attributes from it.

mod common;

use barchan_frame::ColumnData;
use common::{frame, fresh};
use serde_json::{Value, json};
use std::process::Command;

/// A Python interpreter with zarr 3, if there is one; `BARCHAN_PYTHON` names it.
fn python_with_zarr() -> Option<String> {
    let python = std::env::var("BARCHAN_PYTHON").unwrap_or_else(|_| "python3".into());
    let code = "import zarr, sys; sys.exit(zarr.__version__ < '3')";
    let status = Command::new(&python)
        .args(["-c", code])
        .output()
        .ok()?
        .status;
    status.success().then_some(python)
}

fn as_json(data: &ColumnData, from: usize, to: usize) -> Value {
    match data {
        ColumnData::F32(v) => json!(
            v[from..to]
                .iter()
                .map(|&x| f64::from(x))
                .collect::<Vec<_>>()
        ),
        ColumnData::U8(v) => json!(v[from..to]),
        ColumnData::U32(v) => json!(v[from..to]),
        ColumnData::U64(v) => json!(v[from..to]),
    }
}

#[test]
fn zarr_python_sees_the_same_values() {
    let Some(python) = python_with_zarr() else {
        println!("skipped: no Python with zarr 3 (set BARCHAN_PYTHON)");
        return;
    };
    let (_root, directory) = fresh();
    directory.write_frame(&frame(3, 140_000)).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_with_zarr.py");
    let output = Command::new(python)
        .arg(script)
        .arg(directory.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ours = directory.read_frame(3).unwrap();
    assert_eq!(seen["attributes"]["time"], json!(0.125));
    assert_eq!(
        seen["attributes"]["statistics"],
        serde_json::to_value(&ours.record.statistics).unwrap()
    );
    assert_eq!(
        seen["columns"].as_object().unwrap().len(),
        ours.columns.len() + ours.arrays.len()
    );
    for column in ours.columns.iter().chain(&ours.arrays) {
        let theirs = &seen["columns"][&column.name];
        let (n, k) = (column.particles(), column.components);
        let shape = if k == 1 { json!([n]) } else { json!([n, k]) };
        assert_eq!(theirs["shape"], shape, "{}", column.name);
        assert_eq!(theirs["type"], column.data.type_name());
        assert_eq!(theirs["unit"], column.unit.to_string());
        assert!(theirs["error_bound"].as_f64().unwrap() <= f64::from(column.tolerance));
        assert_eq!(
            theirs["first"],
            as_json(&column.data, 0, 2 * k),
            "{}",
            column.name
        );
        assert_eq!(
            theirs["last"],
            as_json(&column.data, (n - 1) * k, n * k),
            "{}",
            column.name
        );
    }
}
