//! The word kernels, each in a portable version and in versions for the CPU's vector units.
//!
//! Bits are counted in *lanes*: 32 columns side by side, 16 rows of each in one `u16`. A column's
//! count over all its rows stays in one 16-bit lane, so nothing is ever summed across lanes.
//!
//! This is the only file with `unsafe`. Each block calls a function compiled for a CPU feature that
//! `Level::detect` has seen, or reads a value of plain old data as a vector of the same size. One
//! more calls a user's compiled function. The portable versions are the specification; `tests`
//! compares the others with them on random words.

use std::num::NonZeroUsize;

use super::lanes::{LANES, Lanes, ROWS};
use super::pairs::{Best, Pair, two_classes};
use super::portable::{compress, xor};

/// Which version of the kernels this CPU runs. Found once, then passed along. Only `detect` and
/// `all` make one, so that having a level is proof that the CPU has its features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Portable,
    Avx2,
    Avx512,
}

impl Level {
    /// The best level of this CPU.
    pub fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bitalg")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("gfni")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
            {
                return Level(Kind::Avx512);
            }
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
            {
                return Level(Kind::Avx2);
            }
        }
        Level(Kind::Portable)
    }

    /// Every level this CPU has, for tests and benches.
    pub fn all() -> Vec<Level> {
        let best = Level::detect();
        let kinds = [Kind::Portable, Kind::Avx2, Kind::Avx512];
        kinds.into_iter().map(Level).filter(|&level| level <= best).collect()
    }

    /// Run `work` compiled for this level: what is inlined into it is vectorised for the CPU.
    #[inline(always)]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        match self.0 {
            // SAFETY: a level above `Portable` exists only where `detect` saw its features.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { x86::run_avx512(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { x86::run_avx2(work) },
            _ => work(),
        }
    }

    /// For four neighbouring columns of `left` from `lane` on, and each of 32 columns of `right`:
    /// add `weight` for every row that has both. The caller keeps all sums below 2^16.
    #[inline(always)]
    pub fn add_pairs(
        self,
        left: &[Lanes],
        lane: usize,
        right: &[Lanes],
        weight: u16,
        sums: &mut [Lanes; 4],
    ) {
        match self.0 {
            // SAFETY: the level was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { x86::add_pairs_avx512(left, lane, right, weight, sums) },
            // SAFETY: the level was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { x86::add_pairs_avx2(left, lane, right, weight, sums) },
            _ => add_pairs(left, lane, right, weight, sums),
        }
    }

    /// How many rows each of 32 columns has; fewer than 2^16.
    #[inline(always)]
    pub fn count_columns(self, lanes: &[Lanes]) -> Lanes {
        match self.0 {
            // SAFETY: the level was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { x86::count_columns_avx512(lanes) },
            _ => self.run(|| count_columns(lanes)),
        }
    }

    /// Take in the four cells of a split i and 32 splits j. Of two classes, the smaller one is
    /// wrong: the stumps on the sides of i, and on those of every j. If `few` is not 0, also the
    /// halves: cells with less than that of the other class. All weight together is below 2^16.
    #[inline(always)]
    pub fn two_classes(self, pair: &Pair, few: u16, of_i: &mut Best, of_j: &mut Best) {
        match self.0 {
            // SAFETY: the level was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { x86::two_classes_avx512(pair, few, of_i, of_j) },
            _ => two_classes(pair, few, of_i, of_j),
        }
    }

    /// The least of all lanes.
    #[inline(always)]
    pub fn least(self, lanes: &Lanes) -> u16 {
        match self.0 {
            // SAFETY: the level was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { x86::least_avx512(lanes) },
            _ => lanes.0.iter().fold(u16::MAX, |least, &x| least.min(x)),
        }
    }

    /// The most of all lanes.
    #[inline(always)]
    pub fn most(self, lanes: &Lanes) -> u16 {
        !self.least(&Lanes(lanes.0.map(|x| !x)))
    }

    /// Turn 16 rows of 64 columns into 64 columns of 16 rows.
    #[inline(always)]
    pub fn transpose(self, rows: &[u64; ROWS]) -> [Lanes; 2] {
        match self.0 {
            // SAFETY: the level was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { x86::transpose_avx512(rows) },
            _ => transpose(rows),
        }
    }

    /// Copy the rows of one or two words whose bit `shift` of word `word` is `side` to the front of
    /// `out`, which has room for all of them and one vector more. Returns how many were copied, and
    /// takes every copied word into `any` (or) and `all` (and).
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub fn select<const STRIDE: usize>(
        self,
        rows: &[u64],
        (word, shift): (usize, usize),
        side: bool,
        out: &mut [u64],
        any: &mut [u64; STRIDE],
        all: &mut [u64; STRIDE],
    ) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.0 == Kind::Avx512 && (STRIDE == 1 || STRIDE == 2) {
            // SAFETY: the level was detected.
            return unsafe { x86::select_avx512(rows, (word, shift), side, out, any, all) };
        }
        select(rows, (word, shift), side, out, any, all)
    }

    /// The XOR of the keys of all rows, and of those that have bit `shift` of word `word`.
    #[inline(always)]
    pub fn xor<const STRIDE: usize>(
        self,
        rows: &[[u64; STRIDE]],
        keys: &[[u64; 2]],
        (word, shift): (usize, usize),
    ) -> [[u64; 2]; 2] {
        match self.0 {
            // SAFETY: the level was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { x86::xor_avx512(rows, keys, (word, shift)) },
            _ => xor(rows, keys, (word, shift)),
        }
    }

    /// The bits of `word` that `mask` selects, side by side at the low end.
    #[inline(always)]
    pub fn compress(self, word: u64, mask: u64) -> u64 {
        match self.0 {
            // SAFETY: the level was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 | Kind::Avx2 => unsafe { x86::compress_bmi2(word, mask) },
            _ => compress(word, mask),
        }
    }
}

