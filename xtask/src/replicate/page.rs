//! Content of `docs/replicability.md`: a section with a picture for each row, and tables of their costs.

use super::rows::{Row, Shot, of, table_4};
use super::scene_path;
use crate::figures;
use serde_json::{Map, Value};

/// The block of a name.
pub fn block(name: &str, found: &Map<String, Value>) -> Result<String, String> {
    Ok(match name {
        "klar2016" | "holz2014" | "ihmsen2013" => looks(name, found),
        "ihmsen2013-cost" => base_cost(found),
        "cost" => cost(found),
        "table-4" => resolutions(found),
        _ => {
            return Err(
                "the blocks are klar2016, holz2014, ihmsen2013, ihmsen2013-cost, cost, table-4"
                    .into(),
            );
        }
    })
}

/// A section for each row: picture, what agrees and what does not, commands.
fn looks(paper: &str, found: &Map<String, Value>) -> String {
    let mut text = String::new();
    for row in of(paper) {
        let drawn = found.get(&row.name).map(|r| &r["preview"]);
        let picture = match drawn {
            Some(Value::Object(_)) => format!("![{}](pictures/{})", row.figure, row.picture()),
            _ => "Not drawn yet.".into(),
        };
        let explicit = match &row.paper {
            Some(paper) if paper.implicit => "Implicit in the paper, explicit here. ",
            _ => "",
        };
        text += &format!(
            "\n### {}\n\n{picture}\n\n{explicit}{}\n\n```\n{}\n```\n",
            row.figure,
            row.verdict,
            commands(row).join("\n")
        );
    }
    text
}

