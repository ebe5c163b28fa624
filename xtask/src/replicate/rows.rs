//! Replicated results of [Klar16], [Holz14] and [Ihmsen13], as listed in `rows.toml`.

use serde::Deserialize;
use std::sync::LazyLock;

/// A row of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Key in `docs/results/replicability.json`, and name of the picture.
    pub name: String,
    /// Place in the paper.
    pub figure: String,
    /// Scene: folder of the paper and name, without ending.
    pub scene: String,
    /// What the paper reports.
    pub paper: Option<Paper>,
    /// Runs at preview size and the pictures made of them.
    pub preview: Preview,
    /// How the cost at the paper's resolution is measured.
    pub timing: Option<Timing>,
    /// What agrees with the paper, and what does not.
    pub verdict: String,
}

impl Row {
    /// Name of the scene without its folder.
    pub fn stem(&self) -> &str {
        self.scene.rsplit('/').next().unwrap_or(&self.scene)
    }

    /// Its picture, relative to `docs/pictures`.
    pub fn picture(&self) -> String {
        format!("{}/{}.jpg", self.folder(), self.name)
    }

    /// Folder of its paper.
    fn folder(&self) -> &str {
        self.scene.split('/').next().unwrap_or_default()
    }
}

/// Values of Table 2.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    pub implicit: bool,
    pub particles: String,
    /// Largest time step [s].
    pub dt: String,
    pub threads: u32,
    pub minutes_per_frame: f64,
}

/// Short runs of a scene at a small size.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// Resolution, as a factor.
    #[serde(default = "one")]
    pub scale: f64,
    /// Changes of each run: one run for each list.
    #[serde(default = "one_run")]
    pub runs: Vec<Vec<String>>,
    /// Refinements of them.
    #[serde(default)]
    pub details: Vec<Detail>,
    pub shots: Vec<Shot>,
    /// Pictures side by side.
    #[serde(default = "one_picture")]
    pub across: usize,
    /// Pixels of each.
    #[serde(default = "default_cell")]
    pub cell: [u32; 2],
    /// Wall time on two cores, about [s].
    pub seconds: f64,
}

/// A refinement of one of the runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detail {
    #[serde(default)]
    pub run: usize,
    /// Options of `barchan detail`, as words.
    #[serde(default)]
    pub options: String,
}

/// A picture of a frame of one of the runs, or of one of the refinements, which are numbered after the runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shot {
    #[serde(default)]
    pub run: usize,
    pub frame: u32,
    /// Options of `barchan render`, as words.
    #[serde(default)]
    pub options: String,
}

/// Frames of the full scene from its beginning.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Frames of the paper's frame rate; a fraction of one is measured as a shorter frame.
    pub frames: f64,
    /// The paper's frame rate [1/s].
    pub rate: f64,
    /// Resolution, as a factor.
    #[serde(default = "one")]
    pub scale: f64,
    /// Particles at the end if an inflow adds them: the cost of a frame is then scaled to that number.
    pub final_particles: Option<f64>,
    /// Wall time on two cores, about [s].
    pub seconds: f64,
}

/// A row of Table 4: the notched block at one resolution.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolution {
    pub name: String,
    pub grid: String,
    /// What the paper reports for its own method and for that of Narain et al.
    pub particles: String,
    pub seconds_per_frame: f64,
    pub narain_seconds: f64,
    pub timing: Timing,
}

fn one() -> f64 {
    1.0
}

fn one_run() -> Vec<Vec<String>> {
    vec![vec![]]
}

fn one_picture() -> usize {
    1
}

fn default_cell() -> [u32; 2] {
    [480, 270]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    row: Vec<Row>,
    table_4: Vec<Resolution>,
}

static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    let rows = toml::from_str(include_str!("rows.toml"));
    rows.unwrap_or_else(|error| panic!("xtask/src/replicate/rows.toml: {error}"))
});

/// All rows, in the order of the papers' tables and figures.
pub fn rows() -> &'static [Row] {
    &ROWS.row
}

/// Those of one paper, by its folder in `scenes/papers`.
pub fn of(paper: &str) -> impl Iterator<Item = &'static Row> {
    rows().iter().filter(move |row| row.folder() == paper)
}

/// Table 4 of [Klar16].
pub fn table_4() -> &'static [Resolution] {
    &ROWS.table_4
}

/// Scene of Table 4.
pub const TABLE_4_SCENE: &str = "klar2016/notched_block";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_scenes_exist() {
        let mut names = BTreeSet::new();
        let all = rows().iter().map(|r| (&*r.name, &*r.scene));
        let table = table_4().iter().map(|r| (&*r.name, TABLE_4_SCENE));
        for (name, scene) in all.chain(table) {
            assert!(names.insert(name), "{name}");
            let path = crate::repository().join(super::super::scene_path(scene));
            assert!(path.is_file(), "{}", path.display());
        }
    }

    #[test]
    fn shots_refer_to_existing_runs() {
        for row in rows() {
            let preview = &row.preview;
            assert!(!preview.shots.is_empty() && preview.across > 0);
            let (runs, all) = (
                preview.runs.len(),
                preview.runs.len() + preview.details.len(),
            );
            assert!(preview.details.iter().all(|d| d.run < runs));
            assert!(preview.shots.iter().all(|s| s.run < all));
        }
    }
}
