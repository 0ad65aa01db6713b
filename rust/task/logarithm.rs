//! The natural logarithm without branches, which the compiler turns into vectors.
//!
//! A number x is 2^e · m with ½√2 ≤ m < √2, and ln m = 2 · artanh s with s = (m − 1) / (m + 1), so
//! that |s| < 0.1716: of the series s + s³/3 + s⁵/5 + …, what comes behind the ninth power of s² is
//! below 2^-55 of the whole.
//!
//! In units of 2^-53: e · ln 2 with its sum is off by 2.25 of |e · ln 2|, and ln m by less than 2.2
//! of itself. As |ln m| < 0.35, |e · ln 2| is at most |ln x| + 0.35, and if |ln x| < 1 then |e| ≤
//! 1. So **the result is off by less than 2^-51 times the larger of |ln x| and 1.**
//!
//! In single precision, the series ends behind the fourth power of s², what is left out is below
//! 2^-28 of the whole, and in units of 2^-24: e · ln 2 is off by 2 of itself, ln m by 3.5, and
//! their sum by 1. So **that is off by less than 2^-21 times the larger of |ln x| and 1.**

/// The series in powers of s²: 1/3, 1/5, …
const TERMS: [f64; 9] = {
    let mut terms = [0.0; 9];
    let mut k = 0;
    while k < terms.len() {
        terms[k] = 1.0 / (2 * k + 3) as f64;
        k += 1;
    }
    terms
};

/// The logarithm of a normal number above 0.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
    let root = std::f64::consts::FRAC_1_SQRT_2.to_bits() as i64;
    let bits = x.to_bits() as i64;
    let exponent = (bits - root) >> MANTISSA;
    let m = f64::from_bits((bits - (exponent << MANTISSA)) as u64);
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    // A loop, because a closure is not always compiled for the vectors of who calls this.
    let (mut series, mut k) = (0.0, TERMS.len());
    while k > 0 {
        k -= 1;
        series = series * square + TERMS[k];
    }
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * (s + s * square * series)
}

/// As above, in single precision.
#[inline(always)]
pub fn ln_f32(x: f32) -> f32 {
    const MANTISSA: u32 = f32::MANTISSA_DIGITS - 1;
    let root = std::f32::consts::FRAC_1_SQRT_2.to_bits() as i32;
    let bits = x.to_bits() as i32;
    let exponent = (bits - root) >> MANTISSA;
    let m = f32::from_bits((bits - (exponent << MANTISSA)) as u32);
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let series = ((square * (1.0 / 9.0) + 1.0 / 7.0) * square + 1.0 / 5.0) * square + 1.0 / 3.0;
    exponent as f32 * std::f32::consts::LN_2 + 2.0 * (s + s * square * series)
}

#[cfg(test)]
mod tests {
    use super::{ln, ln_f32};

    #[test]
    fn it_is_as_close_in_single_precision() {
        let near_one =
            (-40..40).map(|step: i32| f32::from_bits((1f32.to_bits() as i32 + step) as u32));
        let any =
            (f32::MIN_POSITIVE.to_bits()..f32::MAX.to_bits()).step_by(997).map(f32::from_bits);
        for x in any.chain(near_one) {
            let exact = f64::from(x).ln();
            let off = (f64::from(ln_f32(x)) - exact).abs();
            assert!(off <= exact.abs().max(1.0) * (-21f64).exp2(), "ln {x} is off by {off}");
        }
    }

    #[test]
    fn it_is_as_close_as_it_says() {
        let mut state = 1u64;
        for _ in 0..2_000_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // Any mantissa, and exponents of which half are near 0.
            let exponent = match state >> 60 {
                0..8 => 1022 + (state >> 54 & 1),
                _ => 1 + (state >> 44) % 2046,
            };
            let x = f64::from_bits(exponent << 52 | state >> 12 & ((1 << 52) - 1));
            let off = (ln(x) - x.ln()).abs();
            assert!(off <= x.ln().abs().max(1.0) * (-51f64).exp2(), "ln {x} is off by {off}");
        }
        for x in [1.0, f64::MIN_POSITIVE, f64::MAX, 1.0f64.next_up(), 1.0f64.next_down()] {
            let off = (ln(x) - x.ln()).abs();
            assert!(off <= x.ln().abs().max(1.0) * (-51f64).exp2(), "ln {x} is off by {off}");
        }
    }
}
