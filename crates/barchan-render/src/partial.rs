//! Atomic writes of files: written under a `.partial-` name and renamed.

use std::path::{Path, PathBuf};

/// A file being written, which is removed unless [`Partial::finish`] is called.
#[derive(Debug)]
pub(crate) struct Partial {
    path: PathBuf,
    target: PathBuf,
    whole: bool,
}

impl Partial {
    /// The partial file of `target`; `purpose` distinguishes several of one target.
    pub(crate) fn new(target: &Path, purpose: &str) -> Self {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        Self {
            path: target.with_file_name(format!(".partial-{purpose}{name}")),
            target: target.to_path_buf(),
            whole: false,
        }
    }

    /// Path to write to.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, replacing an existing file.
    pub(crate) fn finish(mut self) -> std::io::Result<()> {
        std::fs::File::open(&self.path)?.sync_all()?;
        std::fs::rename(&self.path, &self.target)?;
        self.whole = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.whole
            && self.path.exists()
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "an unfinished file remains");
        }
    }
}
