//! Fractions of any size.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

use super::natural::Natural;

/// ± top / under, with `under` more than 0.
#[derive(Debug, Clone)]
pub struct Ratio {
    negative: bool,
    top: Natural,
    under: Natural,
}

impl Ratio {
    pub fn zero() -> Ratio {
        Ratio::from(0)
    }

    /// A finite float, exactly as it is stored.
    pub fn stored(x: f64) -> Ratio {
        let (digits, exponent) = parts(x);
        Ratio::binary(x < 0.0, Natural::from(u128::from(digits)), exponent)
    }

    /// A finite float, read as the shortest decimal that is this float: 0.1 is 1/10.
    pub fn written(x: f64) -> Ratio {
        let text = format!("{x:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.replace(['-', '.'], "");
        let decimals = mantissa.split_once('.').map_or(0, |(_, after)| after.len() as i32);
        let shift = exponent.parse::<i32>().unwrap_or(0) - decimals;
        let digits = Natural::from(digits.parse::<u128>().unwrap_or(0));
        let power = power_of_ten(shift.unsigned_abs());
        let one = Natural::from(1);
        let (top, under) = if shift >= 0 { (digits.times(&power), one) } else { (digits, power) };
        Ratio { negative: x < 0.0, top, under }.reduced()
    }

    /// ± digits · 2^exponent.
    pub fn binary(negative: bool, digits: Natural, exponent: i32) -> Ratio {
        let places = exponent.unsigned_abs() as usize;
        let one = Natural::from(1);
        match exponent >= 0 {
            true => Ratio { negative, top: digits.shifted_up(places), under: one },
            false => Ratio { negative, top: digits, under: one.shifted_up(places) }.reduced(),
        }
    }

    pub fn is_zero(&self) -> bool {
        self.top.is_zero()
    }

    /// Whether it is above 0.
    pub fn is_positive(&self) -> bool {
        !self.negative && !self.is_zero()
    }

    pub fn abs(&self) -> Ratio {
        Ratio { negative: false, ..self.clone() }
    }

    /// `self` / `divisor`, which is not 0.
    pub fn over(&self, divisor: &Ratio) -> Ratio {
        assert!(!divisor.is_zero(), "nothing is divided by 0");
        let negative = self.negative != divisor.negative;
        let (top, under) = (self.top.times(&divisor.under), self.under.times(&divisor.top));
        Ratio { negative, top, under }.reduced()
    }

    /// The largest whole number that is no larger. `None` where it does not fit.
    pub fn floor(&self) -> Option<i128> {
        let (quotient, whole) = self.top.over(&self.under)?;
        let quotient = i128::try_from(quotient).ok()?;
        Some(if self.negative { -quotient - i128::from(!whole) } else { quotient })
    }

    /// The least whole number that is no smaller. `None` where it does not fit.
    pub fn ceil(&self) -> Option<i128> {
        (-self).floor().map(|floor| -floor)
    }

    /// The nearest float; infinite where there is none.
    pub fn nearest(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        // A quotient of 64 bits or one less, of which the last says whether there is more below.
        let shift = 64 + self.under.bits() as i64 - self.top.bits() as i64;
        // Floats end at 2^−1074, and two more digits say where a smaller one is rounded to.
        let shift = shift.min(1076);
        let (top, under) = match shift >= 0 {
            true => (self.top.shifted_up(shift as usize), self.under.clone()),
            false => (self.top.clone(), self.under.shifted_up(-shift as usize)),
        };
        let (quotient, whole) = top.over(&under).unwrap_or((u128::MAX, true));
        let quotient = match shift == 1076 && quotient < 1 << 55 {
            true => to_fours(quotient, !whole),
            false => quotient,
        };
        let more = !whole && (shift != 1076 || quotient >= 1 << 55);
        let size = power(rounded(quotient, more), -shift);
        if self.negative { -size } else { size }
    }

    /// The largest float that is no larger.
    pub fn float_below(&self) -> f64 {
        let nearest = self.nearest();
        if nearest.is_finite() && Ratio::stored(nearest) <= *self {
            nearest
        } else {
            nearest.next_down()
        }
    }

    /// The root of a fraction between 0 and 1, to 120 binary digits: rounded down, and exact where
    /// those are enough.
    pub fn root(&self) -> Ratio {
        const PLACES: i32 = 120;
        let scaled = self.top.shifted_up(2 * PLACES as usize);
        let mut root = 0u128;
        for place in (0..=PLACES).rev() {
            let tried = Natural::from(root | 1 << place);
            if tried.times(&tried).times(&self.under) <= scaled {
                root |= 1 << place;
            }
        }
        Ratio::binary(false, Natural::from(root), -PLACES)
    }

    /// Without the powers of two that both parts share.
    fn reduced(mut self) -> Ratio {
        if self.top.is_zero() {
            return Ratio { negative: false, top: self.top, under: Natural::from(1) };
        }
        let shared = self.top.trailing_zeros().min(self.under.trailing_zeros());
        if shared > 0 {
            self.top = self.top.shifted_down(shared);
            self.under = self.under.shifted_down(shared);
        }
        self
    }
}

/// To the nearest multiple of 4, of two the even one; `more` says that there is something below the
/// last digit.
fn to_fours(quotient: u128, more: bool) -> u128 {
    let (fours, rest) = (quotient >> 2, quotient & 3);
    let up = rest == 3 || rest == 2 && (more || fours & 1 == 1);
    (fours + u128::from(up)) << 2
}

/// To the nearest float, where `more` says that there is something below the last digit.
fn rounded(quotient: u128, more: bool) -> f64 {
    // One more digit at the end holds what was left over, so that halves are told from what is
    // above them.
    ((quotient << 1) | u128::from(more)) as f64 / 2.0
}

/// x · 2^n, which is exact unless it is below the least normal float or infinite.
fn power(mut x: f64, mut n: i64) -> f64 {
    while n != 0 {
        let step = n.clamp(-1000, 1000);
        x *= f64::from_bits(((step + 1023) as u64) << 52);
        n -= step;
    }
    x
}

/// The digits of a float's size, and the power of two that they are multiplied by.
pub(super) fn parts(x: f64) -> (u64, i32) {
    debug_assert!(x.is_finite(), "only finite numbers are exact");
    let (digits, raw) = (x.to_bits() & ((1 << 52) - 1), (x.to_bits() >> 52 & 2047) as i32);
    if raw == 0 { (digits, -1074) } else { (digits | 1 << 52, raw - 1075) }
}

/// A float as a whole number of a power of two: x = whole · 2^exponent.
pub fn whole(x: f64) -> (i64, i32) {
    let (digits, exponent) = parts(x);
    (if x < 0.0 { -(digits as i64) } else { digits as i64 }, exponent)
}

fn power_of_ten(exponent: u32) -> Natural {
    let ten = |exponent: u32| Natural::from(10u128.pow(exponent));
    let mut power = ten(exponent % 32);
    for _ in 0..exponent / 32 {
        power = power.times(&ten(32));
    }
    power
}

impl From<i128> for Ratio {
    fn from(x: i128) -> Ratio {
        Ratio { negative: x < 0, top: Natural::from(x.unsigned_abs()), under: Natural::from(1) }
    }
}

impl From<i64> for Ratio {
    fn from(x: i64) -> Ratio {
        Ratio::from(i128::from(x))
    }
}

impl From<i32> for Ratio {
    fn from(x: i32) -> Ratio {
        Ratio::from(i128::from(x))
    }
}

impl Neg for &Ratio {
    type Output = Ratio;

