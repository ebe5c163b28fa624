//! Interrupted writes, damaged files and occupied directories.

mod common;

use barchan_frame::{CacheError, ColumnData, FORMAT_VERSION, ResultDirectory};
use common::{SCENE, checkpoint, each_damage, files_below, frame, fresh, manifest};
use serde_json::json;
use std::fs;

#[test]
fn any_damage_to_a_frame_is_reported_with_frame_and_file() {
    let (_root, directory) = fresh();
    directory.write_frame(&frame(3, 500)).unwrap();
    let good = directory.read_frame(3).unwrap();
    for file in files_below(&directory.path().join("frames/000003")) {
        each_damage(&file, |what| match directory.read_frame(3) {
            Ok(frame) => assert_eq!(frame, good, "{what} was not detected"),
            Err(error) => {
                let text = error.to_string();
                assert!(
                    matches!(error, CacheError::Damaged { .. }),
                    "{what}: {text}"
                );
                assert!(
                    text.contains("frame 3") && text.contains(file.to_str().unwrap()),
                    "{what}: {text}"
                );
            }
        });
    }
    assert_eq!(directory.read_frame(3).unwrap(), good, "undamaged again");
}

#[test]
fn any_damage_to_the_data_of_a_frame_is_detected() {
    let (_root, directory) = fresh();
    directory.write_frame(&frame(3, 500)).unwrap();
    for column in ["position", "velocity", "pressure", "id", "material", "key"] {
        let path = directory.path().join("frames/000003").join(column);
        for file in files_below(&path) {
            each_damage(&file, |what| {
                assert!(directory.read_column(3, column).is_err(), "{what}");
                assert!(directory.verify_frame(3).is_err(), "{what}");
            });
        }
        assert!(directory.read_column(3, column).is_ok());
        directory.verify_frame(3).unwrap();
    }
}

#[test]
fn a_damaged_checkpoint_falls_back_to_the_previous_one() {
    let (_root, directory) = fresh();
    assert_eq!(directory.latest_checkpoint().unwrap(), None);
    directory.write_checkpoint(&checkpoint(1, 50)).unwrap();
    directory.write_checkpoint(&checkpoint(2, 50)).unwrap();
    for file in files_below(&directory.path().join("checkpoints/000002")) {
        each_damage(&file, |what| {
            let found = directory.latest_checkpoint().unwrap().unwrap();
            let whole = found == checkpoint(found.index, 50);
            assert!(whole, "{what} was not detected");
            assert!(
                found.index == 1 || file.ends_with("000002/zarr.json"),
                "{what}"
            );
        });
    }
    assert_eq!(directory.latest_checkpoint().unwrap().unwrap().index, 2);
    for index in ["000001", "000002"] {
        let file = format!("checkpoints/{index}/velocity/c/0/0");
        fs::write(directory.path().join(file), b"garbage").unwrap();
    }
    let error = directory.latest_checkpoint().unwrap_err();
    assert!(
        matches!(error, CacheError::NoUsableCheckpoint { .. }),
        "{error}"
    );
    let text = error.to_string();
    assert!(
        text.contains("checkpoint 1") && text.contains("checkpoint 2"),
        "{text}"
    );
    assert!(text.contains("without --resume"), "{text}");
}

#[test]
fn only_the_newest_checkpoints_are_kept() {
    let (_root, directory) = fresh();
    for index in [0, 4, 8, 12] {
        directory.write_checkpoint(&checkpoint(index, 10)).unwrap();
    }
    assert_eq!(directory.checkpoints().unwrap(), [8, 12]);
    let stored = directory.checkpoint_info(12).unwrap().digest;
    assert_eq!(stored, checkpoint(12, 10).digest());
    assert_ne!(stored, checkpoint(8, 10).digest());
}

