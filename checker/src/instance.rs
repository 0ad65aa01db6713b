//! The instance: points with their answers to questions, and what each costs under each label.

/// No sum of costs is larger, and none of a cost for each label than 2^62, so that no sum
/// overflows.
const MOST: i64 = 1 << 57;
/// A depth or a number of leaves that is not limited.
pub const UNLIMITED: u32 = u32::MAX;
/// A limit on leaves is no larger, because each split has a number for each way to share them.
const MOST_LEAVES: i64 = 64;

pub struct Instance {
    pub depth: u32,
    pub leaves: u32,
    /// What a leaf costs beside its points.
    pub leaf: i64,
    pub labels: usize,
    pub questions: usize,
    pub points: usize,
    /// Rows that each leaf of a split holds at least, or 0 if the instance says nothing of rows.
    pub min_rows: i64,
    /// By point, if it does: the rows that the point stands for.
    pub rows: Vec<i64>,
    /// Words of answers of a point.
    pub stride: usize,
    pub answers: Vec<u64>,
    /// By point and label.
    pub costs: Vec<i64>,
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

fn positive(text: &str, most: i64) -> Result<i64, String> {
    let number = whole::<i64>(text)?;
    let is_fit = (1..=most).contains(&number);
    if is_fit { Ok(number) } else { Err(format!("{number} is not from 1 to {most}")) }
}

impl Instance {
    pub fn read(bytes: &[u8]) -> Result<Instance, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "the instance is no text")?;
        let mut lines = text.strip_suffix("\nend\n").ok_or("the instance has no end")?.split('\n');
        if lines.next() != Some("certree instance 1") {
            return Err("this is no instance of version 1".into());
        }
        let mut field = |name: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(name));
            line.and_then(|line| line.strip_prefix(' '))
                .ok_or(format!("the instance has no {name}"))
        };
        let depth = match field("depth")? {
            "none" => UNLIMITED,
            text => whole::<u32>(text)?.min(UNLIMITED - 1),
        };
        let leaf = whole::<i64>(field("leaf")?)?;
        let offset = whole::<i64>(field("offset")?)?.into();
        let units = field("units")?.parse::<f64>().map_err(|_| "units are a number")?;
        let slack = whole::<i64>(field("slack")?)?;
        let labels = whole::<u32>(field("labels")?)? as usize;
        let questions = whole::<u32>(field("questions")?)? as usize;
        let points = whole::<u32>(field("points")?)? as usize;
        if !(0..=MOST).contains(&leaf) || slack < 0 || labels == 0 || units <= 0.0 || units.is_nan()
        {
            return Err("a number of the instance is out of range".into());
        }
        let mut found = Instance {
            depth,
            leaves: UNLIMITED,
            leaf,
            labels,
            questions,
            points: 0,
            min_rows: 0,
            rows: Vec::new(),
            stride: questions.div_ceil(64),
            answers: Vec::new(),
            costs: Vec::new(),
            offset,
            units,
            slack,
        };
        let (mut asked, mut total) = (0, 0);
        for line in lines {
            match line.split_once(' ') {
                Some(("point", line)) => total += found.add(line)?,
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
            if total > MOST.min((1 << 62) / labels as i64) {
                return Err("the costs of the instance are too large".into());
            }
        }
        if found.rows.iter().map(|&rows| i128::from(rows)).sum::<i128>() > MOST.into() {
            return Err("the instance has too many rows".into());
        }
        if asked != questions || found.points != points || points == 0 {
            return Err("the instance has other questions or points than it says".into());
        }
        Ok(found)
    }

    /// Add a point: its answers, its rows where they matter, and its costs by label. What it costs
    /// at most.
    fn add(&mut self, line: &str) -> Result<i64, String> {
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
        let before = self.costs.len();
        for word in words {
            self.costs.push(whole::<i64>(word)?);
        }
        let costs = &self.costs[before..];
        if costs.len() != self.labels || costs.iter().any(|cost| !(0..=MOST).contains(cost)) {
            return Err(format!("point {} has no cost for each label", self.points));
        }
        self.points += 1;
        Ok(costs.iter().copied().max().unwrap_or(0))
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
                let sum = |label| {
                    points.iter().map(|&p| self.costs[p as usize * self.labels + label]).sum()
                };
                cost += (0..self.labels).map(sum).min().unwrap_or(0i64);
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
