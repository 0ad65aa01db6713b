//! Sums of floats to twice their precision: a number is kept as the unevaluated sum of two floats.
//!
//! The error-free sum is Knuth's and the error-free product Dekker's. They hold as long as nothing
//! overflows or underflows, so callers scale first.

use std::ops::{Add, Mul, Neg, Sub};

/// `high + low`, where `low` is at most half a step of `high`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Twofold {
    pub high: f64,
    pub low: f64,
}

/// a + b and what rounding took from it.
fn sum(a: f64, b: f64) -> Twofold {
    let high = a + b;
    let of_b = high - a;
    Twofold { high, low: (a - (high - of_b)) + (b - of_b) }
}

/// As above, where |a| ≥ |b|.
fn ordered_sum(a: f64, b: f64) -> Twofold {
    let high = a + b;
    Twofold { high, low: b - (high - a) }
}

/// a · b and what rounding took from it.
fn product(a: f64, b: f64) -> Twofold {
    let halves = |x: f64| {
        let far = x * 134_217_729.0; // 2^27 + 1
        let top = far - (far - x);
        (top, x - top)
    };
    let (high, (a1, a2), (b1, b2)) = (a * b, halves(a), halves(b));
    Twofold { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
}

impl Twofold {
    /// a − b, exactly.
    pub fn difference(a: f64, b: f64) -> Twofold {
        sum(a, -b)
    }

    pub fn floor(self) -> i128 {
        let whole = self.high.floor();
        whole as i128 + ((self.high - whole) + self.low).floor() as i128
    }

    /// Times 2^n.
    pub fn scale(self, n: i32) -> Twofold {
        Twofold { high: scale(self.high, n), low: scale(self.low, n) }
    }

    pub fn over(self, divisor: Twofold) -> Twofold {
        let first = self.high / divisor.high;
        let rest = self - divisor * Twofold::from(first);
        let second = rest.high / divisor.high;
        let rest = rest - divisor * Twofold::from(second);
        ordered_sum(first, second) + Twofold::from(rest.high / divisor.high)
    }
}

impl From<f64> for Twofold {
    fn from(high: f64) -> Self {
        Twofold { high, low: 0.0 }
    }
}

impl From<i64> for Twofold {
    fn from(whole: i64) -> Self {
        let high = whole as f64;
        Twofold { high, low: (i128::from(whole) - high as i128) as f64 }
    }
}

impl Add for Twofold {
    type Output = Twofold;

    fn add(self, other: Twofold) -> Twofold {
        let (high, low) = (sum(self.high, other.high), sum(self.low, other.low));
        let part = ordered_sum(high.high, high.low + low.high);
        ordered_sum(part.high, part.low + low.low)
    }
}

impl Neg for Twofold {
    type Output = Twofold;

    fn neg(self) -> Twofold {
        Twofold { high: -self.high, low: -self.low }
    }
}

impl Sub for Twofold {
    type Output = Twofold;

    fn sub(self, other: Twofold) -> Twofold {
        self + -other
    }
}

impl Mul for Twofold {
    type Output = Twofold;

    fn mul(self, other: Twofold) -> Twofold {
        let all = product(self.high, other.high);
        ordered_sum(all.high, all.low + (self.high * other.low + self.low * other.high))
    }
}

/// x · 2^n: exact, unless it overflows or underflows.
pub(super) fn scale(mut x: f64, mut n: i32) -> f64 {
    let power = |n: i32| f64::from_bits(((n + 1023) as u64) << 52);
    while n.abs() > 1000 {
        let step = n.clamp(-1000, 1000);
        x *= power(step);
        n -= step;
    }
    x * power(n)
}

/// The least n with x ≤ 2^n, for positive numbers.
pub(super) fn exponent(x: f64) -> i32 {
    debug_assert!(x.is_finite() && x > 0.0, "{x} has no exponent");
    let mut n = x.log2().ceil().clamp(-1080.0, 1025.0) as i32;
    // The logarithm is rounded.
    while scale(x, -n) > 1.0 {
        n += 1;
    }
    while scale(x, 1 - n) <= 1.0 {
        n -= 1;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_are_kept() {
        let d = Twofold::difference(1e9, 1e-9);
        assert_eq!((d + Twofold::from(-1e9)).high, -1e-9);
        let third = Twofold::from(1.0).over(Twofold::from(3.0));
        let again = third * Twofold::from(3.0) - Twofold::from(1.0);
        assert!(again.high.abs() < 1e-31, "{again:?}");
        let square = d * d - Twofold::from(1e18);
        assert!((square.high + 2.0).abs() < 1e-12, "{square:?}");
    }

    #[test]
    fn integers_beyond_floats_stay_exact() {
        let big = (1i64 << 60) + 1;
        assert_eq!(Twofold::from(big), Twofold { high: (1i64 << 60) as f64, low: 1.0 });
        assert_eq!(Twofold::from(big).floor(), i128::from(big));
        assert_eq!(Twofold { high: 5.0, low: -1e-20 }.floor(), 4);
    }

    #[test]
    fn exponents_and_powers_reach_all_floats() {
        for x in [1.0, 1.0f64.next_up(), 0.75, 5e-324, f64::MAX, 3e-310, 1e-300] {
            let n = exponent(x);
            assert!(scale(x, -n) <= 1.0 && scale(x, -n) > 0.5, "{x:e}: {n}");
            assert_eq!(scale(scale(x, -n), n), x);
        }
    }
}
