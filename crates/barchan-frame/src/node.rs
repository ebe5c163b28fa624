//! A frame or a checkpoint as a Zarr group: the record that ties its files together, and reading with every check.
//!
//! The attributes of the group are a [`FrameRecord`] or a [`CheckpointRecord`], and under `barchan` the length and digest of
//! every file of the columns and a seal over all attributes. Bytes are compared with the record before anything decodes them, so that a truncated or
//! altered file is an error that names it.

use crate::checkpoint::{Checkpoint, CheckpointRecord};
use crate::column::{Column, ColumnData, Frame, State};
use crate::digest::{bytes_digest, json_digest};
use crate::error::CacheError;
use crate::files::NewDirectory;
use crate::manifest::FORMAT_VERSION;
use crate::record::{FrameRecord, TERRAIN_HEIGHT};
use crate::unit::Unit;
use crate::zarr::{self, EncodedColumn};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Frame or checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Frame,
    Checkpoint,
}

impl Kind {
    /// Name of the group of all frames or checkpoints.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Frame => "frames",
            Self::Checkpoint => "checkpoints",
        }
    }

    /// Name of a frame or checkpoint, for messages.
    pub fn of(self, index: u32) -> String {
        match self {
            Self::Frame => format!("frame {index}"),
            Self::Checkpoint => format!("checkpoint {index}"),
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Frame => {
                "use another frame, or simulate it again with `barchan run DIR --resume`"
            }
            Self::Checkpoint => "an older checkpoint may still serve --resume",
        }
    }
}

/// Description of a frame, without the values of its columns.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameInfo {
    /// Number.
    pub index: u32,
    /// Simulated time [s].
    pub time: f64,
    /// Number of particles.
    pub particles: usize,
    /// Columns.
    pub columns: Vec<ColumnInfo>,
    /// Quantities that are not of particles.
    pub arrays: Vec<ColumnInfo>,
    /// Statistics, bodies, joints, layout of the terrain.
    pub record: FrameRecord,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Description of a checkpoint, without the values of its columns.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointInfo {
    /// Number of the frame.
    pub index: u32,
    /// Simulated time [s].
    pub time: f64,
    /// Number of particles.
    pub particles: usize,
    /// Bytes on disk.
    pub bytes: u64,
    /// [`Checkpoint::digest`].
    pub digest: String,
}

/// Description of a column, without its values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnInfo {
    /// Name.
    pub name: String,
    /// SI unit.
    pub unit: Unit,
    /// Meaning.
    pub meaning: String,
    /// Values per particle.
    pub components: usize,
    /// Type of the values: `float32`, `uint8`, `uint32`, `uint64`.
    pub data_type: String,
    /// Largest error that quantization may have added [unit].
    pub tolerance: f32,
    /// Bytes on disk.
    pub bytes: u64,
}

