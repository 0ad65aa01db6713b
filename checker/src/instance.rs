//! The instance: points with their answers to questions, and numbers that say what leaves cost.

/// No sum of costs is larger, so that none overflows.
const MOST: i64 = 1 << 57;
/// No sum over points of another number of theirs is larger, nor a cost for each label.
const MOST_SUM: i128 = 1 << 62;
/// Targets of squared errors.
const MOST_TARGETS: usize = 64;
/// A depth or a number of leaves that is not limited.
pub const UNLIMITED: u32 = u32::MAX;
/// A limit on leaves is no larger, because each split has a number for each way to share them.
const MOST_LEAVES: i64 = 64;

/// What the numbers of points are, and so what a leaf costs.
pub enum Task {
    /// Costs by label, of which there are so many. A leaf has one label, which costs the least.
    Labels(usize),
    /// A weight, a sum for each target, and squares. With W, S and Q as what these add up to in a
    /// leaf, it costs Q, less S² / W / 2^shift, rounded up, for each target with its shift.
    Squares(Vec<u32>),
}

pub struct Instance {
    pub depth: u32,
    pub leaves: u32,
    /// What a leaf costs beside its points.
    pub leaf: i64,
    pub task: Task,
    pub questions: usize,
    pub points: usize,
    /// Rows that each leaf of a split holds at least, or 0 if the instance says nothing of rows.
    pub min_rows: i64,
    /// By point, if it does: the rows that the point stands for.
    pub rows: Vec<i64>,
    /// Words of answers of a point.
    pub stride: usize,
    pub answers: Vec<u64>,
    /// By point: those of the task.
    pub numbers: Vec<i64>,
    /// A cost c is an objective of (c + offset) / units, and rounding was worth `slack` at most.
    pub offset: i128,
    pub units: f64,
    pub slack: i64,
}

/// FNV-1a: tells a mistaken file apart; nothing is believed because of it.
pub fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A whole number in decimal digits alone, with a sign only if it is negative.
pub fn whole<T: std::str::FromStr + ToString>(text: &str) -> Result<T, String> {
    let number = text.parse::<T>().ok().filter(|number| number.to_string() == text);
    number.ok_or_else(|| format!("{text:?} is no number that fits"))
}

/// What a line of this name says.
fn field<'a>(line: &'a str, name: &str) -> Result<&'a str, String> {
    let value = line.strip_prefix(name).and_then(|line| line.strip_prefix(' '));
    value.ok_or(format!("the instance has no {name}"))
}

fn positive(text: &str, most: i64) -> Result<i64, String> {
    let number = whole::<i64>(text)?;
    let is_fit = (1..=most).contains(&number);
    if is_fit { Ok(number) } else { Err(format!("{number} is not from 1 to {most}")) }
}

impl Task {
    fn read(line: &str) -> Result<Task, String> {
        let (name, numbers) = line.split_once(' ').unwrap_or_default();
        let numbers = numbers.split(' ').map(whole::<u32>).collect::<Result<Vec<_>, _>>()?;
        match name {
            "labels" if numbers.len() == 1 && numbers[0] > 0 => {
                Ok(Task::Labels(numbers[0] as usize))
            }
            "squares" if numbers.len() <= MOST_TARGETS && numbers.iter().all(|&n| n < 128) => {
                Ok(Task::Squares(numbers))
            }
            _ => Err("the instance has neither labels nor squares".into()),
        }
    }
}

/// S² / W / 2^shift, rounded up: rounding up twice is rounding up once. It is less than 2^63 where
/// no leaf costs less than nothing, and saturates elsewhere.
fn gain(sum: i64, weight: i64, shift: u32) -> i64 {
    let square = u128::from(sum.unsigned_abs()).pow(2).div_ceil(1 << shift);
    square.div_ceil(weight.max(1) as u128).try_into().unwrap_or(i64::MAX)
}

