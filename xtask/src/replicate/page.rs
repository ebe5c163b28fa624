//! The tables of `docs/replicability.md`, from what `docs/replicability.json` holds. Text around them stays.

use super::rows::{ROWS, Row, Shot, TABLE_4};
use super::scene_path;
use super::{holz2014, ihmsen2013};
use serde_json::{Map, Value};
use std::path::Path;

/// Writes the tables between their markers.
pub fn write(root: &Path, found: &Map<String, Value>) -> Result<(), String> {
    let path = root.join("docs/replicability.md");
    let mut text =
        std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    for (name, table) in [
        ("looks", looks(ROWS, found)),
        ("holz2014", looks(holz2014::ROWS, found)),
        ("ihmsen2013", looks(ihmsen2013::ROWS, found)),
        ("ihmsen2013 cost", base_cost(found)),
        ("cost", cost(found)),
        ("table 4", table_4(found)),
    ] {
        text = between(&text, name, &table)
            .ok_or_else(|| format!("{} has no markers of `{name}`", path.display()))?;
    }
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The text with what stands between the markers of a name replaced.
fn between(text: &str, name: &str, table: &str) -> Option<String> {
    let (first, last) = (
        format!("<!-- {name}: begin -->"),
        format!("<!-- {name}: end -->"),
    );
    let (before, rest) = text.split_once(&first)?;
    let (_, after) = rest.split_once(&last)?;
    Some(format!("{before}{first}\n{table}{last}{after}"))
}

fn looks(rows: &[Row], found: &Map<String, Value>) -> String {
    let mut text = String::from(
        "| figure | command | picture | what agrees, what does not |\n| --- | --- | --- | --- |\n",
    );
    for row in rows {
        let drawn = found.get(row.name).map(|r| &r["preview"]);
        let picture = match drawn {
            Some(Value::Object(_)) => format!("![](pictures/{})", row.picture()),
            _ => "not yet".into(),
        };
        let explicit = match row.paper {
            Some(paper) if paper.implicit => "Implicit in the paper, explicit here. ",
            _ => "",
        };
        text += &format!(
            "| {} | {} | {picture} | {explicit}{} |\n",
            row.figure,
            commands(row),
            row.verdict
        );
    }
    text
}

/// What to type to see the row as its picture shows it.
fn commands(row: &Row) -> String {
    // A second run of the scene needs a name of its own.
    let result = |run: usize| match run {
        0 => format!("{}.barchan", row.stem()),
        _ => format!("{}-{}.barchan", row.stem(), run + 1),
    };
    let runs = row.preview.runs.iter().enumerate().map(|(run, set)| {
        let mut command = format!("barchan run {}", scene_path(row.scene));
        if row.preview.scale != 1.0 {
            command += &format!(" --scale {}", row.preview.scale);
        }
        for change in *set {
            command += &match change.contains(['"', ' ']) {
                true => format!(" --set '{change}'"),
                false => format!(" --set {change}"),
            };
        }
        if run > 0 {
            command += &format!(" -o {}", result(run));
        }
        format!("`{command}`")
    });
    let mut lines: Vec<String> = runs.collect();
    let runs = row.preview.runs.len();
    for (i, detail) in row.preview.details.iter().enumerate() {
        lines.push(format!(
            "`barchan detail {} {} -o {}`",
            result(detail.run),
            detail.options.join(" "),
            result(runs + i)
        ));
    }
    let is_told = |s: &&Shot| !s.options.is_empty() || s.run >= runs;
    for shot in row.preview.shots.iter().filter(is_told) {
        let mut command = format!(
            "barchan render {} --frames {}",
            result(shot.run),
            shot.frame
        );
        for option in shot.options {
            command += &format!(" {option}");
        }
        lines.push(format!("`{command}`"));
    }
    lines.join("<br>")
}

const COST: &str = "| row | paper: scheme | particles | Δt [s] | threads | min/frame | here: particles | Δt [s] | \
substeps a frame | M particle-substeps/s | min/frame | measured over |\n\
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

fn cost(found: &Map<String, Value>) -> String {
    let mut text = String::from(COST);
    for row in ROWS.iter().filter(|r| r.timing.is_some()) {
        let paper = row.paper.map_or("| | | | | |".into(), |p| {
            let scheme = if p.implicit {
                "implicit (explicit here)"
            } else {
                "explicit"
            };
            format!(
                "| {scheme} | {} | {} | {} | {} |",
                p.particles, p.dt, p.threads, p.minutes_per_frame
            )
        });
        let ours = match found.get(row.name).map(|r| &r["timing"]) {
            Some(t @ Value::Object(_)) => ours(t),
            _ => " | | | | | not yet |".into(),
        };
        text += &format!("| {} {paper}{ours}\n", row.name);
    }
    text
}

const BASE_COST: &str = "| figure | paper: particles | s/frame (12 cores) | here: particles | substeps a frame | \
M particle-substeps/s | s/frame (2 cores) | measured over |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";

/// The base simulations of [Ihmsen13].
fn base_cost(found: &Map<String, Value>) -> String {
    let mut text = String::from(BASE_COST);
    for row in ihmsen2013::ROWS.iter().filter(|r| r.timing.is_some()) {
        let paper = row.paper.map_or("| | |".into(), |p| {
            format!("| {} | {:.1} |", p.particles, 60.0 * p.minutes_per_frame)
        });
        let ours = match found.get(row.name).map(|r| &r["timing"]) {
            Some(t @ Value::Object(_)) => {
                let number = |key: &str| t[key].as_f64().unwrap_or(f64::NAN);
                format!(
                    " {:.3e} | {:.0} | {:.2} | {} | {} |",
                    number("particles"),
                    number("substeps_per_frame"),
                    number("particle_substeps_per_s") / 1e6,
                    short(number("seconds_per_frame")),
                    over(t),
                )
            }
            _ => " | | | | not yet |".into(),
        };
        text += &format!("| {} {paper}{ours}\n", row.figure);
    }
    text
}

/// What a timing was measured over.
fn over(t: &Value) -> String {
    let frames = plural(t["frames"].as_f64().unwrap_or(f64::NAN), "frame");
    match t["for_particles"].as_f64() {
        Some(many) => format!("{frames}, told for {many:.3e} particles"),
        None => frames,
    }
}

/// The cells of a timing, from `particles` on.
fn ours(t: &Value) -> String {
    let number = |key: &str| t[key].as_f64().unwrap_or(f64::NAN);
    format!(
        " {:.3e} | {:.2e} | {:.0} | {:.1} | {} | {} |",
        number("particles"),
        number("mean_dt_s"),
        number("substeps_per_frame"),
        number("particle_substeps_per_s") / 1e6,
        short(number("seconds_per_frame") / 60.0),
        over(t),
    )
}

fn table_4(found: &Map<String, Value>) -> String {
    let mut text = String::from(
        "| grid | paper: particles | s/frame | growth | Narain et al.: s/frame | here: particles | s/frame | growth | \
M particle-substeps/s | measured over |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let seconds = |name: &str| {
        let row = found.get(name)?;
        row["timing"]["seconds_per_frame"].as_f64()
    };
    for (i, row) in TABLE_4.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| &TABLE_4[i]);
        let growth = |now: Option<f64>, before: Option<f64>| match (now, before) {
            (Some(now), Some(before)) if before > 0.0 => format!("×{:.1}", now / before),
            _ => String::new(),
        };
        let theirs = growth(
            Some(row.seconds_per_frame),
            before.map(|r| r.seconds_per_frame),
        );
        let ours = match found.get(row.name).map(|r| &r["timing"]) {
            Some(t @ Value::Object(_)) => {
                let number = |key: &str| t[key].as_f64().unwrap_or(f64::NAN);
                format!(
                    "{:.4e} | {} | {} | {:.1} | {}",
                    number("particles"),
                    short(number("seconds_per_frame")),
                    growth(seconds(row.name), before.and_then(|r| seconds(r.name))),
                    number("particle_substeps_per_s") / 1e6,
                    plural(number("frames"), "frame")
                )
            }
            _ => "| | | | not yet".into(),
        };
        text += &format!(
            "| {} | {} | {} | {theirs} | {} | {ours} |\n",
            row.grid, row.particles, row.seconds_per_frame, row.narain_seconds
        );
    }
    text
}

