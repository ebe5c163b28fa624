//! A frame or a checkpoint as a Zarr group: the record that ties its files together, and reading with every check.
//!
//! The attributes of the group hold, under `barchan`, the length and digest of every file of the columns, and a seal
//! over all attributes. Bytes are compared with the record before anything decodes them, so that a truncated or
//! altered file is an error that names it.

use crate::column::{Column, Frame};
use crate::digest::{bytes_digest, digest, json_digest};
use crate::error::CacheError;
use crate::files::NewDirectory;
use crate::manifest::FORMAT_VERSION;
use crate::zarr::{self, EncodedColumn};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Frame or checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Frame,
    Checkpoint,
}

impl Kind {
    /// Name of the group that holds all of this kind.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Frame => "frames",
            Self::Checkpoint => "checkpoints",
        }
    }

    /// Name of one, for messages.
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

/// What a frame holds, without the values of its columns.
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
    /// What is not a quantity of particles.
    pub arrays: Vec<ColumnInfo>,
    /// Statistics, body poses and forces, removal counts.
    pub attributes: Map<String, Value>,
    /// Bytes on disk.
    pub bytes: u64,
    /// Digest of the state as given to [`crate::digest`]; checkpoints only.
    pub digest: Option<String>,
}

/// What a column holds, without its values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnInfo {
    /// Name.
    pub name: String,
    /// SI unit, `1` when dimensionless.
    pub unit: String,
    /// What it means.
    pub meaning: String,
    /// Values per particle.
    pub components: usize,
    /// Type of the values: `float32`, `uint8`, `uint32`, `uint64`.
    pub data_type: String,
    /// Largest error that quantisation may have added [unit].
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

/// Attributes of the group that callers may not use.
const RESERVED: [&str; 3] = ["index", "time", "barchan"];

/// Writes the files of a frame's group, column by column: no more than one stands in memory encoded.
pub(crate) fn write_files(
    frame: &Frame,
    kind: Kind,
    out: &mut NewDirectory,
) -> Result<(), CacheError> {
    let invalid = |reason: String| CacheError::Invalid {
        what: kind.of(frame.index),
        reason,
    };
    check(frame).map_err(invalid)?;
    let mut write = |column: &Column, axes: [&str; 2]| {
        let encoded = zarr::encode(column, axes, kind == Kind::Checkpoint)
            .map_err(|reason| invalid(format!("column `{}`: {reason}", column.name)))?;
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
    };
    let columns = frame.columns.iter().map(|c| write(c, zarr::PARTICLES));
    let columns = columns.collect::<Result<_, CacheError>>()?;
    let arrays = frame.arrays.iter().map(|a| write(a, zarr::ROWS));
    let record = Record {
        format: FORMAT_VERSION,
        particles: frame.particles() as u64,
        columns,
        arrays: arrays.collect::<Result<_, CacheError>>()?,
        digest: (kind == Kind::Checkpoint).then(|| digest(frame)),
        seal: None,
    };
    let group = group_document(frame, record).map_err(|e| invalid(e.to_string()))?;
    out.put("zarr.json", &group)
}

/// The `zarr.json` of a group without content of its own.
pub(crate) fn plain_group(attributes: Value) -> Vec<u8> {
    let document = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
    format!("{document:#}").into_bytes()
}

fn group_document(frame: &Frame, mut record: Record) -> Result<Vec<u8>, serde_json::Error> {
    let mut attributes = Map::new();
    attributes.insert("index".into(), json!(frame.index));
    attributes.insert("time".into(), json!(frame.time));
    attributes.extend(frame.attributes.clone());
    attributes.insert("barchan".into(), serde_json::to_value(&record)?);
    record.seal = Some(json_digest(&Value::Object(attributes.clone())));
    attributes.insert("barchan".into(), serde_json::to_value(&record)?);
    Ok(plain_group(Value::Object(attributes)))
}