/// The record under `barchan` in the attributes of the group.
#[derive(Serialize, Deserialize)]
struct Record {
    format: u32,
    particles: u64,
    columns: Vec<ColumnRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arrays: Vec<ColumnRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct ColumnRecord {
    name: String,
    components: usize,
    /// The `zarr.json` of the array.
    metadata: FileRecord,
    /// The shard; absent without particles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<FileRecord>,
}

impl ColumnRecord {
    fn bytes(&self) -> u64 {
        self.metadata.bytes + self.data.as_ref().map_or(0, |f| f.bytes)
    }
}

#[derive(Serialize, Deserialize)]
struct FileRecord {
    bytes: u64,
    blake3: String,
}

impl FileRecord {
    fn of(content: &[u8]) -> Self {
        Self {
            bytes: content.len() as u64,
            blake3: bytes_digest(content),
        }
    }
}

/// Last array of a checkpoint on disk: the state of the rigid bodies.
const BODIES: &str = "bodies";

/// Writes the files of a frame.
pub(crate) fn write_frame(frame: &Frame, out: &mut NewDirectory) -> Result<(), CacheError> {
    let heights = frame.array(TERRAIN_HEIGHT);
    let checked = frame.record.check_terrain(heights);
    checked.map_err(|reason| invalid(Kind::Frame, frame.index, reason))?;
    write(Kind::Frame, frame, None, out)
}

/// Writes the files of a checkpoint.
pub(crate) fn write_checkpoint(
    checkpoint: &Checkpoint,
    out: &mut NewDirectory,
) -> Result<(), CacheError> {
    let bodies = ColumnData::U8(checkpoint.record.bodies.clone());
    let meaning = "state of the rigid bodies";
    let bodies = Column::exact(BODIES, Unit::One, meaning, 1, bodies);
    write(Kind::Checkpoint, checkpoint, Some(&bodies), out)
}

/// Writes column by column, so that at most one encoded column is in memory.
fn write<R: Serialize>(
    kind: Kind,
    state: &State<R>,
    bodies: Option<&Column>,
    out: &mut NewDirectory,
) -> Result<(), CacheError> {
    let invalid = |reason: String| invalid(kind, state.index, reason);
    let arrays: Vec<&Column> = state.arrays.iter().chain(bodies).collect();
    check(state, &arrays).map_err(invalid)?;
    let mut attributes = json!(state.record);
    // JSON cannot represent non-finite numbers.
    if let Some(place) = first_null(&attributes) {
        return Err(invalid(format!("`{}` is not finite", place.join("."))));
    }
    let lossless = kind == Kind::Checkpoint;
    let mut put = |column: &Column, axes: [&str; 2]| {
        let encoded = zarr::encode(column, axes, lossless)
            .map_err(|reason| invalid(format!("column `{}`: {reason}", column.name)))?;
        write_column(column, encoded, out)
    };
    let columns = state.columns.iter().map(|c| put(c, zarr::PARTICLES));
    let columns = columns.collect::<Result<_, CacheError>>()?;
    let arrays = arrays.into_iter().map(|a| put(a, zarr::ROWS));
    attributes["index"] = json!(state.index);
    attributes["time"] = json!(state.time);
    attributes["barchan"] = json!(Record {
        format: FORMAT_VERSION,
        particles: state.particles() as u64,
        columns,
        arrays: arrays.collect::<Result<_, CacheError>>()?,
        digest: lossless.then(|| state.digest()),
        seal: None,
    });
    attributes["barchan"]["seal"] = json!(json_digest(&attributes));
    out.put("zarr.json", &plain_group(attributes))
}

fn write_column(
    column: &Column,
    encoded: EncodedColumn,
    out: &mut NewDirectory,
) -> Result<ColumnRecord, CacheError> {
    out.put(&format!("{}/zarr.json", column.name), &encoded.metadata)?;
    let record = ColumnRecord {
        name: column.name.clone(),
        components: column.components,
        metadata: FileRecord::of(&encoded.metadata),
        data: encoded.data.as_deref().map(FileRecord::of),
    };
    if let Some(data) = encoded.data {
        let shard = zarr::shard_path(column.components);
        out.put(&format!("{}/{shard}", column.name), &data)?;
    }
    Ok(record)
}

fn invalid(kind: Kind, index: u32, reason: String) -> CacheError {
    CacheError::Invalid {
        what: kind.of(index),
        reason,
    }
}

/// Keys that lead to the first null.
fn first_null(value: &Value) -> Option<Vec<String>> {
    let below = |key: String, value: &Value| {
        let mut place = first_null(value)?;
        place.insert(0, key);
        Some(place)
    };
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(i, item)| below(i.to_string(), item))
        }
        Value::Object(fields) => fields
            .iter()
            .find_map(|(key, field)| below(key.clone(), field)),
        _ => None,
    }
}

/// The `zarr.json` of a group without content of its own.
pub(crate) fn plain_group(attributes: Value) -> Vec<u8> {
    let document = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
    format!("{document:#}").into_bytes()
}

fn check<R>(state: &State<R>, arrays: &[&Column]) -> Result<(), String> {
    if !state.time.is_finite() {
        return Err(format!("its time is {}", state.time));
    }
    let columns = state.columns.iter().map(|c| (c, state.particles()));
    let arrays = arrays.iter().map(|a| (*a, a.particles()));
    let all: Vec<(&Column, usize)> = columns.chain(arrays).collect();
    for (i, (column, rows)) in all.iter().enumerate() {
        let name = &column.name;
        if !is_column_name(name) {
            return Err(format!(
                "the column name `{name}` has characters other than a–z, 0–9 and `_`"
            ));
        }
        if all[..i].iter().any(|(c, _)| c.name == *name) {
            return Err(format!("two columns are named `{name}`"));
        }
        let fits =
            column.components > 0 && rows.checked_mul(column.components) == Some(column.data.len());
        if !fits {
            return Err(format!(
                "column `{name}` has {} values of {} components for {rows} particles or rows",
                column.data.len(),
                column.components
            ));
        }
        if !(column.tolerance >= 0.0 && column.tolerance.is_finite()) {
            return Err(format!(
                "column `{name}` has the tolerance {}",
                column.tolerance
            ));
        }
    }
    Ok(())
}

