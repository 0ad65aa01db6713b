//! What a kernel on ranks must do.

use std::ops::Range;

use crate::bounds::Decisions;
use crate::cost::Cost;
use crate::ids::FeatureId;
use crate::kernel::look::Halt;
use crate::tree::Plan;
use crate::view::{Part, RankNode};

/// The rows that a view is made of, as the kernel numbers them.
pub struct RankRows {
    /// By row: its point. A point may have several.
    pub points: Vec<u32>,
    /// The most that losing the row can save.
    pub worst: Vec<Cost>,
    /// What every tree costs beside what the kernel says.
    pub base: Cost,
    /// Bytes of what the kernel holds.
    pub bytes: usize,
}

/// What a task knows of rows, as a search over intervals needs it. Costs include the penalty of
/// leaves and leave out what every tree pays.
///
/// What must hold, for the bounds of the search: a part's optimum is no less than that of any part
/// of it, and no more than that plus the worst losses (`RankView::worst`) of the rows that the
/// smaller one lacks.
pub trait RankKernel: Sync {
    /// What is set up once for a node whose parts are asked about.
    type Grid: Send + Sync;
    /// A subproblem of depth two, of a part: bounds on its best tree, and all that helps to tighten
    /// them.
    type Two: Default + Send;

    /// The amount by which one side of a cut is to rise, if both together are `short` of a target.
    /// `_gaps`: how far each can rise at most (this side, the other one). `_raises`: how often
    /// either was raised before.
    fn share(&self, short: Cost, _gaps: [Cost; 2], _raises: usize) -> Cost {
        (short + 1) / 2
    }

    /// Penalty of a leaf.
    fn leaf_cost(&self) -> Cost;

    /// The cost of rows of the view as one leaf.
    fn leaf(&self, rows: &[u32]) -> Cost;

    /// What a part's rows are taken to cost at least beside penalties, in any tree.
    fn floor(&self, _part: Part) -> Cost {
        0
    }

    /// The best tree of depth one, exactly.
    fn stump(&self, node: &RankNode, grid: &Self::Grid) -> (Cost, Plan);

    /// The cheapest split of rows of the view, in the order of an axis, and the cheapest of those
    /// whose boundary is in `enough`; costs are of both leaves, with their penalties. `ends`: how
    /// many rows are before each boundary. Of equal splits the first.
    fn cheapest(&self, rows: &[u32], ends: &[u32], enough: Range<usize>) -> [Cheapest; 2];

    fn grid(&self, node: &RankNode) -> Self::Grid;
    fn grid_bytes(&self, grid: &Self::Grid) -> usize;

    /// First bounds on the best tree of depth two. If halted, they are weak but true. A kernel may
    /// leave out what cannot raise the lower bound up to `target`.
    fn begin(&self, part: Part, grid: &Self::Grid, two: &mut Self::Two, target: Cost, halt: Halt);

    /// Raise the lower bound to `target`, or until it is spent, unless halted.
    fn raise(&self, part: Part, grid: &Self::Grid, two: &mut Self::Two, target: Cost, halt: Halt);

    /// Whether `raise` cannot tighten the bounds any more. A kernel that rounds may leave a gap.
    fn is_spent(&self, two: &Self::Two) -> bool {
        self.lower(two) >= self.upper(two)
    }

    /// Make the bounds meet, unless halted: what `raise` leaves open where a kernel rounds.
    fn settle(&self, _part: Part, _grid: &Self::Grid, _two: &mut Self::Two, _halt: Halt) {}

    /// How often each bound decided in a subproblem since it was begun: what dropped a cut, or the
    /// cuts between two, and what left them aside to the end.
    fn decided(&self, two: &Self::Two) -> Decisions;

    fn lower(&self, two: &Self::Two) -> Cost;
    fn upper(&self, two: &Self::Two) -> Cost;
    fn two_bytes(&self, two: &Self::Two) -> usize;

    /// Bytes of a grid and of a subproblem, before they are made.
    fn bytes_for(&self, node: &RankNode) -> [usize; 2];

    /// A tree that costs no more than the upper bound, and what it does cost.
    fn plan(&self, part: Part, grid: &Self::Grid, two: &mut Self::Two) -> (Cost, Plan);
}

/// Where costs hardly ever tie, halves would take many steps: what one side cannot give, the other
/// must.
pub fn share_by_gaps(short: Cost, [own, other]: [Cost; 2], raises: usize) -> Cost {
    match raises {
        0 => {
            let share = own.max(1) as f64 / (own.max(1) as f64 + other.max(0) as f64);
            ((short as f64 * share) as Cost).clamp(1, short)
        }
        _ => short,
    }
}

/// The cheapest split of an axis: its cost, and which of the boundaries it is at.
pub type Cheapest = Option<(Cost, usize)>;

/// A cut of a feature, as plans name it.
pub type Cut = (FeatureId, u32);

/// A split with two leaves, or a leaf.
pub fn stump_plan(split: Option<Cut>) -> Plan {
    match split {
        None => Plan::Leaf,
        Some((feature, cut)) => Plan::split(feature, cut, Plan::Leaf, Plan::Leaf),
    }
}
