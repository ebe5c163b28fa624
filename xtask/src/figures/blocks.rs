//! Blocks of generated text in the pages: `<!-- generated:` KEY `-->`, the text, `<!-- end -->`.
//!
//! A block whose opening marker is alone on its line contains lines, such as a table; any other contains a figure inside a sentence.

const OPEN: &str = "<!-- generated: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

/// A page with updated blocks.
#[derive(Debug, Default, PartialEq)]
pub struct Rewritten {
    pub text: String,
    /// Line and reason of each block that was out of date.
    pub stale: Vec<(usize, String)>,
    /// Line and reason of each block that could not be written.
    pub wrong: Vec<(usize, String)>,
}

/// Replaces the content of every block by what `generate` returns for its key.
pub fn rewrite(page: &str, generate: &dyn Fn(&str) -> Result<String, String>) -> Rewritten {
    let mut out = Rewritten::default();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(OPEN) {
        out.text += before;
        let line = out.text.lines().count().max(1) + usize::from(out.text.ends_with('\n'));
        let parts = after.split_once(CLOSE).and_then(|(key, after)| {
            let (old, after) = after.split_once(END)?;
            (!key.contains('\n') && !old.contains(OPEN)).then_some((key, old, after))
        });
        let Some((key, old, after)) = parts else {
            let reason = format!("`{OPEN}` without `{CLOSE}` and `{END}`");
            out.wrong.push((line, reason));
            out.text += OPEN;
            rest = after;
            continue;
        };
        let new = match generate(key) {
            Ok(new) if old.starts_with('\n') => format!("\n{}\n", new.trim_end()),
            Ok(new) => new,
            Err(reason) => {
                out.wrong.push((line, format!("`{key}`: {reason}")));
                old.to_owned()
            }
        };
        if new != old {
            let reason = format!("`{key}` is out of date; update it with: cargo xtask figures");
            out.stale.push((line, reason));
        }
        out.text += &format!("{OPEN}{key}{CLOSE}{new}{END}");
        rest = after;
    }
    out.text += rest;
    out
}

/// Words of a key; one in quotes may hold spaces.
pub fn words(key: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (i, part) in key.split('"').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}

/// A table in Markdown. Bars in cells are escaped.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!(
        "| {} |\n|{}\n",
        head.join(" | "),
        " --- |".repeat(head.len())
    );
    for row in rows {
        let cells: Vec<String> = row.iter().map(|c| c.replace('|', "\\|")).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(key: &str) -> Result<String, String> {
        match key {
            "one" => Ok("1".into()),
            "two" => Ok("| 2 |\n".into()),
            _ => Err("there is none".into()),
        }
    }

    #[test]
    fn blocks_are_written_and_text_around_them_is_kept() {
        let page = format!("a\n{OPEN}two{CLOSE}\nold\n{END}\nis {OPEN}one{CLOSE}0{END} b\n");
        let first = rewrite(&page, &generate);
        let expected = format!("a\n{OPEN}two{CLOSE}\n| 2 |\n{END}\nis {OPEN}one{CLOSE}1{END} b\n");
        assert_eq!(first.text, expected);
        let lines: Vec<usize> = first.stale.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 5]);
        let again = rewrite(&expected, &generate);
        assert!(again.stale.is_empty() && again.wrong.is_empty());
        assert_eq!(again.text, expected);
    }

    #[test]
    fn unknown_and_unfinished_blocks_are_reported_with_their_line() {
        let page = format!("a\nb {OPEN}three{CLOSE}3{END}\n{OPEN}one{CLOSE}1\n");
        let done = rewrite(&page, &generate);
        assert_eq!(done.text, page);
        assert_eq!(done.wrong.len(), 2);
        assert_eq!(done.wrong[0], (2, "`three`: there is none".into()));
        assert_eq!(done.wrong[1].0, 3);
    }

    #[test]
    fn quoted_words_are_not_split() {
        assert_eq!(
            words("check E2 mpm \"h∞/d at a = 2\" 3"),
            ["check", "E2", "mpm", "h∞/d at a = 2", "3"]
        );
    }
}
