//! Pairs of axes for any number of labels: what `pairs.rs` does for two.
//!
//! Walking along the blocks of one axis, the gains so far stand in lanes: by label, lane b has
//! those of the rows in blocks up to b of the other axis. A row is added to all lanes from its own
//! on, in registers while rows have the same label. So no sums are kept for pairs of blocks, and at
//! each boundary what the leaves on the four sides of it and of b lose is a maximum over labels,
//! lane by lane. Labels that no row of the part has are left out.

use super::grid::Grid;
use super::pairs::{Lanes, Stumps, each, lanes};
use super::rows::PartRows;
use super::unit::{LANES, Unit};
use crate::bounds::{blocks, two_labels};
use crate::cost::Cost;

/// Groups of lanes that are worked on together.
const GROUPS: usize = 3;

/// A part's rows, for walks along every axis.
#[derive(Default)]
pub struct Many<T> {
    /// By label: its plane among those that the part's rows have.
    pub plane: Vec<u32>,
    /// Planes of labels; behind them one for worst losses, if they are not the sum of the others.
    pub labels: usize,
    planes: usize,
    /// By axis, then plane (worst losses are always the last), then lane: all rows.
    totals: Vec<Vec<Lanes<T>>>,
    /// By axis, then lane: the largest number where no cut is within the block, else none.
    closed: Vec<Vec<Lanes<T>>>,
    /// By block of the axis that is walked along, then plane: where its rows begin, and the last
    /// ones end.
    starts: Vec<u32>,
    rows: Vec<u32>,
    amount: Vec<T>,
    running: Vec<[Lanes<T>; GROUPS]>,
    /// By boundary and side: what is before the first lane of a group.
    carry: Vec<[T; 2]>,
    /// By boundary and side: what the rows before each lane lose as a leaf, behind a group of lanes
    /// that ends with the carry; and what those behind it lose.
    ahead: Vec<T>,
    behind: Vec<Lanes<T>>,
    /// By boundary: whether it has the rows of the one before.
    repeats: Vec<bool>,
}

impl<T: Unit> Many<T> {
    pub fn bytes(&self) -> usize {
        let by_axis = self.totals.iter().chain(&self.closed);
        4 * self.plane.capacity()
            + by_axis.map(|lanes| lanes.capacity() * size_of::<Lanes<T>>()).sum::<usize>()
            + (self.totals.capacity() + self.closed.capacity()) * size_of::<Vec<Lanes<T>>>()
            + 4 * (self.starts.capacity() + self.rows.capacity())
            + (self.amount.capacity() + self.ahead.capacity()) * size_of::<T>()
            + self.behind.capacity() * size_of::<Lanes<T>>()
            + self.repeats.capacity()
            + self.running.capacity() * size_of::<[Lanes<T>; GROUPS]>()
            + self.carry.capacity() * size_of::<[T; 2]>()
    }

    /// Before any walk: the totals along all axes.
    pub fn begin(&mut self, rows: &PartRows<T>, grid: &Grid<T>, n_labels: usize) {
        const NONE: u32 = u32::MAX;
        self.plane.clear();
        self.plane.resize(n_labels, NONE);
        self.labels = 0;
        let mut plain = true;
        for ((&label, &gain), &worst) in rows.label.iter().zip(&rows.gain).zip(&rows.worst) {
            let plane = &mut self.plane[usize::from(label)];
            if *plane == NONE {
                *plane = self.labels as u32;
                self.labels += 1;
            }
            plain &= gain == worst;
        }
        self.planes = self.labels + usize::from(!plain);
        self.totals.resize_with(grid.axes.len(), Vec::new);
        self.closed.resize_with(grid.axes.len(), Vec::new);
        for (g, axis) in grid.axes.iter().enumerate() {
            let groups = axis.n().div_ceil(LANES);
            let closed = |block: usize| match axis.open.get(block) {
                Some(&open) if open != T::default() => T::default(),
                _ => T::MAX,
            };
            self.closed[g].clear();
            self.closed[g].extend((0..groups).map(|q| each(|l| closed(q * LANES + l))));
            let totals = &mut self.totals[g];
            totals.clear();
            totals.resize((self.labels + 1) * groups, [T::default(); LANES]);
            let of = (rows.codes[g * rows.n..][..rows.n].iter().zip(&rows.label))
                .zip(rows.gain.iter().zip(&rows.worst));
            for ((&code, &label), (&gain, &worst)) in of {
                let (q, lane) = (usize::from(code) / LANES, usize::from(code) % LANES);
                totals[self.plane[usize::from(label)] as usize * groups + q][lane] += gain;
                totals[self.labels * groups + q][lane] += worst;
            }
            for plane in totals.chunks_exact_mut(groups) {
                let mut before = T::default();
                for sum in plane.as_flattened_mut() {
                    before += *sum;
                    *sum = before;
                }
            }
        }
    }

