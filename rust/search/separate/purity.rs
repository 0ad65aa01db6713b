//! How pure the two sides of a split are, while groups pass from one to the other.

use super::group::Group;
use crate::cost::Cost;
use crate::task::Task;

/// By labels, or where there are none by what the sides cost.
pub enum Purity<'a> {
    Labels(Sums),
    Costs { task: &'a dyn Task, whole: Vec<i64>, side: Vec<i64> },
}

impl<'a> Purity<'a> {
    pub fn new(task: &'a dyn Task) -> Self {
        match task.structure().n_labels() {
            0 => {
                let none = vec![0; task.width()];
                Purity::Costs { task, whole: none.clone(), side: none }
            }
            n_labels => Purity::Labels(Sums::new(n_labels)),
        }
    }

    /// One more group of the node, before any is on the side.
    pub fn all(&mut self, group: &Group) {
        match self {
            Purity::Labels(sums) => sums.all(group),
            Purity::Costs { whole, .. } => add(whole, &group.stats),
        }
    }

    /// Empty the side.
    pub fn clear(&mut self) {
        match self {
            Purity::Labels(sums) => sums.clear(),
            Purity::Costs { side, .. } => side.fill(0),
        }
    }

    /// One more group on the side.
    pub fn add(&mut self, group: &Group) {
        match self {
            Purity::Labels(sums) => sums.add(group),
            Purity::Costs { side, .. } => add(side, &group.stats),
        }
    }

    /// The larger, the purer both sides are.
    pub fn score(&self) -> f64 {
        match self {
            Purity::Labels(sums) => sums.purity(),
            Purity::Costs { task, whole, side } => {
                let rest: Vec<i64> = whole.iter().zip(side).map(|(all, s)| all - s).collect();
                let costs: Cost = task.leaf(side).cost + task.leaf(&rest).cost;
                -(costs as f64)
            }
        }
    }
}

fn add(sums: &mut [i64], more: &[i64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

/// Weights by label of a node and of one side of a split, with the sums of their squares.
pub struct Sums {
    whole: Vec<f64>,
    side: Vec<f64>,
    /// Labels that the side has.
    touched: Vec<u32>,
    total: f64,
    squares: f64,
    side_total: f64,
    side_squares: f64,
    rest_squares: f64,
}

impl Sums {
    fn new(n_labels: usize) -> Self {
        let (whole, side) = (vec![0.0; n_labels], vec![0.0; n_labels]);
        let [total, squares, side_total, side_squares, rest_squares] = [0.0; 5];
        let touched = Vec::new();
        Sums { whole, side, touched, total, squares, side_total, side_squares, rest_squares }
    }

    fn all(&mut self, group: &Group) {
        let known = &mut self.whole[group.label as usize];
        self.squares += (2.0 * *known + group.weight) * group.weight;
        *known += group.weight;
        self.total += group.weight;
    }

    fn clear(&mut self) {
        for label in self.touched.drain(..) {
            self.side[label as usize] = 0.0;
        }
        (self.side_total, self.side_squares, self.rest_squares) = (0.0, 0.0, self.squares);
    }

    fn add(&mut self, group: &Group) {
        let (label, weight) = (group.label as usize, group.weight);
        let (side, rest) = (self.side[label], self.whole[label] - self.side[label]);
        self.side_squares += (2.0 * side + weight) * weight;
        self.rest_squares -= (2.0 * rest - weight) * weight;
        self.side[label] += weight;
        self.side_total += weight;
        self.touched.push(group.label);
    }

    /// The larger, the purer both sides are: the Gini index, up to what all splits share.
    fn purity(&self) -> f64 {
        let part = |squares: f64, total: f64| if total > 0.0 { squares / total } else { 0.0 };
        part(self.side_squares, self.side_total)
            + part(self.rest_squares, self.total - self.side_total)
    }
}