#[test]
fn partial_frames_are_ignored_and_removed() {
    let (_root, directory) = fresh();
    for index in 0..4 {
        directory.write_frame(&frame(index, 10)).unwrap();
    }
    directory.write_checkpoint(&checkpoint(2, 10)).unwrap();
    directory.write_checkpoint(&checkpoint(3, 10)).unwrap();
    // As after kill -9: one frame half written, one half removed.
    let frames = directory.path().join("frames");
    for partial in [".partial-000004", ".partial-removed-000009"] {
        fs::create_dir_all(frames.join(partial).join("position")).unwrap();
        fs::copy(
            frames.join("000001/zarr.json"),
            frames.join(partial).join("zarr.json"),
        )
        .unwrap();
    }
    fs::write(frames.join("notes.txt"), "mine").unwrap();
    let directory = ResultDirectory::open(directory.path()).unwrap();
    assert_eq!(directory.frames().unwrap(), [0, 1, 2, 3]);
    assert!(directory.read_frame(4).is_err());
    directory.write_frame(&frame(4, 10)).unwrap();
    assert_eq!(directory.frames().unwrap(), [0, 1, 2, 3, 4]);

    directory.discard_after(2).unwrap();
    assert_eq!(directory.frames().unwrap(), [0, 1, 2]);
    assert_eq!(directory.checkpoints().unwrap(), [2]);
    let mut names: Vec<_> = fs::read_dir(&frames)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["000000", "000001", "000002", "notes.txt", "zarr.json"]
    );
    assert!(directory.read_frame(2).is_ok());
}

#[test]
fn create_refuses_a_directory_that_is_not_empty() {
    let (_root, directory) = fresh();
    let again = ResultDirectory::create(directory.path(), &manifest(), SCENE).unwrap_err();
    assert!(matches!(again, CacheError::Occupied { .. }));
    let text = again.to_string();
    for part in ["a result of scene `test`", "-o", "--resume"] {
        assert!(text.contains(part), "{text}");
    }
    let foreign = tempfile::tempdir().unwrap();
    fs::write(foreign.path().join("scene.toml"), "mine").unwrap();
    let error = ResultDirectory::create(foreign.path(), &manifest(), SCENE).unwrap_err();
    assert!(matches!(error, CacheError::Occupied { .. }));
    assert!(error.to_string().contains("scene.toml"), "{error}");
    assert_eq!(
        fs::read_dir(foreign.path()).unwrap().count(),
        1,
        "nothing written"
    );
    let file = foreign.path().join("scene.toml");
    let error = ResultDirectory::create(&file, &manifest(), SCENE).unwrap_err();
    assert!(matches!(error, CacheError::Occupied { .. }), "{error}");
    fs::write(directory.path().join("manifest.json"), "{").unwrap();
    let error = ResultDirectory::create(directory.path(), &manifest(), SCENE).unwrap_err();
    assert!(matches!(error, CacheError::Occupied { .. }), "{error}");
}

#[test]
fn create_accepts_an_empty_directory_and_an_interrupted_creation() {
    let root = tempfile::tempdir().unwrap();
    let directory = ResultDirectory::create(root.path(), &manifest(), SCENE).unwrap();
    assert_eq!(directory.scene_document().unwrap(), SCENE);
    assert_eq!(directory.manifest().format, FORMAT_VERSION);
    let path = root.path().join("manifest.json");
    fs::rename(path, root.path().join(".partial-manifest.json")).unwrap();
    assert!(matches!(
        ResultDirectory::open(root.path()),
        Err(CacheError::NotAResult { .. })
    ));
    ResultDirectory::create(root.path(), &manifest(), SCENE).unwrap();
    let reopened = ResultDirectory::open(root.path()).unwrap();
    assert_eq!(reopened.manifest(), directory.manifest());
    assert!(reopened.frames().unwrap().is_empty());
}