/// Commands that reproduce the picture of a row.
fn commands(row: &Row) -> Vec<String> {
    // A second run of the scene needs a name of its own.
    let result = |run: usize| match run {
        0 => format!("{}.barchan", row.stem()),
        _ => format!("{}-{}.barchan", row.stem(), run + 1),
    };
    let runs = row.preview.runs.iter().enumerate().map(|(run, set)| {
        let mut command = format!("barchan run {}", scene_path(&row.scene));
        if row.preview.scale != 1.0 {
            command += &format!(" --scale {}", row.preview.scale);
        }
        for change in set {
            command += &match change.contains(['"', ' ']) {
                true => format!(" --set '{change}'"),
                false => format!(" --set {change}"),
            };
        }
        if run > 0 {
            command += &format!(" -o {}", result(run));
        }
        command
    });
    let mut lines: Vec<String> = runs.collect();
    let runs = row.preview.runs.len();
    for (i, detail) in row.preview.details.iter().enumerate() {
        lines.push(format!(
            "barchan detail {} {} -o {}",
            result(detail.run),
            detail.options,
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
        if !shot.options.is_empty() {
            command += &format!(" {}", shot.options);
        }
        lines.push(command);
    }
    lines
}

/// Timing of a row, once it was measured.
fn timing<'a>(found: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let timing = &found.get(name)?["timing"];
    timing.is_object().then_some(timing)
}

fn number(timing: &Value, key: &str) -> f64 {
    timing[key].as_f64().unwrap_or(f64::NAN)
}

/// Cells of the paper and of this program, with placeholders if one of them is missing.
fn row(
    name: &str,
    paper: Option<Vec<String>>,
    of_paper: usize,
    ours: Option<Vec<String>>,
    of_ours: usize,
) -> Vec<String> {
    let missing = || {
        let mut cells = vec![String::new(); of_ours - 1];
        cells.push("not yet".into());
        cells
    };
    let paper = paper.unwrap_or_else(|| vec![String::new(); of_paper]);
    [vec![name.to_owned()], paper, ours.unwrap_or_else(missing)].concat()
}

const COST: &[&str] = &[
    "row",
    "paper: scheme",
    "particles",
    "Δt [s]",
    "threads",
    "min/frame",
    "here: particles",
    "Δt [s]",
    "substeps a frame",
    "M particle-substeps/s",
    "min/frame",
    "measured over",
];

fn cost(found: &Map<String, Value>) -> String {
    let rows = of("klar2016").filter(|r| r.timing.is_some()).map(|r| {
        let paper = r.paper.as_ref().map(|p| {
            let scheme = if p.implicit {
                "implicit (explicit here)"
            } else {
                "explicit"
            };
            vec![
                scheme.into(),
                p.particles.clone(),
                p.dt.clone(),
                p.threads.to_string(),
                p.minutes_per_frame.to_string(),
            ]
        });
        let ours = timing(found, &r.name).map(|t| {
            vec![
                format!("{:.3e}", number(t, "particles")),
                format!("{:.2e}", number(t, "mean_dt_s")),
                format!("{:.0}", number(t, "substeps_per_frame")),
                millions(t),
                short(number(t, "seconds_per_frame") / 60.0),
                over(t),
            ]
        });
        row(&r.name, paper, 5, ours, 6)
    });
    figures::table(COST, rows)
}

const BASE_COST: &[&str] = &[
    "figure",
    "paper: particles",
    "s/frame (12 cores)",
    "here: particles",
    "substeps a frame",
    "M particle-substeps/s",
    "s/frame (2 cores)",
    "measured over",
];

/// The base simulations of [Ihmsen13].
fn base_cost(found: &Map<String, Value>) -> String {
    let rows = of("ihmsen2013").filter(|r| r.timing.is_some()).map(|r| {
        let paper = r.paper.as_ref().map(|p| {
            vec![
                p.particles.clone(),
                format!("{:.1}", 60.0 * p.minutes_per_frame),
            ]
        });
        let ours = timing(found, &r.name).map(|t| {
            vec![
                format!("{:.3e}", number(t, "particles")),
                format!("{:.0}", number(t, "substeps_per_frame")),
                format!("{:.2}", number(t, "particle_substeps_per_s") / 1e6),
                short(number(t, "seconds_per_frame")),
                over(t),
            ]
        });
        row(&r.figure, paper, 2, ours, 5)
    });
    figures::table(BASE_COST, rows)
}

fn millions(t: &Value) -> String {
    format!("{:.1}", number(t, "particle_substeps_per_s") / 1e6)
}

/// Duration over which a timing was measured.
fn over(t: &Value) -> String {
    let frames = plural(t["frames"].as_f64().unwrap_or(f64::NAN), "frame");
    match t["for_particles"].as_f64() {
        Some(many) => format!("{frames}, scaled to {many:.3e} particles"),
        None => frames,
    }
}

const TABLE_4_HEAD: &[&str] = &[
    "grid",
    "paper: particles",
    "s/frame",
    "growth",
    "Narain et al.: s/frame",
    "here: particles",
    "s/frame",
    "growth",
    "M particle-substeps/s",
    "measured over",
];

fn resolutions(found: &Map<String, Value>) -> String {
    let seconds = |name: &str| timing(found, name).map(|t| number(t, "seconds_per_frame"));
    let rows = table_4().iter().enumerate().map(|(i, r)| {
        let before = i.checked_sub(1).map(|i| &table_4()[i]);
        let growth = |now: f64, before: Option<f64>| match before {
            Some(before) if before > 0.0 => format!("×{:.1}", now / before),
            _ => String::new(),
        };
        let theirs = growth(r.seconds_per_frame, before.map(|b| b.seconds_per_frame));
        let paper = [
            r.particles.clone(),
            r.seconds_per_frame.to_string(),
            theirs,
            r.narain_seconds.to_string(),
        ];
        let ours = timing(found, &r.name).map(|t| {
            let now = number(t, "seconds_per_frame");
            vec![
                format!("{:.4e}", number(t, "particles")),
                short(now),
                growth(now, before.and_then(|b| seconds(&b.name))),
                millions(t),
                plural(number(t, "frames"), "frame"),
            ]
        });
        row(&r.grid, Some(paper.to_vec()), 4, ours, 5)
    });
    figures::table(TABLE_4_HEAD, rows)
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
    use super::super::rows::rows;
    use super::*;
    use serde_json::json;

    /// Cells of each line of a table.
    fn widths(table: &str) -> Vec<usize> {
        table.lines().map(|l| l.matches('|').count()).collect()
    }

    #[test]
    fn rows_have_as_many_cells_as_their_table_with_and_without_figures() {
        let timing = json!({"frames": 0.5, "particles": 1e6, "for_particles": 2e6, "mean_dt_s": 1e-4,
            "substeps_per_frame": 100.0, "particle_substeps_per_s": 1e7, "seconds_per_frame": 30.0});
        let mut full = Map::new();
        let names = rows().iter().map(|r| &r.name);
        for name in names.chain(table_4().iter().map(|r| &r.name)) {
            let row = json!({"preview": {"scale": 0.5}, "timing": timing});
            full.insert(name.clone(), row);
        }
        for found in [Map::new(), full] {
            for table in [base_cost(&found), cost(&found), resolutions(&found)] {
                assert_eq!(found.is_empty(), table.contains("not yet"));
                let widths = widths(&table);
                assert!(widths.iter().all(|w| *w == widths[0]), "{table}");
            }
        }
    }
}