    fn neg(self) -> Ratio {
        Ratio { negative: !self.negative && !self.is_zero(), ..self.clone() }
    }
}

impl Add for &Ratio {
    type Output = Ratio;

    fn add(self, other: &Ratio) -> Ratio {
        let (a, b, under) = match self.under == other.under {
            true => (self.top.clone(), other.top.clone(), self.under.clone()),
            false => (
                self.top.times(&other.under),
                other.top.times(&self.under),
                self.under.times(&other.under),
            ),
        };
        let (negative, top) = match (self.negative == other.negative, a >= b) {
            (true, _) => (self.negative, a.plus(&b)),
            (false, true) => (self.negative, a.minus(&b)),
            (false, false) => (other.negative, b.minus(&a)),
        };
        Ratio { negative, top, under }.reduced()
    }
}

impl Sub for &Ratio {
    type Output = Ratio;

    fn sub(self, other: &Ratio) -> Ratio {
        self + &-other
    }
}

impl Mul for &Ratio {
    type Output = Ratio;

    fn mul(self, other: &Ratio) -> Ratio {
        let negative = self.negative != other.negative;
        let (top, under) = (self.top.times(&other.top), self.under.times(&other.under));
        Ratio { negative, top, under }.reduced()
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let sizes = || self.top.times(&other.under).cmp(&other.top.times(&self.under));
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => sizes(),
            (true, true) => sizes().reverse(),
        }
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Ratio) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: [f64; 12] = [
        0.0,
        1.0,
        -1.0,
        0.1,
        -2.5,
        1.0 / 3.0,
        1e300,
        -1e-300,
        5e-324,
        2.2250738585072014e-308,
        f64::MAX,
        123456.789,
    ];