/// `void leaf_cost(const double* sums, int64_t n_leaves, int64_t width, double* costs)`, compiled
/// elsewhere.
type LeafCost = extern "C" fn(*const f64, i64, i64, *mut f64);

/// Let the [`LeafCost`] at an address write one cost for each leaf. The caller of the library
/// vouches for the address, as with any foreign function: nobody can check what stands there.
pub fn call_leaf_cost(address: NonZeroUsize, sums: &[f64], costs: &mut [f64]) {
    assert!(!costs.is_empty() && sums.len().is_multiple_of(costs.len()));
    let (n, width) = (costs.len() as i64, (sums.len() / costs.len()) as i64);
    // SAFETY: the address is not null, and whoever gave it says that a `LeafCost` stands there,
    // which reads `n * width` sums and writes `n` costs, because it was told both numbers.
    let call = unsafe { std::mem::transmute::<*const (), LeafCost>(address.get() as *const ()) };
    call(sums.as_ptr(), n, width, costs.as_mut_ptr());
}

#[inline(always)]
fn add_pairs(left: &[Lanes], lane: usize, right: &[Lanes], weight: u16, sums: &mut [Lanes; 4]) {
    for (x, y) in left.iter().zip(right) {
        for (t, sum) in sums.iter_mut().enumerate() {
            let word = x.0[lane + t];
            for l in 0..LANES {
                sum.0[l] += weight * (y.0[l] & word).count_ones() as u16;
            }
        }
    }
}

#[inline(always)]
fn count_columns(lanes: &[Lanes]) -> Lanes {
    let mut sum = Lanes::ZERO;
    for x in lanes {
        for l in 0..LANES {
            sum.0[l] += x.0[l].count_ones() as u16;
        }
    }
    sum
}

#[inline(always)]
fn select<const STRIDE: usize>(
    rows: &[u64],
    (word, shift): (usize, usize),
    side: bool,
    out: &mut [u64],
    any: &mut [u64; STRIDE],
    all: &mut [u64; STRIDE],
) -> usize {
    let mut n = 0;
    for row in rows.chunks_exact(STRIDE) {
        // Rows are written whether they stay or not, and the next one overwrites those that do not.
        let take = (row[word] >> shift & 1) ^ u64::from(!side);
        let mask = take.wrapping_neg();
        for w in 0..STRIDE {
            out[n * STRIDE + w] = row[w];
            any[w] |= row[w] & mask;
            all[w] &= row[w] | !mask;
        }
        n += take as usize;
    }
    n
}

