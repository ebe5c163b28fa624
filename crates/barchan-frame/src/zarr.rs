//! One column as a Zarr v3 array: one shard, inner chunks of [`CHUNK`] particles, each compressed and checksummed.

use crate::column::{Column, ColumnData};
use crate::node::ColumnInfo;
use crate::quantize::{quantization_step, round_to_step};
use crate::unit::Unit;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use zarrs::array::codec::{BloscCodec, BloscCodecConfiguration};
use zarrs::array::{Array, ArrayMetadata, BytesToBytesCodecTraits, CodecOptions, ElementOwned};
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{Bytes, StoreKey, WritableStorageTraits};

/// Particles in an inner chunk, the smallest part that can be read separately.
pub(crate) const CHUNK: usize = 128 * 1024;

/// Names of the axes of a column.
pub(crate) const PARTICLES: [&str; 2] = ["particle", "component"];
/// Names of the axes of a quantity that is not of particles.
pub(crate) const ROWS: [&str; 2] = ["row", "place"];

/// The two files of an array.
pub(crate) struct EncodedColumn {
    /// Content of `zarr.json`.
    pub metadata: Vec<u8>,
    /// Content of the shard; absent if there are no particles.
    pub data: Option<Vec<u8>>,
}

/// Path of the only shard of an array, relative to the array.
pub(crate) fn shard_path(components: usize) -> &'static str {
    if components == 1 { "c/0" } else { "c/0/0" }
}

/// Encodes a column; with `lossless` its tolerance is recorded, but every bit is kept.
pub(crate) fn encode(
    column: &Column,
    axes: [&str; 2],
    lossless: bool,
) -> Result<EncodedColumn, String> {
    let step = match &column.data {
        ColumnData::F32(_) if !lossless => quantization_step(column.tolerance),
        _ => None,
    };
    let document = array_document(column, axes, step);
    let metadata = serde_json::to_vec_pretty(&document).map_err(|e| e.to_string())?;
    let data = match &column.data {
        data if data.is_empty() => None,
        ColumnData::F32(v) => Some(match step {
            Some(step) => shard(column, v, |x| round_to_step(x, step).to_le_bytes()),
            None => shard(column, v, f32::to_le_bytes),
        }?),
        ColumnData::U8(v) => Some(shard(column, v, u8::to_le_bytes)?),
        ColumnData::U32(v) => Some(shard(column, v, u32::to_le_bytes)?),
        ColumnData::U64(v) => Some(shard(column, v, u64::to_le_bytes)?),
    };
    Ok(EncodedColumn { metadata, data })
}

/// Reads and checks the metadata of an array: its description without the bytes on disk, and the number of particles or rows.
pub(crate) fn decode_metadata(name: &str, metadata: &[u8]) -> Result<(ColumnInfo, usize), String> {
    let document = serde_json::from_slice(metadata).map_err(|e| e.to_string())?;
    about(name, &document)
}

fn about(name: &str, document: &Value) -> Result<(ColumnInfo, usize), String> {
    let shape: Option<Vec<u64>> = document["shape"]
        .as_array()
        .and_then(|shape| shape.iter().map(Value::as_u64).collect());
    let (particles, components) = match shape.as_deref() {
        Some([particles]) => (*particles, 1),
        Some([particles, components]) if *components > 1 => (*particles, *components),
        _ => return Err("has no shape of one or two axes".into()),
    };
    let attributes = &document["attributes"];
    let text = |key: &str| attributes[key].as_str().unwrap_or_default().to_owned();
    let info = ColumnInfo {
        name: name.to_owned(),
        unit: Unit::deserialize(&attributes["unit"])
            .map_err(|_| format!("has the unknown unit `{}`", text("unit")))?,
        meaning: text("meaning"),
        components: usize::try_from(components).map_err(|e| e.to_string())?,
        data_type: document["data_type"].as_str().unwrap_or_default().into(),
        tolerance: attributes["tolerance"].as_f64().unwrap_or(0.0) as f32,
        bytes: 0,
    };
    let particles = usize::try_from(particles).map_err(|e| e.to_string())?;
    Ok((info, particles))
}

/// Decodes a column from the two files of its array.
pub(crate) fn decode(name: &str, encoded: &EncodedColumn) -> Result<Column, String> {
    let document = serde_json::from_slice(&encoded.metadata).map_err(|e| e.to_string())?;
    let (info, particles) = about(name, &document)?;
    let store = Arc::new(MemoryStore::new());
    if let Some(data) = &encoded.data {
        store
            .set(&shard_key(info.components)?, Bytes::copy_from_slice(data))
            .map_err(|e| e.to_string())?;
    }
    let array = open_array(store, &document)?;
    let components = info.components;
    let data = match info.data_type.as_str() {
        "float32" => ColumnData::F32(retrieve(&array, particles, components)?),
        "uint8" => ColumnData::U8(retrieve(&array, particles, components)?),
        "uint32" => ColumnData::U32(retrieve(&array, particles, components)?),
        "uint64" => ColumnData::U64(retrieve(&array, particles, components)?),
        other => return Err(format!("has the unknown data type `{other}`")),
    };
    Ok(Column {
        name: info.name,
        unit: info.unit,
        meaning: info.meaning,
        components,
        data,
        tolerance: info.tolerance,
    })
}

