//! A threshold in a column's own type: `x <= threshold` holds for a value of that type exactly if
//! `x <= cutoff` does, so that prediction never converts a value.

use crate::data::Threshold;

pub trait Cutoff: Copy + PartialOrd {
    /// The largest value of the type that is at most `threshold`; `None` if no value is.
    fn at_most(threshold: Threshold) -> Option<Self>;
}

macro_rules! float_cutoff {
    ($($float:ty),*) => {$(
        impl Cutoff for $float {
            fn at_most(threshold: Threshold) -> Option<Self> {
                // Conversion rounds to the nearest, which may lie above.
                let (nearest, above) = match threshold {
                    Threshold::Float(t) if t.is_nan() => return None,
                    Threshold::Float(t) => (t as $float, f64::from(t as $float) > t),
                    Threshold::Int(t) => (t as $float, (t as $float) as i128 > i128::from(t)),
                };
                Some(if above { nearest.next_down() } else { nearest })
            }
        }
    )*};
}

macro_rules! integer_cutoff {
    ($($int:ty),*) => {$(
        impl Cutoff for $int {
            fn at_most(threshold: Threshold) -> Option<Self> {
                match threshold {
                    // The least value of each integer type is a float; conversion stops at the
                    // largest.
                    Threshold::Float(t) => (t >= <$int>::MIN as f64).then(|| t.floor() as $int),
                    Threshold::Int(t) => {
                        let (t, most) = (i128::from(t), <$int>::MAX as i128);
                        (t >= <$int>::MIN as i128).then(|| t.min(most) as $int)
                    }
                }
            }
        }
    )*};
}

float_cutoff!(f64, f32);
integer_cutoff!(i64, i32, i16, i8, u64, u32, u16, u8);

#[cfg(test)]
mod tests {
    use super::*;
    use Threshold::{Float, Int};

    #[test]
    fn floats_round_down_to_shorter_floats() {
        let above = f64::from(1.5f32).next_up();
        assert_eq!(f32::at_most(Float(above)), Some(1.5));
        assert_eq!(f32::at_most(Float(f64::from(1.5f32).next_down())), Some(1.5f32.next_down()));
        assert_eq!(f32::at_most(Float(1e300)), Some(f32::MAX));
        assert_eq!(f32::at_most(Float(-1e300)), Some(f32::NEG_INFINITY));
        assert_eq!(f32::at_most(Float(f64::NAN)), None);
    }

    #[test]
    fn floats_become_the_integer_below() {
        assert_eq!(i32::at_most(Float(-0.5)), Some(-1));
        assert_eq!(u8::at_most(Float(-0.5)), None);
        assert_eq!(u8::at_most(Float(255.5)), Some(255));
        assert_eq!(i8::at_most(Float(-128.5)), None);
        assert_eq!(i8::at_most(Float(-128.0)), Some(-128));
        assert_eq!(i64::at_most(Float(9e18)), Some(9_000_000_000_000_000_000));
        assert_eq!(i64::at_most(Float(1e19)), Some(i64::MAX));
        assert_eq!(i64::at_most(Float(-1e19)), None);
        assert_eq!(u64::at_most(Float(f64::INFINITY)), Some(u64::MAX));
        assert_eq!(u64::at_most(Float(f64::NAN)), None);
    }

    #[test]
    fn integers_become_the_float_below() {
        let big = (1i64 << 53) + 1;
        assert_eq!(f64::at_most(Int(big)), Some((1i64 << 53) as f64));
        assert_eq!(f64::at_most(Int(i64::MAX)), Some((1i64 << 62) as f64 * 2.0f64.next_down()));
        assert_eq!(f64::at_most(Int(i64::MIN)), Some(i64::MIN as f64));
        assert_eq!(f32::at_most(Int((1 << 24) + 1)), Some((1i64 << 24) as f32));
        assert_eq!(f32::at_most(Int((1 << 24) + 3)), Some(((1i64 << 24) + 2) as f32));
    }

    #[test]
    fn integers_stay_or_stop_at_the_ends() {
        assert_eq!(i8::at_most(Int(-129)), None);
        assert_eq!(i8::at_most(Int(300)), Some(127));
        assert_eq!(u64::at_most(Int(-1)), None);
        assert_eq!(u64::at_most(Int(i64::MAX)), Some(i64::MAX as u64));
        assert_eq!(i64::at_most(Int(i64::MIN)), Some(i64::MIN));
    }
}
