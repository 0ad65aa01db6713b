//! Exact stumps for other than two labels: one pair of labels after the other.
//!
//! Statement: where leaves take labels a and b, a stump of rows with worst losses W that gain G_a
//! and G_b with them loses at least W − G_a − G_b, and what it loses depends on the rows of these
//! two labels alone.
//!
//! Proof: it loses W less what the rows of its one leaf gain with a and those of the other with b.
//!
//! So rows are swept as for two labels, once for each pair of labels that may be below what is
//! asked for, without the rows of all other labels. Two leaves of one label are one leaf.

use hashbrown::HashMap;

use super::many::Many;
use super::scan::Line;
use super::sweep::{Range, Swept, lay_out};
use super::unit::Unit;
use crate::bits::Level;
use crate::view::Axis;

/// The rows of two labels in the order of an axis.
#[derive(Default)]
struct LabelPair<T> {
    row: Vec<u32>,
    swept: Swept<T>,
    /// By axis: its ranks in this order; made when first needed.
    ranks: Vec<Vec<u16>>,
}

/// What the stumps along an axis lose on either side of a cut.
#[derive(Clone, Copy)]
pub struct Stump<T> {
    /// The best that was looked at, if any.
    pub found: [T; 2],
    /// All of them, at least.
    pub least: [T; 2],
}

#[derive(Default)]
pub struct LabelPairs<T> {
    /// By axis, then labels: their place among `pairs`.
    places: Vec<HashMap<(u32, u32), usize>>,
    pairs: Vec<LabelPair<T>>,
    /// Those in use.
    used: usize,
    /// Rows and ranks that they hold.
    held: usize,
    /// Beside the cut that is looked at, by side: what the rows gain with each label, and the worst
    /// losses.
    gains: [Vec<T>; 2],
    pub worst: [T; 2],
    /// The pairs of labels that may be below what is asked for.
    open: Vec<(u32, u32)>,
    /// Labels, most gains first.
    order: Vec<u32>,
    /// What a pair is made of.
    gain: Vec<T>,
    last: Vec<bool>,
    /// The sides of rows, where ranks do not fit.
    sides: Vec<u16>,
}

/// Rows and ranks that are held, at most: then all are forgotten, and made again when needed.
const MOST_HELD: usize = 1 << 22;

impl<T: Unit> LabelPairs<T> {
    pub fn begin(&mut self, axes: usize) {
        self.forget();
        if self.bytes() > 4 * MOST_HELD {
            self.pairs.clear();
        }
        self.places.resize_with(axes, HashMap::default);
    }

    fn forget(&mut self) {
        (self.used, self.held) = (0, 0);
        self.places.iter_mut().for_each(HashMap::clear);
    }

    /// Look at a cut of axis `f`; what each side loses as a leaf. `before`: a boundary, and the cut
    /// that it is. `line`: of this axis.
    pub fn at_cut(
        &mut self,
        line: &Line<T>,
        (f, axis): (usize, &Axis),
        (before, cut): ((usize, i64), u32),
        many: &Many<T>,
    ) -> [T; 2] {
        let (before, first) = before;
        let [left, right] = &mut self.gains;
        left.clear();
        left.extend((0..many.labels).map(|plane| many.before(f, plane, before)));
        let mut worst = many.before(f, many.labels, before);
        let up_to =
            |cut: i64| line.row.partition_point(|&row| i64::from(axis.rank[row as usize]) <= cut);
        for at in up_to(first)..up_to(i64::from(cut)) {
            left[line.label[at] as usize] += line.gain[at];
            worst += line.worst[at];
        }
        right.clear();
        right.extend((left.iter().enumerate()).map(|(plane, &left)| many.all(f, plane) - left));
        self.worst = [worst, many.all(f, many.labels) - worst];
        [0, 1].map(|side| {
            let most = self.gains[side].iter().fold(T::default(), |most, &gain| most.max(gain));
            self.worst[side] - most
        })
    }

    /// Choose the pairs of labels that may lose less than `targets` on their side.
    pub fn choose(&mut self, targets: [T; 2]) {
        let LabelPairs { gains, worst, open, order, .. } = self;
        open.clear();
        order.clear();
        order.extend(0..gains[0].len() as u32);
        let below = |side: usize, a: u32, b: u32| {
            let gains = &gains[side];
            worst[side] - gains[a as usize] - gains[b as usize] < targets[side]
        };
        for side in 0..2 {
            let gain = |&label: &u32| gains[side][label as usize];
            order.sort_unstable_by(|a, b| gain(b).cmp(&gain(a)).then(a.cmp(b)));
            for (at, &a) in order.iter().enumerate() {
                let others = order[at + 1..].iter().take_while(|&&b| below(side, a, b));
                let mut any = false;
                for &b in others {
                    any = true;
                    if side == 0 || !below(0, a, b) {
                        open.push((a.min(b), a.max(b)));
                    }
                }
                if !any {
                    break;
                }
            }
        }
    }

