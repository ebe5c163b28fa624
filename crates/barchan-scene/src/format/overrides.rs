//! Changes from the command line: `--set path=value`, `--frames`, `--scale`, `--solver`.
//!
//! Each change is made twice: in the tree that the scene is built from, where the place of the new value is on
//! the command line, and in the text of the document, which keeps its comments.

use super::keys::{SCENE, SHAPE};
use super::node::{Entry, Node, Table, Value, parse_value};
use super::spec::{Kind, is_mix, join};
use crate::errors::{Place, Report, nearest, suggestion};
use toml_edit::{DocumentMut, Item};

/// Changes to a scene file from the command line.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Overrides {
    /// Number of frames instead of the scene's.
    pub frames: Option<u32>,
    /// Factor of the resolution: 0.5 doubles `solver.resolution`.
    pub scale: Option<f64>,
    /// Family of solvers instead of the scene's.
    pub solver: Option<String>,
    /// `path.to.key=value`, the value in TOML or as a bare word.
    pub set: Vec<String>,
}

impl Overrides {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A step of a path as it was resolved.
enum Step {
    Key(String),
    Index(usize),
}

/// A step of a path as it was written.
struct Word {
    text: String,
    at: Place,
}

/// Applies all changes and reports errors in them.
pub(crate) fn apply(
    overrides: &Overrides,
    tree: &mut Node,
    text: &mut DocumentMut,
    report: &mut Report,
) {
    let mut scene = Changed { tree, text, report };
    for setting in &overrides.set {
        scene.apply_setting(setting);
    }
    if let Some(frames) = overrides.frames.map(i64::from) {
        let at = scene.source("in --frames", &frames.to_string());
        scene.replace(&["frames"], Value::Integer(frames), frames, at);
    }
    if let Some(scale) = overrides.scale {
        scene.apply_scale(scale);
    }
    if let Some(solver) = &overrides.solver {
        let at = scene.source("in --solver", solver);
        let value = Value::Text(solver.clone());
        scene.replace(&["solver", "method"], value, solver, at);
    }
}

/// A scene that is being changed, in both forms.
struct Changed<'a> {
    tree: &'a mut Node,
    text: &'a mut DocumentMut,
    report: &'a mut Report,
}

impl Changed<'_> {
    /// Adds the text of a change; returns its place.
    fn source(&mut self, name: &str, text: &str) -> Place {
        Place::new(self.report.add_source(name, text), 0..text.len())
    }

    fn apply_scale(&mut self, scale: f64) {
        let at = self.source("in --scale", &scale.to_string());
        if !(scale.is_finite() && scale > 0.0) {
            self.report.error(
                at,
                format!("the scale is {scale}, but it must be above 0"),
                "1 is the scene's own resolution, 0.5 is half as fine",
            );
            return;
        }
        let solver = self.tree.table().and_then(|t| t.table("solver"));
        if let Some(length) = solver.and_then(|s| s.number("resolution")) {
            let length = length / scale;
            self.replace(&["solver", "resolution"], Value::Float(length), length, at);
        }
    }

    /// Sets a key that is known to exist in the format.
    fn replace(
        &mut self,
        path: &[&str],
        value: Value,
        written: impl Into<toml_edit::Value>,
        at: Place,
    ) {
        let word = |word: &&str| Word {
            text: (*word).to_owned(),
            at,
        };
        let words: Vec<Word> = path.iter().map(word).collect();
        self.set(&words, Node { value, at }, written.into());
    }

    fn apply_setting(&mut self, setting: &str) {
        let whole = self.source("in --set", setting);
        let Some((words, after)) = split_path(setting, whole.source) else {
            self.report.error(
                whole,
                format!("`{setting}` is not of the form path=value"),
                "write --set solver.resolution=0.02",
            );
            return;
        };
        let raw = &setting[after..];
        let trimmed = raw.trim();
        let start = after + (raw.len() - raw.trim_start().len());
        let at = Place::new(whole.source, start..start + trimmed.len());
        let parsed = parse_value(trimmed, whole.source, start, self.report);
        let (value, written) = match (parsed, trimmed.parse::<toml_edit::Value>()) {
            (Some(node), Ok(value)) => (node, value),
            _ if trimmed.is_empty() || trimmed.starts_with(['[', '{', '"', '\'']) => {
                self.report.error(
                    at,
                    format!("`{trimmed}` is not a TOML value"),
                    "write a number, a word, \"text\", a list [1, 2, 3] or a table { key = 1 }",
                );
                return;
            }
            _ => {
                let value = Value::Text(trimmed.to_owned());
                (Node { value, at }, trimmed.into())
            }
        };
        self.set(&words, value, written);
    }

    fn set(&mut self, words: &[Word], value: Node, written: toml_edit::Value) {
        let mut walk = Walk {
            report: self.report,
            steps: Vec::new(),
        };
        if walk
            .set(self.tree, Kind::Table(SCENE), words, "", value)
            .is_some()
        {
            edit(self.text.as_item_mut(), &walk.steps, written);
        }
    }
}