fn transpose(rows: &[u64; ROWS]) -> [Lanes; 2] {
    let mut out = [Lanes::ZERO; 2];
    // Eight by eight: swap blocks of 1, 2 and 4 bits across the diagonal.
    for half in 0..2 {
        for byte in 0..8 {
            let mut x = 0u64;
            for r in 0..8 {
                x |= (rows[half * 8 + r] >> (byte * 8) & 0xff) << (r * 8);
            }
            let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
            x ^= t ^ (t << 7);
            let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
            x ^= t ^ (t << 14);
            let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
            x ^= t ^ (t << 28);
            for j in 0..8 {
                let column = byte * 8 + j;
                let bits = (x >> (j * 8) & 0xff) as u16;
                out[column / LANES].0[column % LANES] |= bits << (half * 8);
            }
        }
    }
    out
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Best, LANES, Lanes, Pair, ROWS};
    use std::arch::x86_64::*;
    use std::mem::transmute;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bitalg,bmi2,popcnt")]
    pub(super) fn run_avx512<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    #[target_feature(enable = "avx2,bmi2,popcnt")]
    pub(super) fn run_avx2<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512bitalg")]
    pub(super) fn add_pairs_avx512(
        left: &[Lanes],
        lane: usize,
        right: &[Lanes],
        weight: u16,
        out: &mut [Lanes; 4],
    ) {
        assert!(lane + 4 <= LANES);
        let mut sums = [_mm512_setzero_si512(); 4];
        for (x, y) in left.iter().zip(right) {
            // SAFETY: both are 64 bytes of plain data.
            let y: __m512i = unsafe { transmute(*y) };
            for t in 0..4 {
                let x = _mm512_set1_epi16(x.0[lane + t] as i16);
                sums[t] = _mm512_add_epi16(sums[t], _mm512_popcnt_epi16(_mm512_and_si512(x, y)));
            }
        }
        for t in 0..4 {
            // SAFETY: both are 64 bytes of plain data.
            let known: __m512i = unsafe { transmute(out[t]) };
            if weight != 1 {
                sums[t] = _mm512_mullo_epi16(sums[t], _mm512_set1_epi16(weight as i16));
            }
            // SAFETY: as above.
            out[t] = unsafe { transmute::<__m512i, Lanes>(_mm512_add_epi16(sums[t], known)) };
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512bitalg")]
    pub(super) fn count_columns_avx512(lanes: &[Lanes]) -> Lanes {
        let mut sum = _mm512_setzero_si512();
        for x in lanes {
            // SAFETY: both are 64 bytes of plain data.
            let x: __m512i = unsafe { transmute(*x) };
            sum = _mm512_add_epi16(sum, _mm512_popcnt_epi16(x));
        }
        // SAFETY: both are 64 bytes of plain data.
        unsafe { transmute(sum) }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn two_classes_avx512(pair: &Pair, few: u16, of_i: &mut Best, of_j: &mut Best) {
        // SAFETY: both are 64 bytes of plain data.
        let load = |lanes: &Lanes| unsafe { transmute::<Lanes, __m512i>(*lanes) };
        // SAFETY: as above.
        let store = |x: __m512i| unsafe { transmute::<__m512i, Lanes>(x) };
        let cells = [0, 1].map(|class| {
            let (both, j) = (load(&pair.both[class]), load(&pair.ones_j[class]));
            let one = _mm512_set1_epi16(pair.one[class] as i16);
            let zero = _mm512_set1_epi16(pair.zero[class] as i16);
            let only_j = _mm512_sub_epi16(j, both);
            [_mm512_sub_epi16(zero, only_j), only_j, _mm512_sub_epi16(one, both), both]
        });
        let errors = [0, 1, 2, 3].map(|s: usize| _mm512_min_epu16(cells[0][s], cells[1][s]));
        let stump = |best: &mut Lanes, a: usize, b: usize| {
            let sum = _mm512_adds_epu16(errors[a], errors[b]);
            *best = store(_mm512_min_epu16(load(best), sum));
        };
        stump(&mut of_i.stumps[0], 0, 1);
        stump(&mut of_i.stumps[1], 2, 3);
        stump(&mut of_j.stumps[0], 0, 2);
        stump(&mut of_j.stumps[1], 1, 3);
        if few == 0 {
            return;
        }
        let few = _mm512_set1_epi16(few as i16);
        for class in 0..2 {
            let kept = [0, 1, 2, 3].map(|s: usize| {
                let keep = _mm512_cmplt_epu16_mask(cells[1 - class][s], few);
                _mm512_maskz_mov_epi16(keep, cells[class][s])
            });
            let half = |best: &mut Lanes, a: usize, b: usize| {
                let most = _mm512_max_epu16(kept[a], kept[b]);
                *best = store(_mm512_max_epu16(load(best), most));
            };
            half(&mut of_i.halves[0][class], 0, 1);
            half(&mut of_i.halves[1][class], 2, 3);
            half(&mut of_j.halves[0][class], 0, 2);
            half(&mut of_j.halves[1][class], 1, 3);
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn least_avx512(lanes: &Lanes) -> u16 {
        // SAFETY: both are 64 bytes of plain data.
        let x: __m512i = unsafe { transmute(*lanes) };
        let halves = (_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));
        let x = _mm256_min_epu16(halves.0, halves.1);
        let x = _mm_min_epu16(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
        _mm_extract_epi16::<0>(_mm_minpos_epu16(x)) as u16
    }

    /// Counts bytes by looking up their nibbles, and adds the two bytes of each lane at the end of
    /// every run short enough for bytes not to overflow.
    #[target_feature(enable = "avx2")]
    pub(super) fn add_pairs_avx2(
        left: &[Lanes],
        lane: usize,
        right: &[Lanes],
        weight: u16,
        out: &mut [Lanes; 4],
    ) {
        assert!(lane + 4 <= LANES);
        let table = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2,
            3, 3, 4,
        );
        let low = _mm256_set1_epi8(15);
        let ones = _mm256_set1_epi8(1);
        let mut sums = [[_mm256_setzero_si256(); 2]; 4];
        // A byte counts at most 8 a row group: 31 groups fit.
        for (xs, ys) in left.chunks(31).zip(right.chunks(31)) {
            let mut bytes = [[_mm256_setzero_si256(); 2]; 4];
            for (x, y) in xs.iter().zip(ys) {
                // SAFETY: both are 64 bytes of plain data.
                let y: [__m256i; 2] = unsafe { transmute(*y) };
                for t in 0..4 {
                    let x = _mm256_set1_epi16(x.0[lane + t] as i16);
                    for h in 0..2 {
                        let both = _mm256_and_si256(x, y[h]);
                        let a = _mm256_shuffle_epi8(table, _mm256_and_si256(both, low));
                        let high = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
                        let b = _mm256_shuffle_epi8(table, high);
                        bytes[t][h] = _mm256_add_epi8(bytes[t][h], _mm256_add_epi8(a, b));
                    }
                }
            }
            for t in 0..4 {
                for h in 0..2 {
                    let pairs = _mm256_maddubs_epi16(bytes[t][h], ones);
                    sums[t][h] = _mm256_add_epi16(sums[t][h], pairs);
                }
            }
        }
        // SAFETY: both are 256 bytes of plain data.
        let sums: [Lanes; 4] = unsafe { transmute(sums) };
        for (out, sum) in out.iter_mut().zip(&sums) {
            for (out, sum) in out.0.iter_mut().zip(&sum.0) {
                *out += weight * sum;
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    pub(super) fn transpose_avx512(rows: &[u64; ROWS]) -> [Lanes; 2] {
        // Byte b of row r, for eight rows, goes to byte r of word b ...
        const GATHER: [u8; 64] = {
            let mut at = [0; 64];
            let mut i = 0;
            while i < 64 {
                // ... with the rows upside down, as the affine product wants its matrix.
                at[i] = ((7 - i % 8) * 8 + i / 8) as u8;
                i += 1;
            }
            at
        };
        // Lane c takes byte c of the low rows and byte c of the high rows.
        const WEAVE: [[u8; 64]; 2] = {
            let mut at = [[0; 64]; 2];
            let mut i = 0;
            while i < 64 {
                at[0][i] = (i / 2 + i % 2 * 64) as u8;
                at[1][i] = (i / 2 + 32 + i % 2 * 64) as u8;
                i += 1;
            }
            at
        };
        // SAFETY: arrays of the same size of plain data.
        let rows: [__m512i; 2] = unsafe { transmute(*rows) };
        // SAFETY: as above.
        let gather: __m512i = unsafe { transmute(GATHER) };
        // SAFETY: as above.
        let weave: [__m512i; 2] = unsafe { transmute(WEAVE) };
        // Byte j of each word has bit j alone: multiplying it by the matrix takes out column j.
        let unit = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
        let turn = |rows: __m512i| {
            let matrix = _mm512_permutexvar_epi8(gather, rows);
            _mm512_gf2p8affine_epi64_epi8::<0>(unit, matrix)
        };
        let (low, high) = (turn(rows[0]), turn(rows[1]));
        let out = [
            _mm512_permutex2var_epi8(low, weave[0], high),
            _mm512_permutex2var_epi8(low, weave[1], high),
        ];
        // SAFETY: both are 128 bytes of plain data.
        unsafe { transmute(out) }
    }

    /// Eight words at a time: a mask of the words that stay, and the CPU's own compression.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,popcnt")]
    pub(super) fn select_avx512<const STRIDE: usize>(
        rows: &[u64],
        (word, shift): (usize, usize),
        side: bool,
        out: &mut [u64],
        any: &mut [u64; STRIDE],
        all: &mut [u64; STRIDE],
    ) -> usize {
        let bit = _mm512_set1_epi64(1 << shift);
        // The words that decide, one in each row.
        let deciding: __mmask8 = if STRIDE == 1 { 0xff } else { 0x55 << word };
        let flip = if side { 0 } else { deciding };
        let (mut or, mut and) = (_mm512_setzero_si512(), _mm512_set1_epi64(-1));
        let mut n = 0;
        let chunks = rows.chunks_exact(8);
        let rest = chunks.remainder();
        for chunk in chunks {
            let chunk: &[u64; 8] = chunk.try_into().expect("chunks of eight");
            // SAFETY: both are 64 bytes of plain data.
            let v: __m512i = unsafe { transmute(*chunk) };
            let own = _mm512_mask_test_epi64_mask(deciding, v, bit) ^ flip;
            let stay = match (STRIDE, word) {
                (1, _) => own,
                (_, 0) => own | own << 1,
                _ => own | own >> 1,
            };
            or = _mm512_mask_or_epi64(or, stay, or, v);
            and = _mm512_mask_and_epi64(and, stay, and, v);
            // SAFETY: both are 64 bytes of plain data.
            let packed: [u64; 8] = unsafe { transmute(_mm512_maskz_compress_epi64(stay, v)) };
            out[n..n + 8].copy_from_slice(&packed);
            n += stay.count_ones() as usize;
        }
        // SAFETY: both are 64 bytes of plain data.
        let (or, and): ([u64; 8], [u64; 8]) =
            unsafe { (transmute::<__m512i, [u64; 8]>(or), transmute::<__m512i, [u64; 8]>(and)) };
        for w in 0..8 {
            any[w % STRIDE] |= or[w];
            all[w % STRIDE] &= and[w];
        }
        n / STRIDE + super::select(rest, (word, shift), side, &mut out[n..], any, all)
    }

    /// Four keys to a vector, and two bits of the mask to a key.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn xor_avx512<const STRIDE: usize>(
        rows: &[[u64; STRIDE]],
        keys: &[[u64; 2]],
        (word, shift): (usize, usize),
    ) -> [[u64; 2]; 2] {
        let [mut all, mut ones] = [_mm512_setzero_si512(); 2];
        let (rows, keys) = (rows.chunks_exact(4), keys.chunks_exact(4));
        let [rest_all, rest_ones] = super::xor(rows.remainder(), keys.remainder(), (word, shift));
        for (rows, keys) in rows.zip(keys) {
            let mask = (0..4).fold(0, |mask, r| mask | (rows[r][word] >> shift & 1) << (2 * r));
            let keys: &[[u64; 2]; 4] = keys.try_into().expect("four");
            // SAFETY: both are 64 bytes of plain data.
            let keys: __m512i = unsafe { transmute(*keys) };
            all = _mm512_xor_si512(all, keys);
            ones = _mm512_xor_si512(ones, _mm512_maskz_mov_epi64(mask as u8 * 3, keys));
        }
        [(all, rest_all), (ones, rest_ones)].map(|(sum, rest)| {
            // SAFETY: both are 64 bytes of plain data.
            let sum: [[u64; 2]; 4] = unsafe { transmute(sum) };
            sum.iter().fold(rest, |sum, key| [sum[0] ^ key[0], sum[1] ^ key[1]])
        })
    }

    #[target_feature(enable = "bmi2")]
    pub(super) fn compress_bmi2(word: u64, mask: u64) -> u64 {
        _pext_u64(word, mask)
    }
}

#[cfg(test)]
mod tests;
