//! Access of the viewer to the result directory: nothing outside it is read, frames are verified before use, and derived data are
//! cached.

use super::error::ViewError;
use axum::body::Bytes;
use barchan::frame::{CacheError, Frame, FrameInfo, Manifest, ResultDirectory};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum size of the cache of encoded frames [bytes].
const KEPT_BYTES: usize = 192 << 20;
/// Number of complete frames in the cache for reading grains.
const KEPT_FRAMES: usize = 2;
/// Depth of the deepest entry of a frame: `position/c/0/0`.
const DEPTH: usize = 4;

/// A result being viewed.
pub struct Store {
    root: PathBuf,
    directory: Mutex<Arc<ResultDirectory>>,
    encoded: Mutex<Vec<(String, Bytes)>>,
    whole: Mutex<Vec<(String, Arc<Frame>)>>,
}

impl Store {
    /// Opens a result.
    ///
    /// # Errors
    /// A missing or foreign directory, a broken manifest, a newer format, a manifest that is a link to elsewhere.
    pub fn open(path: &Path) -> Result<Self, ViewError> {
        if !path.exists() {
            return Err(CacheError::Missing(path.to_owned()).into());
        }
        let root = path.canonicalize().map_err(|source| CacheError::Io {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        refuse_links_of_result(&root)?;
        // The message names the directory as given.
        ResultDirectory::open(path)?;
        let directory = ResultDirectory::open(&root)?;
        Ok(Self {
            root,
            directory: Mutex::new(Arc::new(directory)),
            encoded: Mutex::default(),
            whole: Mutex::default(),
        })
    }

    /// The directory, with links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The manifest.
    pub fn manifest(&self) -> Manifest {
        self.directory().manifest().clone()
    }

    /// Reads the manifest again, since a run may have been extended, and lists the frames.
    pub fn refresh(&self) -> Result<Vec<u32>, ViewError> {
        refuse_links_of_result(&self.root)?;
        let directory = ResultDirectory::open(&self.root)?;
        let frames = directory.frames()?;
        *locked(&self.directory) = Arc::new(directory);
        Ok(frames)
    }

    /// Time of the last change of frames or manifest: while it is the same, so is the list of frames.
    pub fn stamp(&self) -> Option<[SystemTime; 2]> {
        let changed = |name: &str| fs::metadata(self.root.join(name))?.modified();
        Some([changed("frames").ok()?, changed("manifest.json").ok()?])
    }

    /// Version of a frame, which changes when the frame is rewritten.
    ///
    /// # Errors
    /// There is no such frame, or it is outside the result.
    pub fn version(&self, frame: u32) -> Result<String, ViewError> {
        let path = self.frame_path(frame);
        let Ok(about) = fs::symlink_metadata(path.join("zarr.json")) else {
            // Distinguishes a missing file from a missing frame.
            refuse_outside(&self.root, &path)?;
            self.directory().frame_info(frame)?;
            return Ok(format!("{frame}"));
        };
        let modified = about.modified().unwrap_or(UNIX_EPOCH);
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{frame}-{:x}-{:x}", since.as_nanos(), about.len()))
    }

    /// Description of a frame, without the values of its columns.
    ///
    /// # Errors
    /// No such frame, damage, links.
    pub fn info(&self, frame: u32) -> Result<FrameInfo, ViewError> {
        self.refuse_links(frame)?;
        Ok(self.directory().frame_info(frame)?)
    }

    /// One column of a frame.
    ///
    /// # Errors
    /// No such frame or column, damage, links.
    pub fn column(&self, frame: u32, name: &str) -> Result<barchan::frame::Column, ViewError> {
        self.refuse_links(frame)?;
        Ok(self.directory().read_column(frame, name)?)
    }

    /// One array of a frame that is not a column of grains.
    ///
    /// # Errors
    /// No such frame or array, damage, links.
    pub fn array(&self, frame: u32, name: &str) -> Result<barchan::frame::Column, ViewError> {
        self.refuse_links(frame)?;
        Ok(self.directory().read_array(frame, name)?)
    }

    /// A complete frame.
    ///
    /// # Errors
    /// No such frame, damage, links.
    pub fn whole(&self, frame: u32) -> Result<Arc<Frame>, ViewError> {
        let version = self.version(frame)?;
        if let Some(found) = take(&mut locked(&self.whole), &version) {
            return Ok(found);
        }
        self.refuse_links(frame)?;
        let read = Arc::new(self.directory().read_frame(frame)?);
        let mut whole = locked(&self.whole);
        whole.push((version, Arc::clone(&read)));
        let surplus = whole.len().saturating_sub(KEPT_FRAMES);
        whole.drain(..surplus);
        Ok(read)
    }

    /// The cached bytes of `key`, computed by `make` if they are not in the cache.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn encoded(
        &self,
        key: String,
        make: impl FnOnce() -> Result<Vec<u8>, ViewError>,
    ) -> Result<Bytes, ViewError> {
        if let Some(found) = take(&mut locked(&self.encoded), &key) {
            return Ok(found);
        }
        let made = Bytes::from(make()?);
        let mut kept = locked(&self.encoded);
        kept.push((key, made.clone()));
        let mut bytes: usize = kept.iter().map(|(_, b)| b.len()).sum();
        while bytes > KEPT_BYTES && kept.len() > 1 {
            bytes -= kept.remove(0).1.len();
        }
        Ok(made)
    }

    /// The resolved scene, as TOML.
    ///
    /// # Errors
    /// It is missing, unreadable, or a link.
    pub fn scene_document(&self) -> Result<String, ViewError> {
        refuse_outside(&self.root, &self.root.join("scene.toml"))?;
        Ok(self.directory().scene_document()?)
    }

    fn directory(&self) -> Arc<ResultDirectory> {
        Arc::clone(&locked(&self.directory))
    }

    fn frame_path(&self, frame: u32) -> PathBuf {
        self.root.join("frames").join(format!("{frame:06}"))
    }

    /// No entry of a frame may be a link to the outside, or a pipe, which might never end.
    fn refuse_links(&self, frame: u32) -> Result<(), ViewError> {
        refuse_outside(&self.root, &self.root.join("frames"))?;
        let path = self.frame_path(frame);
        refuse_outside(&self.root, &path)?;
        refuse_links_in(&self.root, &path, DEPTH)
    }
}

fn refuse_links_of_result(root: &Path) -> Result<(), ViewError> {
    refuse_outside(root, &root.join("manifest.json"))?;
    refuse_outside(root, &root.join("frames"))
}

fn refuse_links_in(root: &Path, folder: &Path, depth: usize) -> Result<(), ViewError> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries.flatten() {
        let path = entry.path();
        refuse_outside(root, &path)?;
        if depth > 0 && path.is_dir() {
            refuse_links_in(root, &path, depth - 1)?;
        }
    }
    Ok(())
}

/// A link may point to an entry of the same result; missing entries are reported by the caller that reads them.
fn refuse_outside(root: &Path, path: &Path) -> Result<(), ViewError> {
    let outside = |reason| ViewError::Outside {
        path: path.to_owned(),
        reason,
    };
    let Ok(about) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let is_inside = || {
        path.canonicalize()
            .is_ok_and(|target| target.starts_with(root))
    };
    if about.is_symlink() && !is_inside() {
        return Err(outside("is a link that leaves the result directory"));
    }
    // Of the file that a link points to.
    let kind = fs::metadata(path).map_or(about.file_type(), |m| m.file_type());
    if kind.is_file() || kind.is_dir() {
        Ok(())
    } else {
        Err(outside("is neither a file nor a folder"))
    }
}

/// The entry of `key`, which becomes the most recently used.
fn take<T: Clone>(kept: &mut Vec<(String, T)>, key: &str) -> Option<T> {
    let at = kept.iter().position(|(k, _)| k == key)?;
    let entry = kept.remove(at);
    let found = entry.1.clone();
    kept.push(entry);
    Some(found)
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
