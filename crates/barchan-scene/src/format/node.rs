//! The scene file as a tree in which every key and value has its place in the text.

use crate::errors::{Place, Report};
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value with its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub value: Value,
    pub at: Place,
}

/// A value of a TOML document.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    Date,
    List(Vec<Node>),
    Table(Table),
    /// An invalid value that has been reported; readers treat it as missing.
    Bad,
}

/// Keys and values in the order of the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

/// One key of a table.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: String,
    pub key_at: Place,
    pub node: Node,
}

/// Parses TOML; syntax errors are reported, and what could be read is returned.
pub(crate) fn parse(text: &str, source: usize, report: &mut Report) -> Node {
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let at = Place::new(source, span);
        let reason = error.message().trim().replace('\n', "; ");
        report.error(
            at,
            format!("not valid TOML: {reason}"),
            "correct the syntax; https://toml.io has the rules",
        );
    }
    let at = Place::new(source, document.span());
    let mut reader = Reader {
        source,
        offset: 0,
        report,
    };
    Node {
        value: Value::Table(reader.table(document.into_inner())),
        at,
    }
}

/// Parses a single TOML value at byte `offset` of its source; `None` when it is not TOML.
pub(crate) fn parse_value(
    text: &str,
    source: usize,
    offset: usize,
    report: &mut Report,
) -> Option<Node> {
    let value = DeValue::parse(text).ok()?;
    let mut reader = Reader {
        source,
        offset,
        report,
    };
    Some(reader.node(value))
}

struct Reader<'a> {
    source: usize,
    offset: usize,
    report: &'a mut Report,
}

impl Reader<'_> {
    fn place(&self, span: std::ops::Range<usize>) -> Place {
        Place::new(
            self.source,
            span.start + self.offset..span.end + self.offset,
        )
    }

    fn table(&mut self, table: DeTable<'_>) -> Table {
        let mut entries: Vec<Entry> = table
            .into_iter()
            .map(|(key, value)| Entry {
                key_at: self.place(key.span()),
                key: key.into_inner().into_owned(),
                node: self.node(value),
            })
            .collect();
        entries.sort_by_key(|e| e.key_at);
        Table { entries }
    }

    fn node(&mut self, value: Spanned<DeValue<'_>>) -> Node {
        let at = self.place(value.span());
        let value = match value.into_inner() {
            DeValue::String(s) => Value::Text(s.into_owned()),
            DeValue::Boolean(b) => Value::Flag(b),
            DeValue::Datetime(_) => Value::Date,
            DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
                Ok(i) => Value::Integer(i),
                Err(_) => self.bad(at, "this whole number is too large to read"),
            },
            DeValue::Float(f) => match f.as_str().parse() {
                Ok(f) => Value::Float(f),
                Err(_) => self.bad(at, "this number cannot be read"),
            },
            DeValue::Array(list) => Value::List(list.into_iter().map(|v| self.node(v)).collect()),
            DeValue::Table(t) => Value::Table(self.table(t)),
        };
        Node { value, at }
    }

    fn bad(&mut self, at: Place, message: &str) -> Value {
        self.report.error(at, message, "write it as 1.5 or 2e6");
        Value::Bad
    }
}

impl Node {
    /// Description of its type, for messages.
    pub fn describe(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Bad => "nothing",
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Integer(i) => Some(i as f64),
            Value::Float(f) => Some(f),
            _ => None,
        }
    }

    pub fn integer(&self) -> Option<i64> {
        match self.value {
            Value::Integer(i) => Some(i),
            _ => None,
        }
    }

    /// A whole number that is not negative.
    pub fn count(&self) -> Option<u32> {
        self.integer()?.try_into().ok()
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(s) => Some(s),
            _ => None,
        }
    }

    /// The variant that a word names. The key check has validated the word.
    pub fn choice<T: DeserializeOwned>(&self) -> Option<T> {
        let word: StrDeserializer<'_, Error> = self.text()?.into_deserializer();
        T::deserialize(word).ok()
    }

    pub fn list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// All the numbers of a list of numbers.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        self.list()?.iter().map(Node::number).collect()
    }

    pub fn pair(&self) -> Option<[f64; 2]> {
        self.numbers()?.try_into().ok()
    }

    /// Three numbers, or two with zero as the third.
    pub fn vector(&self) -> Option<glam::DVec3> {
        match self.numbers()?.as_slice() {
            [x, y] => Some(glam::DVec3::new(*x, *y, 0.0)),
            [x, y, z] => Some(glam::DVec3::new(*x, *y, *z)),
            _ => None,
        }
    }

    pub fn is_bad(&self) -> bool {
        matches!(self.value, Value::Bad)
    }
}

