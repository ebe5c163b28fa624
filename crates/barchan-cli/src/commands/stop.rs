//! Ctrl-C while a run goes on.

use super::{Failure, output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ctrl-C: once to stop at the next frame, twice to stop at once.
pub struct StopRequest(Arc<AtomicUsize>);

impl StopRequest {
    /// Listens from now on; says so at the first press unless `quiet`.
    pub fn listen(quiet: bool) -> Result<Self, Failure> {
        let count = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&count);
        ctrlc::set_handler(move || {
            if seen.fetch_add(1, Ordering::Relaxed) == 0 && !quiet {
                output::note(format_args!(
                    "\nstopping at the end of this frame; once more stops at once and drops it"
                ));
            }
        })
        .map_err(Failure::work)?;
        Ok(Self(count))
    }

    /// To stop at the end of the frame.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// To stop at once.
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }
}