impl Instance {
    pub fn read(bytes: &[u8]) -> Result<Instance, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "the instance is no text")?;
        let mut lines = text.strip_suffix("\nend\n").ok_or("the instance has no end")?.split('\n');
        if lines.next() != Some("certree instance 1") {
            return Err("this is no instance of version 1".into());
        }
        let mut line = || lines.next().unwrap_or_default();
        let depth = match field(line(), "depth")? {
            "none" => UNLIMITED,
            text => whole::<u32>(text)?.min(UNLIMITED - 1),
        };
        let leaf = whole::<i64>(field(line(), "leaf")?)?;
        let offset = whole::<i64>(field(line(), "offset")?)?.into();
        let units = field(line(), "units")?.parse::<f64>().map_err(|_| "units are a number")?;
        let slack = whole::<i64>(field(line(), "slack")?)?;
        let task = Task::read(line())?;
        let questions = whole::<u32>(field(line(), "questions")?)? as usize;
        let points = whole::<u32>(field(line(), "points")?)? as usize;
        if !(0..=MOST).contains(&leaf) || slack < 0 || !(units > 0.0 && units.is_finite()) {
            return Err("a number of the instance is out of range".into());
        }
        let mut found = Instance {
            depth,
            leaves: UNLIMITED,
            leaf,
            task,
            questions,
            points: 0,
            min_rows: 0,
            rows: Vec::new(),
            stride: questions.div_ceil(64),
            answers: Vec::new(),
            numbers: Vec::new(),
            offset,
            units,
            slack,
        };
        let mut asked = 0;
        for line in lines {
            match line.split_once(' ') {
                Some(("point", line)) => found.add(line)?,
                Some(("question", _)) => asked += 1,
                Some(("about", _)) => {}
                // A limit comes once, and before all points.
                Some(("rows", line)) if found.points == 0 && found.min_rows == 0 => {
                    found.min_rows = positive(line, MOST)?;
                }
                Some(("leaves", line)) if found.points == 0 && found.leaves == UNLIMITED => {
                    found.leaves = positive(line, MOST_LEAVES)? as u32;
                }
                _ => return Err("a line of the instance is of no known kind".into()),
            }
        }
        if found.rows.iter().map(|&rows| i128::from(rows)).sum::<i128>() > MOST.into() {
            return Err("the instance has too many rows".into());
        }
        if asked != questions || found.points != points || points == 0 {
            return Err("the instance has other questions or points than it says".into());
        }
        if !found.is_in_range() {
            return Err("the costs of the instance are too large".into());
        }
        Ok(found)
    }

    /// How many numbers of the task a point has.
    pub fn width(&self) -> usize {
        match &self.task {
            Task::Labels(labels) => *labels,
            Task::Squares(shifts) => shifts.len() + 2,
        }
    }

    pub fn points(&self) -> impl Iterator<Item = &[i64]> {
        self.numbers.chunks_exact(self.width())
    }

    /// Whether no sum overflows.
    fn is_in_range(&self) -> bool {
        let total = |of: &dyn Fn(&[i64]) -> i64| self.points().map(|p| i128::from(of(p))).sum();
        match &self.task {
            Task::Labels(labels) => {
                let worst: i128 = total(&|costs| costs.iter().copied().max().unwrap_or(0));
                worst <= MOST.into() && worst * *labels as i128 <= MOST_SUM
            }
            Task::Squares(shifts) => {
                let is_small = |at: usize| total(&|p| p[at].saturating_abs()) <= MOST_SUM;
                let last = shifts.len() + 1;
                (0..last).all(is_small) && total(&|point| point[last]) <= MOST.into()
            }
        }
    }

    /// What a leaf costs beside its penalty, if its points have these numbers together.
    pub fn loss(&self, sums: &[i64]) -> i64 {
        match &self.task {
            Task::Labels(_) => sums.iter().copied().min().unwrap_or(0),
            Task::Squares(shifts) => {
                let targets = shifts.iter().zip(&sums[1..]);
                let gains = targets.map(|(&shift, &sum)| gain(sum, sums[0], shift));
                gains.fold(sums[shifts.len() + 1], i64::saturating_sub)
            }
        }
    }

    /// Add a point: its answers, its rows where they matter, and its numbers.
    fn add(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split(' ');
        let answers = words.next().unwrap_or_default().as_bytes();
        if answers.len() != self.questions || answers.iter().any(|a| !b"01".contains(a)) {
            return Err(format!("point {} does not answer each question", self.points));
        }
        for chunk in answers.chunks(64) {
            let bits = chunk.iter().rev().fold(0, |bits, &a| bits << 1 | u64::from(a == b'1'));
            self.answers.push(bits);
        }
        if self.min_rows > 0 {
            self.rows.push(positive(words.next().unwrap_or_default(), MOST)?);
        }
        let numbers = words.map(whole::<i64>).collect::<Result<Vec<_>, _>>()?;
        let is_fit = numbers.len() == self.width()
            && match &self.task {
                Task::Labels(_) => numbers.iter().all(|cost| (0..=MOST).contains(cost)),
                // No leaf costs less than nothing, because no point does.
                Task::Squares(shifts) => {
                    let last = shifts.len() + 1;
                    let is_small = numbers.iter().all(|number| number.unsigned_abs() <= 1 << 62);
                    is_small && numbers[0] > 0 && (0..=MOST).contains(&numbers[last])
                }
            };
        if !is_fit || self.loss(&numbers) < 0 {
            return Err(format!("the numbers of point {} do not fit", self.points));
        }
        self.points += 1;
        self.numbers.extend(numbers);
        Ok(())
    }

    pub fn answer(&self, point: u32, question: u32) -> bool {
        let word = point as usize * self.stride + question as usize / 64;
        self.answers[word] >> (question % 64) & 1 == 1
    }

    /// What a tree costs: preorder, a question or `-` for a leaf; answer 0 goes to the first child.
    pub fn cost_of_tree(&self, words: &str) -> Result<i64, String> {
        let all: Vec<u32> = (0..self.points as u32).collect();
        let (mut open, mut cost, mut leaves) = (vec![(all, 0u32)], 0i64, 0);
        for word in words.split(' ') {
            let (points, depth) = open.pop().ok_or("the tree of the proof has too many nodes")?;
            if word == "-" {
                leaves += 1;
                let sum =
                    |at| points.iter().map(|&p| self.numbers[p as usize * self.width() + at]).sum();
                cost += self.loss(&(0..self.width()).map(sum).collect::<Vec<_>>());
                cost = cost.checked_add(self.leaf).ok_or("the tree has too many leaves")?;
                continue;
            }
            let question = whole::<u32>(word)?;
            // A side without points would make a tree as large as its text.
            let (ones, zeros): (Vec<_>, Vec<_>) = if (question as usize) < self.questions {
                points.into_iter().partition(|&point| self.answer(point, question))
            } else {
                return Err(format!("the tree asks question {question}, which is not there"));
            };
            let is_small = |points: &Vec<u32>| {
                let rows = points.iter().map(|&p| self.rows.get(p as usize).unwrap_or(&1));
                rows.sum::<i64>() < self.min_rows.max(1)
            };
            if depth >= self.depth || is_small(&ones) || is_small(&zeros) {
                return Err("the tree of the proof is too deep, or has too small a leaf".into());
            }
            open.push((ones, depth + 1));
            open.push((zeros, depth + 1));
        }
        if leaves > self.leaves as usize {
            return Err("the tree of the proof has too many leaves".into());
        }
        if open.is_empty() { Ok(cost) } else { Err("the tree of the proof is not whole".into()) }
    }
}
