//! Tables and figures from `docs/results/performance.json`: for each bench its command and its result.

use super::blocks::table;
use super::validation::{items, machine, threads};
use serde_json::Value;

/// A column of a table: title, key in a row, factor, decimals (`None`: text).
type Column = (&'static str, &'static str, f64, Option<usize>);

const NAME: Column = ("row", "name", 1.0, None);
const THREADS: Column = ("threads", "threads", 1.0, Some(0));
const STEPS: &[Column] = &[
    NAME,
    THREADS,
    ("M particle-steps/s", "particle_steps_per_s", 1e-6, Some(2)),
    ("ms a step", "step_ms", 1.0, Some(2)),
    ("99 % within [ms]", "step_p99_ms", 1.0, Some(2)),
];

/// A bench: name in keys, arguments of `barchan bench`, columns of its table.
pub struct Bench {
    pub name: &'static str,
    pub arguments: &'static [&'static str],
    columns: &'static [Column],
}

pub const BENCHES: &[Bench] = &[
    Bench {
        name: "mpm",
        arguments: &["mpm"],
        columns: &[
            NAME,
            ("kernel", "kernel", 1.0, None),
            THREADS,
            (
                "M particle-substeps/s",
                "particle_substeps_per_s",
                1e-6,
                Some(1),
            ),
        ],
    },
    Bench {
        name: "mpm-64k",
        arguments: &["mpm", "--quick", "--threads", "1", "--particles", "64k"],
        columns: &[],
    },
    Bench {
        name: "pbd",
        arguments: &["pbd"],
        columns: STEPS,
    },
    Bench {
        name: "sph",
        arguments: &["sph"],
        columns: STEPS,
    },
    Bench {
        name: "detail",
        arguments: &["detail"],
        columns: &[
            THREADS,
            ("M grain-steps/s", "grain_steps_per_s", 1e-6, Some(1)),
            ("ms a step", "step_ms", 1.0, Some(0)),
        ],
    },
    Bench {
        name: "render",
        arguments: &["render"],
        columns: &[],
    },
];

/// A table of a bench (`mpm`), the times of its stages (`mpm stages`), machine and command (`mpm about`), or a figure
/// (`mpm rows.0.threads 2 1e-6`: path, decimals, factor).
pub fn bench(measured: &Value, which: &[&str]) -> Result<String, String> {
    let [name, rest @ ..] = which else {
        return Err("write: bench NAME [stages | about | PATH [decimals [factor]]]".into());
    };
    let known = BENCHES.iter().find(|bench| bench.name == *name);
    let bench = known.ok_or_else(|| {
        let names: Vec<&str> = BENCHES.iter().map(|b| b.name).collect();
        format!("the benches are {}", names.join(", "))
    })?;
    let run = &measured[name];
    let result = run["result"].as_object().map(|_| &run["result"]);
    let result = result.ok_or(
        "it is not in docs/results/performance.json: cargo xtask figures --measure performance",
    )?;
    match rest {
        [] => Ok(table(
            &bench.columns.iter().map(|c| c.0).collect::<Vec<_>>(),
            items(&result["rows"]).map(|row| bench.columns.iter().map(|c| cell(row, c)).collect()),
        )),
        ["about"] => Ok(format!(
            "`{}`, {}, {}",
            run["command"].as_str().unwrap_or_default(),
            machine(&result["machine"]),
            threads(result)
        )),
        ["stages"] => Ok(stages(result)),
        [path, form @ ..] => {
            let value = result.pointer(&format!("/{}", path.replace('.', "/")));
            let value = value
                .and_then(Value::as_f64)
                .ok_or(format!("`{path}` is not a number in its result"))?;
            let decimals = form.first().and_then(|d| d.parse().ok()).unwrap_or(2);
            let factor = form.get(1).and_then(|f| f.parse().ok()).unwrap_or(1.0);
            Ok(format!("{:.decimals$}", value * factor).replace('-', "−"))
        }
    }
}

fn cell(row: &Value, (_, key, factor, decimals): &Column) -> String {
    match (&row[key], decimals) {
        (Value::String(text), _) => text.clone(),
        (value, Some(decimals)) => decimal(value, *factor, *decimals),
        (value, None) => value.to_string(),
    }
}

/// A number with that many decimals; empty where there is none.
fn decimal(value: &Value, factor: f64, decimals: usize) -> String {
    let number = value.as_f64().map(|v| format!("{:.decimals$}", v * factor));
    number.unwrap_or_default()
}

/// Nanoseconds per particle and substep, a column for each row of the bench.
fn stages(result: &Value) -> String {
    let rows: Vec<&Value> = items(&result["rows"]).collect();
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    let head = [&["stage [ns]"], &names[..]].concat();
    let first = rows.first().map_or(&Value::Null, |row| &row["stages_ns"]);
    let lines = items(first).map(|stage| {
        let of = |row: &&Value| {
            let found = items(&row["stages_ns"]).find(|s| s[0] == stage[0]);
            found.map_or_else(String::new, |s| decimal(&s[1], 1.0, 1))
        };
        let name = stage[0].as_str().unwrap_or_default().replace('_', " ");
        std::iter::once(name).chain(rows.iter().map(of)).collect()
    });
    table(&head, lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_and_figures_follow_the_measurements() {
        let row = json!({"name": "all threads", "kernel": "quadratic", "threads": 2, "particle_substeps_per_s": 24.26e6,
            "stages_ns": [["particles_to_grid", 23.24], ["sort", 0.6]]});
        let result = json!({"threads": 2, "machine": {"processor": "P", "simd": "Avx2"}, "speedup": 1.9166, "empty_space_change": -0.01, "rows": [row]});
        let measured = json!({"mpm": {"command": "barchan bench mpm", "result": result}});
        let told = |which: &[&str]| bench(&measured, which);
        let expected = "| row | kernel | threads | M particle-substeps/s |\n| --- | --- | --- | --- |\n\
                        | all threads | quadratic | 2 | 24.3 |\n";
        assert_eq!(told(&["mpm"]), Ok(expected.into()));
        assert!(
            told(&["mpm", "stages"])
                .is_ok_and(|t| t.contains("| particles to grid | 23.2 |\n| sort | 0.6 |"))
        );
        assert_eq!(
            told(&["mpm", "about"]),
            Ok("`barchan bench mpm`, P (Avx2), 2 threads".into())
        );
        assert_eq!(told(&["mpm", "speedup"]), Ok("1.92".into()));
        assert_eq!(
            told(&["mpm", "empty_space_change", "1", "100"]),
            Ok("−1.0".into())
        );
        assert_eq!(
            told(&["mpm", "rows.0.particle_substeps_per_s", "0", "1e-6"]),
            Ok("24".into())
        );
        for wrong in [&["mpm", "speed"][..], &["pbd"], &["dem"], &[]] {
            assert!(told(wrong).is_err(), "{wrong:?}");
        }
    }
}
