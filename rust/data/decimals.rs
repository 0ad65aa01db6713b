//! Decimals of few digits: thresholds that one can say aloud.
//!
//! The range that a threshold may lie in has the midpoint as its centre. So if any multiple of a
//! power of ten lies in it, the one nearest to the midpoint does, and with it one of each lower
//! power.

/// So many digits tell all floats apart.
const MOST_DIGITS: usize = 17;

/// Powers of ten up to here are floats, and so are whole numbers of so many digits: their products
/// and quotients are rounded once, so that they are the floats nearest to the decimals.
const EXACT_POWER: i32 = 22;
const EXACT_DIGITS: i32 = 15;

const TENS: [f64; EXACT_POWER as usize + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The decimal of fewest digits strictly between two floats, and of these the one nearest to
/// `middle`, which is their midpoint; the midpoint where no float lies between, or one of the two
/// is infinite.
pub fn shortest(low: f64, high: f64, middle: f64) -> f64 {
    // Zero has no digits at all.
    if !(low < middle && middle < high && middle != 0.0 && (high - low).is_finite()) {
        return middle;
    }
    quickly(low, high, middle).unwrap_or_else(|| slowly(low, high, middle))
}

/// As [`shortest`], while numbers have so few digits that each of them is rounded once.
fn quickly(low: f64, high: f64, middle: f64) -> Option<f64> {
    let first_digit = size(middle.abs())?;
    let last_digit = (first_digit - EXACT_DIGITS + 1).max(-EXACT_POWER);
    let at = |place| {
        let short = rounded(middle, place);
        (low < short && short < high).then_some(short)
    };
    // Some multiple of a power that is less than the width lies in the range.
    let start = size(high - low)?.clamp(last_digit, first_digit);
    match at(start) {
        Some(found) => {
            let higher = (start + 1..=first_digit).map_while(at);
            Some(higher.last().unwrap_or(found))
        }
        None => (last_digit..start).rev().find_map(at),
    }
}

/// The multiple of a power of ten that is nearest to a number, if it has [`EXACT_DIGITS`] at most.
fn rounded(number: f64, place: i32) -> f64 {
    let tens = TENS[place.unsigned_abs() as usize];
    match place > 0 {
        true => whole(number / tens) * tens,
        false => whole(number * tens) / tens,
    }
}

/// The nearest whole number, of two the even one: floats of the size of the sum have no fractions.
fn whole(number: f64) -> f64 {
    const LARGE: f64 = 1.5 * (1u64 << 52) as f64;
    (number + LARGE) - LARGE
}

/// Where the leading digit of a positive number stands, or one place lower; `None` if that power of
/// ten is no float.
fn size(number: f64) -> Option<i32> {
    let exponent = ((number.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    // log10(2), rounded down.
    let below = (exponent * 1233) >> 12;
    let place = match TENS.get((below + 1).unsigned_abs() as usize)? {
        power if below + 1 >= 0 => below + i32::from(number >= *power),
        power => below + i32::from(number * power >= 1.0),
    };
    (place.abs() <= EXACT_POWER).then_some(place)
}

/// As [`shortest`], for all numbers.
fn slowly(low: f64, high: f64, middle: f64) -> f64 {
    let short = |digits| format!("{middle:.digits$e}").parse().unwrap_or(middle);
    (0..MOST_DIGITS).map(short).find(|short| low < *short && *short < high).unwrap_or(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many digits a number has as it is printed.
    fn digits(number: f64) -> usize {
        let text = format!("{number:e}");
        text.split('e').next().unwrap().chars().filter(char::is_ascii_digit).count()
    }

    fn midpoint(low: f64, high: f64) -> f64 {
        low + (high - low) / 2.0
    }

    #[test]
    fn decimals_that_one_knows() {
        let found = |low: f64, high: f64| shortest(low, high, midpoint(low, high));
        assert_eq!(found(54.3, 54.4), 54.35);
        assert_eq!(found(1.5, 1001.0), 500.0);
        assert_eq!(found(0.1, 0.3), 0.2);
        assert_eq!(found(-7.3, -7.1), -7.2);
        assert_eq!(found(99.5, 101.0), 100.0);
        assert_eq!(found(-1.0, 1.0), 0.0);
        assert_eq!(found(1e22, 3e22), 2e22);
        assert_eq!(found(3e22, 1e23), 6e22);
        assert_eq!(found(5e-324, 2e-323), 1e-323);
        assert_eq!(found(1.0, 1.0 + f64::EPSILON), 1.0);
    }

    /// Numbers of all sizes, and ranges of all widths, against the digits that are printed.
    #[test]
    fn no_decimal_between_has_fewer_digits() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for case in 0..200_000 {
            let most = if case % 5 == 0 { 280.0 } else { 12.0 };
            let sign = if random() < 0.5 { -1.0 } else { 1.0 };
            let low = sign * 10f64.powf((random() * 2.0 - 1.0) * most) * random();
            let high = low + low.abs() * 10f64.powf(-random() * 15.0);
            let middle = midpoint(low, high);
            if !(low < middle && middle < high) {
                assert_eq!(shortest(low, high, middle), middle);
                continue;
            }
            let found = shortest(low, high, middle);
            assert!(low < found && found < high, "{low} {found} {high}");
            let slow = slowly(low, high, middle);
            assert!(digits(found) <= digits(slow), "{low} {high}: {found}, but {slow}");
            if digits(found) == digits(slow) && digits(found) < 15 {
                // Both ways compute with floats where the middle stands.
                let rounding = 4.0 * f64::EPSILON * middle.abs();
                let [own, other] = [found, slow].map(|short| (short - middle).abs());
                assert!(own <= other + rounding, "{found} {slow}");
            }
        }
    }
}
