//! What a worker holds in memory, and what it does when there is no room for more.

use std::sync::atomic::Ordering;

use super::descend::{Shared, Worker};
use super::frame::Frame;
use crate::kernel::Unfinished;
use crate::run::Status;

impl Worker<'_, '_> {
    /// Reserve `more` bytes; `count` replaces them by what came of it.
    pub(super) fn reserve(&mut self, more: usize) -> bool {
        let Shared { table, account, .. } = self.shared;
        let reserved = table.make_room(more, &mut self.held, account);
        self.counted += if reserved { more } else { 0 };
        reserved
    }

    /// Reserve `more` bytes, or retire. The last worker to retire ends the search. Extraction does
    /// not retire.
    pub(super) fn require(&mut self, more: usize) -> Result<(), Unfinished> {
        if self.extracts || self.reserve(more) {
            return Ok(());
        }
        self.retired = true;
        if self.shared.workers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.shared.run.stop(Status::MemoryLimit);
        }
        Err(Unfinished::NoMemory)
    }

    pub(super) fn goes_on(&self) -> bool {
        !self.retired && self.shared.run.stopped().is_none()
    }

    /// Tell the run what this worker holds.
    pub(super) fn count(&mut self, frame: &mut Frame) {
        let (known, bytes) = (frame.counted + self.counted, frame.bytes());
        frame.counted = bytes;
        self.counted = self.kernel.bytes() + (self.mask.capacity() + self.lost.capacity()) * 8;
        self.held.replace(known, bytes + self.counted);
    }
}

impl Drop for Worker<'_, '_> {
    fn drop(&mut self) {
        self.shared.run.add_decisions(&self.decided);
    }
}
