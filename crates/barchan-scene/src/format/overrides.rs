//! Changes from the command line: `--set path=value`, `--frames`, `--scale`, `--solver`.
//!
//! Each change is made twice: in the tree that the scene is built from, where the new value knows that it came from
//! the command line, and in the text of the document, which keeps its comments.

use super::keys::{SCENE, SHAPE};
use super::node::{Entry, Node, Table, Value, parse_value};
use super::spec::{Key, Kind, is_mix, join};
use crate::errors::{Place, Report, suggestion};
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

/// Why a path leads nowhere.
struct Fault {
    at: Place,
    message: String,
    help: String,
}

/// Applies all changes; what is wrong with them is reported.
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
    /// Adds the text of a change; returns the place of all of it.
    fn source(&mut self, name: &str, text: &str) -> Place {
        Place::new(self.report.add_source(name, text), 0..text.len())
    }

    fn apply_scale(&mut self, scale: f64) {
        let at = self.source("in --scale", &scale.to_string());
        if !(scale.is_finite() && scale > 0.0) {
            self.report.error(
                at,
                format!("the scale is {scale}, but it must be above 0"),
                "1 is the scene's own resolution, 0.5 half of it",
            );
            return;
        }
        let solver = self.tree.table().and_then(|t| t.table("solver"));
        if let Some(length) = solver.and_then(|s| s.number("resolution")) {
            let length = length / scale;
            self.replace(&["solver", "resolution"], Value::Float(length), length, at);
        }
    }

    /// Sets a key that surely exists in the format.
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
        let mut steps = Vec::new();
        match set_in_keys(self.tree, SCENE, words, "", value, &mut steps) {
            Ok(()) => {
                edit(self.text.as_item_mut(), &steps, written);
            }
            Err(fault) => self.report.error(fault.at, fault.message, fault.help),
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

fn set_in_keys(
    node: &mut Node,
    keys: &'static [Key],
    words: &[Word],
    path: &str,
    value: Node,
    steps: &mut Vec<Step>,
) -> Result<(), Fault> {
    let Some((word, rest)) = words.split_first() else {
        *node = value;
        return Ok(());
    };
    let Value::Table(table) = &mut node.value else {
        return Err(no_parts(word, path));
    };
    let Some(key) = keys.iter().find(|k| k.name == word.text) else {
        return Err(Fault {
            at: word.at,
            message: format!("there is no key `{}`", join(path, &word.text)),
            help: suggestion(&word.text, keys.iter().map(|k| k.name)),
        });
    };
    steps.push(Step::Key(word.text.clone()));
    let path = join(path, key.name);
    if let Some(child) = table.get_mut(key.name) {
        return set_in_kind(child, &key.kind, rest, &path, value, steps);
    }
    let mut child = Node {
        value: Value::Table(Table::default()),
        at: word.at,
    };
    set_in_kind(&mut child, &key.kind, rest, &path, value, steps)?;
    table.entries.push(Entry {
        key: word.text.clone(),
        key_at: word.at,
        node: child,
    });
    Ok(())
}

fn set_in_kind(
    node: &mut Node,
    kind: &'static Kind,
    words: &[Word],
    path: &str,
    value: Node,
    steps: &mut Vec<Step>,
) -> Result<(), Fault> {
    let Some((word, rest)) = words.split_first() else {
        *node = value;
        return Ok(());
    };
    let items_of = match kind {
        Kind::Table(keys) => return set_in_keys(node, keys, words, path, value, steps),
        Kind::VectorOr(_, keys) | Kind::NumberOr(_, keys) if node.table().is_some() => {
            return set_in_keys(node, keys, words, path, value, steps);
        }
        Kind::Shape => return set_in_keys(node, SHAPE, words, path, value, steps),
        Kind::Named(keys) => return set_in_named(node, keys, words, path, value, steps),
        Kind::Tables(keys) => Some(*keys),
        Kind::ColorMix(keys) if is_mix(node) => Some(*keys),
        Kind::Shapes => Some(SHAPE),
        _ => None,
    };
    let Value::List(list) = &mut node.value else {
        return Err(no_parts(word, path));
    };
    let index = list_index(list, word, path)?;
    steps.push(Step::Index(index));
    let (item, path) = (&mut list[index], join(path, &index.to_string()));
    match (items_of, rest.first()) {
        (Some(keys), _) => set_in_keys(item, keys, rest, &path, value, steps),
        (None, Some(_)) => set_in_kind(item, &Kind::Points, rest, &path, value, steps),
        (None, None) => {
            *item = value;
            Ok(())
        }
    }
}

fn set_in_named(
    node: &mut Node,
    keys: &'static [Key],
    words: &[Word],
    path: &str,
    value: Node,
    steps: &mut Vec<Step>,
) -> Result<(), Fault> {
    let (Some((word, rest)), Value::Table(table)) = (words.split_first(), &mut node.value) else {
        return Ok(());
    };
    let names: Vec<String> = table.entries.iter().map(|e| e.key.clone()).collect();
    match table.get_mut(&word.text) {
        Some(child) => {
            steps.push(Step::Key(word.text.clone()));
            let path = join(path, &word.text);
            set_in_keys(child, keys, rest, &path, value, steps)
        }
        None => Err(Fault {
            at: word.at,
            message: format!("the scene has no `{}`", join(path, &word.text)),
            help: match names.is_empty() {
                true => "it has none; those of presets take no changes".to_owned(),
                false => suggestion(&word.text, names.iter().map(String::as_str)),
            },
        }),
    }
}

/// Position in a list by number or by the `name` of a table in it.
fn list_index(list: &[Node], word: &Word, path: &str) -> Result<usize, Fault> {
    let name_of = |node: &Node| node.table()?.text("name").map(str::to_owned);
    let names: Vec<String> = list.iter().filter_map(name_of).collect();
    let by_number = word.text.parse().ok().filter(|i| *i < list.len());
    let by_name = || {
        list.iter()
            .position(|n| name_of(n).as_deref() == Some(&word.text))
    };
    by_number.or_else(by_name).ok_or_else(|| {
        let near = crate::errors::nearest(&word.text, names.iter().map(String::as_str));
        let help = match (near, list.len()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, 0) => "it is empty".to_owned(),
            (None, n) => format!("number them from 0 to {}, or use their names", n - 1),
        };
        Fault {
            at: word.at,
            message: format!("`{path}` has no `{}`", word.text),
            help,
        }
    })
}

fn no_parts(word: &Word, path: &str) -> Fault {
    Fault {
        at: word.at,
        message: format!("`{path}` has no part `{}` in this scene", word.text),
        help: format!("set `{path}` as a whole"),
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
