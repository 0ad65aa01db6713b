//! Whole numbers of at least 0, of any size.

use std::cmp::Ordering;

/// Digits of 32 bits, the lowest first; the highest is not 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Natural {
    digits: Vec<u32>,
}

impl Natural {
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// How many binary digits there are; none in 0.
    pub fn bits(&self) -> usize {
        let top = self.digits.last().map_or(0, |digit| 32 - digit.leading_zeros() as usize);
        (self.digits.len().saturating_sub(1)) * 32 + top
    }

    /// The largest power of two that divides it, as an exponent; 0 for 0.
    pub fn trailing_zeros(&self) -> usize {
        let low = self.digits.iter().take_while(|&&digit| digit == 0).count();
        let digit = self.digits.get(low).map_or(0, |digit| digit.trailing_zeros() as usize);
        if self.is_zero() { 0 } else { low * 32 + digit }
    }

    pub fn plus(&self, other: &Natural) -> Natural {
        let mut digits = Vec::with_capacity(self.digits.len().max(other.digits.len()) + 1);
        let mut carry = 0u64;
        for at in 0..self.digits.len().max(other.digits.len()) + 1 {
            let digit = |x: &Natural| u64::from(x.digits.get(at).copied().unwrap_or(0));
            carry += digit(self) + digit(other);
            digits.push(carry as u32);
            carry >>= 32;
        }
        Natural { digits }.trimmed()
    }

    /// `self` − `other`, which is no larger.
    pub fn minus(&self, other: &Natural) -> Natural {
        debug_assert!(*self >= *other, "a difference of whole numbers is not below 0");
        let mut digits = self.digits.clone();
        let mut borrow = 0i64;
        for (at, digit) in digits.iter_mut().enumerate() {
            borrow += i64::from(*digit);
            borrow -= i64::from(other.digits.get(at).copied().unwrap_or(0));
            *digit = borrow as u32;
            borrow >>= 32;
        }
        Natural { digits }.trimmed()
    }

    pub fn times(&self, other: &Natural) -> Natural {
        let mut digits = vec![0u32; self.digits.len() + other.digits.len()];
        for (i, &a) in self.digits.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &b) in other.digits.iter().enumerate() {
                carry += u64::from(a) * u64::from(b) + u64::from(digits[i + j]);
                digits[i + j] = carry as u32;
                carry >>= 32;
            }
            digits[i + other.digits.len()] = carry as u32;
        }
        Natural { digits }.trimmed()
    }

    /// Times 2^places.
    pub fn shifted_up(&self, places: usize) -> Natural {
        if self.is_zero() {
            return Natural::default();
        }
        let (whole, bits) = (places / 32, places % 32);
        let mut digits = vec![0u32; whole];
        let mut carry = 0u64;
        for &digit in &self.digits {
            carry |= u64::from(digit) << bits;
            digits.push(carry as u32);
            carry >>= 32;
        }
        digits.push(carry as u32);
        Natural { digits }.trimmed()
    }

    /// Over 2^places, rounded down.
    pub fn shifted_down(&self, places: usize) -> Natural {
        let (whole, bits) = (places / 32, places % 32);
        let digit = |at: usize| u64::from(self.digits.get(at).copied().unwrap_or(0));
        let digits = (whole..self.digits.len())
            .map(|at| ((digit(at) | digit(at + 1) << 32) >> bits) as u32)
            .collect();
        Natural { digits }.trimmed()
    }

    /// The quotient, rounded down, and whether that leaves nothing. `None` where it does not fit.
    pub fn over(&self, divisor: &Natural) -> Option<(u128, bool)> {
        assert!(!divisor.is_zero(), "nothing is divided by 0");
        if self < divisor {
            return Some((0, self.is_zero()));
        }
        let places = self.bits() - divisor.bits();
        if places >= 127 {
            return None;
        }
        let mut rest = self.clone();
        let mut quotient = 0u128;
        while rest >= *divisor {
            // With a and b the highest 64 digits of either, rest / divisor is at least
            // a / (b + 1) · 2^places, which leaves a small part of it.
            let places = rest.bits() - divisor.bits();
            let part = (rest.leading() << 63) / (divisor.leading() + 1);
            let part = match places >= 63 {
                true => part << (places - 63),
                false => part >> (63 - places),
            };
            let part = part.max(1);
            rest = rest.minus(&divisor.times(&Natural::from(part)));
            quotient += part;
        }
        Some((quotient, rest.is_zero()))
    }

    /// The highest 64 binary digits.
    fn leading(&self) -> u128 {
        let bits = self.bits();
        let digits = match bits >= 64 {
            true => self.shifted_down(bits - 64),
            false => self.shifted_up(64 - bits),
        };
        digits.digits.iter().rev().fold(0, |all, &digit| all << 32 | u128::from(digit))
    }

    /// All bytes, the lowest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.digits.iter().flat_map(|digit| digit.to_le_bytes()).collect()
    }

    fn trimmed(mut self) -> Natural {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        self
    }
}