    /// What the rows before a boundary of an axis gain with a label; behind all labels: their worst
    /// losses.
    pub fn before(&self, axis: usize, plane: usize, boundary: usize) -> T {
        match boundary {
            0 => T::default(),
            _ => self.plane(axis, plane).as_flattened()[boundary - 1],
        }
    }

    /// As above, of all rows.
    pub fn all(&self, axis: usize, plane: usize) -> T {
        self.plane(axis, plane).as_flattened().last().copied().unwrap_or_default()
    }

    fn plane(&self, axis: usize, plane: usize) -> &[Lanes<T>] {
        let totals = &self.totals[axis];
        let groups = totals.len() / (self.labels + 1);
        &totals[plane * groups..][..groups]
    }

    /// What both sides of every boundary of an axis lose as a leaf, and at least as two leaves.
    #[inline(always)]
    pub fn two_leaves(&self, f: usize, out: &mut Stumps<T>) {
        let zero = T::default();
        let groups = self.closed[f].len();
        out.begin((groups + 1) * LANES);
        for q in 0..groups {
            let mut most = [[zero; LANES]; 2];
            let mut second = [[zero; LANES]; 2];
            for plane in 0..self.labels {
                let (left, all) = (&self.plane(f, plane)[q], self.all(f, plane));
                for (side, gain) in [*left, each(|l| all - left[l])].iter().enumerate() {
                    let (first, next) = (most[side], second[side]);
                    second[side] = each(|l| next[l].max(first[l].min(gain[l])));
                    most[side] = each(|l| first[l].max(gain[l]));
                }
            }
            let (left, all) = (&self.plane(f, self.labels)[q], self.all(f, self.labels));
            for (side, worst) in [*left, each(|l| all - left[l])].iter().enumerate() {
                let (most, second) = (&most[side], &second[side]);
                let least = each(|l| two_labels::at_least(worst[l], most[l], second[l]).max(zero));
                // A lane is the boundary behind it.
                let lanes = q * LANES + 1..(q + 1) * LANES + 1;
                out.lower[side][lanes.clone()].copy_from_slice(&least);
                let leaf = each(|l| worst[l] - most[l]);
                out.leaf[side][lanes.clone()].copy_from_slice(&leaf);
                out.upper[side][lanes].copy_from_slice(&leaf);
            }
        }
        for bounds in [&mut out.lower, &mut out.upper, &mut out.leaf] {
            around(bounds, groups * LANES);
        }
    }

