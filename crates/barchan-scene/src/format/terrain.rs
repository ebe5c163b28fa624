//! The terrain of the scene file: its keys, and the columns that they describe.

use super::Builder;
use super::node::{Node, Table};
use super::spec::{Key, Kind, Range, keys};
use crate::errors::Place;
use crate::model::{Dimensions, Law};
use crate::terrain::{HeightMap, MAX_COLUMNS, Mound, TerrainSpec};
use std::io::Cursor;

/// Largest coordinate or length of a terrain [m].
const MAX_COORDINATE: f64 = 1e5;
/// `depth` when the file has none [m].
const DEFAULT_DEPTH: f64 = 2.0;
/// Largest decoded picture [bytes].
const MAX_PICTURE: usize = 1 << 29;

const LENGTH: Kind = Kind::Number(Range::closed(1e-4, MAX_COORDINATE));
const HEIGHT: Kind = Kind::Number(Range::closed(-MAX_COORDINATE, MAX_COORDINATE));

/// Soil at rest.
pub(crate) static TERRAIN: &[Key] = &keys! {
    /// Name of a material of the scene or of a preset
    material: Kind::Text, required();
    /// Size of the site along x and z [m]
    size: Kind::Numbers(2), required();
    /// Center of the site, x and z [m]
    center: Kind::Numbers(2), default("[0, 0]");
    /// Side of a column [m]; the diameter of a grain when left out
    cell: LENGTH;
    /// Height of a flat site [m]
    height: HEIGHT, default("0");
    /// Heights [m] instead of `height`: a list of rows along x, the first at the smallest z, spread over the site
    heights: Kind::Rows;
    /// Picture of the heights instead of `height`, spread over the site
    image: Kind::Table(IMAGE);
    /// Cones of soil on the surface, and pits in it
    mounds: Kind::Tables(MOUND), default("[]");
    /// Depth of soil below the lowest point of the surface [m]; below it is rock
    depth: LENGTH, default("2");
    /// Steepest slope at which soil rests [degrees]; the friction angle of the material when left out
    angle_of_repose: Kind::Number(Range::closed(1.0, 89.0));
};

static IMAGE: &[Key] = &keys! {
    /// PNG file relative to the scene file; x to the right, z downward, lighter is higher
    file: Kind::Text, required();
    /// Height of black [m]
    low: HEIGHT, default("0");
    /// Height of white [m]
    high: HEIGHT, required();
};

static MOUND: &[Key] = &keys! {
    /// Center, x and z [m]
    center: Kind::Numbers(2), required();
    /// Height above the surface [m]; negative for a pit
    height: HEIGHT, required();
    /// Radius at its base [m]
    radius: LENGTH, required();
};

