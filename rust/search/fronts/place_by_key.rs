//! The places of candidates by a key: of two candidates with an equal key, one is enough.

/// A hash table from keys to places in a list.
#[derive(Debug, Default)]
pub struct PlaceByKey {
    /// Their number is a power of two, and more than half of them are free.
    slots: Vec<Option<(i64, u32)>>,
    len: usize,
}

impl PlaceByKey {
    /// A table with room for so many keys.
    pub fn with_room(keys: usize) -> PlaceByKey {
        PlaceByKey { slots: vec![None; Self::slots_for(keys)], len: 0 }
    }

    fn slots_for(keys: usize) -> usize {
        (2 * keys + 2).next_power_of_two()
    }

    /// The bytes that `with_room` takes.
    pub fn bytes_for(keys: usize) -> usize {
        Self::slots_for(keys) * size_of::<Option<(i64, u32)>>()
    }

    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Option<(i64, u32)>>()
    }

    /// Bytes that one more key may take.
    pub fn growth(&self) -> usize {
        let grows = 2 * (self.len + 1) > self.slots.len();
        if grows { Self::bytes_for(2 * self.len) } else { 0 }
    }

    /// The place known for this key, which the caller may change; `place` if there was none.
    pub fn place_of(&mut self, key: i64, place: u32) -> &mut u32 {
        if 2 * (self.len + 1) > self.slots.len() {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![None; Self::slots_for(2 * self.len)];
            for (key, place) in old.into_iter().flatten() {
                let slot = self.slot(key);
                self.slots[slot] = Some((key, place));
            }
        }
        let slot = self.slot(key);
        self.len += usize::from(self.slots[slot].is_none());
        &mut self.slots[slot].get_or_insert((key, place)).1
    }

    /// The slot that has the key, or may take it.
    fn slot(&self, key: i64) -> usize {
        // The high bits of a product with an odd number are as good as random.
        let bits = self.slots.len().trailing_zeros();
        let mut slot = ((key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
        while self.slots[slot].is_some_and(|(known, _)| known != key) {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_each_key_is_kept() {
        let mut places = PlaceByKey::default();
        for place in 0..10_000u32 {
            let key = i64::from(place % 3_000) * 7 - 9_000;
            assert_eq!(*places.place_of(key, place), place % 3_000);
        }
        *places.place_of(-9_000, 0) = 5;
        assert_eq!(*places.place_of(-9_000, 7), 5);
    }
}