    /// The rows in the order of axis `f`'s blocks, and of planes within.
    pub fn walk(&mut self, rows: &PartRows<T>, f: usize, blocks: usize) {
        let codes = &rows.codes[f * rows.n..][..rows.n];
        let keys = blocks * self.planes;
        self.starts.clear();
        self.starts.resize(keys + 1, 0);
        let (planes, last) = (self.planes, self.planes - 1);
        let separate = self.planes > self.labels;
        let key = |code: u8, plane: usize| usize::from(code) * planes + plane;
        let of_label = |plane: &[u32], label: u16| plane[usize::from(label)] as usize;
        for ((&code, &label), &worst) in codes.iter().zip(&rows.label).zip(&rows.worst) {
            self.starts[key(code, of_label(&self.plane, label)) + 1] += 1;
            if separate && worst != T::default() {
                self.starts[key(code, last) + 1] += 1;
            }
        }
        for at in 1..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        let all = self.starts[keys] as usize;
        self.rows.resize(all, 0);
        self.amount.resize(all, T::default());
        let mut put = |starts: &mut [u32], key: usize, row: usize, amount: T| {
            let at = starts[key] as usize;
            starts[key] += 1;
            (self.rows[at], self.amount[at]) = (row as u32, amount);
        };
        for (row, &code) in codes.iter().enumerate() {
            let plane = of_label(&self.plane, rows.label[row]);
            put(&mut self.starts, key(code, plane), row, rows.gain[row]);
            if separate && rows.worst[row] != T::default() {
                put(&mut self.starts, key(code, last), row, rows.worst[row]);
            }
        }
        // Each start has moved to where the next one was.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Both sides' stumps along axis `g`, for every boundary of axis `f`, which is walked along;
    /// and into `crossed` those along `f`, for every boundary of `g`.
    #[inline(always)]
    pub fn stumps(
        &mut self,
        rows: &PartRows<T>,
        (f, g): (usize, usize),
        out: &mut Stumps<T>,
        crossed: &mut Stumps<T>,
    ) {
        let boundaries = (self.starts.len() - 1) / self.planes + 1;
        out.begin(boundaries.next_multiple_of(LANES));
        self.carry.clear();
        self.carry.resize(boundaries, [T::default(); 2]);
        let codes = &rows.codes[g * rows.n..][..rows.n];
        let groups = self.closed[g].len();
        crossed.begin((groups + 1) * LANES);
        for from in (0..groups).step_by(GROUPS) {
            let to = (&mut *out, &mut *crossed);
            match groups - from {
                1 => self.pass::<1>(codes, (f, g), from, to),
                2 => self.pass::<2>(codes, (f, g), from, to),
                _ => self.pass::<GROUPS>(codes, (f, g), from, to),
            }
        }
        around(&mut crossed.lower, groups * LANES);
        around(&mut crossed.upper, groups * LANES);
    }

    /// As above, for some groups of lanes.
    #[inline(always)]
    fn pass<const G: usize>(
        &mut self,
        codes: &[u8],
        (f, g): (usize, usize),
        from: usize,
        (out, crossed): (&mut Stumps<T>, &mut Stumps<T>),
    ) {
        let zero = T::default();
        self.running.clear();
        self.running.resize(self.planes, [[zero; LANES]; GROUPS]);
        let groups = self.closed[g].len();
        let last = |plane: usize| self.totals[g][(plane + 1) * groups - 1][LANES - 1];
        let all: Vec<T> = (0..=self.labels).map(last).collect();
        let mut left = vec![zero; self.labels + 1];
        let totals = &self.totals[g][..];
        let boundaries = self.carry.len();
        let stride = (G + 1) * LANES;
        self.ahead.resize(2 * boundaries * stride, zero);
        self.behind.resize(2 * boundaries * G, [zero; LANES]);
        self.repeats.clear();
        self.repeats.resize(boundaries, false);
        let first: [Lanes<T>; G] =
            std::array::from_fn(|q| each(|l| T::of(((from + q) * LANES + l) as Cost)));
        for boundary in 0..boundaries {
            let mut any = boundary == 0;
            for plane in 0..if boundary > 0 { self.planes } else { 0 } {
                let at = (boundary - 1) * self.planes + plane;
                let rows = self.starts[at] as usize..self.starts[at + 1] as usize;
                if rows.is_empty() {
                    continue;
                }
                any = true;
                let (rows, amounts) = (&self.rows[rows.clone()], &self.amount[rows]);
                let total = amounts.iter().fold(zero, |sum, &amount| sum + amount);
                let running = &mut self.running[plane];
                if spreads::<T, G>(rows.len()) {
                    spread_rows::<T, G>(running, from * LANES, codes, (rows, amounts));
                } else {
                    add_rows(running, &first, codes, (rows, amounts));
                }
                left[plane] += total;
                if self.planes == self.labels {
                    left[self.labels] += total;
                }
            }
            if !any {
                self.repeats[boundary] = true;
                continue;
            }
            // By corner: what is left and before, left and behind, right and before, right and
            // behind.
            let mut most = [[[zero; LANES]; G]; 4];
            let mut worst = [[zero; LANES]; G];
            let (mut most_left, mut most_right) = (zero, zero);
            let separate = self.planes > self.labels;
            if separate {
                worst = self.running[self.labels][..G].try_into().expect("as many groups");
            }
            for plane in 0..self.labels {
                let (left, all) = (left[plane], all[plane]);
                let right = all - left;
                (most_left, most_right) = (most_left.max(left), most_right.max(right));
                let here = &self.running[plane];
                let whole = &totals[plane * groups + from..][..G];
                for q in 0..G {
                    let (sum, whole) = (&here[q], &whole[q]);
                    let [a, b, c, d] = [most[0][q], most[1][q], most[2][q], most[3][q]];
                    most[0][q] = each(|l| a[l].max(sum[l]));
                    most[1][q] = each(|l| b[l].max(left - sum[l]));
                    most[2][q] = each(|l| c[l].max(whole[l] - sum[l]));
                    most[3][q] = each(|l| d[l].max(right - (whole[l] - sum[l])));
                    if !separate {
                        let so_far = worst[q];
                        worst[q] = each(|l| so_far[l] + sum[l]);
                    }
                }
            }
            let lost = [left[self.labels], all[self.labels] - left[self.labels]];
            let whole = &totals[self.labels * groups + from..][..G];
            for side in 0..2 {
                let at = 2 * boundary + side;
                let (ahead, behind) =
                    (&mut self.ahead[at * stride + LANES..], &mut self.behind[at * G..][..G]);
                for q in 0..G {
                    let (worst, whole) = (&worst[q], &whole[q]);
                    let lost_before =
                        each(|l| if side == 0 { worst[l] } else { whole[l] - worst[l] });
                    let (front, back) = (&most[2 * side][q], &most[2 * side + 1][q]);
                    let lost_ahead = each(|l| lost_before[l] - front[l]);
                    ahead[q * LANES..][..LANES].copy_from_slice(&lost_ahead);
                    behind[q] = each(|l| lost[side] - lost_before[l] - back[l]);
                }
                let most = if side == 0 { most_left } else { most_right };
                out.leaf[side][boundary] = lost[side] - most;
            }
        }
        if f != g {
            self.cross::<G>(f, from, crossed);
        }
        self.splits::<G>(g, from, out);
    }

    /// What either side of each lane loses at least, split along the axis that is walked along:
    /// what is left and right of a boundary, or of the two around a block. The quadrants are those
    /// that stumps beside the boundaries have, put together the other way round.
    #[inline(always)]
    fn cross<const G: usize>(&self, f: usize, from: usize, crossed: &mut Stumps<T>) {
        let stride = (G + 1) * LANES;
        let closed = self.closed[f].as_flattened();
        for q in 0..G {
            let ahead = |at: usize| lanes(&self.ahead, at * stride + (q + 1) * LANES);
            let behind = |at: usize| &self.behind[at * G + q];
            let (mut upper, mut lower) = ([[T::MAX; LANES]; 2], [[T::MAX; LANES]; 2]);
            let mut before = 0;
            for boundary in 0..self.repeats.len() {
                if self.repeats[boundary] {
                    continue;
                }
                let has_cuts = boundary > 0 && closed[boundary - 1] == T::default();
                let quadrants = [
                    [ahead(2 * boundary), ahead(2 * boundary + 1), ahead(2 * before)],
                    [behind(2 * boundary), behind(2 * boundary + 1), behind(2 * before)],
                ];
                for (side, [left, right, left_before]) in quadrants.into_iter().enumerate() {
                    let (high, low) = (upper[side], lower[side]);
                    upper[side] = each(|l| high[l].min(left[l] + right[l]));
                    if has_cuts {
                        lower[side] =
                            each(|l| low[l].min(blocks::at_least(left_before[l], right[l])));
                    }
                }
                before = boundary;
            }
            // A lane is the boundary behind it.
            let at = (from + q) * LANES + 1;
            for side in 0..2 {
                let (high, low) = (&upper[side], &lower[side]);
                crossed.upper[side][at..at + LANES].copy_from_slice(high);
                crossed.lower[side][at..at + LANES].copy_from_slice(&each(|l| low[l].min(high[l])));
            }
        }
    }

    /// The best splits at lanes, and between each and the one before, from what either side of them
    /// loses. Apart from `pass`, because lanes that were just written are slow to read one further.
    #[inline(always)]
    fn splits<const G: usize>(&mut self, g: usize, from: usize, out: &mut Stumps<T>) {
        let stride = (G + 1) * LANES;
        let closed = &self.closed[g][from..from + G];
        for boundary in 0..self.carry.len() {
            if self.repeats[boundary] {
                out.repeat(boundary);
                self.carry[boundary] = self.carry[boundary - 1];
                continue;
            }
            for side in 0..2 {
                let at = 2 * boundary + side;
                let ahead = &mut self.ahead[at * stride..][..stride];
                let behind = &self.behind[at * G..][..G];
                let (mut upper, mut lower) = ([T::MAX; LANES], [T::MAX; LANES]);
                ahead[LANES - 1] = self.carry[boundary][side];
                self.carry[boundary][side] = ahead[stride - 1];
                for q in 0..G {
                    let (here, behind, closed) =
                        (lanes(ahead, (q + 1) * LANES), &behind[q], &closed[q]);
                    let one_less = lanes(ahead, (q + 1) * LANES - 1);
                    let (high, low) = (upper, lower);
                    upper = each(|l| high[l].min(here[l] + behind[l]));
                    lower = each(|l| {
                        let within = blocks::at_least(one_less[l], behind[l]);
                        low[l].min(closed[l].max(within))
                    });
                }
                out.take(side, boundary, least(&upper), least(&lower));
            }
        }
    }
}

#[inline(always)]
fn least<T: Unit>(lanes: &Lanes<T>) -> T {
    let mut lanes = *lanes;
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            lanes[lane] = lanes[lane].min(lanes[lane + width]);
        }
    }
    lanes[0]
}

