//! Sums of many floats, and of their products, without any rounding.

use super::natural::Natural;
use super::ratio::{Ratio, parts};

/// Bits in a place.
const WIDTH: i32 = 32;

/// Products of three floats are whole numbers of 2^−3222 and below 2^3072.
const LOWEST: i32 = -3232;
const PLACES: usize = 202;

/// More than this many numbers are carried before they are added.
const MOST: u32 = 1 << 28;

/// An exact sum: a number in places of 32 bits, each of which holds a whole `i64` until it is
/// carried.
#[derive(Debug, Clone)]
pub struct Total {
    places: Box<[i64; PLACES]>,
    added: u32,
}

impl Default for Total {
    fn default() -> Total {
        Total { places: Box::new([0; PLACES]), added: 0 }
    }
}

impl Total {
    pub fn add(&mut self, x: f64) {
        let (digits, exponent) = parts(x);
        self.put(x < 0.0, u128::from(digits), exponent);
    }

    pub fn add_product(&mut self, a: f64, b: f64) {
        let ((x, m), (y, n)) = (parts(a), parts(b));
        self.put((a < 0.0) != (b < 0.0), u128::from(x) * u128::from(y), m + n);
    }

    /// Adds x · 2^exponent.
    pub fn add_whole(&mut self, x: i64, exponent: i32) {
        self.put(x < 0, u128::from(x.unsigned_abs()), exponent);
    }

    /// Adds w · 2^places · x.
    pub fn add_weighed(&mut self, (w, places): (i64, i32), x: f64) {
        let (digits, exponent) = parts(x);
        let digits = u128::from(digits) * u128::from(w.unsigned_abs());
        self.put((w < 0) != (x < 0.0), digits, exponent + places);
    }

    /// Adds w · 2^places · x².
    pub fn add_weighed_square(&mut self, (w, places): (i64, i32), x: f64) {
        let (digits, exponent) = parts(x);
        let (high, low) = (u128::from(digits >> 27), u128::from(digits & ((1 << 27) - 1)));
        let weight = u128::from(w.unsigned_abs());
        // (high · 2²⁷ + low)², in parts that have room for the weight.
        let last = 2 * exponent + places;
        self.put(w < 0, weight * (high * high), last + 54);
        self.put(w < 0, weight * (high * low), last + 28);
        self.put(w < 0, weight * (low * low), last);
    }

    /// ± digits · 2^exponent.
    fn put(&mut self, negative: bool, digits: u128, exponent: i32) {
        if digits == 0 {
            return;
        }
        let at = (exponent - LOWEST) as usize;
        let (first, bits) = (at / WIDTH as usize, at % WIDTH as usize);
        let low = digits << bits;
        let high = if bits > 0 { digits >> (128 - bits) } else { 0 };
        for (place, part) in [low, low >> 32, low >> 64, low >> 96, high].into_iter().enumerate() {
            let part = i64::from(part as u32);
            self.places[first + place] += if negative { -part } else { part };
        }
        self.added += 1;
        if self.added >= MOST {
            self.carry();
        }
    }

    fn carry(&mut self) {
        let mut carry = 0;
        for place in self.places.iter_mut().take(PLACES - 1) {
            *place += carry;
            carry = *place >> WIDTH;
            *place &= (1 << WIDTH) - 1;
        }
        self.places[PLACES - 1] += carry;
        self.added = 0;
    }

    pub fn ratio(&self) -> Ratio {
        let mut whole = [Natural::default(), Natural::default()];
        for (place, &part) in self.places.iter().enumerate().filter(|&(_, &part)| part != 0) {
            let part_of = Natural::from(u128::from(part.unsigned_abs()));
            let side = &mut whole[usize::from(part < 0)];
            *side = side.plus(&part_of.shifted_up(place * WIDTH as usize));
        }
        let [above, below] = whole.map(|whole| Ratio::binary(false, whole, LOWEST));
        &above - &below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_everything() {
        let mut total = Total::default();
        for x in [1e300, 5e-324, -1e300, 0.5, f64::MAX, -f64::MAX, -0.25] {
            total.add(x);
        }
        assert_eq!(total.ratio(), &Ratio::stored(0.25) + &Ratio::stored(5e-324));
        let mut total = Total::default();
        total.add_product(f64::MAX, f64::MAX);
        total.add_product(5e-324, -5e-324);
        total.add_whole(-7, -40);
        total.carry();
        let square = |x: f64| &Ratio::stored(x) * &Ratio::stored(x);
        let seven = Ratio::stored(7.0 * (-40f64).exp2());
        assert_eq!(total.ratio(), &(&square(f64::MAX) - &square(5e-324)) - &seven);
    }

    #[test]
    fn weighed_sums_are_products() {
        for x in [0.1, -3.7e-300, 1e150, 5e-324, 1.0 - f64::EPSILON] {
            for w in [1, -3, (1 << 61) + 12345, i64::MAX] {
                let (mut sum, mut square) = (Total::default(), Total::default());
                sum.add_weighed((w, 0), x);
                square.add_weighed_square((w, 0), x);
                let product = &Ratio::from(w) * &Ratio::stored(x);
                assert_eq!(sum.ratio(), product);
                assert_eq!(square.ratio(), &product * &Ratio::stored(x));
            }
        }
    }

    #[test]
    fn carrying_changes_nothing() {
        let mut total = Total::default();
        for x in [0.1, -0.3, 1e20, -7e-9] {
            total.add(x);
            let before = total.ratio();
            total.carry();
            assert_eq!(total.ratio(), before);
        }
    }
}
