//! Memory that is counted for as long as it is held.

use super::Run;

/// So many bytes, given back when this is dropped.
pub struct Held<'a, 'run> {
    run: &'a Run<'run>,
    bytes: usize,
}

impl<'a, 'run> Held<'a, 'run> {
    pub fn new(run: &'a Run<'run>) -> Self {
        Held { run, bytes: 0 }
    }

    /// From now on it is so many.
    pub fn set(&mut self, bytes: usize) {
        if bytes != self.bytes {
            self.run.add_bytes(bytes as i64 - self.bytes as i64);
            self.bytes = bytes;
        }
    }
}

impl Drop for Held<'_, '_> {
    fn drop(&mut self) {
        self.set(0);
    }
}