impl Builder<'_> {
    /// The terrain: `None` if it is invalid, `Some(None)` without terrain.
    pub fn terrain(&mut self, document: &Table) -> Option<Option<TerrainSpec>> {
        let Some(node) = document.get("terrain") else {
            return Some(None);
        };
        let table = node.table()?;
        if self.dimensions == Dimensions::Two {
            let help = "remove [terrain], or set dimensions = 3";
            self.report
                .error(node.at, "a 2D scene has no terrain", help);
        }
        let material = self.material_of(table);
        let angle = material.and_then(|m| self.repose(table, m, table.at("material", node.at)));
        let layout = self.layout(table, node.at);
        let map = match self.surface_map(table) {
            Some(map) => map,
            None if self.viewing => return Some(None),
            None => return None,
        };
        let mounds = self.mounds(table)?;
        let (origin, cell, columns) = layout?;
        let flat = table.number_or("height", 0.0)?;
        let size = [0, 1].map(|axis| columns[axis] as f64 * cell);
        let mut heights = Vec::with_capacity(columns[0] * columns[1]);
        for j in 0..columns[1] {
            for i in 0..columns[0] {
                let at = [(i as f64 + 0.5) * cell, (j as f64 + 0.5) * cell];
                let (x, z) = (origin[0] + at[0], origin[1] + at[1]);
                let ground = map
                    .as_ref()
                    .map_or(flat, |map| map.at(at[0] / size[0], at[1] / size[1]));
                let added: f64 = mounds.iter().map(|m| m.height_at(x, z)).sum();
                heights.push((ground + added) as f32);
            }
        }
        let lowest = heights.iter().copied().fold(f32::INFINITY, f32::min);
        Some(Some(TerrainSpec {
            material: material?,
            origin,
            cell,
            columns,
            heights,
            floor: f64::from(lowest) - table.number_or("depth", DEFAULT_DEPTH)?,
            angle_of_repose: angle?,
        }))
    }

    /// Corner, side of a column, and columns along x and z.
    fn layout(&mut self, table: &Table, at: Place) -> Option<([f64; 2], f64, [usize; 2])> {
        let (size, center) = (
            table.pair("size")?,
            table.or("center", [0.0; 2], Node::pair)?,
        );
        let cell = table.number_or("cell", self.resolution)?;
        let size_at = table.at("size", at);
        if size.iter().any(|s| !(*s > 0.0 && *s <= MAX_COORDINATE)) {
            let message = format!(
                "`terrain.size` must be above 0 and at most {MAX_COORDINATE} m in both directions"
            );
            let help = "give the size of the site along x and z, such as [40, 40]";
            return self.report.refuse(size_at, message, help);
        }
        if center.iter().any(|c| c.abs() > MAX_COORDINATE) {
            let message =
                format!("`terrain.center` is farther than {MAX_COORDINATE} m from the origin");
            let help = "move the site to the origin: far from it, heights lose precision";
            return self.report.refuse(table.at("center", at), message, help);
        }
        let columns = size.map(|s| (s / cell).round());
        if columns.iter().any(|n| *n < 2.0) {
            let message =
                format!("the terrain has no room for two columns of {cell} m in both directions");
            let help = "enlarge `size`, or make `cell` smaller";
            return self.report.refuse(size_at, message, help);
        }
        if columns[0] * columns[1] > MAX_COLUMNS as f64 {
            let message = format!(
                "the terrain has {} × {} columns, more than {MAX_COLUMNS}",
                columns[0], columns[1]
            );
            let finest = (size[0] * size[1] / MAX_COLUMNS as f64).sqrt();
            let help = format!("make `cell` at least {finest:.2} m");
            return self
                .report
                .refuse(table.at("cell", size_at), message, help.as_str());
        }
        let origin = [0, 1].map(|axis| center[axis] - 0.5 * columns[axis] * cell);
        Some((origin, cell, columns.map(|n| n as usize)))
    }

    /// The heights that replace `height`, if any; `None` after reporting an error.
    fn surface_map(&mut self, table: &Table) -> Option<Option<HeightMap>> {
        let (rows, image) = (table.get("heights"), table.get("image"));
        if rows.or(image).is_some() {
            self.useless(table, "height", "where `heights` or `image` has it");
        }
        match (rows, image) {
            (None, None) => Some(None),
            (Some(rows), None) => self.rows(rows).map(Some),
            (None, Some(image)) => self.picture(image).map(Some),
            _ => {
                self.useless(table, "heights", "beside `image`");
                None
            }
        }
    }

    fn rows(&mut self, node: &Node) -> Option<HeightMap> {
        let rows = node.list()?.iter().map(Node::numbers);
        let rows: Vec<Vec<f64>> = rows.collect::<Option<_>>()?;
        let length = rows.first().map_or(0, Vec::len);
        let odd = rows.iter().position(|r| r.len() != length);
        let far = rows.iter().flatten().find(|h| h.abs() > MAX_COORDINATE);
        let fault = match (odd, far) {
            _ if length == 0 => Some("`terrain.heights` is empty".to_owned()),
            (Some(row), _) => Some(format!(
                "row {row} of `terrain.heights` has {} heights, the first has {length}",
                rows[row].len()
            )),
            (None, Some(h)) => Some(format!(
                "`terrain.heights` contains {h}, beyond ±{MAX_COORDINATE} m"
            )),
            (None, None) => None,
        };
        if let Some(fault) = fault {
            let help = "write rows of equal length [m]: [[0, 0, 1], [0, 1, 2]]";
            return self.report.refuse(node.at, fault, help);
        }
        Some(HeightMap {
            points: [length, rows.len()],
            heights: rows.into_iter().flatten().map(|h| h as f32).collect(),
        })
    }

    fn picture(&mut self, node: &Node) -> Option<HeightMap> {
        let table = node.table()?;
        let file = table.text("file")?;
        let low = table.number_or("low", 0.0)?;
        let high = table.number("high")?;
        let path = self.directory.join(file);
        let read = || -> Result<_, String> {
            let bytes = std::fs::read(&path).map_err(|e| e.to_string())?;
            let (points, gray) = gray_levels(&bytes)?;
            Ok((points, gray, blake3::hash(&bytes).to_hex().to_string()))
        };
        let (points, gray, digest) = match read() {
            Ok(read) => read,
            // The frames of a result have the heights anyway.
            Err(reason) if self.viewing => {
                let warning = format!("the picture {file} of the terrain: {reason}");
                self.warnings.push(warning);
                return None;
            }
            Err(reason) => {
                let message = format!("cannot use the picture `{file}`: {reason}");
                let help = "name a grayscale PNG file, relative to the scene file";
                return self.report.refuse(table.at("file", node.at), message, help);
            }
        };
        self.remember(file, || digest);
        let height = |level: f64| (low + (high - low) * level) as f32;
        Some(HeightMap {
            points,
            heights: gray.into_iter().map(height).collect(),
        })
    }

    fn mounds(&mut self, table: &Table) -> Option<Vec<Mound>> {
        let mound = |node: &Node| {
            let table = node.table()?;
            Some(Mound {
                center: table.pair("center")?,
                height: table.number("height")?,
                radius: table.number("radius")?,
            })
        };
        table.list("mounds").iter().map(mound).collect()
    }

    /// Angle of repose [degrees].
    fn repose(&mut self, table: &Table, material: usize, at: Place) -> Option<f64> {
        if let Some(node) = table.get("angle_of_repose") {
            return node.number();
        }
        let known = self.substances.get(material)?.material.as_ref()?;
        let angle = match known.law {
            Law::Sand(law) => law.friction.last_angle(),
            Law::Elastic(_) => 0.0,
        };
        if angle < 1.0 {
            let message = format!(
                "`{}` has no friction angle that could be an angle of repose",
                known.name
            );
            let help = "name a sand or soil, or set `terrain.angle_of_repose`";
            return self.report.refuse(at, message, help);
        }
        Some(angle.min(89.0))
    }
}

/// Size of a PNG picture and its gray levels from 0 to 1, with all their bits.
fn gray_levels(bytes: &[u8]) -> Result<([usize; 2], Vec<f64>), String> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let size = reader.output_buffer_size().filter(|s| *s <= MAX_PICTURE);
    let size = size.ok_or("it is too large")?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(|e| e.to_string())?;
    let values: Vec<f64> = match info.bit_depth {
        png::BitDepth::Sixteen => (pixels.as_chunks().0.iter())
            .map(|v| f64::from(u16::from_be_bytes(*v)) / f64::from(u16::MAX))
            .collect(),
        _ => pixels.iter().map(|v| f64::from(*v) / 255.0).collect(),
    };
    let gray = |pixel: &[f64]| match *pixel {
        // Luminance of Rec. 709.
        [r, g, b, ..] => 0.2126 * r + 0.7152 * g + 0.0722 * b,
        _ => pixel[0],
    };
    let gray = values.chunks_exact(info.color_type.samples()).map(gray);
    Ok(([info.width as usize, info.height as usize], gray.collect()))
}