fn is_column_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

/// A group on disk whose record has been checked.
pub(crate) struct Node {
    kind: Kind,
    index: u32,
    path: PathBuf,
    time: f64,
    attributes: Value,
    record: Record,
    group_bytes: u64,
}

impl Node {
    /// Reads the record of a frame or checkpoint in `path`.
    pub fn open(kind: Kind, index: u32, path: &Path) -> Result<Self, CacheError> {
        let file = path.join("zarr.json");
        let broken = |reason: String| damaged(kind, index, &file, reason);
        let content = read_file(kind, index, &file)?;
        let mut document: Value = serde_json::from_slice(&content)
            .map_err(|e| broken(format!("is not valid JSON ({e})")))?;
        let attributes = document.get_mut("attributes").map(Value::take);
        let Some(mut attributes) = attributes.filter(Value::is_object) else {
            return Err(broken("has no attributes".into()));
        };
        let record = Record::deserialize(&attributes["barchan"])
            .map_err(|_| broken("has no record of its columns".into()))?;
        if let Some(unsealed) = attributes["barchan"].as_object_mut() {
            unsealed.remove("seal");
        }
        if record.seal != Some(json_digest(&attributes)) {
            return Err(broken("was altered after it was written".into()));
        }
        if attributes["index"] != index {
            return Err(broken("belongs to another frame".into()));
        }
        let time = attributes["time"].as_f64();
        let mut all = record.columns.iter().chain(&record.arrays);
        if let Some(odd) = all.find(|c| !is_column_name(&c.name)) {
            return Err(broken(format!("lists the column `{}`", odd.name)));
        }
        Ok(Self {
            kind,
            index,
            path: path.to_owned(),
            time: time.ok_or_else(|| broken("has no time".into()))?,
            attributes,
            record,
            group_bytes: content.len() as u64,
        })
    }

    /// Reads a complete frame.
    pub fn read_frame(self) -> Result<Frame, CacheError> {
        Ok(Frame {
            index: self.index,
            time: self.time,
            columns: self.columns()?,
            arrays: self.arrays()?,
            record: self.frame_record()?,
        })
    }

    /// Reads a complete checkpoint.
    pub fn read_checkpoint(self) -> Result<Checkpoint, CacheError> {
        let mut arrays = self.arrays()?;
        let bodies = arrays.pop_if(|array| array.name == BODIES);
        let Some(ColumnData::U8(bodies)) = bodies.map(|array| array.data) else {
            let reason = format!("does not list the bytes of `{BODIES}`");
            return Err(self.damaged(&self.group_path(), reason));
        };
        let columns = self.columns()?;
        let mut record: CheckpointRecord = self.content()?;
        record.bodies = bodies;
        Ok(Checkpoint {
            index: self.index,
            time: self.time,
            columns,
            arrays,
            record,
        })
    }

    fn columns(&self) -> Result<Vec<Column>, CacheError> {
        self.record.columns.iter().map(|c| self.decode(c)).collect()
    }

    fn arrays(&self) -> Result<Vec<Column>, CacheError> {
        let arrays = self.record.arrays.iter();
        arrays.map(|a| self.decode_any(a)).collect()
    }

    /// The record of a frame: the only place that reads it.
    fn frame_record(&self) -> Result<FrameRecord, CacheError> {
        let record: FrameRecord = self.content()?;
        let heights = self.record.arrays.iter().any(|a| a.name == TERRAIN_HEIGHT);
        if record.terrain.is_some() != heights {
            let reason = format!("has only one of terrain and `{TERRAIN_HEIGHT}`");
            return Err(self.damaged(&self.group_path(), reason));
        }
        Ok(record)
    }

    fn content<T: DeserializeOwned>(&self) -> Result<T, CacheError> {
        T::deserialize(&self.attributes).map_err(|e| {
            let reason = format!("has an invalid record ({e})");
            self.damaged(&self.group_path(), reason)
        })
    }