/// Values by key. Missing and bad values read as `None`: the key check has reported them.
impl Table {
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.key == key)
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|e| &e.node)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries
            .iter_mut()
            .find(|e| e.key == key)
            .map(|e| &mut e.node)
    }

    /// Whether the key is there, good or bad.
    pub fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Whether the key is there but its value was refused.
    pub fn is_bad(&self, key: &str) -> bool {
        self.get(key).is_some_and(Node::is_bad)
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.number()
    }

    /// The value as converted by `read`, or the default where there is none; `None` when the value was refused.
    pub fn or<T>(&self, key: &str, default: T, read: impl Fn(&Node) -> Option<T>) -> Option<T> {
        self.get(key).map_or(Some(default), read)
    }

    /// The same where a missing value has no default: `Some(None)`.
    pub fn optional<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Node) -> Option<T>,
    ) -> Option<Option<T>> {
        self.get(key)
            .map_or(Some(None), |node| read(node).map(Some))
    }

    /// The number under a key, or the default; `None` when the number was refused.
    pub fn number_or(&self, key: &str, default: f64) -> Option<f64> {
        self.or(key, default, Node::number)
    }

    pub fn integer(&self, key: &str) -> Option<i64> {
        self.get(key)?.integer()
    }

    pub fn count(&self, key: &str) -> Option<u32> {
        self.get(key)?.count()
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)?.value {
            Value::Flag(b) => Some(b),
            _ => None,
        }
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    pub fn choice<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.get(key)?.choice()
    }

    pub fn vector(&self, key: &str) -> Option<glam::DVec3> {
        self.get(key)?.vector()
    }

    pub fn list(&self, key: &str) -> &[Node] {
        self.get(key).and_then(Node::list).unwrap_or_default()
    }

    pub fn table(&self, key: &str) -> Option<&Table> {
        self.get(key)?.table()
    }

    pub fn pair(&self, key: &str) -> Option<[f64; 2]> {
        self.get(key)?.pair()
    }

    /// Place of the key; `otherwise` when it is missing.
    pub fn at(&self, key: &str, otherwise: Place) -> Place {
        self.get(key).map_or(otherwise, |n| n.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::JointKind;
    use crate::format::keys::SCENE;
    use crate::format::spec::{Key, Kind};
    use crate::{
        Boundary, ConeMatch, Interpolation, Kernel, Look, PbdFriction, PbdScheme, Sampling,
        SphWalls, SphYield,
    };

    /// Every list of words in a table of keys and those below it.
    fn choices(keys: &'static [Key], into: &mut Vec<(&'static str, &'static [&'static str])>) {
        for key in keys {
            match key.kind {
                Kind::Choice(words) => into.push((key.name, words)),
                Kind::Table(keys)
                | Kind::Named(keys)
                | Kind::Tables(keys)
                | Kind::VectorOr(_, keys)
                | Kind::NumberOr(_, keys) => choices(keys, into),
                _ => {}
            }
        }
    }

    fn reads<T: DeserializeOwned>(words: &[&str]) -> bool {
        words.iter().all(|word| {
            let word: StrDeserializer<'_, Error> = word.into_deserializer();
            T::deserialize(word).is_ok()
        })
    }

    /// A word that names no variant would silently give the default.
    #[test]
    fn words_of_the_keys_name_variants() {
        // These are compared as text.
        let texts = ["method", "law", "model", "transfer", "up"];
        let readers: [fn(&[&str]) -> bool; 11] = [
            reads::<Boundary>,
            reads::<ConeMatch>,
            reads::<Interpolation>,
            reads::<JointKind>,
            reads::<Kernel>,
            reads::<Look>,
            reads::<PbdFriction>,
            reads::<PbdScheme>,
            reads::<Sampling>,
            reads::<SphWalls>,
            reads::<SphYield>,
        ];
        let mut all = Vec::new();
        choices(SCENE, &mut all);
        for family in crate::FAMILIES {
            choices(family.keys, &mut all);
        }
        assert!(all.len() > 15, "{all:?}");
        for (key, words) in all.iter().filter(|(key, _)| !texts.contains(key)) {
            let known = readers.iter().any(|reads| reads(words));
            assert!(known, "`{key}`: {words:?}");
        }
        assert!(!readers.iter().any(|reads| reads(&["linear", "lineal"])));
    }
}
