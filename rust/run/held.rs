//! The memory ledger: bytes are counted for as long as something holds them.
//!
//! Nothing else can change what a [`Run`] takes to be held. Whoever holds memory has one of these,
//! and each gives back all its bytes when it is dropped, so that no way out of a search, be it an
//! error or a panic, leaves bytes behind:
//!
//! - [`Held`]: one owner, which says how much it is now.
//! - [`Counted`]: a value together with its bytes. Whatever changes it is measured.
//! - [`Account`]: what several workers hold together, changed in many places at once.

use std::hash::{BuildHasher, Hash};
use std::ops::Deref;
use std::sync::atomic::{AtomicI64, Ordering};

use hashbrown::HashMap;

use super::state::Run;

/// A value that knows how many bytes it has on the heap.
pub trait HeapBytes {
    fn heap_bytes(&self) -> usize;
}

impl<K: Eq + Hash, V, S: BuildHasher> HeapBytes for HashMap<K, V, S> {
    /// Those of the table. What keys and values hold elsewhere is not among them.
    fn heap_bytes(&self) -> usize {
        self.allocation_size()
    }
}

/// A number of bytes with one owner.
pub struct Held<'a, 'run> {
    run: &'a Run<'run>,
    bytes: usize,
}

impl<'a, 'run> Held<'a, 'run> {
    pub fn new(run: &'a Run<'run>) -> Self {
        Held { run, bytes: 0 }
    }

    /// A holder of this many bytes.
    pub fn of(run: &'a Run<'run>, bytes: usize) -> Self {
        let mut held = Held::new(run);
        held.set(bytes);
        held
    }

    /// From now on it is this many.
    pub fn set(&mut self, bytes: usize) {
        self.run.add_bytes(bytes as i64 - self.bytes as i64);
        self.bytes = bytes;
    }

    /// One part of what is held has been `before` bytes and is `after` bytes now.
    pub fn replace(&mut self, before: usize, after: usize) {
        debug_assert!(before <= self.bytes, "{before} of {} bytes", self.bytes);
        self.set((self.bytes + after).saturating_sub(before));
    }

    /// Hold `more` bytes, if they are within the memory limit: no two workers are promised the
    /// same.
    pub fn reserve(&mut self, more: usize) -> bool {
        let fits = self.run.reserve(more as u64);
        self.bytes += if fits { more } else { 0 };
        fits
    }
}

impl Drop for Held<'_, '_> {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// A value with its bytes.
pub struct Counted<'a, 'run, T: HeapBytes> {
    value: T,
    held: Held<'a, 'run>,
}

impl<'a, 'run, T: HeapBytes> Counted<'a, 'run, T> {
    pub fn new(run: &'a Run<'run>, value: T) -> Self {
        Counted { held: Held::of(run, value.heap_bytes()), value }
    }

    /// Change the value, and count it again.
    pub fn change<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = change(&mut self.value);
        self.held.set(self.value.heap_bytes());
        result
    }

    /// The value, of which the run knows no more.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: HeapBytes> Deref for Counted<'_, '_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Bytes that several workers hold together.
pub struct Account<'a, 'run> {
    run: &'a Run<'run>,
    bytes: AtomicI64,
}

impl<'a, 'run> Account<'a, 'run> {
    /// An account that begins with this many bytes.
    pub fn new(run: &'a Run<'run>, bytes: usize) -> Self {
        let account = Account { run, bytes: AtomicI64::new(0) };
        account.add(bytes as i64);
        account
    }

    pub fn run(&self) -> &'a Run<'run> {
        self.run
    }

    /// Change a value that this account pays for. Nobody else may change it meanwhile.
    pub fn change<T: HeapBytes, R>(&self, value: &mut T, change: impl FnOnce(&mut T) -> R) -> R {
        let before = value.heap_bytes();
        let result = change(value);
        self.add(value.heap_bytes() as i64 - before as i64);
        result
    }

    /// Most changes change no size, and those cost nothing here.
    fn add(&self, bytes: i64) {
        if bytes != 0 {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.run.add_bytes(bytes);
        }
    }
}

impl Drop for Account<'_, '_> {
    fn drop(&mut self) {
        self.run.add_bytes(-*self.bytes.get_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Scale;
    use crate::run::Limits;

    impl HeapBytes for Vec<u8> {
        fn heap_bytes(&self) -> usize {
            self.capacity()
        }
    }

    fn run(memory: u64) -> Run<'static> {
        let limits = Limits { memory: Some(memory), ..Limits::default() };
        Run::new(limits, Scale::new(1.0, 0, 0), None)
    }

    #[test]
    fn all_bytes_come_back() {
        let run = run(1000);
        {
            let mut held = Held::of(&run, 100);
            held.replace(40, 10);
            assert_eq!(run.bytes(), 70);
            assert!(held.reserve(930) && !held.reserve(1));
            assert_eq!(run.bytes(), 1000);
            let mut counted = Counted::new(&run, vec![0u8; 8]);
            counted.change(|bytes| bytes.reserve_exact(32));
            assert_eq!((counted.len(), run.bytes()), (8, 1040));
            let account = Account::new(&run, 5);
            let mut value = Vec::new();
            account.change(&mut value, |value: &mut Vec<u8>| value.reserve_exact(20));
            assert_eq!(run.bytes(), 1065);
        }
        assert_eq!((run.bytes(), run.work().peak_bytes), (0, 1065));
    }

    #[test]
    fn a_value_that_is_taken_out_is_counted_no_more() {
        let run = run(1000);
        let value = Counted::new(&run, vec![0u8; 8]).into_inner();
        assert_eq!((value.len(), run.bytes()), (8, 0));
    }
}