    /// Compares every file with its record.
    pub fn verify(&self) -> Result<(), CacheError> {
        for record in self.record.columns.iter().chain(&self.record.arrays) {
            self.metadata(record)?;
            if let Some(expected) = &record.data {
                self.read_checked(&self.shard_path(record), expected)?;
            }
        }
        Ok(())
    }

    /// Reads one column.
    pub fn read_column(&self, name: &str) -> Result<Column, CacheError> {
        self.decode(self.find(&self.record.columns, name)?)
    }

    /// Reads one array.
    pub fn read_array(&self, name: &str) -> Result<Column, CacheError> {
        self.decode_any(self.find(&self.record.arrays, name)?)
    }

    fn find<'a>(
        &self,
        records: &'a [ColumnRecord],
        name: &str,
    ) -> Result<&'a ColumnRecord, CacheError> {
        let missing = || CacheError::NoColumn {
            what: self.kind.of(self.index),
            name: name.to_owned(),
            available: names(records),
        };
        records.iter().find(|c| c.name == name).ok_or_else(missing)
    }

    /// Describes a frame without reading the values.
    pub fn frame_info(self) -> Result<FrameInfo, CacheError> {
        let about = |records: &[ColumnRecord]| {
            let about = records.iter().map(|r| self.column_info(r));
            about.collect::<Result<Vec<_>, _>>()
        };
        let (columns, arrays) = (about(&self.record.columns)?, about(&self.record.arrays)?);
        Ok(FrameInfo {
            index: self.index,
            time: self.time,
            particles: self.particles(),
            bytes: self.bytes(),
            columns,
            arrays,
            record: self.frame_record()?,
        })
    }

    /// Describes a checkpoint without reading the values.
    pub fn checkpoint_info(self) -> Result<CheckpointInfo, CacheError> {
        let Some(digest) = self.record.digest.clone() else {
            return Err(self.damaged(&self.group_path(), "has no digest".into()));
        };
        Ok(CheckpointInfo {
            index: self.index,
            time: self.time,
            particles: self.particles(),
            bytes: self.bytes(),
            digest,
        })
    }

    fn particles(&self) -> usize {
        usize::try_from(self.record.particles).unwrap_or(usize::MAX)
    }

    fn bytes(&self) -> u64 {
        let columns = self.record.columns.iter().chain(&self.record.arrays);
        self.group_bytes + columns.map(ColumnRecord::bytes).sum::<u64>()
    }

    fn column_info(&self, record: &ColumnRecord) -> Result<ColumnInfo, CacheError> {
        let metadata = self.metadata(record)?;
        let (about, _) = zarr::decode_metadata(&record.name, &metadata)
            .map_err(|reason| self.damaged(&self.metadata_path(record), reason))?;
        Ok(ColumnInfo {
            bytes: record.bytes(),
            ..about
        })
    }

    /// Reads a column, whose number of particles must be that of the frame.
    fn decode(&self, record: &ColumnRecord) -> Result<Column, CacheError> {
        let column = self.decode_any(record)?;
        if column.particles() as u64 != self.record.particles {
            let reason = format!(
                "is for {} particles instead of {}",
                column.particles(),
                self.record.particles
            );
            return Err(self.damaged(&self.shard_path(record), reason));
        }
        Ok(column)
    }

    fn decode_any(&self, record: &ColumnRecord) -> Result<Column, CacheError> {
        let shard = self.shard_path(record);
        let data = match &record.data {
            Some(expected) => Some(self.read_checked(&shard, expected)?),
            None => None,
        };
        let metadata = self.metadata(record)?;
        zarr::decode(&record.name, &EncodedColumn { metadata, data })
            .map_err(|reason| self.damaged(&shard, reason))
    }

    fn metadata(&self, record: &ColumnRecord) -> Result<Vec<u8>, CacheError> {
        self.read_checked(&self.metadata_path(record), &record.metadata)
    }

    fn group_path(&self) -> PathBuf {
        self.path.join("zarr.json")
    }

    fn metadata_path(&self, record: &ColumnRecord) -> PathBuf {
        self.path.join(&record.name).join("zarr.json")
    }

    fn shard_path(&self, record: &ColumnRecord) -> PathBuf {
        let shard = zarr::shard_path(record.components);
        self.path.join(&record.name).join(shard)
    }

    /// Content of a file, verified against its record.
    fn read_checked(&self, file: &Path, expected: &FileRecord) -> Result<Vec<u8>, CacheError> {
        let content = read_file(self.kind, self.index, file)?;
        if content.len() as u64 != expected.bytes {
            let reason = format!("has {} bytes instead of {}", content.len(), expected.bytes);
            return Err(self.damaged(file, reason));
        }
        if bytes_digest(&content) != expected.blake3 {
            return Err(self.damaged(file, "was altered after it was written".into()));
        }
        Ok(content)
    }

    fn damaged(&self, file: &Path, reason: String) -> CacheError {
        damaged(self.kind, self.index, file, reason)
    }
}

