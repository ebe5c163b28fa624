//! The report as one HTML page without external references.

use super::outcome::{Band, Check, Verdict};
use super::plot::escape;
use super::report::{Entry, Report, date};
use super::{CASES, Case, Form, solvers};
use barchan_scene::numbers::rounded;
use std::fmt::Write;

const STYLE: &str = "
:root{--ink:#212529;--soft:#5c636a;--line:#dee2e6;--back:#fff;--pass:#2b8a3e;--limit:#e67700;--fail:#c92a2a}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;color:var(--ink);background:#f1f3f5;margin:0}
main{max-width:1000px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:28px;margin:0 0 4px}h2{font-size:20px;margin:0}
p{margin:8px 0;max-width:82ch}.soft{color:var(--soft)}
section,.card{background:var(--back);border:1px solid var(--line);border-radius:8px;padding:20px 24px;margin:18px 0}
header.case{display:flex;gap:12px;align-items:baseline;justify-content:space-between;border-bottom:1px solid var(--line);padding-bottom:8px;margin-bottom:8px}
table{border-collapse:collapse;width:100%;margin:10px 0}
th,td{text-align:left;padding:5px 10px;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--soft);font-size:13px}
td.number{font-variant-numeric:tabular-nums;white-space:nowrap}
td.mark{text-align:center}
tr.control td{background:#fff9f9}
.verdict{display:inline-block;min-width:52px;text-align:center;border-radius:4px;padding:1px 8px;font-size:13px;font-weight:600;color:#fff}
.pass{background:var(--pass)}.limit{background:var(--limit)}.fail{background:var(--fail)}
.tiles{display:flex;gap:14px;margin:14px 0}.tile{flex:1;border:1px solid var(--line);border-radius:8px;padding:10px 16px;background:var(--back)}
.tile b{display:block;font-size:26px}
.reason{color:var(--soft);font-size:14px}
figure{margin:16px 0 8px}figcaption{font-weight:600;font-size:14px;margin-bottom:4px}
svg{width:100%;height:auto;display:block}
svg text{font:12px system-ui,'Segoe UI',Roboto,Arial,sans-serif;fill:#343a40}svg text.label{font-size:13px}
svg .grid{stroke:#e9ecef}svg .frame{fill:none;stroke:#868e96}
code{font:13px ui-monospace,'DejaVu Sans Mono',monospace;background:#f1f3f5;border-radius:4px;padding:1px 5px}
a{color:#1864ab;text-decoration:none}a:hover{text-decoration:underline}
dt{font-weight:600;font-size:13px;color:var(--soft);margin-top:8px}dd{margin:0;max-width:82ch}
ul{margin:6px 0;padding-left:20px}
@media print{body{background:#fff}section{break-inside:avoid}}
";

/// The whole page.
pub fn html(report: &Report) -> String {
    let mut page =
        String::from("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let _ = write!(
        page,
        "<meta name=\"viewport\" content=\"width=device-width\"><title>barchan {}: validation</title><style>{STYLE}</style></head><body><main>",
        escape(&report.version)
    );
    head(&mut page, report);
    summary(&mut page, report);
    for entry in &report.entries {
        section(&mut page, entry);
    }
    references(&mut page);
    page.push_str("</main></body></html>\n");
    page
}

/// The list of references, to which citation keys link.
fn references(page: &mut String) {
    let cited: Vec<(&str, String)> = bibliography()
        .into_iter()
        .filter(|(key, _)| page.contains(&format!("[{key}]")))
        .collect();
    if cited.is_empty() {
        return;
    }
    page.push_str(
        "<section id=\"references\"><header class=\"case\"><h2>References</h2></header><dl>",
    );
    for (key, text) in cited {
        let _ = write!(page, "<dt>[{key}]</dt><dd>{}</dd>", escape(&text));
    }
    page.push_str("</dl></section>");
}

/// Keys of the bibliography, and author, title, journal and year of each.
fn bibliography() -> Vec<(&'static str, String)> {
    let text = include_str!("../../../docs/bibliography.bib");
    let entry = |entry: &'static str| {
        let (_, rest) = entry.split_once('{')?;
        let (key, fields) = rest.split_once(',')?;
        let field = |name: &str| {
            let line = fields.lines().find(|l| l.trim_start().starts_with(name))?;
            let (_, value) = line.split_once('{')?;
            value.rsplit_once('}').map(|(value, _)| value)
        };
        let parts = ["author", "title", "journal", "school", "year"];
        let text: Vec<&str> = parts.iter().filter_map(|name| field(name)).collect();
        Some((key.trim(), text.join(". ").replace(" and ", ", ")))
    };
    text.split('@').skip(1).filter_map(entry).collect()
}

fn head(page: &mut String, report: &Report) {
    let newest = report.entries.iter().map(|e| e.unix_time).max();
    let _ = write!(
        page,
        "<h1>Validation of barchan {}</h1><p class=\"soft\">Simulations against theory and experiment. {} · {} ({}), {} threads</p>",
        escape(&report.version),
        newest.map_or_else(|| "Nothing was run.".into(), date),
        escape(&report.machine.processor),
        escape(&report.machine.simd),
        report.threads
    );
    page.push_str("<div class=\"tiles\">");
    for (verdict, text) in [
        (Verdict::Pass, "pass"),
        (Verdict::Limit, "reach a known limit of the model"),
        (Verdict::Fail, "fail"),
    ] {
        let _ = write!(
            page,
            "<div class=\"tile\"><b style=\"color:var(--{})\">{}</b>{text}</div>",
            class(verdict),
            report.count(verdict)
        );
    }
    page.push_str("</div>");
}

/// Case by solver.
fn summary(page: &mut String, report: &Report) {
    page.push_str("<div class=\"card\"><table><thead><tr><th>case</th><th></th>");
    for solver in solvers() {
        let _ = write!(page, "<th>{solver}</th>");
    }
    page.push_str("</tr></thead><tbody>");
    for (name, cases) in by_name() {
        // Cases of one name compare the same with other solvers, mostly under one title.
        let mut titles: Vec<&str> = cases.iter().map(|c| c.title).collect();
        titles.dedup();
        let title = escape(&titles.join(" · "));
        let _ = write!(page, "<tr><td>{name}</td><td>{title}</td>");
        for solver in solvers() {
            let is_it = |e: &&Entry| e.case == name && e.solver == solver;
            let cell = match report.entries.iter().find(is_it) {
                Some(entry) => format!("<a href=\"#{}\">{}</a>", id(entry), badge(entry.verdict)),
                None if cases.iter().any(|c| c.solvers.contains(&solver)) => {
                    "<span class=\"soft\">not run</span>".into()
                }
                None => "<span class=\"soft\">—</span>".into(),
            };
            let _ = write!(page, "<td class=\"mark\">{cell}</td>");
        }
        page.push_str("</tr>");
    }
    page.push_str(
        "</tbody></table><p class=\"soft\">A check passes when the measured value lies in its band. A control is something \
         deliberately wrong; it passes when it lies <em>outside</em> the band, and so shows that the band can tell right from \
         wrong. A limit is a known shortcoming of the model, with its reason; it is not a pass.</p></div>",
    );
}

/// All cases, those of one name together, in the order of their first.
fn by_name() -> Vec<(&'static str, Vec<&'static Case>)> {
    let mut rows: Vec<(&str, Vec<&Case>)> = Vec::new();
    for case in CASES {
        match rows.iter_mut().find(|(name, _)| *name == case.name) {
            Some((_, cases)) => cases.push(case),
            None => rows.push((case.name, vec![case])),
        }
    }
    rows
}

/// HTML id of a case with a solver.
fn id(entry: &Entry) -> String {
    escape(&format!("{}-{}", entry.case, entry.solver))
}

fn section(page: &mut String, entry: &Entry) {
    let outcome = &entry.outcome;
    let _ = write!(
        page,
        "<section id=\"{}\"><header class=\"case\"><h2>{} · {} <span class=\"soft\">{}</span></h2>{}</header>",
        id(entry),
        escape(&entry.case),
        escape(&entry.title),
        escape(&entry.solver),
        badge(entry.verdict)
    );
    if let Some(error) = &entry.error {
        let _ = write!(
            page,
            "<p><b>It could not be carried out:</b> {}</p>",
            escape(error)
        );
    }
    page.push_str("<dl>");
    for (name, text) in [
        ("physics", &outcome.physics),
        ("set-up", &outcome.setup),
        ("reference", &outcome.reference),
    ] {
        if !text.is_empty() {
            let _ = write!(page, "<dt>{name}</dt><dd>{}</dd>", escape(text));
        }
    }
    page.push_str("</dl>");
    for plot in &outcome.plots {
        let _ = write!(
            page,
            "<figure><figcaption>{}</figcaption>{}</figure>",
            escape(&plot.title),
            plot.svg()
        );
    }
    checks(page, &outcome.checks);
    if !outcome.notes.is_empty() {
        page.push_str("<ul>");
        for note in &outcome.notes {
            let _ = write!(page, "<li>{}</li>", escape(note));
        }
        page.push_str("</ul>");
    }
    let _ = write!(
        page,
        "<p class=\"soft\"><code>barchan validate --case {}{}</code> · {:.1} s · {}</p></section>",
        escape(&entry.case),
        match entry.form {
            Form::Quick => " --quick",
            Form::Full => "",
        },
        entry.wall_s,
        date(entry.unix_time)
    );
}

fn checks(page: &mut String, checks: &[Check]) {
    if checks.is_empty() {
        return;
    }
    page.push_str(
        "<table><thead><tr><th>check</th><th>measured</th><th>band</th><th></th></tr></thead><tbody>",
    );
    for check in checks {
        let (row, prefix) = if check.control {
            (" class=\"control\"", "control, must miss the band: ")
        } else {
            ("", "")
        };
        let reason = match (&check.limit, check.verdict) {
            (Some(limit), Verdict::Limit) => {
                format!("<div class=\"reason\">{}</div>", escape(&limit.reason))
            }
            _ => String::new(),
        };
        let _ = write!(
            page,
            "<tr{row}><td>{prefix}{}{reason}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td></tr>",
            escape(&check.what),
            with_unit(check.measured, &check.unit),
            band_text(&check.band, &check.unit),
            badge(check.verdict)
        );
    }
    page.push_str("</tbody></table>");
}

fn with_unit(value: Option<f64>, unit: &str) -> String {
    let number = value.map_or_else(|| "not a number".into(), short);
    match unit {
        "" => number,
        "°" | "%" => format!("{number}{}{unit}", if unit == "%" { " " } else { "" }),
        _ => format!("{number} {}", escape(unit)),
    }
}

/// A band in words.
fn band_text(band: &Band, unit: &str) -> String {
    match (band.min, band.max) {
        (Some(min), Some(max)) if max - min < 2e-3 * (max + min).abs() => {
            let (middle, half) = (0.5 * (min + max), 0.5 * (max - min));
            format!("{} ± {}", rounded(middle, 6), with_unit(Some(half), unit))
        }
        (Some(min), Some(max)) => format!("{} to {}", short(min), with_unit(Some(max), unit)),
        (None, Some(max)) => format!("≤ {}", with_unit(Some(max), unit)),
        (Some(min), None) => format!("≥ {}", with_unit(Some(min), unit)),
        (None, None) => "any".into(),
    }
}

fn short(value: f64) -> String {
    rounded(value, 4).replace('-', "−")
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Limit => "limit",
        Verdict::Fail => "fail",
    }
}

fn badge(verdict: Verdict) -> String {
    let (class, word) = (class(verdict), verdict.word());
    format!("<span class=\"verdict {class}\">{word}</span>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;
    use crate::plot::{Axis, Plot, Style};

    #[test]
    fn every_key_of_the_bibliography_is_found() {
        let all = bibliography();
        let keys = include_str!("../../../docs/bibliography.bib")
            .matches('@')
            .count();
        assert_eq!(all.len(), keys);
        let (_, klar) = &all[0];
        assert!(
            klar.contains("Drucker–Prager") && klar.contains("2016"),
            "{klar}"
        );
    }

    #[test]
    fn a_page_reports_failures_with_reasons_and_is_self_contained() {
        let checks = vec![
            Check::new("ratio <of> two", 3.0, "", Band::between(1.0, 2.0)),
            Check::new("slope", 29.0, "°", Band::above(32.0))
                .limited(Band::above(28.0), "the law localizes"),
            Check::control("no friction", 9.0, "m", Band::below(1.0)),
        ];
        let plot = Plot::new("run-out", Axis::new("a"), Axis::log("r")).with(
            Style::Points,
            "ours",
            &[[1.0, 2.0], [2.0, 3.0]],
        );
        let outcome = Outcome {
            checks,
            plots: vec![plot],
            ..Outcome::default()
        };
        let mut report = Report::default();
        report.add(Entry {
            case: "E2".into(),
            title: "collapse".into(),
            form: crate::Form::Full,
            solver: "mpm".into(),
            verdict: outcome.verdict(),
            outcome,
            error: None,
            wall_s: 2.0,
            unix_time: 0,
        });
        let page = html(&report);
        for text in [
            "ratio &lt;of&gt; two",
            "FAIL",
            "the law localizes",
            "must miss the band",
            "<svg",
            "barchan validate --case E2",
            "1970-01-01",
        ] {
            assert!(page.contains(text), "{text}");
        }
        for text in ["http", "src=", "<script", "@import", "url("] {
            assert!(!page.contains(text), "{text}");
        }
    }

    #[test]
    fn cases_of_one_name_share_a_row_and_link_to_their_sections() {
        let entry = |solver: &str, form| Entry {
            case: "E2".into(),
            title: "collapse".into(),
            solver: solver.into(),
            form,
            verdict: Verdict::Pass,
            outcome: Outcome::default(),
            error: None,
            wall_s: 1.0,
            unix_time: 0,
        };
        let mut report = Report::default();
        report.add(entry("mpm", Form::Full));
        report.add(entry("sph", Form::Quick));
        let page = html(&report);
        assert_eq!(page.matches("<tr><td>E2</td>").count(), 1);
        for solver in ["mpm", "sph"] {
            assert_eq!(page.matches(&format!("href=\"#E2-{solver}\"")).count(), 1);
            assert_eq!(page.matches(&format!("id=\"E2-{solver}\"")).count(), 1);
        }
        assert_eq!(page.matches("--case E2 --quick<").count(), 1);
        let names: Vec<&str> = by_name().iter().map(|(name, _)| *name).collect();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
    }
}
