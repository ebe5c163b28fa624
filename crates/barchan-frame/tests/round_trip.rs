//! Data written and read back: exact, or within the stated bound.

mod common;

use barchan_frame::{Checkpoint, Column, ColumnData, Frame, Unit, quantization_step};
use common::{checkpoint, frame, fresh, random};
use proptest::prelude::*;

fn column_strategy(name: &'static str, particles: usize) -> impl Strategy<Value = Column> {
    (
        1_usize..=6,
        0_u8..4,
        prop_oneof![Just(0.0_f32), 1e-6_f32..10.0],
        any::<u64>(),
    )
        .prop_map(move |(components, kind, tolerance, seed)| {
            let bits = (0..(particles * components) as u64).map(|i| {
                (i + 1)
                    .wrapping_mul(seed | 1)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    >> 7
            });
            let data = match kind {
                0 => ColumnData::F32(bits.map(|b| f32::from_bits(b as u32)).collect()),
                1 => ColumnData::U8(bits.map(|b| b as u8).collect()),
                2 => ColumnData::U32(bits.map(|b| b as u32).collect()),
                _ => ColumnData::U64(bits.collect()),
            };
            Column {
                tolerance,
                ..Column::exact(name, Unit::Meter, "anything", components, data)
            }
        })
}

fn any_frame() -> impl Strategy<Value = Frame> {
    (0_usize..200, any::<u32>(), -1e9_f64..1e9).prop_flat_map(|(particles, index, time)| {
        (
            column_strategy("a", particles),
            column_strategy("b_2", particles),
        )
            .prop_map(move |(a, b)| Frame {
                index,
                time,
                columns: vec![a, b],
                ..frame(0, 0)
            })
    })
}

/// Bitwise equality, which also holds for NaN.
fn same_bits(a: &Column, b: &Column) -> bool {
    match (&a.data, &b.data) {
        (ColumnData::F32(x), ColumnData::F32(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.to_bits() == y.to_bits())
        }
        (x, y) => x == y,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]

    #[test]
    fn checkpoint_keeps_every_bit(given in any_frame()) {
        let (_root, directory) = fresh();
        let state = Checkpoint {
            index: given.index,
            time: given.time,
            columns: given.columns,
            ..checkpoint(0, 0)
        };
        directory.write_checkpoint(&state).unwrap();
        let back = directory.read_checkpoint(state.index).unwrap();
        prop_assert_eq!(back.digest(), state.digest());
        prop_assert_eq!(back.time.to_bits(), state.time.to_bits());
        prop_assert_eq!(&back.record, &state.record);
        for (a, b) in back.columns.iter().zip(&state.columns) {
            prop_assert!(same_bits(a, b));
            prop_assert_eq!((&a.name, a.components, a.tolerance), (&b.name, b.components, b.tolerance));
        }
    }

    #[test]
    fn frame_stays_within_tolerance(given in any_frame()) {
        let (_root, directory) = fresh();
        directory.write_frame(&given).unwrap();
        let back = directory.read_frame(given.index).unwrap();
        prop_assert_eq!(&back.record, &given.record);
        for (a, b) in back.columns.iter().zip(&given.columns) {
            let bound = quantization_step(b.tolerance).map_or(0.0, |step| f64::from(step) / 2.0);
            match (&a.data, &b.data) {
                (ColumnData::F32(x), ColumnData::F32(y)) if bound > 0.0 => {
                    prop_assert_eq!(x.len(), y.len());
                    for (&x, &y) in x.iter().zip(y) {
                        let close = (f64::from(x) - f64::from(y)).abs() <= bound;
                        prop_assert!(close || x == y || (x.is_nan() && y.is_nan()), "{} {}", x, y);
                    }
                }
                _ => prop_assert!(same_bits(a, b)),
            }
        }
    }
}

