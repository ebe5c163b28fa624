//! Cutting: columns that a body moves through become grains.
//!
//! For every column near a body a vertical ray from below finds the lowest point within the *margin* of the body. Where the
//! body itself reaches below the surface, the columns around are lowered to that point, so that the body is in contact with grains
//! only, never with columns. In front of a pushing body, columns are lowered to the failure plane, which rises from the lower edge
//! of the body at 45° − φ/2 (Rankine's passive wedge).

use super::surcharge::TICKS;
use super::{ExistingGrains, SpawnedGrain, Terrain};
use crate::collider::PosedCollider;
use crate::terrain::spawn::QueuedSoil;
use glam::{Vec2, Vec3};

/// Time for which columns stay locked after a body has left [s].
const LOCK_TIME: f64 = 0.25;
/// A body that moves less than this in a step is at rest [mean radii].
const MIN_MOTION: f32 = 1e-3;
/// Minimum depth of a cut [mean radii]: a layer of grains must fit below those already there.
const MIN_DEPTH: f32 = 4.0;
/// Columns are cut when less soil than this is left between them and the body [mean radii].
const MIN_COVER: f32 = 2.0;
/// Maximum number of ray steps toward a body.
const RAY_STEPS: usize = 48;
/// Longest wedge in front of a body [columns].
const MAX_WEDGE: usize = 64;

/// Lists that are reused in every call.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    footprint: Vec<FootprintColumn>,
    cuts: Vec<(u32, f32)>,
}

/// A column below or in a body.
#[derive(Debug, Clone, Copy)]
struct FootprintColumn {
    column: usize,
    /// Lowest point of its center line within the margin of the body [m].
    lowest: f32,
    /// Whether the body itself reaches into the soil there, columns or grains.
    is_cut: bool,
    /// Whether the body reaches into the soil or rests on it.
    is_loaded: bool,
}

impl Terrain {
    /// Turns the columns that bodies cut in this step into grains at rest, which are appended to `spawned`.
    ///
    /// Only finite bodies that move cut. No grain appears inside a body or one of the existing grains; soil without space
    /// stays queued, and counts as part of the terrain.
    pub fn cut(
        &mut self,
        tools: &[PosedCollider],
        dt: f32,
        existing: ExistingGrains<'_>,
        spawned: &mut Vec<SpawnedGrain>,
    ) {
        self.surcharge.clock += f64::from(dt.max(0.0));
        self.unlock_expired();
        self.raise_surface(dt.max(0.0));
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.cuts.clear();
        for tool in tools {
            let moves = self.is_moving(tool, dt);
            if tool.world_bounds.is_finite() && (moves || tool.mass.is_some()) {
                self.find_footprint(tool, &mut scratch.footprint);
                self.lock_around(&scratch.footprint);
                if moves {
                    self.plan_cuts(tool, dt, &mut scratch);
                }
            }
        }
        // The lowest height of each column.
        let order = |a: &(u32, f32), b: &(u32, f32)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        scratch.cuts.sort_unstable_by(order);
        scratch.cuts.dedup_by_key(|(column, _)| *column);
        for &(column, target) in &scratch.cuts {
            self.lower_column(column as usize, target);
        }
        self.scratch = scratch;
        if !self.surcharge.queued.is_empty() {
            self.spawn(tools, existing, spawned);
            self.return_to_columns();
        }
    }

    /// Distance from a body within which columns become grains [m]: it reaches from the center of a column to its corners
    /// and leaves space for more than a grain.
    fn margin(&self) -> f32 {
        0.75 * self.field.layout.cell + 3.0 * self.lattice.largest
    }

    fn is_moving(&self, tool: &PosedCollider, dt: f32) -> bool {
        let bounds = tool.world_bounds;
        let reach = (bounds.max - tool.pose.position)
            .abs()
            .max((bounds.min - tool.pose.position).abs());
        let speed = tool.velocity.length() + tool.angular_velocity.length() * reach.length();
        speed * dt > MIN_MOTION * self.grain.radius
    }

    /// Finds the columns with the body within the margin, below the soil surface there or at most a grain above it.
    fn find_footprint(&mut self, tool: &PosedCollider, footprint: &mut Vec<FootprintColumn>) {
        footprint.clear();
        let margin = self.margin();
        let bounds = tool.world_bounds;
        let (low, high) = (bounds.min - margin, bounds.max + margin);
        let layout = self.field.layout;
        for column in layout.columns_in(Vec2::new(low.x, low.z), Vec2::new(high.x, high.z)) {
            self.field.visited += 1;
            let soil = self.loaded_height(column);
            let ends = [
                low.y.max(self.field.floor),
                soil + 2.0 * self.lattice.largest,
            ];
            if let Some(lowest) = self.lowest_point(tool, column, ends) {
                footprint.push(FootprintColumn {
                    column,
                    lowest,
                    is_cut: lowest + margin < soil,
                    is_loaded: lowest + margin < ends[1],
                });
            }
        }
    }

    /// Height of the first point of a column's center line, from below, that is within the margin of the body [m]; `None` if
    /// there is none between the ends. Sphere tracing.
    fn lowest_point(
        &self,
        tool: &PosedCollider,
        column: usize,
        [start, end]: [f32; 2],
    ) -> Option<f32> {
        let (center, margin) = (self.field.layout.center(column), self.margin());
        let tolerance = 0.05 * self.grain.radius;
        let mut y = start;
        for _ in 0..RAY_STEPS {
            if y >= end {
                return None;
            }
            let gap = tool.distance(Vec3::new(center.x, y, center.y)) - margin;
            if gap <= tolerance {
                return Some(y);
            }
            y += gap;
        }
        Some(y)
    }