#[test]
fn failed_creation_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "x").unwrap();
    for below in ["below", "a/b/c"] {
        let error = ResultDirectory::create(&file.join(below), &manifest(), SCENE).unwrap_err();
        assert!(matches!(error, CacheError::Unwritable { .. }), "{error}");
        assert!(error.to_string().contains("file is a file"), "{error}");
    }
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}

#[test]
fn open_reports_the_error() {
    let root = tempfile::tempdir().unwrap();
    let missing = ResultDirectory::open(&root.path().join("nowhere"));
    assert!(matches!(missing, Err(CacheError::Missing(_))));
    let foreign = ResultDirectory::open(root.path());
    assert!(matches!(foreign, Err(CacheError::NotAResult { .. })));
    let (_root, directory) = fresh();
    let file = directory.path().join("manifest.json");
    let mut document = serde_json::to_value(directory.manifest()).unwrap();
    for (version, remedy) in [(FORMAT_VERSION + 1, "update barchan"), (1, "simulate")] {
        document["format"] = json!(version);
        fs::write(&file, document.to_string()).unwrap();
        let error = ResultDirectory::open(directory.path()).unwrap_err();
        assert!(matches!(error, CacheError::OtherFormat { .. }), "{error}");
        assert!(error.to_string().contains(remedy), "{error}");
    }
    for broken in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"format": "1"}"#,
        r#"{"format": 2}"#,
        "\u{0}",
    ] {
        fs::write(&file, broken).unwrap();
        let error = ResultDirectory::open(directory.path()).unwrap_err();
        assert!(
            matches!(error, CacheError::BrokenManifest { .. }),
            "{broken}: {error}"
        );
    }
}

#[test]
fn inconsistent_frames_are_not_written() {
    let (_root, directory) = fresh();
    let change = |name: &str, change: &dyn Fn(&mut barchan_frame::Frame)| {
        let mut bad = frame(0, 10);
        change(&mut bad);
        let error = directory.write_frame(&bad).unwrap_err();
        assert!(
            matches!(error, CacheError::Invalid { .. }),
            "{name}: {error}"
        );
    };
    change("time", &|f| f.time = f64::NAN);
    change("length", &|f| {
        f.columns[3].data = ColumnData::U32(vec![0; 9])
    });
    change("components", &|f| f.columns[0].components = 0);
    change("name", &|f| f.columns[0].name = "../position".into());
    change("twice", &|f| f.columns[0].name = "velocity".into());
    change("tolerance", &|f| f.columns[0].tolerance = f32::NAN);
    change("terrain without heights", &|f| f.arrays.clear());
    change("heights without terrain", &|f| f.record.terrain = None);
    change("heights of another terrain", &|f| {
        f.arrays[0].components = 3
    });
    change("force", &|f| f.record.bodies[0].force[2] = f64::NAN);
    assert!(directory.frames().unwrap().is_empty());
    directory.write_frame(&frame(0, 10)).unwrap();
}

#[test]
fn non_finite_values_are_reported_with_their_place() {
    let (_root, directory) = fresh();
    let mut odd = frame(0, 10);
    odd.record.bodies[0].force[2] = f64::INFINITY;
    let error = directory.write_frame(&odd).unwrap_err().to_string();
    assert!(
        error.contains("`bodies.0.force.2` is not finite"),
        "{error}"
    );
}

#[test]
fn scene_digests_of_different_scenes_differ() {
    let (_root, mut directory) = fresh();
    assert_eq!(
        directory.manifest().scene_digest,
        barchan_frame::document_digest(SCENE)
    );
    assert_ne!(
        directory.manifest().scene_digest,
        barchan_frame::document_digest("name = \"other\"\n")
    );
    let longer = barchan_frame::Manifest {
        frames: 9,
        ..manifest()
    };
    directory.rewrite(&longer, "frames = 9\n").unwrap();
    let reopened = ResultDirectory::open(directory.path()).unwrap();
    assert_eq!(reopened.manifest().frames, 9);
    assert_eq!(reopened.scene_document().unwrap(), "frames = 9\n");
}
