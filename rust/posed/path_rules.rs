//! Rules for paths as plain data, in words, and as the context that they make together.
//!
//! To add a rule for users: write its context in `context`, give it a variant here, and a class in
//! `python/certree/path_rules.py`. The compiler finds the other places.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::context::{After, Context, FirstColumn, MostColumns, Product, Together};
use crate::data::Column;
use crate::error::{Error, Result};
use crate::ids::ColumnId;
use crate::serial::{Reader, Saved, Writer, damaged};

/// What the columns of every path from the root to a leaf keep to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathRule {
    /// There are at most so many different ones.
    MostColumns(u32),
    /// The column is asked only below splits on all of the others.
    After { column: ColumnId, above: Vec<ColumnId> },
    /// Those that are in some group are all in one group. Columns of no group may meet all others.
    Apart(Vec<Vec<ColumnId>>),
    /// The first one is this.
    FirstColumn(ColumnId),
}

impl PathRule {
    /// The columns that it names.
    fn named(&self) -> Vec<ColumnId> {
        match self {
            PathRule::MostColumns(_) => Vec::new(),
            PathRule::After { column, above } => [&[*column][..], above].concat(),
            PathRule::Apart(groups) => groups.concat(),
            PathRule::FirstColumn(first) => vec![*first],
        }
    }

    /// The rule as a sentence without its end.
    pub fn words(&self, columns: &[Column]) -> String {
        match self {
            PathRule::MostColumns(1) => "each path asks for at most 1 column".to_owned(),
            PathRule::MostColumns(most) => {
                format!("each path asks for at most {most} different columns")
            }
            PathRule::After { column, above } => {
                let above: Vec<String> = above.iter().map(|above| name(*above, columns)).collect();
                let (column, above) = (name(*column, columns), above.join(" and "));
                format!("{column} is asked only below splits on {above}")
            }
            PathRule::Apart(groups) => {
                let group = |group: &Vec<ColumnId>| format!("[{}]", listed(group, columns));
                let groups: Vec<String> = groups.iter().map(group).collect();
                format!("no path asks for columns of several of the groups {}", groups.join(", "))
            }
            PathRule::FirstColumn(first) => {
                format!("the first split is on {}", name(*first, columns))
            }
        }
    }

    /// An error if the rule makes no sense by itself.
    fn check(&self, columns: &[Column]) -> Result<()> {
        if let Some(unknown) = self.named().iter().find(|column| column.index() >= columns.len()) {
            let n = columns.len();
            return Err(invalid(format!("name column {}, but there are {n} columns", unknown.0)));
        }
        match self {
            PathRule::MostColumns(0) => Err(invalid(
                "allow 0 columns on a path, which forbids every split: allow at least 1, or set \
                 max_depth=0",
            )),
            PathRule::After { column, above } if above.is_empty() => Err(invalid(format!(
                "let {} be asked only after other columns, but name none",
                name(*column, columns)
            ))),
            PathRule::Apart(groups) if groups.iter().any(Vec::is_empty) => {
                Err(invalid("keep groups of columns apart, but one of them is empty"))
            }
            PathRule::Apart(groups) if groups.len() < 2 => Err(invalid(
                "keep groups of columns apart, but name fewer than two groups, so that nothing is \
                 kept apart",
            )),
            _ => Ok(()),
        }
    }
}

impl Saved for PathRule {
    fn write(&self, out: &mut Writer) {
        match self {
            PathRule::MostColumns(most) => {
                out.byte(0);
                out.short(*most);
            }
            PathRule::After { column, above } => {
                out.byte(1);
                out.short(column.0);
                write_columns(above, out);
            }
            PathRule::Apart(groups) => {
                out.byte(2);
                out.list(groups.iter(), |out, group| write_columns(group, out));
            }
            PathRule::FirstColumn(first) => {
                out.byte(3);
                out.short(first.0);
            }
        }
    }

    fn read(from: &mut Reader) -> Result<PathRule> {
        Ok(match from.byte()? {
            0 => PathRule::MostColumns(from.short()?),
            1 => PathRule::After { column: ColumnId(from.short()?), above: read_columns(from)? },
            2 => PathRule::Apart(from.list(read_columns)?),
            3 => PathRule::FirstColumn(ColumnId(from.short()?)),
            _ => return Err(damaged("there is no such rule for paths")),
        })
    }
}

fn write_columns(columns: &[ColumnId], out: &mut Writer) {
    let numbers: Vec<u32> = columns.iter().map(|column| column.0).collect();
    out.shorts(&numbers);
}

fn read_columns(from: &mut Reader) -> Result<Vec<ColumnId>> {
    Ok(from.shorts()?.into_iter().map(ColumnId).collect())
}

/// What all rules together allow; `None` where there are none. It is an error if one makes no
/// sense, or if they let a column that they name never be asked.
pub fn context(rules: &[PathRule], columns: &[Column]) -> Result<Option<Arc<dyn Context>>> {
    rules.iter().try_for_each(|rule| rule.check(columns))?;
    if rules.is_empty() {
        return Ok(None);
    }
    let all = Combined::of(rules);
    let named: BTreeSet<ColumnId> = rules.iter().flat_map(PathRule::named).collect();
    for column in named {
        if let Some(why) = all.why_never(column, columns) {
            let column = name(column, columns);
            return Err(Error::invalid(format!(
                "path_rules contradict each other: {column} can never be asked, because {why}"
            )));
        }
    }
    Ok(Some(Arc::new(all.product(columns.len()))))
}

/// Rules by their kinds.
struct Combined<'a> {
    most: Option<u32>,
    /// A column, and one that must be asked above it.
    after: Vec<(ColumnId, ColumnId)>,
    apart: Vec<&'a [Vec<ColumnId>]>,
    first: BTreeSet<ColumnId>,
}