    /// The tick until which columns that are locked now stay locked.
    fn lock_end(&self) -> u32 {
        self.surcharge
            .tick()
            .saturating_add((LOCK_TIME * TICKS) as u32)
    }

    /// Locks the columns around those that a body loads: deposits below a body that rests on grains would lift it, and slides would
    /// remove its support.
    fn lock_around(&mut self, footprint: &[FootprintColumn]) {
        let until = self.lock_end();
        let reach = (self.margin() / self.field.layout.cell).ceil() as usize;
        for place in footprint.iter().filter(|f| f.is_loaded) {
            for column in self.field.layout.neighborhood(place.column, reach) {
                self.lock(column, until.saturating_add(place.is_cut.into()));
            }
        }
    }

    /// Columns to be lowered for a moving body, with their new heights [m].
    fn plan_cuts(&mut self, tool: &PosedCollider, dt: f32, scratch: &mut Scratch) {
        let Scratch { footprint, cuts } = scratch;
        for place in footprint.iter().filter(|f| f.is_cut) {
            self.cut_wedge(tool, dt, place, cuts);
        }
        let until = self.lock_end();
        // Columns around a cut are locked a tick longer.
        let near = footprint.iter().filter(|f| {
            self.surcharge.locked_until[f.column] > until && self.is_too_close(tool, dt, f)
        });
        cuts.extend(near.map(|f| (f.column as u32, f.lowest)));
    }

    /// Lower edge of the body over a column [m], and its velocity there [m/s].
    fn edge_above(&self, tool: &PosedCollider, place: &FootprintColumn) -> (f32, Vec3) {
        let center = self.field.layout.center(place.column);
        let edge = place.lowest + self.margin();
        (edge, tool.velocity_at(Vec3::new(center.x, edge, center.y)))
    }

    /// Whether the body may reach a column within two steps, or has too little cover above it. If columns were cut as soon as
    /// they are within the margin, a body at rest on grains that creeps as they compact would dig itself in.
    fn is_too_close(&self, tool: &PosedCollider, dt: f32, place: &FootprintColumn) -> bool {
        let (edge, velocity) = self.edge_above(tool, place);
        let reach = MIN_COVER * self.grain.radius + 2.0 * velocity.length() * dt;
        self.field.height[place.column] > edge - reach
    }

    /// Adds the columns of the passive wedge in front of a pushing body.
    fn cut_wedge(
        &self,
        tool: &PosedCollider,
        dt: f32,
        place: &FootprintColumn,
        cuts: &mut Vec<(u32, f32)>,
    ) {
        let (_, velocity) = self.edge_above(tool, place);
        let center = self.field.layout.center(place.column);
        let horizontal = Vec2::new(velocity.x, velocity.z);
        let speed = horizontal.length();
        if speed * dt <= MIN_MOTION * self.grain.radius || speed < 0.2 * velocity.length() {
            return;
        }
        let step = horizontal / speed * self.field.layout.cell;
        for k in 1..=MAX_WEDGE {
            let at = center + k as f32 * step;
            let Some(column) = self.field.layout.column_at(at.x, at.y) else {
                return;
            };
            // Level over the margin, so that a column is cut once, while it is intact.
            let ahead = (k as f32 * self.field.layout.cell - self.margin()).max(0.0);
            let target = place.lowest + ahead * self.wedge_slope;
            // Slices too thin for a grain remain, and soil does not fail beyond the point where the plane reaches the surface.
            if target <= self.field.height[column] - 2.0 * self.grain.radius {
                cuts.push((column as u32, target));
            } else if ahead > 0.0 {
                return;
            }
        }
    }

    /// Lowers a column to `target` or below, and queues the removed soil.
    fn lower_column(&mut self, column: usize, target: f32) {
        let top = self.field.target_height(column);
        if target >= self.field.height[column] || self.field.mass[column] == 0 {
            return;
        }
        let target = target.min(self.field.height[column] - MIN_DEPTH * self.grain.radius);
        let depth = f64::from(target) - f64::from(self.field.floor);
        let kept = (depth.max(0.0) / self.field.quantum_height) as u64;
        let cut = self.field.mass[column].saturating_sub(kept);
        self.field.mass[column] -= cut;
        let queued = self.surcharge.queued.entry(column as u32);
        let queued = queued.or_insert(QueuedSoil { mass: 0, top });
        queued.mass += cut;
        queued.top = queued.top.max(top);
        self.lock(column, self.lock_end());
        self.field.mass_changed(column);
    }

    /// Locks a column until a tick: nothing is deposited or slides there.
    fn lock(&mut self, column: usize, until: u32) {
        if self.surcharge.locked_until[column] == 0 {
            self.locked.push(column as u32);
        }
        self.surcharge.locked_until[column] = self.surcharge.locked_until[column].max(until);
    }

    /// Unlocks the columns whose lock has expired; their slopes may slide.
    fn unlock_expired(&mut self) {
        let now = self.surcharge.tick();
        let mut locked = std::mem::take(&mut self.locked);
        self.field.visited += locked.len() as u64;
        locked.retain(|&column| {
            let stays = self.surcharge.locked_until[column as usize] > now;
            if !stays {
                self.surcharge.locked_until[column as usize] = 0;
                self.field.activate(column as usize);
            }
            stays
        });
        self.locked = locked;
    }
}