/// Two or three digits.
fn short(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v if v >= 0.01 => format!("{v:.3}"),
        v => format!("{v:.1e}"),
    }
}

fn plural(count: f64, what: &str) -> String {
    match count {
        1.0 => format!("1 {what}"),
        c if c < 1.0 => format!("{c} of a {what}"),
        c => format!("{c} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_around_the_tables_stays() {
        let text = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let new = between(text, "x", "| 1 |\n");
        let expected = "a\n<!-- x: begin -->\n| 1 |\n<!-- x: end -->\nb\n";
        assert_eq!(new.as_deref(), Some(expected));
        assert_eq!(between(expected, "x", "| 1 |\n"), new);
        assert_eq!(between(text, "y", ""), None);
    }

    /// Cells of each line of a table.
    fn widths(table: &str) -> Vec<usize> {
        table.lines().map(|l| l.matches('|').count()).collect()
    }

    #[test]
    fn rows_have_as_many_cells_as_their_table_with_and_without_figures() {
        let timing = json!({"frames": 0.5, "particles": 1e6, "for_particles": 2e6, "mean_dt_s": 1e-4,
            "substeps_per_frame": 100.0, "particle_substeps_per_s": 1e7, "seconds_per_frame": 30.0});
        let mut full = Map::new();
        let names = ROWS.iter().chain(ihmsen2013::ROWS).map(|r| r.name);
        for name in names.chain(TABLE_4.iter().map(|r| r.name)) {
            let row = json!({"preview": {"scale": 0.5}, "timing": timing});
            full.insert(name.into(), row);
        }
        for found in [Map::new(), full] {
            for table in [
                looks(ROWS, &found),
                looks(holz2014::ROWS, &found),
                looks(ihmsen2013::ROWS, &found),
                base_cost(&found),
                cost(&found),
                table_4(&found),
            ] {
                let widths = widths(&table);
                assert!(widths.iter().all(|w| *w == widths[0]), "{table}");
            }
        }
    }
}
