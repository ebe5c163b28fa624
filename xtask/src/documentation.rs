//! Checks of texts that the compiler does not do: citations exist, no paths of one machine, no overlong files, no paragraphs in tables,
//! figures as measured.

use crate::figures::Results;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// Maximum number of lines of a source file.
const MAX_LINES: usize = 800;
/// Maximum number of characters of a table cell; longer texts are prose.
const MAX_CELL: usize = 120;
/// Prefixes of paths that only exist on one machine, each in two parts so that this file does not match.
const MACHINE_PATHS: &[(&str, &str)] = &[
    ("/ro", "ot/"),
    ("/ho", "me/"),
    ("/Us", "ers/"),
    ("/wo", "rk/"),
    ("/tm", "p/"),
];
/// Extensions of the files that are checked.
const KINDS: &[&str] = &["rs", "md", "toml", "bib", "yml", "yaml", "py", "ts", "json"];
/// Directories that are skipped.
const SKIPPED: &[&str] = &["target", "node_modules", "results"];

/// A problem to fix.
#[derive(Debug, PartialEq)]
pub struct Problem {
    file: PathBuf,
    line: usize,
    what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.what)
    }
}

/// All problems in the texts of the repository.
pub fn problems(root: &Path) -> io::Result<Vec<Problem>> {
    let bibliography = root.join("docs/bibliography.bib");
    let known = match fs::read_to_string(&bibliography) {
        Ok(text) => keys(&text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
        Err(error) => return Err(error),
    };
    let results = Results::read(root).map_err(io::Error::other)?;
    let mut found = Vec::new();
    for path in files(root)? {
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let name = path.strip_prefix(root).unwrap_or(&path).to_owned();
        found.extend(problems_in(&name, &text, &known));
        if name.extension().is_some_and(|e| e == "md") {
            let problems = results.problems(&text).into_iter();
            found.extend(problems.map(|(line, what)| Problem {
                file: name.clone(),
                line,
                what,
            }));
        }
    }
    Ok(found)
}

/// The pages of the repository.
pub fn pages(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut pages = files(root)?;
    pages.retain(|path| path.extension().is_some_and(|e| e == "md"));
    Ok(pages)
}

fn problems_in(file: &Path, text: &str, known: &BTreeSet<String>) -> Vec<Problem> {
    let at = |line: usize, what: String| Problem {
        file: file.to_owned(),
        line,
        what,
    };
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for key in citations(line).filter(|key| !known.contains(*key)) {
            let what = format!("[{key}] is not in docs/bibliography.bib");
            found.push(at(index + 1, what));
        }
        for path in MACHINE_PATHS.iter().map(|(a, b)| format!("{a}{b}")) {
            if mentions_path(line, &path) {
                found.push(at(
                    index + 1,
                    format!("`{path}` only exists on one machine"),
                ));
            }
        }
    }
    if file.extension().is_some_and(|e| e == "md") {
        for (line, length) in long_cells(text) {
            let what = format!(
                "a cell of {length} characters, more than {MAX_CELL}: make it prose or a list"
            );
            found.push(at(line, what));
        }
    }
    let lines = text.lines().count();
    if file.extension().is_some_and(|e| e == "rs") && lines > MAX_LINES {
        let what = format!("{lines} lines, more than {MAX_LINES}: split the file");
        found.push(at(lines, what));
    }
    found
}

/// Line and length of the cells of tables that are longer than a line; markers of generated text and targets of links do not count.
fn long_cells(page: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let rows = page.lines().enumerate();
    for (index, row) in rows.filter(|(_, line)| line.starts_with('|')) {
        let row = without(&without(row, "<!--", "-->"), "](", ")").replace("\\|", " ");
        let lengths = row.split('|').map(|cell| cell.trim().chars().count());
        let longest = lengths.max().unwrap_or(0);
        if longest > MAX_CELL {
            found.push((index + 1, longest));
        }
    }
    found
}

/// The text without the parts from `open` to `close`.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut parts = text.split(open);
    let mut left = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        left += part.split_once(close).map_or(part, |(_, after)| after);
    }
    left
}

/// Whether the line contains an absolute path with that prefix, not a relative one such as `../home/x`.
fn mentions_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-/~}$".contains(c))
    })
}

/// Keys in square brackets: a capital, letters, two digits and perhaps a letter, such as `Xyz99` or `Xyz99b`.
fn citations(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('[').filter_map(|(start, _)| {
        // A slice, such as `&[AtomicU32]`, is not a citation.
        let (before, rest) = (&line[..start], &line[start + 1..]);
        let key = rest.split_once(']')?.0.trim_end_matches('\\');
        (is_key(key) && !before.ends_with('&')).then_some(key)
    })
}

fn is_key(text: &str) -> bool {
    let stem = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let suffix = text.len() - stem.len();
    let name = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = stem.len() - name.len();
    digits == 2
        && suffix <= 1
        && name.len() >= 2
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().skip(1).any(|c| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphabetic())
}

/// Keys of a BibTeX file.
fn keys(bibliography: &str) -> BTreeSet<String> {
    let entries = bibliography.lines().filter(|line| line.starts_with('@'));
    entries
        .filter_map(|line| line.split_once('{'))
        .map(|(_, rest)| rest.trim().trim_end_matches(',').to_owned())
        .collect()
}

