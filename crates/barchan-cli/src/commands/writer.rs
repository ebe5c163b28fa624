//! Frames are compressed and written on a thread of their own, in parallel with the simulation.

use super::Failure;
use barchan::frame::{CacheError, Frame, ResultDirectory};
use std::borrow::Borrow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Writes frames in order, one at a time; at most one is queued, so that memory is bounded.
pub struct FrameWriter<F = Frame> {
    frames: Option<SyncSender<F>>,
    written: Receiver<Result<F, CacheError>>,
    /// Number of frames queued or being written.
    open: usize,
    /// The last frame that was written.
    spent: F,
    thread: Option<JoinHandle<()>>,
}

impl<F: Borrow<Frame> + Default + Send + 'static> FrameWriter<F> {
    /// A writer of frames to `directory`.
    pub fn new(directory: Arc<ResultDirectory>) -> Result<Self, Failure> {
        let (frames, incoming) = sync_channel::<F>(0);
        let (report, written) = sync_channel(2);
        let thread = std::thread::Builder::new()
            .name("frames".into())
            .spawn(move || {
                for frame in incoming {
                    let result = directory.write_frame(frame.borrow()).map(|_| frame);
                    if report.send(result).is_err() {
                        return;
                    }
                }
            })
            .map_err(Failure::work)?;
        Ok(Self {
            frames: Some(frames),
            written,
            open: 0,
            spent: F::default(),
            thread: Some(thread),
        })
    }

    /// Queues a frame once the previous one is on disk. An error may be that of the previous frame.
    pub fn write(&mut self, frame: F) -> Result<(), Failure> {
        self.finish()?;
        let handed = self.frames.as_ref().is_some_and(|f| f.send(frame).is_ok());
        if !handed {
            return Err(Failure::work("the thread that writes frames has ended"));
        }
        self.open += 1;
        Ok(())
    }

    /// The last frame written, for reuse of its memory; an empty one before the first. Waits until all frames are on disk.
    pub fn take_spent(&mut self) -> Result<F, Failure> {
        self.finish()?;
        Ok(std::mem::take(&mut self.spent))
    }

    /// Waits until all frames are on disk.
    pub fn finish(&mut self) -> Result<(), Failure> {
        while self.open > 0 {
            let result = self.written.recv();
            self.open -= 1;
            self.spent =
                result.map_err(|_| Failure::work("the thread that writes frames has ended"))??;
        }
        Ok(())
    }
}

impl<F> Drop for FrameWriter<F> {
    fn drop(&mut self) {
        self.frames = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
