//! Tables and figures from `docs/results/validation.json`.

use super::blocks::table;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The part of a report of `barchan validate` that the pages need: without plots and texts.
pub fn trimmed(report: &Value) -> Map<String, Value> {
    let check = |check: &Value| {
        let keys = [
            "what", "measured", "unit", "band", "control", "limit", "verdict",
        ];
        let mut kept = kept(check, &keys);
        kept["measured"] = check["measured"].as_f64().map(digits).into();
        Value::Object(kept)
    };
    let entry = |entry: &Value| {
        let keys = ["case", "title", "solver", "form", "verdict", "error"];
        let mut kept = kept(entry, &keys);
        let checks = items(&entry["outcome"]["checks"]).map(check);
        kept.insert("wall_s".into(), entry["wall_s"].as_f64().map(digits).into());
        kept.insert("checks".into(), checks.collect());
        Value::Object(kept)
    };
    let mut kept = kept(report, &["version", "machine", "threads"]);
    let entries = items(&report["entries"]).map(entry);
    kept.insert("entries".into(), entries.collect());
    kept
}

fn kept(from: &Value, keys: &[&str]) -> Map<String, Value> {
    let entry = |key: &&str| ((*key).to_owned(), from[key].clone());
    keys.iter().map(entry).collect()
}

/// Six digits suffice for every figure in a page.
fn digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// The elements of an array; empty for any other value.
pub fn items(value: &Value) -> std::slice::Iter<'_, Value> {
    let items = value.as_array().map(Vec::as_slice);
    items.unwrap_or_default().iter()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// How it was run, in a sentence.
pub fn about(report: &Value) -> String {
    let all = || items(&report["entries"]);
    let verdicts = ["pass", "limit", "fail"].map(|v| all().filter(|e| e["verdict"] == v).count());
    let quick = all().filter(|e| e["form"] == "quick").count();
    let form = match quick {
        0 => "in full form".to_owned(),
        n if n == all().count() => "in quick form".to_owned(),
        n => format!("{n} of them in quick form"),
    };
    let minutes = all().filter_map(|e| e["wall_s"].as_f64()).sum::<f64>() / 60.0;
    format!(
        "barchan {} on {}, {}: {} runs {form} in {minutes:.0} min, of which {} pass, {} reach a known limit and {} fail.",
        text(report, "version"),
        machine(&report["machine"]),
        threads(report),
        all().count(),
        verdicts[0],
        verdicts[1],
        verdicts[2],
    )
}

/// Number of threads.
pub fn threads(run: &Value) -> String {
    match run["threads"].as_u64().unwrap_or(0) {
        1 => "1 thread".into(),
        count => format!("{count} threads"),
    }
}

/// Processor and instruction set.
pub fn machine(machine: &Value) -> String {
    format!("{} ({})", text(machine, "processor"), text(machine, "simd"))
}

/// Meanings of the letters of the cases.
const LETTERS: &[(&str, &str)] = &[
    ("A", "transfers between particles and grid"),
    ("B", "elasticity and kinematics"),
    ("C", "the law of sand, one particle"),
    ("D", "friction on surfaces and slopes"),
    ("E", "collapses, piles, slopes"),
    ("F", "silos and confined stress"),
    ("G", "earthmoving and intrusion"),
    ("J", "contacts of position-based grains"),
    ("L", "SPH"),
    ("O", "height field"),
    ("P", "symmetries and conservation"),
];

/// Letter of a case, or its name where that is a word.
fn letter(case: &str) -> &str {
    case.trim_end_matches(|c: char| !c.is_ascii_alphabetic())
}

/// A section for each letter.
pub fn letters(report: &Value) -> Result<String, String> {
    let mut page = String::new();
    let mut last = "";
    for entry in items(&report["entries"]) {
        let now = letter(text(entry, "case"));
        if now != last {
            let known = LETTERS.iter().find(|(l, _)| *l == now);
            let title = known.map_or(String::new(), |(_, title)| format!(": {title}"));
            page += &format!("\n### {now}{title}\n\n{}", cases(report, &[now])?);
            last = now;
        }
    }
    match page.is_empty() {
        true => Err("docs/results/validation.json contains no cases".into()),
        false => Ok(page),
    }
}