impl<'a> Combined<'a> {
    fn of(rules: &'a [PathRule]) -> Combined<'a> {
        let mut all =
            Combined { most: None, after: Vec::new(), apart: Vec::new(), first: BTreeSet::new() };
        for rule in rules {
            match rule {
                PathRule::MostColumns(most) => {
                    all.most = Some(all.most.map_or(*most, |other| other.min(*most)));
                }
                PathRule::After { column, above } => {
                    all.after.extend(above.iter().map(|&above| (*column, above)));
                }
                PathRule::Apart(groups) => all.apart.push(groups),
                PathRule::FirstColumn(first) => {
                    all.first.insert(*first);
                }
            }
        }
        all
    }

    /// One context for each kind of rule.
    fn product(&self, n_columns: usize) -> Product {
        let mut parts: Vec<Arc<dyn Context>> = Vec::new();
        if let Some(most) = self.most {
            parts.push(Arc::new(MostColumns::new(most, n_columns)));
        }
        if !self.after.is_empty() {
            parts.push(Arc::new(After::new(&self.after, n_columns)));
        }
        for groups in &self.apart {
            let is_free = |column: &ColumnId| !groups.iter().any(|group| group.contains(column));
            let free: Vec<ColumnId> = (0..n_columns).map(ColumnId::from).filter(is_free).collect();
            let set = |group: &Vec<ColumnId>| [&group[..], &free].concat();
            let sets: Vec<Vec<ColumnId>> = groups.iter().map(set).collect();
            parts.push(Arc::new(Together::new(&sets, n_columns)));
        }
        let first = |&first: &ColumnId| Arc::new(FirstColumn::new(first)) as Arc<dyn Context>;
        parts.extend(self.first.iter().map(first));
        Product::new(parts, n_columns)
    }

    /// The reason why no path can ask for a column, if there is one.
    ///
    /// Every path that asks for it asks for the column of the first split too, and for all that
    /// these need. A path of just those, each after what it needs, breaks no rule unless one is
    /// broken by them: more columns allow no more. So the reasons here are all that there are.
    fn why_never(&self, column: ColumnId, columns: &[Column]) -> Option<String> {
        let name = |column: &ColumnId| name(*column, columns);
        if let (Some(one), Some(other)) = (self.first.first(), self.first.last())
            && one != other
        {
            return Some(format!(
                "the first split of a tree cannot be on {} and on {}",
                name(one),
                name(other)
            ));
        }
        if let Some(first) = self.first.first()
            && let Some((_, above)) = self.after.iter().find(|(column, _)| column == first)
        {
            let (first, above) = (name(first), name(above));
            return Some(format!(
                "the first split is on {first}, which may be asked only after {above}"
            ));
        }
        let path = self.least_path(column);
        if let Some(circle) = self.circle(&path) {
            let circle = name(&circle);
            return Some(format!(
                "{circle} may be asked only after itself, through the columns that it needs"
            ));
        }
        let needed = listed(&path.iter().copied().collect::<Vec<_>>(), columns);
        for groups in &self.apart {
            let is_in = |column: &ColumnId| groups.iter().any(|group| group.contains(column));
            let grouped: Vec<&ColumnId> = path.iter().filter(|column| is_in(column)).collect();
            let fits = |group: &Vec<ColumnId>| grouped.iter().all(|column| group.contains(column));
            if !grouped.is_empty() && !groups.iter().any(fits) {
                return Some(format!(
                    "its path has to ask for {needed}, which are of groups that are kept apart"
                ));
            }
        }
        let n = path.len();
        let most = self.most.filter(|&most| n > most as usize)?;
        Some(format!(
            "its path has to ask for {needed}, which are {n} columns, and {most} is the most allowed"
        ))
    }

    /// A column, the one of the first split, and all that these need.
    fn least_path(&self, column: ColumnId) -> BTreeSet<ColumnId> {
        let mut path: BTreeSet<ColumnId> = self.first.iter().copied().chain([column]).collect();
        loop {
            let needed = self.after.iter().filter(|(column, _)| path.contains(column));
            let more: Vec<ColumnId> =
                needed.map(|&(_, above)| above).filter(|above| !path.contains(above)).collect();
            if more.is_empty() {
                return path;
            }
            path.extend(more);
        }
    }

    /// A column of these that needs itself, directly or through others.
    fn circle(&self, path: &BTreeSet<ColumnId>) -> Option<ColumnId> {
        path.iter().copied().find(|&column| {
            let above = self.after.iter().filter(|(below, _)| *below == column);
            above
                .map(|&(_, above)| above)
                .any(|above| above == column || self.needs(above, column, &mut BTreeSet::new()))
        })
    }

    /// Whether a column needs another one, directly or through others. `seen`: columns that were
    /// looked at.
    fn needs(&self, column: ColumnId, other: ColumnId, seen: &mut BTreeSet<ColumnId>) -> bool {
        if !seen.insert(column) {
            return false;
        }
        let mut above = self.after.iter().filter(|(below, _)| *below == column);
        above.any(|&(_, above)| above == other || self.needs(above, other, seen))
    }
}

/// The name of a column as it is printed, without characters that command a terminal.
fn name(column: ColumnId, columns: &[Column]) -> String {
    format!("'{}'", columns[column.index()].name.escape_debug())
}

fn listed(of: &[ColumnId], columns: &[Column]) -> String {
    of.iter().map(|column| name(*column, columns)).collect::<Vec<_>>().join(", ")
}

fn invalid(what: impl std::fmt::Display) -> Error {
    Error::invalid(format!("path_rules {what}"))
}
