//! Numbers of trees: exact, however large.

use std::cmp::Ordering;

use crate::exact::Natural;

/// A number of trees. Most fit into a machine's widest integer; the others are of any size.
#[derive(Debug, Clone)]
pub struct Count(Size);

#[derive(Debug, Clone)]
enum Size {
    Small(u128),
    Large(Natural),
}

impl Count {
    pub const ZERO: Count = Count(Size::Small(0));
    pub const ONE: Count = Count(Size::Small(1));

    fn natural(&self) -> Natural {
        match &self.0 {
            Size::Small(small) => Natural::from(*small),
            Size::Large(large) => large.clone(),
        }
    }

    pub fn is_zero(&self) -> bool {
        matches!(self.0, Size::Small(0))
    }

    pub fn add(&mut self, other: &Count) {
        if let (Size::Small(one), Size::Small(two)) = (&self.0, &other.0)
            && let Some(sum) = one.checked_add(*two)
        {
            self.0 = Size::Small(sum);
            return;
        }
        self.0 = Size::Large(self.natural().plus(&other.natural()));
    }

    pub fn times(&self, other: &Count) -> Count {
        if let (Size::Small(one), Size::Small(two)) = (&self.0, &other.0)
            && let Some(product) = one.checked_mul(*two)
        {
            return Count(Size::Small(product));
        }
        Count(Size::Large(self.natural().times(&other.natural())))
    }

    /// `self` − `other`, or `None` where `other` is larger.
    pub fn minus(&self, other: &Count) -> Option<Count> {
        if *self < *other {
            return None;
        }
        Some(match (&self.0, &other.0) {
            (Size::Small(one), Size::Small(two)) => Count(Size::Small(one - two)),
            _ => Count::of(self.natural().minus(&other.natural())),
        })
    }

    /// A number in its shorter form.
    fn of(large: Natural) -> Count {
        let one = Natural::from(1);
        match large.bits() {
            0..128 => large.over(&one).map_or(Count(Size::Large(large)), |(small, _)| small.into()),
            _ => Count(Size::Large(large)),
        }
    }

    /// A number below this one, which is above 0; all with the same chance. `word` gives random
    /// words.
    pub fn random_below(&self, word: &mut impl FnMut() -> u64) -> Count {
        let bits = self.natural().bits();
        loop {
            let mut drawn = Natural::default();
            for from in (0..bits).step_by(64) {
                let wanted = (bits - from).min(64);
                let part = Natural::from(u128::from(word() >> (64 - wanted)));
                drawn = drawn.plus(&part.shifted_up(from));
            }
            let drawn = Count::of(drawn);
            if drawn < *self {
                return drawn;
            }
        }
    }

    /// The bytes of the number, the lowest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.natural().to_bytes()
    }
}

impl From<u128> for Count {
    fn from(small: u128) -> Count {
        Count(Size::Small(small))
    }
}

impl Ord for Count {
    fn cmp(&self, other: &Count) -> Ordering {
        match (&self.0, &other.0) {
            (Size::Small(one), Size::Small(two)) => one.cmp(two),
            _ => self.natural().cmp(&other.natural()),
        }
    }
}

impl PartialOrd for Count {
    fn partial_cmp(&self, other: &Count) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Count {
    fn eq(&self, other: &Count) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Count {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_beyond_the_widest_integer_and_come_back() {
        let half = Count::from(1 << 127);
        let mut whole = half.clone();
        whole.add(&half);
        assert!(whole > half && whole == Count::from(2).times(&half));
        assert_eq!(whole.minus(&half), Some(half.clone()));
        assert_eq!(half.minus(&whole), None);
        assert_eq!(whole.minus(&whole), Some(Count::ZERO));
        assert_eq!(Count::from(258).to_bytes(), [2, 1, 0, 0]);
    }

    #[test]
    fn every_number_below_is_drawn() {
        let mut state = 1u64;
        let mut word = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state
        };
        let mut drawn = [0; 5];
        for _ in 0..500 {
            let number = Count::from(5).random_below(&mut word);
            drawn[(0..5).position(|at| Count::from(at) == number).expect("below 5")] += 1;
        }
        assert!(drawn.iter().all(|&times| (60..140).contains(&times)), "{drawn:?}");
    }
}
