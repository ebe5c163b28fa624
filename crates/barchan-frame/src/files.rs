//! Atomic writes of files and directories.

use crate::error::CacheError;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prefix of the names of unfinished files and directories. They are never read; the next clean-up removes them.
pub(crate) const PARTIAL: &str = ".partial-";

/// Writes a file and waits until it is on disk.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), CacheError> {
    let error = |e| CacheError::io("write", path, e);
    let mut file = File::create(path).map_err(error)?;
    file.write_all(content).map_err(error)?;
    file.sync_all().map_err(error)
}

/// Replaces a file atomically.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> Result<(), CacheError> {
    let partial = partial_name(path);
    let written = write_file(&partial, content).and_then(|()| rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Writes a directory atomically, replacing an existing one; `fill` writes its files. Returns the number of bytes
/// written. On failure nothing new remains.
pub(crate) fn write_directory(
    path: &Path,
    fill: impl FnOnce(&mut NewDirectory) -> Result<(), CacheError>,
) -> Result<u64, CacheError> {
    let partial = partial_name(path);
    remove_directory_if_any(&partial)?;
    let written = create_directory(&partial).and_then(|()| {
        let mut new = NewDirectory {
            path: partial.clone(),
            folders: vec![partial.clone()],
            bytes: 0,
        };
        fill(&mut new)?;
        new.folders.iter().try_for_each(|d| sync_directory(d))?;
        remove_directory(path)?;
        rename(&partial, path)?;
        Ok(new.bytes)
    });
    if written.is_err() {
        let _ = fs::remove_dir_all(&partial);
    }
    written
}

/// A directory that is being written.
pub(crate) struct NewDirectory {
    path: PathBuf,
    folders: Vec<PathBuf>,
    bytes: u64,
}

impl NewDirectory {
    /// Writes a file, and creates its parent folders.
    pub fn put(&mut self, relative: &str, content: &[u8]) -> Result<(), CacheError> {
        let path = self.path.join(relative);
        for parent in path.ancestors().skip(1) {
            if self.folders.iter().any(|d| d == parent) {
                break;
            }
            create_directory(parent)?;
            self.folders.push(parent.to_owned());
        }
        self.bytes += content.len() as u64;
        write_file(&path, content)
    }
}

/// Removes a directory atomically, if it exists.
pub(crate) fn remove_directory(path: &Path) -> Result<(), CacheError> {
    if !path.exists() {
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let doomed = path.with_file_name(format!("{PARTIAL}removed-{name}"));
    remove_directory_if_any(&doomed)?;
    rename(path, &doomed)?;
    remove_directory_if_any(&doomed)
}

/// Removes the remains of interrupted writes and removals in a directory.
pub(crate) fn remove_partials(directory: &Path) -> Result<(), CacheError> {
    for path in entries(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with(PARTIAL) {
            continue;
        }
        if path.is_dir() {
            remove_directory_if_any(&path)?;
        } else {
            fs::remove_file(&path).map_err(|e| CacheError::io("remove", &path, e))?;
        }
    }
    Ok(())
}

/// Paths of the entries of a directory, sorted.
pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, CacheError> {
    let error = |e| CacheError::io("list", directory, e);
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(error)? {
        paths.push(entry.map_err(error)?.path());
    }
    paths.sort_unstable();
    Ok(paths)
}

fn partial_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{PARTIAL}{name}"))
}

fn create_directory(path: &Path) -> Result<(), CacheError> {
    fs::create_dir_all(path).map_err(|e| CacheError::io("create", path, e))
}

fn remove_directory_if_any(path: &Path) -> Result<(), CacheError> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(CacheError::io("remove", path, e)),
        _ => Ok(()),
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), CacheError> {
    fs::rename(from, to).map_err(|e| CacheError::io("rename to", to, e))?;
    match to.parent() {
        Some(parent) => sync_directory(parent),
        None => Ok(()),
    }
}

/// Syncs a directory entry to disk (Unix only).
fn sync_directory(path: &Path) -> Result<(), CacheError> {
    if cfg!(unix) {
        File::open(path)
            .and_then(|directory| directory.sync_all())
            .map_err(|e| CacheError::io("write", path, e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_files(new: &mut NewDirectory, text: &str) -> Result<(), CacheError> {
        new.put("zarr.json", text.as_bytes())?;
        new.put("a/c/0", &[1, 2, 3])?;
        new.put("a/zarr.json", &[4])
    }

    #[test]
    fn directory_is_written_replaced_and_removed_without_traces() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("000001");
        let bytes = write_directory(&path, |new| put_files(new, "old")).unwrap();
        assert_eq!(bytes, 3 + 3 + 1);
        write_directory(&path, |new| put_files(new, "new")).unwrap();
        assert_eq!(fs::read_to_string(path.join("zarr.json")).unwrap(), "new");
        assert_eq!(fs::read(path.join("a/c/0")).unwrap(), [1, 2, 3]);
        assert_eq!(entries(root.path()).unwrap(), std::slice::from_ref(&path));
        remove_directory(&path).unwrap();
        assert!(entries(root.path()).unwrap().is_empty());
    }

    #[test]
    fn failed_write_keeps_the_old_directory_and_leaves_no_partial_one() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("000001");
        write_directory(&path, |new| put_files(new, "old")).unwrap();
        let impossible = write_directory(&path, |new| {
            put_files(new, "new")?;
            new.put("zarr.json/below-a-file", &[5])
        });
        assert!(impossible.is_err());
        assert_eq!(fs::read_to_string(path.join("zarr.json")).unwrap(), "old");
        assert_eq!(entries(root.path()).unwrap(), [path]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn full_disk_is_reported() {
        let error = write_file(Path::new("/dev/full"), b"x").unwrap_err();
        assert!(matches!(error, CacheError::DiskFull { .. }), "{error}");
    }
}