/// The lines of rustdoc's short messages that matter. Rustdoc takes units and citations in square brackets for links; a
/// real link has backticks inside.
pub fn rustdoc_problems(root: &Path, messages: &str) -> Vec<String> {
    let is_located = |line: &&str| line.contains(": warning: ") || line.contains(": error");
    let located = messages.lines().filter(is_located);
    let problems = located.filter(|line| !is_plain_bracket(root, line));
    problems.map(str::to_owned).collect()
}

fn is_plain_bracket(root: &Path, message: &str) -> bool {
    let line_and_target = || {
        let (place, rest) = message.split_once(": warning: unresolved link to `")?;
        let mut parts = place.split(':');
        let text = fs::read_to_string(root.join(parts.next()?)).ok()?;
        let number: usize = parts.next()?.parse().ok()?;
        let line = text.lines().nth(number.saturating_sub(1))?.to_owned();
        Some((line, rest.split('`').next()?))
    };
    line_and_target().is_some_and(|(line, target)| {
        line.contains(&format!("[{target}]")) && !line.contains(&format!("[{target}]("))
    })
}

/// Text files of the repository, in a fixed order.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: io::Result<Vec<_>> = fs::read_dir(directory)?.collect();
    let mut paths: Vec<PathBuf> = entries?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hidden = name.starts_with('.') && name != ".ci" && name != ".cargo";
        if hidden || name.ends_with(".barchan") || name.starts_with("target-") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            if !SKIPPED.contains(&&*name) {
                found.extend(files(&path)?);
            }
        } else if path
            .extension()
            .is_some_and(|e| KINDS.iter().any(|k| e == *k))
        {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_has_no_problems() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let found = problems(root).unwrap();
        let lines: Vec<String> = found.iter().map(Problem::to_string).collect();
        assert!(found.is_empty(), "{}", lines.join("\n"));
    }

    #[test]
    fn unknown_citations_are_found() {
        let known = keys("@article{Abc12,\n  title = {x}\n}\n");
        let (good, bad) = (
            format!("// [{}]", "Abc12"),
            format!("/// \\[{}\\], Eq. 3", "Abd12"),
        );
        let found = problems_in(Path::new("a.rs"), &format!("{good}\n{bad}\n"), &known);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
        assert!(found[0].what.contains("Abd12"));
    }

    #[test]
    fn other_brackets_are_not_citations() {
        for text in [
            "a[0]",
            "[f32; 16]",
            "[U16]",
            "[X12y3]",
            "[Vec3]",
            "[A1]",
            "[dx/1024]",
            "&[AtomicU32]",
        ] {
            assert_eq!(citations(text).count(), 0, "{text}");
        }
        let text = format!("[Klar] and [{}]", "Bk17a");
        assert_eq!(citations(&text).collect::<Vec<_>>(), ["Bk17a"]);
    }

    #[test]
    fn links_of_rustdoc_are_distinguished_from_units() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        // The lines below, by number.
        let source = include_str!("documentation.rs");
        let number = |mark: &str| 1 + source.lines().position(|l| l.contains(mark)).unwrap();
        let unit = number("a length in [meter] units"); // a length in [meter] units
        let link = number("a link to [`meter`] here"); // a link to [`meter`] here
        let message = |line: usize| {
            format!("src/documentation.rs:{line}:9: warning: unresolved link to `meter`")
        };
        assert!(rustdoc_problems(root, &message(unit)).is_empty());
        assert_eq!(rustdoc_problems(root, &message(link)).len(), 1);
        let other = "src/a.rs:1:1: warning: this URL is not a hyperlink";
        assert_eq!(rustdoc_problems(root, other).len(), 1);
        assert!(rustdoc_problems(root, "warning: `x` (lib doc) generated 2 warnings").is_empty());
    }

    #[test]
    fn machine_paths_are_found() {
        let path = format!("{}{}x/y", "/ho", "me/");
        let nothing = BTreeSet::new();
        let found = |line: &str| problems_in(Path::new("a.md"), line, &nothing).len();
        assert_eq!(found(&format!("see {path}")), 1);
        assert_eq!(found(&format!("\"{path}\"")), 1);
        assert_eq!(found(&format!("https://example.org{path}")), 0);
        assert_eq!(found("a relative path, home/x/y"), 0);
    }

    #[test]
    fn paragraphs_in_tables_are_found() {
        let cell = |length| format!("| a | {} |", "ü".repeat(length));
        let page = format!("{}\n\n{}\n", cell(MAX_CELL), cell(MAX_CELL + 1));
        assert_eq!(long_cells(&page), [(3, MAX_CELL + 1)]);
        let marked = format!("| <!-- {0} -->[b]({0})\\| |\n{0}\n", "c".repeat(MAX_CELL));
        assert!(long_cells(&marked).is_empty());
    }

    #[test]
    fn long_sources_are_found() {
        let text = "//\n".repeat(MAX_LINES + 1);
        let nothing = BTreeSet::new();
        assert_eq!(problems_in(Path::new("a.rs"), &text, &nothing).len(), 1);
        assert_eq!(problems_in(Path::new("a.md"), &text, &nothing).len(), 0);
    }
}
