//! The result directory: manifest, resolved scene, frames and checkpoints of one run.

use crate::checkpoint::Checkpoint;
use crate::column::{Column, Frame};
use crate::digest::document_digest;
use crate::error::CacheError;
use crate::files::{self, PARTIAL};
use crate::manifest::{FORMAT_VERSION, Manifest};
use crate::node::{self, CheckpointInfo, FrameInfo, Kind, Node};
use serde_json::{Value, json};
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Number of checkpoints that are kept; older ones are removed when a new one is complete.
pub const CHECKPOINTS_KEPT: usize = 2;

/// File that the writing process holds a lock on.
const LOCK: &str = ".lock";
const MANIFEST: &str = "manifest.json";
const SCENE: &str = "scene.toml";
const GROUP: &str = "zarr.json";
/// Marks a directory whose creation is unfinished. It is the partial file of the manifest: renaming it to the manifest
/// removes the mark.
const UNFINISHED: &str = ".partial-manifest.json";

/// The directory that a run writes and all other commands read; see `docs/frames.md` for the layout.
#[derive(Debug, Clone)]
pub struct ResultDirectory {
    path: PathBuf,
    manifest: Manifest,
}

impl ResultDirectory {
    /// Creates a result in a directory that does not exist or is empty. `manifest.format` and `manifest.scene_digest` are
    /// filled in.
    ///
    /// # Errors
    /// [`CacheError::Occupied`] if the directory is not empty, [`CacheError::Unwritable`] and other failures to
    /// write.
    pub fn create(
        path: &Path,
        manifest: &Manifest,
        scene_document: &str,
    ) -> Result<Self, CacheError> {
        if path.exists() {
            refuse_occupied(path).map_err(|e| e.unwritable(path))?;
        }
        let result = Self {
            path: path.to_owned(),
            manifest: complete(manifest, scene_document),
        };
        let missing: Vec<&Path> = path.ancestors().take_while(|p| !p.exists()).collect();
        if let Err(error) = result.write_skeleton(scene_document) {
            remove_skeleton(path, &missing);
            return Err(error.unwritable(path));
        }
        Ok(result)
    }