/// Add rows to all lanes from their own on. Each group of lanes is a variable of its own, so that
/// it stays in a register.
#[inline(always)]
fn add_rows<T: Unit, const G: usize>(
    running: &mut [Lanes<T>; GROUPS],
    first: &[Lanes<T>; G],
    codes: &[u8],
    (rows, amounts): (&[u32], &[T]),
) {
    let [mut a, mut b, mut c] = *running;
    for (&row, &amount) in rows.iter().zip(amounts) {
        let code = T::of(Cost::from(codes[row as usize]));
        let add = |sum: &Lanes<T>, first: &Lanes<T>| -> Lanes<T> {
            each(|l| sum[l] + (T::mask(code <= first[l]) & amount))
        };
        a = add(&a, &first[0]);
        if G > 1 {
            b = add(&b, &first[1 % G]);
        }
        if G > 2 {
            c = add(&c, &first[2 % G]);
        }
    }
    *running = [a, b, c];
}

/// Whether so many rows are added in less time each to its own lane, and then up over all lanes,
/// than to all lanes at once. A row takes as many bytes of vectors as all lanes have, or a step in
/// memory; adding up takes a step for each lane.
fn spreads<T, const G: usize>(rows: usize) -> bool {
    const STEP: usize = 4;
    let (vectors, lanes) = (G * size_of::<T>(), G * LANES);
    rows * vectors.saturating_sub(STEP) > STEP * lanes
}