impl From<u128> for Natural {
    fn from(x: u128) -> Natural {
        Natural { digits: (0..4).map(|digit| (x >> (32 * digit)) as u32).collect() }.trimmed()
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Natural) -> Ordering {
        let by_length = self.digits.len().cmp(&other.digits.len());
        by_length.then_with(|| self.digits.iter().rev().cmp(other.digits.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Natural) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: [u128; 7] = [0, 1, 5, (1 << 32) - 1, 1 << 32, (1 << 63) + 12345, (1 << 64) - 1];

    #[test]
    fn arithmetic_is_that_of_wide_integers() {
        for a in SOME {
            for b in SOME {
                let (x, y) = (Natural::from(a), Natural::from(b));
                assert_eq!(x.plus(&y), (a + b).into());
                assert_eq!(x.cmp(&y), a.cmp(&b));
                if a >= b {
                    assert_eq!(x.minus(&y), (a - b).into());
                }
                if let Some(product) = a.checked_mul(b) {
                    assert_eq!(x.times(&y), product.into());
                }
                let expected = a.checked_div(b).map(|quotient| (quotient, quotient * b == a));
                if let Some(expected) = expected {
                    assert_eq!(x.over(&y), Some(expected));
                }
            }
        }
    }

    #[test]
    fn shifts_are_powers_of_two() {
        for a in SOME {
            let x = Natural::from(a);
            assert_eq!(x.bits(), 128 - a.leading_zeros() as usize);
            for places in [0, 1, 31, 32, 33, 60] {
                assert_eq!(x.shifted_up(places), (a << places).into());
                assert_eq!(x.shifted_down(places), (a >> places).into());
            }
            let far = x.shifted_up(1000);
            assert_eq!(far.shifted_down(1000), x);
            assert_eq!(
                far.trailing_zeros(),
                if a == 0 { 0 } else { 1000 + a.trailing_zeros() as usize }
            );
        }
    }

    #[test]
    fn quotients_are_the_largest_that_fit() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 32) as u32
        };
        let mut number = |most: u32| {
            let digits = (0..=next() % most).map(|_| match next() % 4 {
                0 => u32::MAX,
                1 => next() % 3,
                _ => next(),
            });
            Natural { digits: digits.collect() }.trimmed()
        };
        let mut met = 0;
        for _ in 0..20_000 {
            let (a, b) = (number(6), number(4));
            let (b, c) = (if b.is_zero() { Natural::from(3) } else { b }, number(2));
            // Multiples, and their neighbours.
            for top in [a, b.times(&c), b.times(&c).plus(&Natural::from(1))] {
                let Some((quotient, whole)) = top.over(&b) else { continue };
                let quotient = Natural::from(quotient);
                let product = b.times(&quotient);
                assert!(product <= top && top < product.plus(&b), "{top:?} over {b:?}");
                assert_eq!(whole, product == top, "{top:?} over {b:?}");
                met += 1;
            }
        }
        assert!(met > 40_000, "{met} are no numbers of ours");
    }
}