/// The `zarr.json` of a column.
fn array_document(column: &Column, axes: [&str; 2], step: Option<f32>) -> Value {
    let particles = column.particles();
    let chunk = particles.clamp(1, CHUNK);
    let shard = particles.div_ceil(chunk).max(1) * chunk;
    let shape = |n: usize| match column.components {
        1 => json!([n]),
        components => json!([n, components]),
    };
    let compressor = json!({"name": "blosc", "configuration": compressor(column)});
    let checksum = json!({"name": "crc32c"});
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    // Components are stored separately: neighboring particles have similar high bits in each.
    let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let codecs = match column.components {
        1 => json!([bytes, compressor, checksum]),
        _ => json!([transpose, bytes, compressor, checksum]),
    };
    let fill_value = match column.data {
        ColumnData::F32(_) => json!(0.0),
        _ => json!(0),
    };
    let dimension_names = match column.components {
        1 => json!([axes[0]]),
        _ => json!(axes),
    };
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape(particles),
        "data_type": column.data.type_name(),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape(shard)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill_value,
        "codecs": [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": shape(chunk),
            "codecs": codecs,
            "index_codecs": [bytes, checksum],
            "index_location": "end",
        }}],
        "dimension_names": dimension_names,
        "attributes": {
            "unit": column.unit,
            "meaning": column.meaning,
            "tolerance": column.tolerance,
            "quantization_step": step,
            "error_bound": step.map_or(0.0, |step| step / 2.0),
        },
    })
}

fn compressor(column: &Column) -> Value {
    json!({
        "cname": "lz4",
        "clevel": 5,
        "shuffle": "bitshuffle",
        "typesize": column.data.type_size(),
        "blocksize": 0,
    })
}

/// Opens the array that produces the same bytes on disk from columns stored component by component.
///
/// The data are transposed here instead of in the codec chain, which takes five times as long: all axes in the metadata
/// are reversed, and the codec is removed.
fn open_array(store: Arc<MemoryStore>, document: &Value) -> Result<Array<MemoryStore>, String> {
    let mut document = document.clone();
    let sharding = &mut document["codecs"][0]["configuration"];
    reverse(&mut sharding["chunk_shape"]);
    if let Some(codecs) = sharding["codecs"].as_array_mut() {
        codecs.retain(|codec| codec["name"] != "transpose");
    }
    reverse(&mut document["chunk_grid"]["configuration"]["chunk_shape"]);
    reverse(&mut document["shape"]);
    let metadata: ArrayMetadata = serde_json::from_value(document).map_err(|e| e.to_string())?;
    Array::new_with_metadata(store, "/", metadata).map_err(|e| e.to_string())
}

fn reverse(list: &mut Value) {
    if let Some(list) = list.as_array_mut() {
        list.reverse();
    }
}

fn shard_key(components: usize) -> Result<StoreKey, String> {
    StoreKey::new(shard_path(components)).map_err(|e| e.to_string())
}

/// A shard: its inner chunks, then the index of their offsets and lengths.
///
/// Written here instead of by zarrs, which copies whole columns: allocation took more than a third of the time (ADR 0010).
/// A chunk fits into the cache, and only compressed chunks are kept.
fn shard<T: Copy + Sync, const N: usize>(
    column: &Column,
    values: &[T],
    to_bytes: impl Fn(T) -> [u8; N] + Sync,
) -> Result<Vec<u8>, String> {
    let configuration: BloscCodecConfiguration =
        serde_json::from_value(compressor(column)).map_err(|e| e.to_string())?;
    let blosc = BloscCodec::new_with_configuration(&configuration).map_err(|e| e.to_string())?;
    let components = column.components;
    let chunk = column.particles().clamp(1, CHUNK);
    let chunks = values
        .par_chunks(chunk * components)
        .map(|values| {
            // Values past the last particle remain zero, the fill value.
            let mut plain = vec![0; chunk * components * N];
            for (component, row) in plain.chunks_exact_mut(chunk * N).enumerate() {
                let particles = values.chunks_exact(components);
                for (target, own) in row.chunks_exact_mut(N).zip(particles) {
                    target.copy_from_slice(&to_bytes(own[component]));
                }
            }
            let packed = blosc.encode(Cow::Owned(plain), &CodecOptions::default());
            Ok(packed.map_err(|e| e.to_string())?.into_owned())
        })
        .collect::<Result<Vec<Vec<u8>>, String>>()?;
    let data: usize = chunks.iter().map(|c| c.len() + 4).sum();
    let mut shard = Vec::with_capacity(data + 16 * chunks.len() + 4);
    let mut index = Vec::with_capacity(16 * chunks.len());
    for packed in &chunks {
        index.extend((shard.len() as u64).to_le_bytes());
        index.extend((packed.len() as u64 + 4).to_le_bytes());
        extend_checked(&mut shard, packed);
    }
    extend_checked(&mut shard, &index);
    Ok(shard)
}

