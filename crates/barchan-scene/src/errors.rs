//! Errors in a scene: each with its place in the text, the reason and a remedy.

use crate::format::Node;
use miette::{Diagnostic, NamedSource, SourceSpan};
use std::fmt;
use std::sync::Arc;

/// A place in the text of a scene, for errors that are found only when other files are read.
#[derive(Clone, Default)]
pub struct SourceMark(Option<Located>);

impl SourceMark {
    /// A single error at this place.
    pub fn refuse(&self, message: impl Into<String>, help: impl Into<String>) -> SceneErrors {
        let scene = self.0.as_ref().map_or("scene", |p| p.text.name());
        self.refuse_scene(scene, message, help)
    }

    /// A message about this place.
    pub(crate) fn remark(&self, message: impl Into<String>, help: impl Into<String>) -> SceneError {
        SceneError {
            message: message.into(),
            help: Some(help.into()).filter(|help| !help.is_empty()),
            text: self.0.as_ref().map(|p| p.text.clone()),
            span: self.0.as_ref().map(|p| p.span),
        }
    }

    /// A single error that names the scene, for errors without a place, such as a missing file.
    pub(crate) fn refuse_scene(
        &self,
        scene: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> SceneErrors {
        SceneErrors {
            scene: scene.to_owned(),
            errors: vec![self.remark(message, help)],
        }
    }
}

/// Always equal: positions in the text do not affect equality.
impl fmt::Debug for SourceMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SourceMark")
    }
}

/// Where the keys of a scene stand in its text and in the changes to it.
#[derive(Clone, Default)]
pub struct Places {
    sources: Vec<Arc<NamedSource<String>>>,
    tree: Option<Arc<Node>>,
}

impl Places {
    /// The place of a path of keys and indices, such as `fill.0.shape`, or of the enclosing table if the key
    /// is missing. A preset that the scene only names has the place of that name.
    pub fn find(&self, path: &str) -> SourceMark {
        let place = self.tree.as_ref().and_then(|tree| place_of(tree, path));
        SourceMark(place.and_then(|at| at.located(&self.sources)))
    }
}

fn place_of(tree: &Node, path: &str) -> Option<Place> {
    let document = tree.table()?;
    if let Some(name) = path.strip_prefix("materials.") {
        let own = document.table("materials");
        let is_own = own.is_some_and(|t| name.split('.').next().is_some_and(|n| t.has(n)));
        if !is_own {
            let parts = document.list("fill").iter().chain(document.list("emitter"));
            let mut users = parts.chain(document.get("terrain"));
            return users.find_map(|part| {
                let node = part.table()?.get("material")?;
                let used = node.text()?;
                (used == name || name.strip_prefix(used)?.starts_with('.')).then_some(node.at)
            });
        }
    }
    let mut place = None;
    let mut node = tree;
    for word in path.split('.') {
        let next = match node.list() {
            Some(list) => word.parse().ok().and_then(|i: usize| list.get(i)),
            None => node.table().and_then(|t| t.get(word)),
        };
        let Some(next) = next else { break };
        (node, place) = (next, Some(next.at));
    }
    place
}

/// Always equal: positions in the text do not affect equality.
impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Places")
    }
}

/// An error in a scene.
#[derive(Debug, Clone, thiserror::Error, Diagnostic)]
#[error("{message}")]
pub struct SceneError {
    message: String,
    #[help]
    help: Option<String>,
    #[source_code]
    text: Option<Arc<NamedSource<String>>>,
    #[label]
    span: Option<SourceSpan>,
}

/// A span of a named text.
#[derive(Debug, Clone)]
struct Located {
    text: Arc<NamedSource<String>>,
    span: SourceSpan,
}

impl SceneError {
    /// What is wrong, in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Remedy.
    pub fn help_text(&self) -> &str {
        self.help.as_deref().unwrap_or_default()
    }

    /// Name of the text that contains it: the scene file, or `in --set`, `in --frames`, `in --scale`, `in --solver`.
    pub fn source_name(&self) -> Option<&str> {
        self.text.as_ref().map(|text| text.name())
    }

    /// Line in that text, from 1.
    pub fn line(&self) -> Option<usize> {
        let before = self
            .text
            .as_ref()?
            .inner()
            .bytes()
            .take(self.span?.offset());
        Some(1 + before.filter(|b| *b == b'\n').count())
    }

    /// Name of that text and the line: `scene.toml:12`.
    pub fn location(&self) -> Option<String> {
        Some(format!("{}:{}", self.source_name()?, self.line()?))
    }

