//! Ctrl-C during a run.

use super::{Failure, output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ctrl-C: pressed once, stop at the next frame; twice, stop at once.
pub struct StopRequest(Arc<AtomicUsize>);

impl StopRequest {
    /// Starts to listen; the first press prints a message unless `quiet`.
    pub fn listen(quiet: bool) -> Result<Self, Failure> {
        let count = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&count);
        ctrlc::set_handler(move || {
            if seen.fetch_add(1, Ordering::Relaxed) == 0 && !quiet {
                output::note(
                    "\nstopping at the end of this frame; \
                     press Ctrl-C again to stop at once and discard it",
                );
            }
        })
        .map_err(Failure::work)?;
        Ok(Self(count))
    }

    /// Whether to stop at the end of the frame.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Whether to stop at once.
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }
}