fn check(frame: &Frame) -> Result<(), String> {
    if !frame.time.is_finite() {
        return Err(format!("its time is {}", frame.time));
    }
    if let Some(name) = RESERVED.iter().find(|n| frame.attributes.contains_key(**n)) {
        return Err(format!("the attribute name `{name}` is reserved"));
    }
    let particles = frame.particles();
    let all: Vec<&Column> = frame.columns.iter().chain(&frame.arrays).collect();
    for (i, column) in all.iter().enumerate() {
        let name = &column.name;
        if !is_column_name(name) {
            return Err(format!(
                "the column name `{name}` is not made of a–z, 0–9 and `_`"
            ));
        }
        if all[..i].iter().any(|c| c.name == *name) {
            return Err(format!("two columns are named `{name}`"));
        }
        let rows = match i < frame.columns.len() {
            true => particles,
            false => column.particles(),
        };
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
    attributes: Map<String, Value>,
    record: Record,
    group_bytes: u64,
}

impl Node {
    /// Reads the record of a frame or checkpoint in `path`.
    pub fn open(kind: Kind, index: u32, path: &Path) -> Result<Self, CacheError> {
        let file = path.join("zarr.json");
        let broken = |reason: String| damaged(kind, index, &file, reason);
        let content = read_file(kind, index, &file)?;
        let document: Value = serde_json::from_slice(&content)
            .map_err(|e| broken(format!("is not valid JSON ({e})")))?;
        let Some(mut attributes) = document["attributes"].as_object().cloned() else {
            return Err(broken("has no attributes".into()));
        };
        let mut record: Record = attributes
            .get("barchan")
            .and_then(|value| Record::deserialize(value).ok())
            .ok_or_else(|| broken("has no record of its columns".into()))?;
        let seal = record.seal.take();
        if let Some(Value::Object(unsealed)) = attributes.get_mut("barchan") {
            unsealed.remove("seal");
        }
        if seal != Some(json_digest(&Value::Object(attributes.clone()))) {
            return Err(broken("was altered after it was written".into()));
        }
        attributes.remove("barchan");
        let recorded_index = attributes.remove("index").and_then(|v| v.as_u64());
        if recorded_index != Some(u64::from(index)) {
            return Err(broken("belongs to another frame".into()));
        }
        let time = attributes.remove("time").and_then(|v| v.as_f64());
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

    /// Reads everything.
    pub fn read_frame(self) -> Result<Frame, CacheError> {
        let columns = self.record.columns.iter().map(|c| self.decode(c));
        let arrays = self.record.arrays.iter().map(|a| self.decode_any(a));
        Ok(Frame {
            index: self.index,
            time: self.time,
            columns: columns.collect::<Result<_, _>>()?,
            arrays: arrays.collect::<Result<_, _>>()?,
            attributes: self.attributes,
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
        let record = self.record.columns.iter().find(|c| c.name == name);
        let missing = || CacheError::NoColumn {
            what: self.kind.of(self.index),
            name: name.to_owned(),
            available: names(&self.record.columns),
        };
        self.decode(record.ok_or_else(missing)?)
    }

    /// Reads one array.
    pub fn read_array(&self, name: &str) -> Result<Column, CacheError> {
        let record = self.record.arrays.iter().find(|a| a.name == name);
        let missing = || CacheError::NoColumn {
            what: self.kind.of(self.index),
            name: name.to_owned(),
            available: names(&self.record.arrays),
        };
        self.decode_any(record.ok_or_else(missing)?)
    }

    /// Describes everything without reading the values.
    pub fn info(self) -> Result<FrameInfo, CacheError> {
        let about = |records: &[ColumnRecord]| {
            let about = records.iter().map(|r| self.column_info(r));
            about.collect::<Result<Vec<_>, _>>()
        };
        let (columns, arrays) = (about(&self.record.columns)?, about(&self.record.arrays)?);
        let bytes = columns.iter().chain(&arrays).map(|c| c.bytes);
        Ok(FrameInfo {
            index: self.index,
            time: self.time,
            particles: usize::try_from(self.record.particles).unwrap_or(usize::MAX),
            bytes: self.group_bytes + bytes.sum::<u64>(),
            columns,
            arrays,
            attributes: self.attributes,
            digest: self.record.digest,
        })
    }

    fn column_info(&self, record: &ColumnRecord) -> Result<ColumnInfo, CacheError> {
        let about = zarr::decode_metadata(&self.metadata(record)?)
            .map_err(|reason| self.damaged(&self.metadata_path(record), reason))?;
        Ok(ColumnInfo {
            name: record.name.clone(),
            unit: about.unit,
            meaning: about.meaning,
            components: about.components,
            data_type: about.type_name,
            tolerance: about.tolerance,
            bytes: record.bytes(),
        })
    }

    /// Reads a column, which must be for the particles of the frame.
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

    fn metadata_path(&self, record: &ColumnRecord) -> PathBuf {
        self.path.join(&record.name).join("zarr.json")
    }

    fn shard_path(&self, record: &ColumnRecord) -> PathBuf {
        let shard = zarr::shard_path(record.components);
        self.path.join(&record.name).join(shard)
    }

    /// Content of a file, equal to what was written.
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