/// The checks of all cases of a letter (`E`), of a solver (`pbd`), of a case (`E2`), or of a case with a solver (`E2 sph`), and the reasons
/// of those that reach a limit.
pub fn cases(report: &Value, which: &[&str]) -> Result<String, String> {
    let is_meant = |entry: &&Value| {
        let case = text(entry, "case");
        let names = [case, text(entry, "solver"), letter(case)];
        which.iter().all(|word| names.contains(word))
    };
    let found: Vec<&Value> = items(&report["entries"]).filter(is_meant).collect();
    if found.is_empty() || which.is_empty() {
        return Err(format!(
            "no case of docs/results/validation.json is `{}`",
            which.join(" ")
        ));
    }
    let rows = found.iter().flat_map(|entry| {
        let bold = |key| format!("**{}**", text(entry, key));
        let [case, title, verdict] = ["case", "title", "verdict"].map(bold);
        let head = row([&case, text(entry, "solver"), &title, "", "", &verdict]);
        let checks = items(&entry["checks"]).map(check_row);
        let error = entry["error"].as_str();
        let error = error.map(|error| row(["", "", error, "", "", "fail"]));
        std::iter::once(head).chain(checks).chain(error)
    });
    let head = ["case", "solver", "what", "measured", "band", "verdict"];
    Ok(table(&head, rows) + &limits(&found))
}

/// A line for each case of a solver.
pub fn summary(report: &Value, solver: &str) -> Result<String, String> {
    let entries = items(&report["entries"]).filter(|e| e["solver"] == solver);
    let row = |entry: &Value| {
        ["case", "title", "verdict"]
            .map(|key| text(entry, key).to_owned())
            .to_vec()
    };
    let rows: Vec<_> = entries.map(row).collect();
    match rows.is_empty() {
        true => Err(format!(
            "docs/results/validation.json has no case with {solver}"
        )),
        false => Ok(table(&["case", "what", "verdict"], rows)),
    }
}

/// A line for each case, a column for each solver.
pub fn overview(report: &Value) -> Result<String, String> {
    let entries = items(&report["entries"]);
    let solvers: BTreeSet<&str> = entries.clone().map(|e| text(e, "solver")).collect();
    let mut rows: Vec<(&str, Vec<String>)> = vec![];
    for entry in entries {
        let case = text(entry, "case");
        if rows.last().is_none_or(|(last, _)| *last != case) {
            let mut row = vec![case.to_owned(), text(entry, "title").to_owned()];
            row.resize(2 + solvers.len(), String::new());
            rows.push((case, row));
        }
        let column = solvers.iter().position(|s| *s == text(entry, "solver"));
        if let (Some((_, row)), Some(column)) = (rows.last_mut(), column) {
            row[2 + column] = text(entry, "verdict").to_owned();
        }
    }
    let head: Vec<&str> = ["case", "what"].into_iter().chain(solvers).collect();
    match rows.is_empty() {
        true => Err("docs/results/validation.json contains no cases".into()),
        false => Ok(table(&head, rows.into_iter().map(|(_, row)| row))),
    }
}

fn check_row(check: &Value) -> Vec<String> {
    let control = check["control"] == true;
    let kind = if control { "control: " } else { "" };
    let what = format!("{kind}{}", text(check, "what"));
    let unit = text(check, "unit");
    let measured = with_unit(&check["measured"], unit);
    let verdict = match (control, text(check, "verdict")) {
        (true, "pass") => "rejected",
        (_, verdict) => verdict,
    };
    let band = band(&check["band"], unit);
    row(["", "", &what, &measured, &band, verdict])
}

/// A row of the table of cases.
fn row(cells: [&str; 6]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A list of the limits, one line for each reason.
fn limits(entries: &[&Value]) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for entry in entries {
        for check in items(&entry["checks"]).filter(|c| c["verdict"] == "limit") {
            let (case, solver) = (text(entry, "case"), text(entry, "solver"));
            let what = format!("{case} {solver}: {}", text(check, "what"));
            let reason = text(&check["limit"], "reason");
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, whats)) => whats.push(what),
                None => reasons.push((reason, vec![what])),
            }
        }
    }
    let line =
        |(reason, whats): &(&str, Vec<String>)| format!("- {}. {reason}.\n", whats.join("; "));
    let lines: String = reasons.iter().map(line).collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\nLimits:\n\n{}", lines.replace("..\n", ".\n")),
    }
}