    /// The text that the caret marks.
    pub fn marked(&self) -> Option<&str> {
        let (start, length) = (self.span?.offset(), self.span?.len());
        self.text.as_ref()?.inner().get(start..start + length)
    }
}

/// All errors in a scene; never empty.
#[derive(Debug, Clone, thiserror::Error, Diagnostic)]
#[error(
    "{scene} cannot be simulated: {} error{}",
    .errors.len(),
    if errors.len() == 1 { "" } else { "s" }
)]
pub struct SceneErrors {
    scene: String,
    #[related]
    errors: Vec<SceneError>,
}

impl SceneErrors {
    /// Errors in the order of the text.
    pub fn errors(&self) -> &[SceneError] {
        &self.errors
    }

    /// The messages alone, in the same order.
    pub fn messages(&self) -> Vec<String> {
        self.errors.iter().map(|e| e.message.clone()).collect()
    }
}

/// A span of one of the texts that a scene is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Index of the text in the [`Report`].
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Place {
    /// A byte range of a text.
    pub fn new(source: usize, bytes: std::ops::Range<usize>) -> Self {
        Self {
            source,
            start: bytes.start,
            end: bytes.end,
        }
    }

    fn located(self, sources: &[Arc<NamedSource<String>>]) -> Option<Located> {
        sources.get(self.source).map(|text| Located {
            text: text.clone(),
            span: (self.start, self.end.saturating_sub(self.start)).into(),
        })
    }
}

/// Collects errors while a scene is read.
pub(crate) struct Report {
    sources: Vec<Arc<NamedSource<String>>>,
    errors: Vec<(Place, SceneError)>,
}

impl Report {
    /// An empty report on the scene file of that name and text, which is source 0.
    pub fn new(name: &str, text: &str) -> Self {
        let mut report = Self {
            sources: Vec::new(),
            errors: Vec::new(),
        };
        report.add_source(name, text);
        report
    }

    /// Adds a text, such as that of an override; returns its index.
    pub fn add_source(&mut self, name: &str, text: &str) -> usize {
        let source = NamedSource::new(name, text.to_owned());
        self.sources.push(Arc::new(source));
        self.sources.len() - 1
    }

    /// Adds an error.
    pub fn error(&mut self, at: Place, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push((at, self.mark(at).remark(message, help)));
    }

    /// Adds a fatal error; returns `None`.
    pub fn refuse<T>(
        &mut self,
        at: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.error(at, message, help);
        None
    }

    /// The place together with its text, independent of the report.
    pub fn mark(&self, at: Place) -> SourceMark {
        SourceMark(at.located(&self.sources))
    }

    /// The places of a whole scene.
    pub fn places(&self, tree: Node) -> Places {
        Places {
            sources: self.sources.clone(),
            tree: Some(Arc::new(tree)),
        }
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// All errors in the order of the text; `None` if there are none.
    pub fn into_errors(mut self) -> Option<SceneErrors> {
        if self.errors.is_empty() {
            return None;
        }
        self.errors.sort_by_key(|(place, _)| *place);
        let scene = self.sources.first().map_or("scene", |s| s.name());
        Some(SceneErrors {
            scene: scene.to_owned(),
            errors: self.errors.into_iter().map(|(_, e)| e).collect(),
        })
    }
}

/// The candidate nearest to `word`, if near enough to be a likely misspelling.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|c| (edit_distance(&normal(word), &normal(c)), c))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

/// "did you mean `x`?" or the list of candidates.
pub(crate) fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    match nearest(word, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if candidates.is_empty() => "remove it".to_owned(),
        None => format!("possible here: {}", list(candidates)),
    }
}

/// `a`, `b`, `c`.
pub(crate) fn list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = items.into_iter().map(|c| format!("`{c}`")).collect();
    quoted.join(", ")
}

/// Lower case, with one kind of separator: `Dry-Sand` is near `dry sand`.
fn normal(word: &str) -> Vec<char> {
    word.chars()
        .map(|c| if matches!(c, '-' | '_') { ' ' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Insertions, deletions, replacements and swaps of neighbors that turn `a` into `b`.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let (mut before, mut last) = (vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>());
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_swaps_once() {
        let distance = |a: &str, b: &str| {
            edit_distance(
                &a.chars().collect::<Vec<_>>(),
                &b.chars().collect::<Vec<_>>(),
            )
        };
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("snad", "sand"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_near_words_are_suggested() {
        let names = ["density", "young", "friction_angle"];
        assert_eq!(nearest("densty", names), Some("density"));
        assert_eq!(nearest("friction-angel", names), Some("friction_angle"));
        assert_eq!(nearest("viscosity", names), None);
    }
}
