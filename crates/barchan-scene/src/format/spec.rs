//! Permitted values of keys, and the check of a document against them.
//!
//! The tables of `keys` are the only definition of keys, kinds, ranges and meanings. The check here, the JSON schema
//! and the paths of `--set` follow them.

use super::node::{Node, Table, Value};
use crate::errors::{Report, suggestion};
use crate::model::Dimensions;
use crate::numbers::exact;

/// A key of a table.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// Whether it is required.
    pub required: bool,
    /// One line, with the unit in brackets.
    pub doc: &'static str,
    /// Default as TOML; empty when there is none or it depends on other keys.
    pub default: &'static str,
    /// Ends of the slider that changes it in the live view; `None`: it has none.
    pub slider: Option<[f64; 2]>,
}

/// An array of keys: `/// meaning`, then `name: kind;` or `name: kind, default("0"), slider(0.0, 1.0);` with the methods of
/// [`Key`] that refine it.
macro_rules! keys {
    ($(#[doc = $doc:literal] $name:ident: $kind:expr $(, $refine:ident($($value:expr),*))*;)*) => {
        [$(Key::new(stringify!($name), $kind, $doc.trim_ascii())$(.$refine($($value),*))*),*]
    };
}
pub(crate) use keys;

/// Type of the value of a key.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Text,
    Flag,
    Integer(Range),
    Number(Range),
    /// Three numbers, or two in a 2D scene, each within ± the limit.
    Vector(f64),
    /// That many numbers.
    Numbers(usize),
    /// `[low, high]` with low ≤ high, both in the range.
    Interval(Range),
    /// Points (r, h) of a profile.
    Points,
    /// A list of lists of numbers.
    Rows,
    Choice(&'static [&'static str]),
    /// A list of some of these words.
    Words(&'static [&'static str]),
    /// A list of so many texts.
    Texts(usize),
    Table(&'static [Key]),
    /// Tables under names that the user chooses.
    Named(&'static [Key]),
    /// A list of tables.
    Tables(&'static [Key]),
    /// A list of numbers (a vector) or a table.
    VectorOr(f64, &'static [Key]),
    /// A number or a table.
    NumberOr(Range, &'static [Key]),
    /// Red, green and blue from 0 to 255.
    Color,
    /// A color, or a list of tables.
    ColorMix(&'static [Key]),
    /// A shape: one table of `keys::SHAPE`.
    Shape,
    /// A list of shapes.
    Shapes,
}

impl Kind {
    /// Kind of the items of a list of any length.
    pub fn items(self) -> Option<Self> {
        match self {
            Self::Points => Some(Self::Numbers(2)),
            Self::Words(words) => Some(Self::Choice(words)),
            Self::Tables(keys) => Some(Self::Table(keys)),
            Self::Shapes => Some(Self::Shape),
            _ => None,
        }
    }
}

/// An interval of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub low: f64,
    pub low_open: bool,
    pub high: f64,
    pub high_open: bool,
}

impl Range {
    /// low ≤ x ≤ high.
    pub const fn closed(low: f64, high: f64) -> Self {
        Self {
            low,
            low_open: false,
            high,
            high_open: false,
        }
    }

    /// 0 < x ≤ high.
    pub const fn positive(high: f64) -> Self {
        Self {
            low: 0.0,
            low_open: true,
            high,
            high_open: false,
        }
    }

    /// The same without its upper end.
    pub const fn below_high(mut self) -> Self {
        self.high_open = true;
        self
    }

    /// The same without its lower end.
    pub const fn above_low(mut self) -> Self {
        self.low_open = true;
        self
    }

    /// Whether `x` lies in it; NaN and infinities never do.
    pub fn contains(&self, x: f64) -> bool {
        let above = x > self.low || (!self.low_open && x == self.low);
        let below = x < self.high || (!self.high_open && x == self.high);
        x.is_finite() && above && below
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let low = if self.low_open { "above" } else { "at least" };
        let high = if self.high_open { "below" } else { "at most" };
        write!(
            f,
            "{low} {} and {high} {}",
            exact(self.low),
            exact(self.high)
        )
    }
}

impl Key {
    /// An optional key.
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            name,
            kind,
            required: false,
            doc,
            default: "",
            slider: None,
        }
    }

    /// The same, required.
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The same with a default.
    pub const fn default(mut self, toml: &'static str) -> Self {
        self.default = toml;
        self
    }

    /// The same with a slider in the live view, between these values.
    pub const fn slider(mut self, low: f64, high: f64) -> Self {
        self.slider = Some([low, high]);
        self
    }
}

/// Checks a table against its keys: unknown and missing keys, kinds and ranges. Invalid values are reported and
/// become [`Value::Bad`], so that reading continues with the rest.
pub(crate) struct Checker<'a> {
    pub report: &'a mut Report,
    pub dimensions: Dimensions,
}

impl Checker<'_> {
    /// Checks `node`, a table at `path` (empty for the document itself).
    pub fn table(&mut self, node: &mut Node, keys: &'static [Key], path: &str, doc: &str) {
        let at = node.at;
        let Value::Table(table) = &mut node.value else {
            return self.wrong_kind(node, "a table", path, doc);
        };
        self.unknown_keys(table, keys, path);
        for key in keys {
            let path = join(path, key.name);
            match table.get_mut(key.name) {
                Some(node) => self.value(node, key.kind, &path, key.doc),
                None if key.required => self.report.error(
                    at,
                    format!("`{path}` is missing"),
                    format!("add `{} = …`: {}", key.name, lower_first(key.doc)),
                ),
                None => {}
            }
        }
    }

    fn unknown_keys(&mut self, table: &Table, keys: &'static [Key], path: &str) {
        for entry in &table.entries {
            if keys.iter().all(|k| k.name != entry.key) {
                let place = match path {
                    "" => "at the top level".to_owned(),
                    path => format!("in `{path}`"),
                };
                self.report.error(
                    entry.key_at,
                    format!("unknown key `{}` {place}", entry.key),
                    belongs(&entry.key, keys, path)
                        .unwrap_or_else(|| suggestion(&entry.key, keys.iter().map(|k| k.name))),
                );
            }
        }
    }

    fn value(&mut self, node: &mut Node, kind: Kind, path: &str, doc: &str) {
        match kind {
            _ if node.is_bad() => {}
            Kind::Text if node.text().is_none() => {
                self.wrong_kind(node, "text in quotes", path, doc);
            }
            Kind::Flag if !matches!(node.value, Value::Flag(_)) => {
                self.wrong_kind(node, "true or false", path, doc);
            }
            Kind::Text | Kind::Flag => {}
            Kind::Integer(range) => match node.value {
                Value::Integer(i) => self.in_range(node, i as f64, range, path, doc),
                _ => self.wrong_kind(node, "a whole number", path, doc),
            },
            Kind::Table(keys) => self.table(node, keys, path, doc),
            Kind::VectorOr(_, keys) | Kind::NumberOr(_, keys) if node.table().is_some() => {
                self.table(node, keys, path, doc);
            }
            Kind::Number(range) => self.number(node, range, "a number", path, doc),
            Kind::NumberOr(range, _) => self.number(node, range, "a number or a table", path, doc),
            Kind::Vector(limit) | Kind::VectorOr(limit, _) => self.vector(node, limit, path, doc),
            Kind::Numbers(count) => self.numbers(node, count, path, doc),
            Kind::Interval(range) => self.interval(node, range, path, doc),
            Kind::Rows => self.rows(node, path, doc),
            Kind::Choice(words) => self.choice(node, words, path, doc),
            Kind::Texts(count) => self.texts(node, count, path, doc),
            Kind::Named(keys) => self.named(node, keys, path, doc),
            Kind::ColorMix(keys) if is_mix(node) => {
                self.value(node, Kind::Tables(keys), path, doc);
            }
            Kind::Color | Kind::ColorMix(_) => self.color(node, path, doc),
            Kind::Shape => self.table(node, super::keys::SHAPE, path, doc),
            Kind::Points | Kind::Words(_) | Kind::Tables(_) | Kind::Shapes => {
                self.list(node, kind, path, doc);
            }
        }
    }

    /// A list of any length.
    fn list(&mut self, node: &mut Node, kind: Kind, path: &str, doc: &str) {
        let (Some(items), Value::List(list)) = (kind.items(), &mut node.value) else {
            let expected = match kind {
                Kind::Points => "a list of points [r, h]".to_owned(),
                Kind::Words(words) => format!("a list such as [\"{}\"]", words.join("\", \"")),
                _ => {
                    let name = path.rsplit('.').next().unwrap_or(path);
                    format!("a list of tables, such as [[{name}]]")
                }
            };
            return self.wrong_kind(node, &expected, path, doc);
        };
        for (i, item) in list.iter_mut().enumerate() {
            self.value(item, items, &join(path, &i.to_string()), doc);
        }
    }

    fn in_range(&mut self, node: &mut Node, x: f64, range: Range, path: &str, doc: &str) {
        if !range.contains(x) {
            self.refuse(
                node,
                format!("`{path}` is {}, but it must be {range}", exact(x)),
                remedy("choose a value in that range", doc),
            );
        }
    }

    fn number(&mut self, node: &mut Node, range: Range, expected: &str, path: &str, doc: &str) {
        match node.number() {
            Some(x) => self.in_range(node, x, range, path, doc),
            None => self.wrong_kind(node, expected, path, doc),
        }
    }

    /// A list of `count` finite numbers.
    fn numbers(&mut self, node: &mut Node, count: usize, path: &str, doc: &str) {
        match node.numbers().filter(|n| n.len() == count) {
            None => {
                let expected = format!("a list of {count} numbers");
                self.wrong_kind(node, &expected, path, doc);
            }
            Some(numbers) if numbers.iter().any(|x| !x.is_finite()) => {
                self.not_finite(node, path, doc);
            }
            Some(_) => {}
        }
    }

    fn not_finite(&mut self, node: &mut Node, path: &str, doc: &str) {
        self.refuse(
            node,
            format!("`{path}` contains a number that is not finite"),
            remedy("write finite numbers", doc),
        );
    }

    fn vector(&mut self, node: &mut Node, limit: f64, path: &str, doc: &str) {
        let (expected, flat) = match self.dimensions {
            Dimensions::Three => ("three numbers [x, y, z]", false),
            Dimensions::Two => ("two numbers [x, y] or three [x, y, z]", true),
        };
        let fits = |n: &Vec<f64>| n.len() == 3 || (flat && n.len() == 2);
        let Some(numbers) = node.numbers().filter(fits) else {
            return self.wrong_kind(node, expected, path, doc);
        };
        if numbers.iter().any(|x| !x.is_finite()) {
            self.not_finite(node, path, doc);
        } else if let Some(x) = numbers.iter().find(|x| x.abs() > limit) {
            self.refuse(
                node,
                format!(
                    "`{path}` contains {}, which is beyond ±{}",
                    exact(*x),
                    exact(limit)
                ),
                remedy("give it in SI units", doc),
            );
        }
    }

    fn interval(&mut self, node: &mut Node, range: Range, path: &str, doc: &str) {
        let Some([low, high]) = node.pair() else {
            return self.wrong_kind(node, "an interval [low, high]", path, doc);
        };
        for x in [low, high] {
            if !range.contains(x) {
                return self.in_range(node, x, range, path, doc);
            }
        }
        if low > high {
            self.refuse(
                node,
                format!("`{path}` is empty: {low} is above {high}"),
                "write the lower end first: [low, high]",
            );
        }
    }

    fn color(&mut self, node: &mut Node, path: &str, doc: &str) {
        let channel = |n: &Node| matches!(n.value, Value::Integer(i) if (0..=255).contains(&i));
        let fits = |l: &[Node]| l.len() == 3 && l.iter().all(channel);
        if !node.list().is_some_and(fits) {
            self.refuse(
                node,
                format!("`{path}` is not a color: three whole numbers from 0 to 255"),
                remedy("write [225, 169, 95]", doc),
            );
        }
    }

    fn rows(&mut self, node: &mut Node, path: &str, doc: &str) {
        let rows = node.list().map(|rows| rows.iter().map(Node::numbers));
        let rows: Option<Vec<Vec<f64>>> = rows.and_then(Iterator::collect);
        match rows {
            None => self.wrong_kind(node, "a list of rows of numbers", path, doc),
            Some(rows) if rows.iter().flatten().any(|x| !x.is_finite()) => {
                self.not_finite(node, path, doc);
            }
            Some(_) => {}
        }
    }

    fn choice(&mut self, node: &mut Node, words: &[&str], path: &str, doc: &str) {
        let Some(word) = node.text() else {
            let all = words.join("\" or \"");
            return self.wrong_kind(node, &format!("\"{all}\""), path, doc);
        };
        if !words.contains(&word) {
            let help = suggestion(word, words.iter().copied());
            let message = format!("`{path}` cannot be \"{word}\"");
            self.refuse(node, message, help);
        }
    }

    fn texts(&mut self, node: &mut Node, count: usize, path: &str, doc: &str) {
        let fits = |l: &[Node]| l.len() == count && l.iter().all(|n| n.text().is_some());
        if !node.list().is_some_and(fits) {
            let expected = format!("a list of {count} texts in quotes");
            self.wrong_kind(node, &expected, path, doc);
        }
    }

    fn named(&mut self, node: &mut Node, keys: &'static [Key], path: &str, doc: &str) {
        let Value::Table(table) = &mut node.value else {
            return self.wrong_kind(node, "tables with names", path, doc);
        };
        for entry in &mut table.entries {
            self.table(&mut entry.node, keys, &join(path, &entry.key), doc);
        }
    }

    /// Reports a value and marks it as [`Value::Bad`].
    fn refuse(&mut self, node: &mut Node, message: String, help: impl Into<String>) {
        self.report.error(node.at, message, help);
        node.value = Value::Bad;
    }

    fn wrong_kind(&mut self, node: &mut Node, expected: &str, path: &str, doc: &str) {
        if !node.is_bad() {
            let message = format!("`{path}` must be {expected}, not {}", node.describe());
            self.refuse(node, message, remedy(&format!("write {expected}"), doc));
        }
    }
}

