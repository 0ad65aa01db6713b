//! Proofs of random problems, held against all trees; damaged ones, and proofs of what is not true.

use certree::data::{Column, ColumnKind, Points, Threshold};
use certree::problem::{Problem, Shape};
use certree::proof::{Claim, Instance};
use certree::run::{Limits, Run};
use certree::task::{ClassInput, Scaled, SquaresInput};
use certree_check::check;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % n
    }
}

fn cases(default: u64) -> u64 {
    std::env::var("CERTREE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// What some points' numbers are, of so many points.
type Kind = fn(&mut Random, usize) -> Scaled;

const KINDS: [Kind; 2] = [classes, squares];

fn classes(random: &mut Random, n_points: usize) -> Scaled {
    let (n_classes, n_labels) = (1 + random.below(3) as usize, 1 + random.below(3) as usize);
    let mut weights: Vec<f64> =
        (0..n_points * n_classes).map(|_| random.below(5).saturating_sub(1) as f64).collect();
    weights[0] += 1.0;
    let plain = random.below(2) == 0 && n_classes == n_labels;
    let cost = |(at, random): (usize, &mut Random)| match plain {
        true => f64::from(at / n_labels != at % n_labels),
        false => random.below(4) as f64,
    };
    let costs = (0..n_classes * n_labels).map(|at| cost((at, random))).collect();
    let leaf_penalty = [0.0, 0.01, 0.03, 0.1][random.below(4) as usize];
    let balanced = random.below(3) == 0;
    let class_weights = vec![1.0; n_classes];
    let input =
        ClassInput { n_classes, n_labels, weights, costs, class_weights, balanced, leaf_penalty };
    input.build().unwrap()
}

/// Targets may be the same, far apart, or of a scale that is lost in rounding.
fn squares(random: &mut Random, n_points: usize) -> Scaled {
    let n_outputs = [1, 1, 1, 2, 3][random.below(5) as usize];
    let n_rows = n_points + random.below(12) as usize;
    let kind = random.below(6);
    let target = |random: &mut Random| {
        let plain = random.below(6) as f64;
        match kind {
            0 => 7.25,
            1 => 1e9 + plain / 7.0,
            2 => (plain * 3.0).exp(),
            3 => plain / 3.0 - 1.0,
            _ => plain,
        }
    };
    let targets = (0..n_rows * n_outputs).map(|_| target(random)).collect();
    let most = [1, 1, 5, 1 << 40][random.below(4) as usize];
    let weights = (most > 1).then(|| (0..n_rows).map(|_| 1 + random.below(most) as i64).collect());
    let more = (n_points..n_rows).map(|_| random.below(n_points as u64) as u32);
    let points = (0..n_points as u32).chain(more).collect();
    let leaf_penalty = [0.0, 0.01, 0.03, 0.1, 2.5][random.below(5) as usize];
    let given = None;
    let input = SquaresInput { n_outputs, targets, weights, given, points, n_points, leaf_penalty };
    input.build().unwrap()
}

fn problem(random: &mut Random, kind: Kind) -> Problem {
    let (n_columns, n_points) = (1 + random.below(6) as usize, 1 + random.below(24) as usize);
    // Booleans, and numbers, whose cuts are nested.
    let n_cuts: Vec<u64> = (0..n_columns).map(|_| [1, 1, 1, 2][random.below(4) as usize]).collect();
    let column = |(at, &cuts): (usize, &u64)| {
        let thresholds = (0..cuts as i64).map(Threshold::Int).collect();
        let kind = if cuts > 1 { ColumnKind::Ordered(thresholds) } else { ColumnKind::Boolean };
        Column { name: format!("c{at}"), kind, missing: false }
    };
    let columns: Vec<Column> = n_cuts.iter().enumerate().map(column).collect();
    let mut codes = vec![Vec::new(); n_columns];
    for (codes, cuts) in codes.iter_mut().zip(n_cuts) {
        codes.extend((0..n_points).map(|_| random.below(cuts + 1) as u32));
    }
    let rows = (0..n_points).map(|_| 1 + random.below(3)).collect();
    let points = Points::new(&columns, codes, rows).unwrap();
    let scaled = kind(random, n_points);
    let max_depth = [None, Some(0), Some(1), Some(2), Some(3), Some(4)][random.below(6) as usize];
    let min_leaf_rows = [1, 1, 2, 3, 4, 6][random.below(6) as usize];
    let max_leaves = [None, None, Some(1), Some(3), Some(4), Some(5), Some(6), Some(9)];
    let max_leaves = max_leaves[random.below(8) as usize];
    let shape = Shape { max_depth, max_leaves, min_leaf_rows };
    Problem::new(columns, points, scaled, shape).unwrap()
}

/// What the best of all trees costs.
fn best(instance: &Instance, points: &[usize], depth: usize, leaves: usize) -> i64 {
    let width = instance.kind.width();
    let sum = |at| points.iter().map(|p| instance.numbers[p * width + at]).sum();
    let mut best = instance.leaf + instance.loss(&(0..width).map(sum).collect::<Vec<i64>>());
    let is_leaf = |points: &[usize]| {
        let rows: u64 = points.iter().map(|&point| instance.rows[point]).sum();
        !points.is_empty() && rows >= instance.min_rows
    };
    for question in 0..if depth > 0 && leaves > 1 { instance.questions.len() } else { 0 } {
        let (ones, zeros): (Vec<usize>, Vec<usize>) =
            points.iter().partition(|&&point| instance.answer(point, question));
        if is_leaf(&ones) && is_leaf(&zeros) {
            // Where leaves are not limited, all ways to share them are alike.
            let shares = if leaves == usize::MAX { leaves..=leaves } else { 1..=leaves - 1 };
            for left in shares {
                let right = if leaves == usize::MAX { leaves } else { leaves - left };
                let side = |points: &[usize], n| self::best(instance, points, depth - 1, n);
                best = best.min(side(&ones, left) + side(&zeros, right));
            }
        }
    }
    best
}

struct Proved {
    text: String,
    proof: Vec<u8>,
    least: i64,
}

/// The proof of a random problem, which is verified.
fn proved(random: &mut Random, kind: Kind) -> Proved {
    let problem = problem(random, kind);
    let run = Run::new(Limits::default(), problem.scale, None);
    let answer = certree::solve(&problem, &run).unwrap();
    let instance = Instance::of(&problem, &run).unwrap();
    let text = instance.to_text("{}");
    let proof = Claim::of(&problem, &instance, &answer.tree, None).prove(&text, &run).unwrap();
    let all: Vec<usize> = (0..instance.len()).collect();
    let depth = instance.depth.unwrap_or(u32::MAX).min(instance.questions.len() as u32);
    let leaves = problem.shape.max_leaves.map_or(usize::MAX, |leaves| leaves as usize);
    let least = best(&instance, &all, depth as usize, leaves);
    let verified = check(text.as_bytes(), &proof.bytes).unwrap_or_else(|why| {
        panic!("{why}\n{text}\n{}", String::from_utf8_lossy(&proof.bytes));
    });
    assert_eq!((verified.bound, verified.gap()), (least, 0), "{text}");
    assert_eq!(verified.lemmas as u64, proof.lemmas);
    Proved { text, proof: proof.bytes, least }
}

/// The header of a proof with another tree and bound, and its end.
fn claiming(proof: &[u8], tree: &str, bound: i64) -> Vec<u8> {
    let end = proof.windows(5).position(|bytes| bytes == b"\nend\n").unwrap() + 5;
    let head = String::from_utf8(proof[..end].to_vec()).unwrap();
    let digest = head.lines().nth(1).unwrap();
    let claim =
        format!("certree proof 1\n{digest}\ntree {tree}\nbound {bound}\nlemmas 99999\nend\n");
    [claim.as_bytes(), &proof[end..]].concat()
}

#[test]
fn the_optimum_of_random_problems_is_proved_and_no_more() {
    for seed in 0..cases(1500) {
        let random = &mut Random(seed);
        let Proved { text, proof, least } = proved(random, KINDS[seed as usize % 2]);
        // The tree of one leaf costs more than the best one, mostly, and so is no objection.
        for bound in [least + 1, least + 3] {
            for _ in 0..4 {
                let mut wrong = claiming(&proof, "-", bound);
                let found = check(text.as_bytes(), &wrong);
                assert!(found.is_err(), "seed {seed}: {}", found.unwrap());
                wrong.extend((0..random.below(8)).map(|_| random.below(4) as u8));
                assert!(check(text.as_bytes(), &wrong).is_err(), "seed {seed}");
            }
        }
    }
}

#[test]
fn each_damaged_byte_is_noticed_or_leaves_it_true() {
    for seed in 0..cases(1500) / 20 {
        let random = &mut Random(1 << 40 | seed);
        let Proved { text, proof, least } = proved(random, KINDS[seed as usize % 2]);
        for at in 0..proof.len() {
            assert!(check(text.as_bytes(), &proof[..at]).is_err(), "it ends at {at}");
            for byte in [proof[at] ^ 1, proof[at] ^ 128, proof[at] + 1, random.below(256) as u8] {
                let mut damaged = proof.clone();
                damaged[at] = byte;
                if let Ok(verified) = check(text.as_bytes(), &damaged) {
                    assert!(verified.bound <= least && verified.cost >= least, "{verified}");
                }
            }
        }
        assert!(check(text.as_bytes(), &[&proof[..], b"\0"].concat()).is_err());
    }
}

#[test]
fn damaged_instances_end_in_a_verdict() {
    for seed in 0..cases(1500) / 50 {
        let random = &mut Random(1 << 41 | seed);
        let Proved { text, proof, .. } = proved(random, KINDS[seed as usize % 2]);
        for at in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = random.below(256) as u8;
            // Its digest is another one, unless the byte is.
            assert!(check(&damaged, &proof).is_err() || damaged == text.as_bytes());
            assert!(check(&damaged[..at], &proof).is_err());
        }
    }
}

#[test]
fn hostile_files_are_refused() {
    let huge = "certree instance 1\ndepth none\nleaf 1\noffset 0\nunits 1\nslack 0\nlabels 4294967295\n\
                questions 4294967295\npoints 4294967295\nend\n";
    assert!(check(huge.as_bytes(), b"").is_err());
    let Proved { text, proof, .. } = proved(&mut Random(7), classes);
    for (from, to) in
        [("bound ", "bound -"), ("bound ", "bound 9223372036854775807"), ("tree ", "tree 0 ")]
    {
        let head = String::from_utf8_lossy(&proof).replacen(from, to, 1);
        assert!(check(text.as_bytes(), head.as_bytes()).is_err(), "{to}");
    }
    let deep = claiming(&proof, &"0 ".repeat(100_000), 0);
    assert!(check(text.as_bytes(), &deep).is_err());
    for (name, value) in [("leaf", "9223372036854775807"), ("leaf", "-1"), ("depth", "-1")] {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        let changed = text.replacen(line, &format!("{name} {value}"), 1);
        assert!(check(changed.as_bytes(), &proof).is_err());
    }
}

/// A mistake in a bound shows in a tree that is not the best one, or in a lower bound that is too
/// high: neither has a proof.
#[test]
fn a_tree_that_is_not_the_best_has_no_proof() {
    let mut refused = 0;
    for seed in 0..cases(1500) / 5 {
        let random = &mut Random(1 << 42 | seed);
        let problem = problem(random, KINDS[seed as usize % 2]);
        let run = Run::new(Limits::default(), problem.scale, None);
        let best = certree::solve(&problem, &run).unwrap().tree;
        let depth = (random.below(2) as u32).min(problem.shape.max_depth.unwrap_or(u32::MAX));
        let shape = Shape { max_depth: Some(depth), ..problem.shape };
        let smaller = Problem { shape, ..problem.clone() };
        let short = Run::new(Limits::default(), smaller.scale, None);
        let worse = certree::solve(&smaller, &short).unwrap().tree;
        let instance = Instance::of(&problem, &run).unwrap();
        let text = instance.to_text("{}");
        let proved = |tree| Claim::of(&problem, &instance, tree, None).prove(&text, &run);
        let bound = proved(&best).unwrap().bound;
        match proved(&worse) {
            Ok(proof) => assert_eq!(proof.bound, bound, "seed {seed}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 10, "{refused}");
}