#[test]
fn whole_frame_and_single_column_agree() {
    let (_root, directory) = fresh();
    let given = frame(3, 1000);
    let bytes = directory.write_frame(&given).unwrap();
    let back = directory.read_frame(3).unwrap();
    assert_eq!(back.columns[1..2], given.columns[1..2], "lossless");
    assert_eq!(back.columns[3..], given.columns[3..], "lossless");
    assert_ne!(back.columns[0], given.columns[0], "quantized");
    for column in &back.columns {
        assert_eq!(&directory.read_column(3, &column.name).unwrap(), column);
    }
    let info = directory.frame_info(3).unwrap();
    assert_eq!((info.index, info.time, info.particles), (3, 0.125, 1000));
    assert_eq!(info.bytes, bytes);
    assert_eq!(info.record, given.record);
    let names: Vec<&str> = info.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(
        names,
        ["position", "velocity", "pressure", "id", "material", "key"]
    );
    assert_eq!(
        (info.columns[2].unit, info.columns[2].components),
        (Unit::Pascal, 1)
    );
    let error = directory
        .read_column(3, "porosity")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("porosity") && error.contains("pressure"),
        "{error}"
    );
    let error = directory.read_frame(7).unwrap_err().to_string();
    assert!(
        error.contains("frame 7") && error.contains("from 3 to 3"),
        "{error}"
    );
}

#[test]
fn frames_without_particles_or_columns_are_valid() {
    let (_root, directory) = fresh();
    directory.write_frame(&frame(0, 0)).unwrap();
    assert_eq!(directory.read_frame(0).unwrap(), frame(0, 0));
    let bare = Frame {
        index: 1,
        ..Frame::default()
    };
    directory.write_frame(&bare).unwrap();
    assert_eq!(directory.read_frame(1).unwrap(), bare);
    directory.write_checkpoint(&checkpoint(1, 0)).unwrap();
    let back = directory.latest_checkpoint().unwrap();
    assert_eq!(back, Some(checkpoint(1, 0)));
}

/// A heap of a million grains in the order of blocks of cells, as in a solver.
fn million() -> Frame {
    let dx = 0.01_f32;
    let mut next = random(1);
    let side = 100_usize;
    let mut order: Vec<(usize, [usize; 3])> = (0..side.pow(3))
        .map(|i| [i % side, i / side % side, i / side / side])
        .map(|c| ((c[0] / 8) + 16 * (c[1] / 8) + 256 * (c[2] / 8), c))
        .collect();
    order.sort_by_key(|(block, _)| *block);
    let (mut position, mut velocity) = (Vec::new(), Vec::new());
    for (_, cell) in &order {
        for axis in cell {
            let x = (*axis as f32 - 50.0 + next()) * dx / 2.0;
            position.push(x);
            velocity.push((3.0 * x).sin() + 0.01 * next());
        }
    }
    let pressure = position
        .chunks(3)
        .map(|p| 16_000.0 * (0.5 - p[1]) + 10.0 * next())
        .collect();
    let id = order
        .iter()
        .map(|(_, c)| (c[0] + 100 * c[1] + 10_000 * c[2]) as u32)
        .collect();
    Frame {
        columns: vec![
            Column::vector3("position", Unit::Meter, "", dx / 1024.0, position),
            Column::vector3("velocity", Unit::MeterPerSecond, "", 0.5e-3, velocity),
            Column::exact("id", Unit::One, "", 1, ColumnData::U32(id)),
            Column::exact(
                "material",
                Unit::One,
                "",
                1,
                ColumnData::U8(vec![0; 1_000_000]),
            ),
            Column::scalar("pressure", Unit::Pascal, "", 1.0, pressure),
        ],
        ..Frame::default()
    }
}

#[test]
fn a_million_particles_are_small_on_disk_and_reproducible() {
    let (_root, directory) = fresh();
    let given = million();
    let raw: usize = given.columns.iter().map(|c| c.data.size()).sum();
    let start = std::time::Instant::now();
    let bytes = directory.write_frame(&given).unwrap();
    let written = start.elapsed().as_secs_f64();
    let back = directory.read_frame(0).unwrap();
    let read = start.elapsed().as_secs_f64() - written;
    let rate = |seconds: f64| raw as f64 / 1e6 / seconds;
    println!(
        "write {:.0} MB/s, read {:.0} MB/s",
        rate(written),
        rate(read)
    );
    for column in directory.frame_info(0).unwrap().columns {
        println!("{} {:.2} B", column.name, column.bytes as f64 / 1e6);
    }
    println!("{:.2} B a particle", bytes as f64 / 1e6);
    assert_eq!(back.particles(), 1_000_000);
    assert!(bytes < 16_000_000, "{bytes} bytes for a million particles");
    let again = fresh();
    again.1.write_frame(&given).unwrap();
    let shard = "frames/000000/position/c/0/0";
    let read_shard =
        |d: &barchan_frame::ResultDirectory| std::fs::read(d.path().join(shard)).unwrap();
    assert!(read_shard(&directory) == read_shard(&again.1));
}