/// Add rows each to its own lane, and what is there to all lanes behind. Rows of blocks before the
/// first lane, which is that of block `first`, are in all lanes.
#[inline(always)]
fn spread_rows<T: Unit, const G: usize>(
    running: &mut [Lanes<T>; GROUPS],
    first: usize,
    codes: &[u8],
    (rows, amounts): (&[u32], &[T]),
) {
    // The last place is for rows of blocks behind all lanes.
    let mut own = [[T::default(); LANES]; GROUPS + 1];
    let lanes = own.as_flattened_mut();
    for (&row, &amount) in rows.iter().zip(amounts) {
        let lane = usize::from(codes[row as usize]).saturating_sub(first);
        lanes[lane.min(G * LANES)] += amount;
    }
    let mut sum = T::default();
    for (running, &own) in running[..G].as_flattened_mut().iter_mut().zip(lanes.iter()) {
        sum += own;
        *running += sum;
    }
}

/// Before the first boundary there is nothing, and behind it what is before the last.
fn around<T: Unit>([left, right]: &mut [Vec<T>; 2], last: usize) {
    (left[0], right[0]) = (T::default(), left[last]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways<const G: usize>(group: usize, state: &mut u64) {
        let mut random = |below: u64| {
            *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (*state >> 33) % below
        };
        let codes: Vec<u8> = (0..300).map(|_| random(256) as u8).collect();
        let rows: Vec<u32> = (0..random(300)).map(|_| random(300) as u32).collect();
        let amounts: Vec<i32> = rows.iter().map(|_| random(1000) as i32).collect();
        let lane = |q: usize, l: usize| ((group + q) * LANES + l) as i32;
        let first: [Lanes<i32>; G] = std::array::from_fn(|q| each(|l| lane(q, l)));
        let mut one_by_one = [[7; LANES]; GROUPS];
        let mut at_once = one_by_one;
        add_rows(&mut at_once, &first, &codes, (&rows, &amounts));
        spread_rows::<i32, G>(&mut one_by_one, group * LANES, &codes, (&rows, &amounts));
        assert_eq!(one_by_one[..G], at_once[..G], "{G} groups from {group} on");
    }

    #[test]
    fn rows_are_in_the_same_lanes_either_way() {
        let mut state = 5;
        for _ in 0..20 {
            for group in 0..6 {
                both_ways::<1>(group, &mut state);
                both_ways::<2>(group, &mut state);
                both_ways::<3>(group, &mut state);
            }
        }
    }
}
