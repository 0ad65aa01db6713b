//! Reads `tests/rust/corpus/*.txt`; its README says how they are written.

use std::fs;
use std::path::Path;

use certree::data::{Column, ColumnKind, Threshold};
use certree::problem::Shape;
use certree::task::{ClassInput, FeatureCostList};

use super::{Case, Loss};

pub struct Known {
    pub name: String,
    pub case: Case,
    /// Loss + penalty · leaves of the best tree.
    pub optimum: f64,
}

/// What a case says before it is solved with some penalty and shape.
#[derive(Default)]
struct Data {
    name: String,
    columns: Vec<Column>,
    classes: Option<usize>,
    labels: Option<usize>,
    total: f64,
    matrix: Vec<f64>,
    class_weights: Vec<f64>,
    balanced: bool,
    codes: Vec<Vec<u32>>,
    numbers: Vec<f64>,
    rows: Vec<u64>,
}

pub fn all() -> Vec<Known> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rust/corpus");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "txt"));
    paths.sort();
    let mut known = Vec::new();
    for path in paths {
        let mut data = Data::default();
        for (index, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            let place = format!("{}:{}", path.display(), index + 1);
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "" | "#" => {}
                "case" => data = Data { name: rest.into(), ..Data::default() },
                "columns" => data.columns = rest.split_whitespace().map(column).collect(),
                "classes" => data.classes = Some(rest.parse().unwrap()),
                "labels" => data.labels = Some(rest.parse().unwrap()),
                "total" => data.total = number(rest),
                "matrix" => data.matrix = numbers(&rest.replace('/', " ")),
                "class_weights" => data.class_weights = numbers(rest),
                "balanced" => data.balanced = true,
                "point" => data.add_point(rest),
                "solve" => known.push(data.solve(rest, &place)),
                _ => panic!("{place}: what is {word:?}?"),
            }
        }
    }
    known
}

impl Data {
    fn add_point(&mut self, text: &str) {
        let (codes, numbers_and_rows) = text.split_once(':').expect("codes : numbers");
        let (given, rows) = numbers_and_rows.split_once("rows").unwrap_or((numbers_and_rows, "1"));
        self.codes.resize(self.columns.len(), Vec::new());
        let mut codes = codes.split_whitespace();
        for column in &mut self.codes {
            column.push(codes.next().expect("a code for each column").parse().unwrap());
        }
        assert_eq!(codes.next(), None, "more codes than columns");
        self.numbers.extend(numbers(given));
        self.rows.push(rows.trim().parse().unwrap());
    }

    fn solve(&self, text: &str, place: &str) -> Known {
        let (settings, answer) = text.split_once("->").expect("settings -> answer");
        let mut penalty = None;
        let mut shape = Shape::default();
        for setting in settings.split_whitespace() {
            let (name, value) = setting.split_once('=').expect("name=value");
            match name {
                "penalty" => penalty = Some(number(value)),
                "depth" => shape.max_depth = Some(value.parse().unwrap()),
                "leaves" => shape.max_leaves = Some(value.parse().unwrap()),
                "rows" => shape.min_leaf_rows = value.parse().unwrap(),
                _ => panic!("{place}: what is {name:?}?"),
            }
        }
        let leaf_penalty = penalty.expect("a penalty");
        let (loss, leaves) = answer.split_once('+').expect("loss + leaves");
        Known {
            name: format!("{} at {place}", self.name),
            case: Case {
                columns: self.columns.clone(),
                codes: self.codes.clone(),
                rows: self.rows.clone(),
                loss: self.loss(leaf_penalty),
                shape,
                prices: FeatureCostList::default(),
                paths: Vec::new(),
            },
            optimum: number(loss) + leaf_penalty * number(leaves),
        }
    }

    fn loss(&self, leaf_penalty: f64) -> Loss {
        let Some(k) = self.classes else {
            return Loss::Rows {
                n_labels: self.labels.expect("classes or labels"),
                costs: self.numbers.clone(),
                normalizer: self.total,
                leaf_penalty,
            };
        };
        let or =
            |given: &[f64], usual: Vec<f64>| if given.is_empty() { usual } else { given.to_vec() };
        let zero_one = (0..k * k).map(|at| f64::from(u8::from(at / k != at % k))).collect();
        Loss::Classes(ClassInput {
            n_classes: k,
            n_labels: self.labels.unwrap_or(k),
            weights: self.numbers.clone(),
            costs: or(&self.matrix, zero_one),
            class_weights: or(&self.class_weights, vec![1.0; k]),
            balanced: self.balanced,
            leaf_penalty,
        })
    }
}

fn column(text: &str) -> Column {
    let (name, kind) = text.split_once('=').expect("name=kind");
    let cut = |cut: &str| match cut.strip_suffix('i') {
        Some(whole) => Some(Threshold::Int(whole.parse().ok()?)),
        None => Some(Threshold::Float(cut.parse().ok()?)),
    };
    let kind = match kind.split(',').map(cut).collect() {
        _ if kind == "bool" => ColumnKind::Boolean,
        Some(cuts) => ColumnKind::Ordered(cuts),
        None => ColumnKind::Category(kind.split('|').map(str::to_owned).collect()),
    };
    Column { name: name.into(), kind, missing: false }
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(number).collect()
}

/// A decimal or a fraction.
fn number(text: &str) -> f64 {
    let parse = |text: &str| text.trim().parse::<f64>().unwrap_or_else(|_| panic!("{text:?}?"));
    match text.split_once('/') {
        Some((p, q)) => parse(p) / parse(q),
        None => parse(text),
    }
}