    /// Opens a result. It can be read even if its folder of checkpoints is missing.
    ///
    /// # Errors
    /// A missing or foreign directory, a broken manifest, a format other than [`FORMAT_VERSION`], no folder of frames.
    pub fn open(path: &Path) -> Result<Self, CacheError> {
        let manifest = read_manifest(path)?;
        if !path.join(Kind::Frame.folder()).is_dir() {
            return Err(CacheError::LostFrames {
                path: path.to_owned(),
                scene: manifest.scene,
            });
        }
        Ok(Self {
            path: path.to_owned(),
            manifest,
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Locks the directory for one writer until the file is closed; the system releases the lock when a process is killed.
    ///
    /// # Errors
    /// [`CacheError::InUse`] if another process writes to it, [`CacheError::Unwritable`].
    pub fn lock(&self) -> Result<File, CacheError> {
        let path = self.path.join(LOCK);
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|e| CacheError::io("write", &path, e).unwritable(&self.path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(CacheError::InUse(self.path.clone())),
            Err(TryLockError::Error(e)) => Err(CacheError::io("lock", &path, e)),
        }
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The resolved scene, as TOML.
    ///
    /// # Errors
    /// A missing or unreadable `scene.toml`.
    pub fn scene_document(&self) -> Result<String, CacheError> {
        let path = self.path.join(SCENE);
        fs::read_to_string(&path).map_err(|e| CacheError::io("read", &path, e))
    }

    /// Replaces manifest and resolved scene, for a run that is resumed with another number of frames.
    ///
    /// # Errors
    /// Failures to write.
    pub fn rewrite(&mut self, manifest: &Manifest, scene_document: &str) -> Result<(), CacheError> {
        let manifest = complete(manifest, scene_document);
        files::replace_file(&self.path.join(SCENE), scene_document.as_bytes())?;
        files::replace_file(&self.path.join(MANIFEST), &to_json(&manifest, &self.path)?)?;
        self.manifest = manifest;
        Ok(())
    }

    /// Numbers of the complete frames, sorted.
    ///
    /// # Errors
    /// An unreadable directory.
    pub fn frames(&self) -> Result<Vec<u32>, CacheError> {
        self.indices(Kind::Frame)
    }

    /// Frame numbers of the complete checkpoints, sorted.
    ///
    /// # Errors
    /// An unreadable directory.
    pub fn checkpoints(&self) -> Result<Vec<u32>, CacheError> {
        self.indices(Kind::Checkpoint)
    }

    /// Writes a frame atomically, quantized within the tolerance of each column. A frame of the same number is
    /// replaced. Returns the bytes on disk.
    ///
    /// # Errors
    /// Inconsistent columns, and failures to write, after which nothing of the frame remains.
    pub fn write_frame(&self, frame: &Frame) -> Result<u64, CacheError> {
        let path = self.node_path(Kind::Frame, frame.index);
        files::write_directory(&path, |new| node::write_frame(frame, new))
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// No such frame; a damaged file.
    pub fn read_frame(&self, index: u32) -> Result<Frame, CacheError> {
        self.node(Kind::Frame, index)?.read_frame()
    }

    /// Compares every byte of a frame with the record of its files.
    ///
    /// # Errors
    /// No such frame; a damaged file.
    pub fn verify_frame(&self, index: u32) -> Result<(), CacheError> {
        self.node(Kind::Frame, index)?.verify()
    }

    /// Reads one column of a frame.
    ///
    /// # Errors
    /// No such frame or column; a damaged file.
    pub fn read_column(&self, index: u32, name: &str) -> Result<Column, CacheError> {
        self.node(Kind::Frame, index)?.read_column(name)
    }

    /// Reads one array of a frame: a quantity that is not of particles.
    ///
    /// # Errors
    /// No such frame or array; a damaged file.
    pub fn read_array(&self, index: u32, name: &str) -> Result<Column, CacheError> {
        self.node(Kind::Frame, index)?.read_array(name)
    }

    /// Reads the description of a frame, without the values of its columns.
    ///
    /// # Errors
    /// No such frame; a damaged file.
    pub fn frame_info(&self, index: u32) -> Result<FrameInfo, CacheError> {
        self.node(Kind::Frame, index)?.frame_info()
    }

    /// Writes the exact state atomically. Then all but the newest [`CHECKPOINTS_KEPT`]
    /// checkpoints are removed. Returns the bytes on disk.
    ///
    /// # Errors
    /// As [`ResultDirectory::write_frame`].
    pub fn write_checkpoint(&self, checkpoint: &Checkpoint) -> Result<u64, CacheError> {
        let path = self.node_path(Kind::Checkpoint, checkpoint.index);
        let bytes = files::write_directory(&path, |new| node::write_checkpoint(checkpoint, new))?;
        let indices = self.checkpoints()?;
        let older = indices.len().saturating_sub(CHECKPOINTS_KEPT);
        for &index in &indices[..older] {
            files::remove_directory(&self.node_path(Kind::Checkpoint, index))?;
        }
        Ok(bytes)
    }

    /// Reads the checkpoint of a frame.
    ///
    /// # Errors
    /// No such checkpoint; a damaged file.
    pub fn read_checkpoint(&self, index: u32) -> Result<Checkpoint, CacheError> {
        self.node(Kind::Checkpoint, index)?.read_checkpoint()
    }

    /// Reads the description of a checkpoint, without the values of its columns.
    ///
    /// # Errors
    /// As [`ResultDirectory::read_checkpoint`].
    pub fn checkpoint_info(&self, index: u32) -> Result<CheckpointInfo, CacheError> {
        self.node(Kind::Checkpoint, index)?.checkpoint_info()
    }

    /// The newest readable checkpoint; `None` if there are no checkpoints. Damaged ones are skipped with a warning.
    ///
    /// # Errors
    /// [`CacheError::NoUsableCheckpoint`] if there are checkpoints but none is readable.
    pub fn latest_checkpoint(&self) -> Result<Option<Checkpoint>, CacheError> {
        let mut reasons = Vec::new();
        for &index in self.checkpoints()?.iter().rev() {
            match self.read_checkpoint(index) {
                Ok(checkpoint) => return Ok(Some(checkpoint)),
                Err(error) => {
                    tracing::warn!("skipping checkpoint {index}: {error}");
                    reasons.push(error.to_string());
                }
            }
        }
        if reasons.is_empty() {
            return Ok(None);
        }
        Err(CacheError::NoUsableCheckpoint {
            path: self.path.clone(),
            reasons: reasons.join("; "),
        })
    }

    /// Removes frames and checkpoints after `frame`, and remains of interrupted writes. A missing folder of
    /// checkpoints is created.
    ///
    /// # Errors
    /// Failures to remove.
    pub fn discard_after(&self, frame: u32) -> Result<(), CacheError> {
        files::remove_partials(&self.path)?;
        for kind in [Kind::Frame, Kind::Checkpoint] {
            let folder = self.path.join(kind.folder());
            if !folder.is_dir() {
                write_folder(&folder)?;
            }
            files::remove_partials(&folder)?;
            // Starting from the last, so that an interruption leaves no gap.
            for &index in self.indices(kind)?.iter().rev() {
                if index > frame {
                    files::remove_directory(&self.node_path(kind, index))?;
                }
            }
        }
        Ok(())
    }

    fn node(&self, kind: Kind, index: u32) -> Result<Node, CacheError> {
        let path = self.node_path(kind, index);
        if path.is_dir() {
            return Node::open(kind, index, &path);
        }
        let indices = self.indices(kind)?;
        let available = match (indices.first(), indices.last()) {
            (Some(first), Some(last)) => {
                format!(
                    "{} {}, from {first} to {last}",
                    indices.len(),
                    kind.folder()
                )
            }
            _ => format!("no {}", kind.folder()),
        };
        Err(CacheError::NoFrame {
            what: kind.of(index),
            path: self.path.clone(),
            available,
        })
    }

    fn node_path(&self, kind: Kind, index: u32) -> PathBuf {
        self.path.join(kind.folder()).join(node_name(index))
    }

    fn indices(&self, kind: Kind) -> Result<Vec<u32>, CacheError> {
        let mut indices = Vec::new();
        let folder = self.path.join(kind.folder());
        if !folder.exists() {
            return Ok(indices);
        }
        for path in files::entries(&folder)? {
            let name = path
                .file_name()
                .and_then(|n| n.to_str())
                .unwrap_or_default();
            match name.parse() {
                Ok(index) if name == node_name(index) && path.is_dir() => indices.push(index),
                _ => {}
            }
        }
        indices.sort_unstable();
        Ok(indices)
    }

    /// Writes everything but frames and checkpoints. The manifest is written last and atomically, since it makes the
    /// directory a result.
    fn write_skeleton(&self, scene_document: &str) -> Result<(), CacheError> {
        let path = &self.path;
        fs::create_dir_all(path).map_err(|e| CacheError::io("create", path, e))?;
        files::write_file(&path.join(UNFINISHED), b"")?;
        let about = json!({"barchan": {"format": FORMAT_VERSION, "scene": self.manifest.scene}});
        files::write_file(&path.join(GROUP), &node::plain_group(about))?;
        for kind in [Kind::Frame, Kind::Checkpoint] {
            write_folder(&path.join(kind.folder()))?;
        }
        files::write_file(&path.join(SCENE), scene_document.as_bytes())?;
        files::replace_file(&path.join(MANIFEST), &to_json(&self.manifest, path)?)
    }
}

/// Directory name of a frame: six digits, more from a million on.
fn node_name(index: u32) -> String {
    format!("{index:06}")
}

/// Creates the group of the frames or checkpoints.
fn write_folder(folder: &Path) -> Result<(), CacheError> {
    fs::create_dir_all(folder).map_err(|e| CacheError::io("create", folder, e))?;
    files::write_file(&folder.join(GROUP), &node::plain_group(json!({})))
}

fn complete(manifest: &Manifest, scene_document: &str) -> Manifest {
    Manifest {
        format: FORMAT_VERSION,
        scene_digest: document_digest(scene_document),
        ..manifest.clone()
    }
}

fn to_json(manifest: &Manifest, path: &Path) -> Result<Vec<u8>, CacheError> {
    serde_json::to_vec_pretty(manifest).map_err(|e| CacheError::BrokenManifest {
        path: path.join(MANIFEST),
        reason: e.to_string(),
    })
}

fn read_manifest(path: &Path) -> Result<Manifest, CacheError> {
    if !path.exists() {
        return Err(CacheError::Missing(path.to_owned()));
    }
    let not_a_result = |reason: &str| CacheError::NotAResult {
        path: path.to_owned(),
        reason: reason.into(),
    };
    if !path.is_dir() {
        return Err(not_a_result("it is not a directory"));
    }
    let file = path.join(MANIFEST);
    let content = fs::read(&file).map_err(|e| match e.kind() {
        ErrorKind::NotFound => not_a_result("it has no manifest.json"),
        _ => CacheError::io("read", &file, e),
    })?;
    let broken = |reason: String| CacheError::BrokenManifest {
        path: file.clone(),
        reason,
    };
    let document: Value = serde_json::from_slice(&content).map_err(|e| broken(e.to_string()))?;
    let format = document["format"].as_u64();
    let found = format.ok_or_else(|| broken("it has no format version".into()))?;
    if found != u64::from(FORMAT_VERSION) {
        return Err(CacheError::OtherFormat {
            path: path.to_owned(),
            found,
            known: FORMAT_VERSION,
        });
    }
    serde_json::from_value(document).map_err(|e| broken(e.to_string()))
}

/// Allows an empty directory, and one where an earlier creation was interrupted.
fn refuse_occupied(path: &Path) -> Result<(), CacheError> {
    let occupied = |holds: String| CacheError::Occupied {
        path: path.to_owned(),
        holds,
    };
    if !path.is_dir() {
        return Err(occupied("a file of that name".into()));
    }
    match read_manifest(path) {
        Ok(manifest) => {
            return Err(occupied(format!("a result of scene `{}`", manifest.scene)));
        }
        Err(CacheError::NotAResult { .. }) => {}
        Err(_) => return Err(occupied("a result that cannot be read".into())),
    }
    let unfinished = path.join(UNFINISHED).exists();
    for entry in files::entries(path)? {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if !(unfinished && is_skeleton(&name)) {
            return Err(occupied(format!("other files ({name})")));
        }
    }
    Ok(())
}

fn is_skeleton(name: &str) -> bool {
    [GROUP, SCENE, "frames", "checkpoints"].contains(&name) || name.starts_with(PARTIAL)
}

/// Undoes a failed creation, including the directories that it created, innermost first; the remains, if any, are
/// marked as unfinished.
fn remove_skeleton(path: &Path, made: &[&Path]) {
    for kind in [Kind::Frame, Kind::Checkpoint] {
        let _ = fs::remove_dir_all(path.join(kind.folder()));
    }
    for name in [SCENE, GROUP, UNFINISHED] {
        let _ = fs::remove_file(path.join(name));
    }
    for directory in made {
        let _ = fs::remove_dir(directory);
    }
}