/// Appends bytes and their checksum.
fn extend_checked(shard: &mut Vec<u8>, bytes: &[u8]) {
    shard.extend_from_slice(bytes);
    shard.extend(crc32c::crc32c(bytes).to_le_bytes());
}

fn retrieve<T: ElementOwned + Copy>(
    array: &Array<MemoryStore>,
    particles: usize,
    components: usize,
) -> Result<Vec<T>, String> {
    if particles == 0 {
        return Ok(Vec::new());
    }
    let stored: Vec<T> = array
        .retrieve_array_subset(&array.subset_all())
        .map_err(|e| e.to_string())?;
    if Some(stored.len()) != particles.checked_mul(components) {
        return Err(format!("holds {} values", stored.len()));
    }
    if components == 1 {
        return Ok(stored);
    }
    let mut values = stored.clone();
    for (component, source) in stored.chunks_exact(particles).enumerate() {
        for (own, value) in values.chunks_exact_mut(components).zip(source) {
            own[component] = *value;
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads like any Zarr reader: from the metadata on disk.
    fn read_plainly(encoded: &EncodedColumn) -> Vec<f32> {
        let store = Arc::new(MemoryStore::new());
        let data = encoded.data.as_deref().unwrap();
        store
            .set(&shard_key(3).unwrap(), Bytes::copy_from_slice(data))
            .unwrap();
        let metadata: ArrayMetadata = serde_json::from_slice(&encoded.metadata).unwrap();
        let array = Array::new_with_metadata(store, "/", metadata).unwrap();
        array.retrieve_array_subset(&array.subset_all()).unwrap()
    }

    #[test]
    fn metadata_on_disk_describes_the_bytes() {
        for particles in [1, 7, CHUNK, CHUNK + 1, 2 * CHUNK + 5] {
            let values: Vec<f32> = (0..3 * particles).map(|i| i as f32).collect();
            let column = Column::vector3("position", Unit::Meter, "", 0.0, values.clone());
            let encoded = encode(&column, PARTICLES, true).unwrap();
            assert!(read_plainly(&encoded) == values, "{particles} particles");
            assert!(decode("position", &encoded).unwrap() == column);
        }
    }

    /// The shard that zarrs itself writes for a column.
    fn zarrs_shard(column: &Column) -> Vec<u8> {
        use zarrs::array::CodecSpecificOptions;
        use zarrs::array::codec::{ShardingCodecOptions, SubchunkWriteOrder};
        use zarrs::storage::ReadableStorageTraits;

        let store = Arc::new(MemoryStore::new());
        let document = array_document(column, PARTICLES, None);
        let metadata: ArrayMetadata = serde_json::from_value(document).unwrap();
        let in_order =
            ShardingCodecOptions::default().with_subchunk_write_order(SubchunkWriteOrder::C);
        let options = CodecSpecificOptions::default().with_option(in_order);
        let array = Array::new_with_metadata(store.clone(), "/", metadata).unwrap();
        let array = array.with_codec_specific_options(&options);
        let values = column.data.as_f32().unwrap();
        array
            .store_array_subset(&array.subset_all(), values)
            .unwrap();
        let key = shard_key(column.components).unwrap();
        store.get(&key).unwrap().unwrap().to_vec()
    }

    #[test]
    fn shard_is_the_one_that_zarrs_writes() {
        for (particles, components) in [(1, 1), (9, 3), (CHUNK + 5, 3), (2 * CHUNK + 1, 6)] {
            let values = (0..components * particles).map(|i| (1.0 + i as f32).sqrt());
            let data = ColumnData::F32(values.collect());
            let column = Column::exact("a", Unit::One, "", components, data);
            let ours = encode(&column, PARTICLES, true).unwrap().data.unwrap();
            assert!(ours == zarrs_shard(&column), "{particles} particles");
        }
    }

    #[test]
    fn corrupted_input_is_an_error() {
        let column = Column::vector3("position", Unit::Meter, "", 0.0, vec![1.0; 300]);
        let good = encode(&column, PARTICLES, true).unwrap();
        let data = good.data.unwrap();
        for length in 0..data.len() {
            let metadata = good.metadata.clone();
            let cut = EncodedColumn {
                metadata,
                data: Some(data[..length].to_vec()),
            };
            assert!(decode("position", &cut).is_err(), "{length} bytes");
        }
        for byte in 0..data.len() {
            let mut flipped = data.clone();
            flipped[byte] ^= 4;
            let metadata = good.metadata.clone();
            let data = Some(flipped);
            assert!(
                decode("position", &EncodedColumn { metadata, data }).is_err(),
                "byte {byte}"
            );
        }
        for metadata in [
            "",
            "[]",
            "{}",
            r#"{"shape": [3, 0]}"#,
            r#"{"shape": [-1]}"#,
            "nonsense",
        ] {
            let metadata = metadata.as_bytes().to_vec();
            let data = None;
            assert!(decode("position", &EncodedColumn { metadata, data }).is_err());
        }
    }
}