/// A table of the checks of a case whose names differ in two values, `{}` in the pattern: the first one by rows, the second by columns.
/// Rows and columns are headed by what stands between the comma before a value and the value: `, φ = {}, ν = {}`.
pub fn grid(report: &Value, which: &[&str]) -> Result<String, String> {
    let [case, solver, pattern, decimals] = which else {
        return Err("write: grid CASE SOLVER \"what, row = {}, column = {}\" decimals".into());
    };
    let decimals: usize = decimals.parse().map_err(|_| "decimals are a number")?;
    let parts: Vec<&str> = pattern.split("{}").collect();
    let [before, between, after] = parts[..] else {
        return Err("the pattern has two {}".into());
    };
    let values = |what: &str| {
        let rest = what.strip_prefix(before)?.strip_suffix(after)?;
        let (row, column) = rest.split_once(between)?;
        Some((row.to_owned(), column.to_owned()))
    };
    let entry = items(&report["entries"]).find(|e| e["case"] == **case && e["solver"] == **solver);
    let checks = entry.map_or(&Value::Null, |e| &e["checks"]);
    let (mut columns, mut rows): (Vec<String>, Vec<(String, Vec<String>)>) = (vec![], vec![]);
    for check in items(checks) {
        let (Some((row, column)), Some(value)) =
            (values(text(check, "what")), check["measured"].as_f64())
        else {
            continue;
        };
        let at = columns.iter().position(|c| *c == column);
        let at = at.unwrap_or_else(|| {
            columns.push(column);
            columns.len() - 1
        });
        let line = rows.iter().position(|(name, _)| *name == row);
        let line = line.unwrap_or_else(|| {
            rows.push((row, vec![]));
            rows.len() - 1
        });
        let cells = &mut rows[line].1;
        cells.resize(cells.len().max(at + 1), String::new());
        cells[at] = format!("{value:.decimals$}{}", text(check, "unit")).replace('-', "−");
    }
    if rows.is_empty() {
        return Err(format!(
            "no check of {case} with {solver} is like `{pattern}`"
        ));
    }
    let label = |text: &str| text.rsplit(", ").next().unwrap_or_default().to_owned();
    let mut head = vec![String::new()];
    head.extend(columns.iter().map(|c| label(between) + c + after));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let rows = rows.into_iter().map(|(row, mut cells)| {
        let unit = between.rsplit_once(", ").map_or("", |(unit, _)| unit);
        cells.resize(head.len() - 1, String::new());
        [vec![label(before) + &row + unit], cells].concat()
    });
    Ok(table(&head, rows))
}

/// The measured value of a check, with the given number of decimals.
pub fn check(report: &Value, which: &[&str]) -> Result<String, String> {
    let (case, solver, what, decimals) = match which {
        [case, solver, what] => (case, solver, what, None),
        [case, solver, what, decimals] => (case, solver, what, decimals.parse().ok()),
        _ => return Err("write: check CASE SOLVER \"what\" [decimals]".into()),
    };
    let entry = items(&report["entries"]).find(|e| e["case"] == **case && e["solver"] == **solver);
    let entry = entry.ok_or(format!(
        "docs/results/validation.json has no {case} with {solver}"
    ))?;
    let checks = || items(&entry["checks"]);
    let found = checks().find(|c| c["what"] == **what).ok_or_else(|| {
        let known: Vec<&str> = checks().map(|c| text(c, "what")).collect();
        format!("{case} with {solver} checks: {}", known.join("; "))
    })?;
    let value = found["measured"].as_f64().ok_or("it was not a number")?;
    Ok(match decimals {
        Some(decimals) => format!("{value:.*}", decimals),
        None => short(value),
    }
    .replace('-', "−"))
}

fn with_unit(value: &Value, unit: &str) -> String {
    let number = value.as_f64().map_or("not a number".into(), short);
    match unit {
        "" => number,
        "°" => format!("{number}°"),
        unit => format!("{number} {unit}"),
    }
}

/// A band in words.
fn band(band: &Value, unit: &str) -> String {
    match (band["min"].as_f64(), band["max"].as_f64()) {
        (Some(min), Some(max)) if max - min < 2e-3 * (max + min).abs() => {
            let middle = shortest(0.5 * (min + max), 6);
            format!(
                "{middle} ± {}",
                with_unit(&(0.5 * (max - min)).into(), unit)
            )
        }
        (Some(min), Some(_)) => format!("{} to {}", short(min), with_unit(&band["max"], unit)),
        (None, Some(_)) => format!("≤ {}", with_unit(&band["max"], unit)),
        (Some(_), None) => format!("≥ {}", with_unit(&band["min"], unit)),
        (None, None) => "any".into(),
    }
}

/// Four digits, without trailing zeros.
fn short(value: f64) -> String {
    shortest(value, 4)
}

