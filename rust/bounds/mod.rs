//! Bounds: what can be said of the best trees without searching for them, and who decided.
//!
//! Each bound has a file of its own, which begins with the statement, the proof, and where it is
//! invalid. A bound is a function of numbers: it knows no engine, and the engines call it. opt(S)
//! is the least cost of a tree for a set of rows S within some budget of depth and leaves, ℓ
//! (`leaf_cost`) is the penalty of each leaf, E(S) (`least`) is the sum over rows of the least loss
//! that any label gives, and W(S) (`worst`) that of the largest loss of any label or mean of
//! points. `tests/rust/bounds.rs` holds the statements against the oracle, on any sets of points.
//!
//! A bound *decided* where it was the reason that a node, a split, a cut, a value or a level was
//! dropped or closed. Engines count that in [`Decisions`], one plain list for each worker, which
//! the run adds up. `docs/architecture/bounds.md` says how to add a bound.

/// Makes a module, a [`Bound`], its name and its words of each line.
macro_rules! registry {
    ($($file:ident $bound:ident: $words:literal,)*) => {
        $(pub mod $file;)*

        /// A bound, as it is counted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Bound {
            $(#[doc = $words] $bound,)*
        }

        impl Bound {
            /// Every bound, in the order of the registry.
            pub const ALL: &'static [Bound] = &[$(Bound::$bound),*];

            /// The name of its file.
            pub fn name(self) -> &'static str {
                match self { $(Bound::$bound => stringify!($file)),* }
            }

            /// What it says, in plain words.
            pub fn words(self) -> &'static str {
                match self { $(Bound::$bound => $words),* }
            }
        }
    };
}

registry! {
    leaf Leaf: "rows cost no more than they do as one leaf",
    equivalent_points EquivalentPoints: "rows that no cut tells apart share their leaf",
    look_ahead LookAhead: "a tree that is deeper than all that were seen has more leaves",
    three_leaves ThreeLeaves: "no three leaves serve both of two classes well",
    k_means KMeans: "leaves are groups of targets, and the best groups cost this much",
    child_support ChildSupport: "a side that saves less than a leaf costs is not split off",
    equal_splits EqualSplits: "a split that differs in rows that cost nothing is a repetition",
    similarity Similarity: "rows that differ by little cost about the same",
    parts Parts: "rows cost at least what their parts cost by themselves",
    scope Scope: "one side of a split need not prove more than the other side leaves open",
    told Told: "another process proved it of the same rows",
    other_costs OtherCosts: "costs of the same rows in an earlier search bound them in this one",
    affordable_leaves AffordableLeaves: "penalties of more leaves alone cost too much",
    neighbouring_cuts NeighbouringCuts: "a cut costs about what the cuts around it cost",
    two_labels TwoLabels: "two leaves take two labels, and lose what the others gain",
    blocks Blocks: "a cut within a block costs what lies before and behind the block",
    floors Floors: "no leaf beats the reference model (a guess)",
    fewer_limits FewerLimits: "no tree within limits beats the best without them",
    fewer_rows FewerRows: "leaves of slightly fewer rows hold nearly as many",
    completion Completion: "what the rest costs at least leaves too little",
    multipliers Multipliers: "the optimum with limits as prices bounds all trees that keep them",
    area Area: "the area below lines bounds the area below every curve",
    dominance Dominance: "another value is no worse",
    limit_reach LimitReach: "the rest of the rows cannot repair a limit that is broken",
    dominated_sums DominatedSums: "a cheaper value is no nearer to any limit",
    dominated_curves DominatedCurves: "another curve is as good in every tree",
    fence Fence: "lines that no tree is below leave nothing better",
    ratio_line RatioLine: "no tree is below the line of the best ratio",
    ratio_shortfall RatioShortfall: "a ratio falls by no more than the distance to its line allows",
    hull Hull: "no tree is beyond two lines, and where they meet is not better",
    fewer_misses FewerMisses: "trees that miss less give too many false alarms",
    loss_caps LossCaps: "no good tree pays as large a loss",
}

/// How often each bound decided.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Decisions([u64; Bound::ALL.len()]);

impl Default for Decisions {
    fn default() -> Self {
        Decisions([0; Bound::ALL.len()])
    }
}

impl Decisions {
    #[inline]
    pub fn count(&mut self, bound: Bound) {
        self.add(bound, 1);
    }

    #[inline]
    pub fn add(&mut self, bound: Bound, times: u64) {
        self.0[bound as usize] += times;
    }

    /// Count a bound, if there is one and it did decide.
    #[inline]
    pub fn add_if(&mut self, decides: bool, bound: Option<Bound>) {
        if let (true, Some(bound)) = (decides, bound) {
            self.count(bound);
        }
    }

    pub fn add_all(&mut self, more: &Decisions) {
        self.0.iter_mut().zip(more.0).for_each(|(times, more)| *times += more);
    }

    pub fn of(&self, bound: Bound) -> u64 {
        self.0[bound as usize]
    }

    /// Every bound with its count, in the order of the registry.
    pub fn iter(&self) -> impl Iterator<Item = (Bound, u64)> + '_ {
        Bound::ALL.iter().map(|&bound| (bound, self.of(bound)))
    }
}

impl std::fmt::Debug for Decisions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decided = self.iter().filter(|(_, times)| *times > 0);
        f.debug_map().entries(decided.map(|(bound, times)| (bound.name(), times))).finish()
    }
}