/// The tables at the same level in which a key would be valid.
fn belongs(word: &str, keys: &[Key], path: &str) -> Option<String> {
    let tables = keys.iter().filter_map(|key| match key.kind {
        Kind::Table(inner) if inner.iter().any(|k| k.name == word) => {
            Some(format!("[{}]", join(path, key.name)))
        }
        _ => None,
    });
    let tables: Vec<String> = tables.collect();
    (!tables.is_empty()).then(|| format!("it belongs to {}", tables.join(" or ")))
}

/// Whether a color is given as a list of tables.
pub(crate) fn is_mix(node: &Node) -> bool {
    let first = node.list().and_then(<[Node]>::first);
    first.is_some_and(|n| n.table().is_some())
}

/// A path with one more step.
pub(crate) fn join(path: &str, step: &str) -> String {
    if path.is_empty() {
        step.to_owned()
    } else {
        format!("{path}.{step}")
    }
}

/// The remedy with the meaning of the key.
fn remedy(what: &str, doc: &str) -> String {
    if doc.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {}", lower_first(doc))
    }
}

/// Lowers the first letter for use inside a sentence ("Grid spacing"); words such as "FLIP" are kept.
fn lower_first(doc: &str) -> String {
    let mut chars = doc.chars();
    match (chars.next(), chars.next()) {
        (Some(a), Some(b)) if !b.is_uppercase() => {
            a.to_lowercase().chain([b]).chain(chars).collect()
        }
        _ => doc.to_owned(),
    }
}