fn shortest(value: f64, digits: i32) -> String {
    let power = match value == 0.0 {
        true => 0,
        false => value.abs().log10().floor() as i32,
    };
    let text = match power {
        -4..6 => format!("{value:.*}", (digits - 1 - power).max(0) as usize),
        _ => format!("{value:.2e}"),
    };
    let text = match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report() -> Value {
        let checks = json!([
            {"what": "run-out", "measured": 2.68456, "unit": "", "band": {"min": 2.4, "max": 3.6}, "control": false, "limit": null, "verdict": "pass"},
            {"what": "slope", "measured": -29.6, "unit": "°", "band": {"min": 32.0, "max": null}, "control": false,
                "limit": {"known": {"min": 28.0, "max": null}, "reason": "the law localizes"}, "verdict": "limit"},
            {"what": "rough", "measured": 9.0, "unit": "m", "band": {"min": null, "max": 1.0}, "control": true, "limit": null, "verdict": "pass"},
        ]);
        Value::Object(trimmed(
            &json!({"version": "1", "threads": 2, "machine": {"processor": "P", "simd": "Avx2"}, "entries": [
                {"case": "E2", "title": "collapse", "solver": "mpm", "form": "quick", "verdict": "limit", "error": null, "wall_s": 60.0,
                    "outcome": {"checks": checks, "plots": [1, 2]}},
                {"case": "L10", "title": "heap", "solver": "sph", "form": "full", "verdict": "fail", "error": "it stopped", "wall_s": 60.0,
                    "outcome": {"checks": []}},
            ]}),
        ))
    }

    #[test]
    fn tables_contain_the_requested_cases() {
        let report = report();
        let of_e = cases(&report, &["E"]).unwrap_or_default();
        for line in [
            "| **E2** | mpm | **collapse** |  |  | **limit** |",
            "|  |  | run-out | 2.685 | 2.4 to 3.6 | pass |",
            "|  |  | slope | −29.6° | ≥ 32° | limit |",
            "|  |  | control: rough | 9 m | ≤ 1 m | rejected |",
            "- E2 mpm: slope. the law localizes.",
        ] {
            assert!(of_e.lines().any(|l| l == line), "{line}\n{of_e}");
        }
        assert!(!of_e.contains("L10"));
        let line = "| E2 | collapse | limit |";
        assert!(summary(&report, "mpm").is_ok_and(|t| t.ends_with(&format!("{line}\n"))));
        assert!(summary(&report, "dem").is_err());
        let head = overview(&report).unwrap();
        assert!(head.starts_with("| case | what | mpm |"), "{head}");
        assert!(overview(&json!({"entries": []})).is_err());
        let all = letters(&report).unwrap_or_default();
        assert!(
            all.starts_with("\n### E: collapses, piles, slopes\n\n| case"),
            "{all}"
        );
        assert!(all.contains(&of_e) && all.contains("\n### L: SPH\n"));
        assert!(
            cases(&report, &["sph"]).is_ok_and(|t| t.contains("it stopped") && !t.contains("E2"))
        );
        for same in [&["E2"][..], &["E2", "mpm"], &["mpm"]] {
            assert_eq!(cases(&report, same).as_ref(), Ok(&of_e));
        }
        for none in [&["E2", "sph"][..], &["Z"], &["L1"], &[]] {
            assert!(cases(&report, none).is_err(), "{none:?}");
        }
    }

    #[test]
    fn figures_are_rounded_as_requested() {
        let report = report();
        let figure = |which: &[&str]| check(&report, which);
        assert_eq!(figure(&["E2", "mpm", "run-out"]), Ok("2.685".into()));
        assert_eq!(figure(&["E2", "mpm", "slope", "0"]), Ok("−30".into()));
        assert!(figure(&["E2", "sph", "slope"]).is_err());
        assert!(figure(&["E2", "mpm", "slop"]).is_err_and(|e| e.contains("run-out; slope")));
        let narrow = json!({"min": 2.039_59, "max": 2.039_63});
        assert_eq!(band(&narrow, ""), "2.03961 ± 2.00e−5");
        let told = about(&report);
        assert!(
            told.contains("P (Avx2), 2 threads: 2 runs 1 of them in quick form in 2 min"),
            "{told}"
        );
    }

    #[test]
    fn checks_that_differ_in_two_values_make_a_table() {
        let checks: Vec<Value> = [("20", "0.1", 22.46), ("20", "0.2", 22.3), ("25", "0.1", -1.0)]
            .map(|(angle, ratio, slope)| json!({"what": format!("slope, φ = {angle}°, ν = {ratio}"), "measured": slope, "unit": "°"}))
            .to_vec();
        let report = json!({"entries": [{"case": "D6", "solver": "mpm", "checks": checks}]});
        let made = grid(&report, &["D6", "mpm", "slope, φ = {}°, ν = {}", "1"]);
        let expected = "|  | ν = 0.1 | ν = 0.2 |\n| --- | --- | --- |\n| φ = 20° | 22.5° | 22.3° |\n| φ = 25° | −1.0° |  |\n";
        assert_eq!(made.as_deref(), Ok(expected));
        for wrong in ["slope, φ = {}°", "slope, φ = {}, μ = {}"] {
            assert!(grid(&report, &["D6", "mpm", wrong, "1"]).is_err());
        }
    }

    #[test]
    fn numbers_have_four_digits_without_trailing_zeros() {
        let shown = [
            0.0, 12.0, 0.00012346, 1e-9, 123_456.0, 4487.3, -0.5, 99999.6,
        ]
        .map(short);
        assert_eq!(
            shown,
            [
                "0",
                "12",
                "0.0001235",
                "1.00e−9",
                "123456",
                "4487",
                "−0.5",
                "100000"
            ]
        );
    }
}