    #[test]
    fn floats_come_back_as_they_were() {
        for x in SOME {
            assert_eq!(Ratio::stored(x).nearest(), x, "{x:e}");
            assert_eq!(Ratio::written(x).nearest(), x, "{x:e}");
            assert_eq!(Ratio::stored(x).float_below(), x, "{x:e}");
        }
        let tenth = Ratio::from(1).over(&Ratio::from(10));
        assert_eq!(Ratio::written(0.1), tenth);
        assert!(Ratio::stored(0.1) > tenth);
    }

    #[test]
    fn arithmetic_is_that_of_floats_where_those_are_exact() {
        let some = [0.0, 1.5, -2.25, 1024.0, -0.0625];
        for a in some {
            for b in some {
                let (x, y) = (Ratio::stored(a), Ratio::stored(b));
                assert_eq!((&x + &y).nearest(), a + b);
                assert_eq!((&x - &y).nearest(), a - b);
                assert_eq!((&x * &y).nearest(), a * b);
                assert_eq!(x.partial_cmp(&y), a.partial_cmp(&b));
                if b != 0.0 {
                    assert_eq!(x.over(&y).nearest(), a / b);
                }
            }
            assert_eq!(Ratio::stored(a).floor(), Some(a.floor() as i128));
            assert_eq!(Ratio::stored(a).ceil(), Some(a.ceil() as i128));
        }
        let far = &Ratio::stored(1e200) + &Ratio::stored(1e-200);
        assert_eq!((&far - &Ratio::stored(1e200)).nearest(), 1e-200);
    }

    #[test]
    fn roots_are_those_of_squares() {
        for (a, b) in [(0, 1), (1, 1), (1, 4), (9, 64)] {
            let square = Ratio::from(a).over(&Ratio::from(b));
            assert_eq!(&square.root() * &square.root(), square);
        }
        for x in [0.5, 0.1, 1e-20, 0.999] {
            assert_eq!(Ratio::stored(x).root().nearest(), x.sqrt());
        }
    }

    #[test]
    fn quotients_are_rounded_to_the_nearest_float() {
        // Divisions of floats are, and quotients of any size are moved into their range.
        for (a, b) in [(1.0, 3.0), (2.0, 3.0), (1e17, 7.0), (5e-324, 2.0), (3e-308, 7.0)] {
            assert_eq!(Ratio::stored(a).over(&Ratio::stored(b)).nearest(), a / b);
        }
        let third = Ratio::from(1).over(&Ratio::from(3));
        assert!(Ratio::stored(third.float_below()) < third);
        assert!(Ratio::stored(third.float_below().next_up()) > third);
        let half_way = &Ratio::from(1) + &Ratio::stored(f64::EPSILON / 2.0);
        assert_eq!(half_way.nearest(), 1.0);
        let above = &half_way + &Ratio::stored(1e-300);
        assert_eq!(above.nearest(), 1.0 + f64::EPSILON);
    }
}