fn names(records: &[ColumnRecord]) -> String {
    let names: Vec<&str> = records.iter().map(|c| c.name.as_str()).collect();
    match names.is_empty() {
        true => "none".into(),
        false => names.join(", "),
    }
}

fn damaged(kind: Kind, index: u32, file: &Path, reason: String) -> CacheError {
    CacheError::Damaged {
        what: kind.of(index),
        file: file.to_owned(),
        reason,
        remedy: kind.remedy(),
    }
}

fn read_file(kind: Kind, index: u32, file: &Path) -> Result<Vec<u8>, CacheError> {
    std::fs::read(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => damaged(kind, index, file, "is missing".into()),
        _ => CacheError::io("read", file, error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BodyRecord, LoopState, Manifest, ResultDirectory};
    use serde_json::Map;

    /// Changes attributes of a group and seals them again: intact, but not written by this program.
    fn reseal(file: &Path, change: impl FnOnce(&mut Map<String, Value>)) {
        let mut document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let attributes = document["attributes"].as_object_mut().unwrap();
        change(attributes);
        attributes["barchan"]
            .as_object_mut()
            .unwrap()
            .remove("seal");
        let seal = json_digest(&document["attributes"]);
        document["attributes"]["barchan"]["seal"] = json!(seal);
        std::fs::write(file, document.to_string()).unwrap();
    }

    fn refused<T: std::fmt::Debug>(result: Result<T, CacheError>, what: &str) {
        let error = result.unwrap_err();
        assert!(
            matches!(error, CacheError::Damaged { .. }),
            "{what}: {error}"
        );
        assert!(error.to_string().contains("zarr.json"), "{what}: {error}");
    }

    #[test]
    fn invalid_records_are_reported_as_damage() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("result");
        let directory = ResultDirectory::create(&path, &Manifest::default(), "").unwrap();
        let mut frame = Frame::default();
        frame.record.bodies.push(BodyRecord::default());
        let mut checkpoint = Checkpoint::default();
        checkpoint.set_scalar("pace", 1.0);
        checkpoint.record.loop_state = Some(LoopState::default());
        let bad = [
            ("frames", "statistics", None),
            ("frames", "statistics", Some(json!({"particles": -1}))),
            ("frames", "bodies", None),
            ("frames", "bodies", Some(json!("none"))),
            (
                "frames",
                "bodies",
                Some(json!([{"name": "floor", "position": [0, 0]}])),
            ),
            ("frames", "joints", Some(json!({}))),
            ("frames", "terrain", Some(json!([1]))),
            ("frames", "time", None),
            ("frames", "index", Some(json!(1))),
            ("checkpoints", "scalars", None),
            ("checkpoints", "scalars", Some(json!({"pace": 1.0}))),
            ("checkpoints", "loop", Some(json!({"frame": 0}))),
            (
                "checkpoints",
                "barchan",
                Some(json!({"format": FORMAT_VERSION, "particles": 0, "columns": []})),
            ),
        ];
        for (folder, key, value) in bad {
            directory.write_frame(&frame).unwrap();
            directory.write_checkpoint(&checkpoint).unwrap();
            let file = path.join(folder).join("000000/zarr.json");
            reseal(&file, |_| ());
            assert_eq!(directory.read_frame(0).unwrap(), frame);
            assert_eq!(directory.read_checkpoint(0).unwrap(), checkpoint);
            let what = format!("{folder} {key} {value:?}");
            reseal(&file, |attributes| match value {
                Some(value) => drop(attributes.insert(key.into(), value)),
                None => drop(attributes.remove(key)),
            });
            match folder {
                "frames" => {
                    refused(directory.read_frame(0), &what);
                    refused(directory.frame_info(0), &what);
                }
                _ => refused(directory.read_checkpoint(0), &what),
            }
        }
    }
}