/// The words of a path up to the first `=` outside quotes, and the position after that.
fn split_path(setting: &str, source: usize) -> Option<(Vec<Word>, usize)> {
    let mut words = Vec::new();
    let (mut start, mut quote) = (0, None);
    for (i, c) in setting.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '.' || c == '=' => {
                let raw = setting[start..i].trim();
                let text = raw.trim_matches(['"', '\'']);
                if text.is_empty() {
                    return None;
                }
                words.push(Word {
                    text: text.to_owned(),
                    at: Place::new(source, start..i),
                });
                start = i + 1;
                if c == '=' {
                    return Some((words, start));
                }
            }
            None => {}
        }
    }
    None
}

/// Follows a path to a value of the tree; a step that leads nowhere is reported.
struct Walk<'a> {
    report: &'a mut Report,
    /// Steps so far.
    steps: Vec<Step>,
}

impl Walk<'_> {
    /// Puts a value where the rest of a path leads from a node of that kind.
    fn set(
        &mut self,
        node: &mut Node,
        kind: Kind,
        words: &[Word],
        path: &str,
        value: Node,
    ) -> Option<()> {
        let Some((word, rest)) = words.split_first() else {
            *node = value;
            return Some(());
        };
        let is_table = node.table().is_some();
        let keys = match kind {
            Kind::Table(keys) => keys,
            Kind::VectorOr(_, keys) | Kind::NumberOr(_, keys) if is_table => keys,
            Kind::Shape => SHAPE,
            Kind::Named(keys) => {
                let own = self.named(node, word, path)?;
                let path = join(path, &word.text);
                return self.set(own, Kind::Table(keys), rest, &path, value);
            }
            _ => {
                let items = match kind {
                    Kind::ColorMix(keys) if is_mix(node) => Kind::Table(keys),
                    _ => kind.items().unwrap_or(Kind::Points),
                };
                let (item, path) = self.item(node, word, path)?;
                return self.set(item, items, rest, &path, value);
            }
        };
        let Value::Table(table) = &mut node.value else {
            return self.no_parts(word, path);
        };
        let path = join(path, &word.text);
        let Some(key) = keys.iter().find(|k| k.name == word.text) else {
            let help = suggestion(&word.text, keys.iter().map(|k| k.name));
            let message = format!("there is no key `{path}`");
            return self.report.refuse(word.at, message, help);
        };
        self.steps.push(Step::Key(word.text.clone()));
        if let Some(child) = table.get_mut(key.name) {
            return self.set(child, key.kind, rest, &path, value);
        }
        let mut child = Node {
            value: Value::Table(Table::default()),
            at: word.at,
        };
        self.set(&mut child, key.kind, rest, &path, value)?;
        table.entries.push(Entry {
            key: word.text.clone(),
            key_at: word.at,
            node: child,
        });
        Some(())
    }

    /// The table of that name, among those whose names the user chooses.
    fn named<'n>(&mut self, node: &'n mut Node, word: &Word, path: &str) -> Option<&'n mut Node> {
        let Value::Table(table) = &mut node.value else {
            return None;
        };
        if !table.has(&word.text) {
            let help = match table.entries.is_empty() {
                true => "it has none; presets cannot be changed".to_owned(),
                false => suggestion(&word.text, table.entries.iter().map(|e| e.key.as_str())),
            };
            let message = format!("the scene has no `{}`", join(path, &word.text));
            return self.report.refuse(word.at, message, help);
        }
        self.steps.push(Step::Key(word.text.clone()));
        table.get_mut(&word.text)
    }

    /// The item of a list by number or by the `name` of a table in it, with the path to it.
    fn item<'n>(
        &mut self,
        node: &'n mut Node,
        word: &Word,
        path: &str,
    ) -> Option<(&'n mut Node, String)> {
        let Value::List(list) = &mut node.value else {
            return self.no_parts(word, path);
        };
        let names = list.iter().map(|node| node.table()?.text("name"));
        let by_number = word.text.parse().ok().filter(|i| *i < list.len());
        let by_name = || names.clone().position(|n| n == Some(&word.text));
        let Some(index) = by_number.or_else(by_name) else {
            let help = match (nearest(&word.text, names.flatten()), list.len()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, 0) => "it is empty".to_owned(),
                (None, n) => format!("number them from 0 to {}, or use their names", n - 1),
            };
            let message = format!("`{path}` has no `{}`", word.text);
            return self.report.refuse(word.at, message, help);
        };
        self.steps.push(Step::Index(index));
        Some((&mut list[index], join(path, &index.to_string())))
    }

    fn no_parts<T>(&mut self, word: &Word, path: &str) -> Option<T> {
        self.report.refuse(
            word.at,
            format!("`{path}` has no part `{}` in this scene", word.text),
            format!("set `{path}` as a whole"),
        )
    }
}

/// Puts a value into the document; the steps are known to lead there.
fn edit(item: &mut Item, steps: &[Step], value: toml_edit::Value) -> Option<()> {
    let Some((step, rest)) = steps.split_first() else {
        *item = Item::Value(value);
        return Some(());
    };
    match step {
        Step::Index(i) => edit(item.get_mut(*i)?, rest, value),
        Step::Key(key) => {
            let inline = item.is_inline_table();
            let table = item.as_table_like_mut()?;
            if !table.contains_key(key) {
                let empty = if inline || rest.is_empty() {
                    Item::Value(toml_edit::InlineTable::new().into())
                } else {
                    Item::Table(toml_edit::Table::new())
                };
                table.insert(key, empty);
            }
            edit(table.get_mut(key)?, rest, value)
        }
    }
}
