//! `info` on complete, unfinished and damaged results.

use barchan_frame::{Checkpoint, Column, Frame, Manifest, ResultDirectory, Unit};
use barchan_post::info;

fn frame(index: u32) -> Frame {
    let mut frame = Frame {
        index,
        time: f64::from(index) * 0.5,
        columns: vec![
            Column::vector3("position", Unit::Meter, "where it is", 1e-3, vec![0.5; 30]),
            Column::scalar(
                "pressure",
                Unit::Pascal,
                "mean pressure",
                0.0,
                vec![1.0; 10],
            ),
        ],
        ..Frame::default()
    };
    frame.record.statistics.particles = 10 * u64::from(index);
    frame
}

fn checkpoint(index: u32) -> Checkpoint {
    let Frame { time, columns, .. } = frame(index);
    Checkpoint {
        index,
        time,
        columns,
        ..Checkpoint::default()
    }
}

#[test]
fn info_follows_a_run() {
    let root = tempfile::tempdir().unwrap();
    let manifest = Manifest {
        scene: "hourglass".into(),
        description: "Sand runs.".into(),
        frames: 2,
        ..Manifest::default()
    };
    let directory = ResultDirectory::create(root.path(), &manifest, "x = 1").unwrap();
    let empty = info(&directory).unwrap();
    assert!(!empty.complete && empty.frames.is_empty() && empty.checkpoint.is_none());
    assert_eq!(empty.manifest.description, "Sand runs.");

    directory.write_frame(&frame(0)).unwrap();
    directory.write_frame(&frame(1)).unwrap();
    directory.write_checkpoint(&checkpoint(1)).unwrap();
    let halfway = info(&directory).unwrap();
    assert!(!halfway.complete);
    assert_eq!(
        halfway.frames.iter().map(|f| f.time_s).collect::<Vec<_>>(),
        [0.0, 0.5]
    );
    assert_eq!(halfway.checkpoint.unwrap().index, 1);
    assert_eq!(halfway.digest, Some(checkpoint(1).digest()));

    let bytes = directory.write_frame(&frame(2)).unwrap();
    let whole = info(&directory).unwrap();
    assert!(whole.complete && whole.damage.is_empty());
    assert_eq!((whole.particles, whole.frames[2].bytes), (10, bytes));
    assert_eq!(whole.statistics, Some(frame(2).record.statistics));
    let columns: Vec<_> = whole
        .columns
        .iter()
        .map(|c| (c.name.as_str(), c.unit.to_string()))
        .collect();
    assert_eq!(
        columns,
        [("position", "m".into()), ("pressure", "Pa".into())]
    );
    assert!(whole.bytes > halfway.bytes && whole.bytes > 3 * bytes);
    assert!(serde_json::to_string(&whole).unwrap().contains("hourglass"));

    std::fs::write(root.path().join("frames/000002/zarr.json"), "{").unwrap();
    let damaged = info(&directory).unwrap();
    assert!(!damaged.complete);
    assert_eq!(damaged.frames.len(), 2);
    assert!(
        damaged.damage[0].contains("frame 2"),
        "{:?}",
        damaged.damage
    );
    assert_eq!(damaged.statistics, Some(frame(1).record.statistics));
}