    /// The stumps along axis `g` on both sides of the cut of axis `f`, as far as they may lose less
    /// than `targets`, which are no more than what leaves lose. `line`: of axis g.
    pub fn stump(
        &mut self,
        (f, axis): (usize, &Axis),
        cut: u32,
        (g, line): (usize, &Line<T>),
        targets: [T; 2],
        level: Level,
    ) -> Stump<T> {
        let mut found = [T::MAX; 2];
        let mut below = targets;
        for at in 0..self.open.len() {
            let (a, b) = self.open[at];
            let gains = [0, 1].map(|side| [a, b].map(|label| self.gains[side][label as usize]));
            let may =
                |side: usize| self.worst[side] - gains[side][0] - gains[side][1] < below[side];
            if !may(0) && !may(1) {
                continue;
            }
            let Range { least, most, .. } = self.range((f, axis), cut, (g, line), (a, b), level);
            for side in 0..2 {
                let [gain_a, gain_b] = gains[side];
                // Label a before the cut and b behind it, or b before it and a behind.
                let worst = self.worst[side];
                let lost = (worst - gain_b + least[side]).min(worst - gain_a - most[side]);
                found[side] = found[side].min(lost);
                below[side] = below[side].min(lost);
            }
        }
        Stump { found, least: below }
    }

    /// The rows of two labels, swept along axis `g`.
    fn range(
        &mut self,
        (f, axis): (usize, &Axis),
        cut: u32,
        (g, line): (usize, &Line<T>),
        labels: (u32, u32),
        level: Level,
    ) -> Range<T> {
        let place = match self.places[g].get(&labels) {
            Some(&place) => place,
            None => self.make(g, line, labels),
        };
        let pair = &mut self.pairs[place];
        if axis.n_ranks() >= 1 << 16 {
            let side = |&row: &u32| u16::from(axis.rank[row as usize] > cut);
            self.sides.clear();
            lay_out(pair.row.iter().map(side), u16::MAX, &mut self.sides);
            let (pair, sides) = (&pair.swept, &self.sides[..]);
            return level.run(
                #[inline(always)]
                || pair.range(sides, 0),
            );
        }
        let ranks = &mut pair.ranks[f];
        if ranks.is_empty() {
            lay_out(pair.row.iter().map(|&row| axis.rank[row as usize] as u16), u16::MAX, ranks);
            self.held += ranks.len();
        }
        let (pair, ranks) = (&pair.swept, &ranks[..]);
        level.run(
            #[inline(always)]
            || pair.range(ranks, cut as u16),
        )
    }

    fn make(&mut self, g: usize, line: &Line<T>, labels: (u32, u32)) -> usize {
        if self.held > MOST_HELD {
            self.forget();
        }
        if self.used == self.pairs.len() {
            self.pairs.push(LabelPair::default());
        }
        let (place, axes) = (self.used, self.places.len());
        self.used += 1;
        self.places[g].insert(labels, place);
        let pair = &mut self.pairs[place];
        line.of_labels(labels, (&mut pair.row, &mut self.gain, &mut self.last));
        pair.swept.fill(&self.gain, &self.last);
        pair.ranks.resize_with(axes, Vec::new);
        pair.ranks.iter_mut().for_each(Vec::clear);
        self.held += 8 * pair.row.len();
        place
    }

    pub fn bytes(&self) -> usize {
        let pair = |pair: &LabelPair<T>| {
            size_of::<LabelPair<T>>()
                + 4 * pair.row.capacity()
                + pair.swept.bytes()
                + pair.ranks.capacity() * size_of::<Vec<u16>>()
                + pair.ranks.iter().map(|ranks| 2 * ranks.capacity()).sum::<usize>()
        };
        let places = self.places.iter().map(|places| 24 * places.capacity()).sum::<usize>();
        places
            + self.pairs.iter().map(pair).sum::<usize>()
            + self.gains.iter().map(|gains| gains.capacity() * size_of::<T>()).sum::<usize>()
            + 8 * self.open.capacity()
            + 4 * self.order.capacity()
            + self.gain.capacity() * size_of::<T>()
            + self.last.capacity()
            + 2 * self.sides.capacity()
    }
}
