//! Pictures sent to pages: eight bytes per grain, and everything else that changes, as JSON.

use super::super::encode::{self, GrainData, GrainsHeader};
use super::super::look::Palette;
use super::super::terrain;
use super::super::values::{Part, Range};
use super::ErrorMessage;
use super::pace::Rates;
use barchan::frame::{Frame, JointRecord, TERRAIN_HEIGHT};
use barchan::scene::Scene;
use barchan::sim::bodies::Drag;
use barchan::sim::simulation::Simulation;
use barchan::sim::solvers::parameters;
use serde::Serialize;

/// Decay of the upper end of the speed scale per picture, so that the scale does not flicker.
const MEMORY: f32 = 0.985;

/// State of the engine that accompanies the grains.
pub(super) struct Beside<'a> {
    pub number: u64,
    pub playing: bool,
    pub speed: f64,
    pub rates: Rates,
    pub error: Option<&'a ErrorMessage>,
    pub drag: Option<&'a Drag>,
}

/// Interval of pictures at which the terrain of a running scene is checked: it is large, and changes slowly.
const TERRAIN_EVERY: u64 = 6;

/// Header of a picture: `LiveHeader` of viewer/src/live/link.ts.
#[derive(Serialize)]
struct Header<'a> {
    #[serde(flatten)]
    grains: GrainsHeader<'a>,
    playing: bool,
    speed: f64,
    rates: Rates,
    trouble: Option<&'a ErrorMessage>,
    drag: Option<Pull>,
    joints: &'a [JointRecord],
    /// Values of all parameters, by material.
    parameters: Vec<Vec<f64>>,
    /// Range of the speeds [m/s].
    colors: Option<Range>,
}

/// A body that a page pulls: `Pull` of viewer/src/live/link.ts.
#[derive(Serialize)]
struct Pull {
    body: usize,
    point: [f32; 3],
    target: [f32; 3],
}

/// Makes pictures, reusing memory.
#[derive(Default)]
pub(super) struct Painter {
    spent: Frame,
    fastest: f32,
    /// Terrain heights last announced to pages, and their version.
    heights: Vec<f32>,
    terrains: u64,
}

impl Painter {
    /// The present picture of a simulation, and its terrain if it has changed. If the solver's columns cannot be
    /// downloaded, the picture has neither grains nor bodies.
    pub fn paint(
        &mut self,
        simulation: &mut Simulation,
        scene: &Scene,
        palette: &Palette,
        with_speed: bool,
        beside: &Beside<'_>,
    ) -> (Vec<u8>, Option<Vec<u8>>) {
        let spent = std::mem::take(&mut self.spent);
        let mut frame = simulation.write_frame_over(spent).unwrap_or_default();
        show_present_forces(simulation, &mut frame);
        let is_due = !beside.playing || beside.number % TERRAIN_EVERY == 1;
        let terrain = is_due.then(|| self.terrain(&frame, palette)).flatten();
        let grains = GrainData::of(|name| frame.column(name)).unwrap_or_default();
        let count = grains.position.len() / 3;
        let corners = encode::bounds(grains.position);
        let velocity = frame.column("velocity").filter(|_| with_speed);
        let velocity = velocity.filter(|v| v.particles() == count);
        let speeds = velocity.map(|velocity| (velocity, self.range(&frame)));
        let terrains = self.terrains;
        let header = Header {
            grains: GrainsHeader {
                frame: beside.number,
                time: simulation.time(),
                grains: count,
                lower: corners.0,
                upper: corners.1,
                error_bound: encode::error_bound(corners),
                bodies: &frame.record.bodies,
                terrain: (terrains > 0).then(|| format!("/api/live/terrain?number={terrains}")),
            },
            playing: beside.playing,
            speed: beside.speed,
            rates: beside.rates,
            trouble: beside.error,
            drag: beside.drag.map(|drag| Pull {
                body: drag.body,
                point: drag.point.to_array(),
                target: drag.target.to_array(),
            }),
            joints: &frame.record.joints,
            parameters: values(scene),
            colors: speeds.as_ref().map(|(_, range)| *range),
        };
        let bytes = if speeds.is_some() { 10 } else { 8 };
        let mut out = encode::begin(&header, bytes * count);
        encode::put_grains(&mut out, &grains, corners, palette);
        if let Some((velocity, range)) = speeds {
            encode::put_colors(&mut out, velocity, Part::Magnitude, range);
        }
        self.spent = frame;
        (out, terrain)
    }

    /// The terrain of a frame, if it differs from the one last announced.
    fn terrain(&mut self, frame: &Frame, palette: &Palette) -> Option<Vec<u8>> {
        let column = frame.array(TERRAIN_HEIGHT)?;
        let heights = column.data.as_f32()?;
        if heights == self.heights {
            return None;
        }
        self.heights.clear();
        self.heights.extend_from_slice(heights);
        self.terrains += 1;
        terrain::encoded(&frame.record.terrain?, column, |m| palette.mean(m)).ok()
    }

    /// Range from 0 to slightly above the highest recent speed of a grain, in round numbers.
    fn range(&mut self, frame: &Frame) -> Range {
        let now = frame.record.statistics.max_speed as f32;
        self.fastest = now.max(MEMORY * self.fastest);
        Range {
            min: 0.0,
            max: round_up(self.fastest.max(1e-3)),
        }
    }
}

/// The next of 1, 2, 5, 10, … times a power of ten.
fn round_up(value: f32) -> f32 {
    let power = 10_f32.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let found = steps.into_iter().find(|step| *step >= value * 0.999);
    found.filter(|step| step.is_finite()).unwrap_or(1.0)
}

/// Replaces the forces of a frame's record, means since the frame before, with those of the last step.
fn show_present_forces(simulation: &Simulation, frame: &mut Frame) {
    for (i, body) in frame.record.bodies.iter_mut().enumerate() {
        let reaction = simulation.reaction(i);
        body.force = reaction.force.to_array();
        body.torque = reaction.torque.to_array();
    }
}

/// Values of all parameters, by material.
fn values(scene: &Scene) -> Vec<Vec<f64>> {
    let of = |material| {
        let all = parameters(scene, material);
        all.iter().map(|p| p.value).collect()
    };
    scene.materials.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        for (value, end) in [(0.11, 0.2), (0.9, 1.0), (1.0, 1.0), (3.0, 5.0), (7.0, 10.0)] {
            assert!((round_up(value) / end - 1.0).abs() < 1e-5, "{value}");
        }
        assert!(round_up(f32::INFINITY).is_finite());
        assert!(round_up(f32::NAN).is_finite());
    }
}
