//! Where a body moves through soil, columns turn into grains.
//!
//! For every column near a body a vertical ray from below finds the lowest point within the *margin* of the body. Where the
//! body itself reaches below the surface, columns are lowered to that point in its surroundings, so that it moves among
//! grains and never touches columns; and before a body that pushes, down to the plane on which soil fails, which rises
//! from its lower edge at 45° − φ/2 (Rankine's passive wedge).

use super::{GrainsNow, SpawnedGrain, TICKS, Terrain};
use crate::collider::PosedCollider;
use crate::terrain::spawn::Withheld;
use glam::{Vec2, Vec3};

/// Seconds for which nothing settles or slides where a body has been.
const HOLD: f64 = 0.25;
/// A body that moves less than this part of a grain's radius in a step is at rest.
const STILL: f32 = 1e-3;
/// Thickness of a cut, in radii of a grain, at least: one layer of grains must fit under those that lie there.
const SHALLOWEST: f32 = 4.0;
/// Soil between a body and the columns below it, in radii of a grain, below which they are cut.
const CUSHION: f32 = 2.0;
/// Steps of a ray toward a body.
const RAY_STEPS: usize = 48;
/// Columns by which the wedge may run ahead of the body.
const LONGEST_WEDGE: usize = 64;

/// Lists that are used again in every call.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    hits: Vec<Hit>,
    cuts: Vec<(u32, f32)>,
}

/// A column near a body.
#[derive(Debug, Clone, Copy)]
struct Hit {
    column: usize,
    /// Lowest point of its middle line that is within the margin of the body [m].
    lowest: f32,
    /// Whether the body itself reaches into the soil there, be it column or grains.
    is_cut: bool,
    /// Whether it does so or lies on it.
    is_pressed: bool,
}

impl Terrain {
    /// Turns the columns that bodies cut in this step into grains at rest, which are added to `spawn`.
    ///
    /// Only finite bodies that move cut. No grain appears inside a body or one of `grains`; mass for which there is no
    /// room waits, and counts as that of the terrain.
    pub fn cut(
        &mut self,
        tools: &[PosedCollider],
        dt: f32,
        grains: GrainsNow<'_>,
        spawn: &mut Vec<SpawnedGrain>,
    ) {
        self.clock += f64::from(dt.max(0.0));
        self.release();
        self.rise(dt.max(0.0));
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.cuts.clear();
        for tool in tools {
            let moves = self.moves(tool, dt);
            if is_finite(tool) && (moves || tool.mass.is_some()) {
                self.find_hits(tool, &mut scratch.hits);
                self.hold_pressed(&scratch.hits);
                if moves {
                    self.plan(tool, dt, &mut scratch);
                }
            }
        }
        // The lowest height of each column.
        let order = |a: &(u32, f32), b: &(u32, f32)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        scratch.cuts.sort_unstable_by(order);
        scratch.cuts.dedup_by_key(|(column, _)| *column);
        for &(column, target) in &scratch.cuts {
            self.lower(column as usize, target);
        }
        self.scratch = scratch;
        if !self.withheld.is_empty() {
            self.spawn(tools, grains, spawn);
            self.give_back();
        }
    }

    /// Distance from a body within which columns become grains [m]: it reaches from the middle of any column to its
    /// corners, and leaves room for more than a grain.
    fn margin(&self) -> f32 {
        0.75 * self.field.layout.cell + 3.0 * self.lattice.largest
    }

    fn moves(&self, tool: &PosedCollider, dt: f32) -> bool {
        let bounds = tool.world_bounds();
        let reach = (bounds.max - tool.pose.position)
            .abs()
            .max((bounds.min - tool.pose.position).abs());
        let speed = tool.velocity.length() + tool.angular_velocity.length() * reach.length();
        speed * dt > STILL * self.grain.radius
    }

    /// Columns that have the body within the margin, below the soil there or no more than a grain above it.
    fn find_hits(&mut self, tool: &PosedCollider, hits: &mut Vec<Hit>) {
        hits.clear();
        let margin = self.margin();
        let bounds = tool.world_bounds();
        let (low, high) = (bounds.min - margin, bounds.max + margin);
        let [across, along] = self
            .field
            .layout
            .range(Vec2::new(low.x, low.z), Vec2::new(high.x, high.z));
        for j in along {
            for i in across.clone() {
                let column = self.field.layout.index(i, j);
                self.field.touched += 1;
                let soil = self.soil_height(column);
                let ends = [
                    low.y.max(self.field.floor),
                    soil + 2.0 * self.lattice.largest,
                ];
                let Some(lowest) = self.ray(tool, column, ends, margin) else {
                    continue;
                };
                hits.push(Hit {
                    column,
                    lowest,
                    is_cut: lowest + margin < soil,
                    is_pressed: lowest + margin < ends[1],
                });
            }
        }
    }

    /// Follows the middle line of a column upwards to the first point within `margin` of the body; `None` when there is
    /// none between the ends.
    fn ray(
        &self,
        tool: &PosedCollider,
        column: usize,
        [start, end]: [f32; 2],
        margin: f32,
    ) -> Option<f32> {
        let middle = self.field.layout.middle(column);
        let slack = 0.05 * self.grain.radius;
        let mut y = start;
        for _ in 0..RAY_STEPS {
            if y >= end {
                return None;
            }
            let away = tool.distance(Vec3::new(middle.x, y, middle.y)) - margin;
            if away <= slack {
                return Some(y);
            }
            y += away;
        }
        Some(y)
    }

    /// The tick until which what is held now stays so.
    fn until(&self) -> u32 {
        self.tick().saturating_add((HOLD * TICKS) as u32)
    }

    /// Holds the columns around those that a body presses on: one that rests on grains would be lifted by what they
    /// become, or lose them.
    fn hold_pressed(&mut self, hits: &[Hit]) {
        let until = self.until();
        let reach = (self.margin() / self.field.layout.cell).ceil() as usize;
        for hit in hits.iter().filter(|h| h.is_pressed) {
            for near in self.field.layout.around(hit.column, reach) {
                self.hold(near, until.saturating_add(hit.is_cut.into()));
            }
        }
    }

    /// From the columns near a moving body to those that are lowered, each with its new height.
    fn plan(&mut self, tool: &PosedCollider, dt: f32, scratch: &mut Scratch) {
        let Scratch { hits, cuts } = scratch;
        let margin = self.margin();
        for hit in hits.iter().filter(|h| h.is_cut) {
            self.wedge(tool, dt, hit, margin, cuts);
        }
        let until = self.until();
        // What is held a tick longer lies around a cut.
        let around = |h: &&Hit| self.held_until[h.column] > until;
        let near = hits.iter().filter(around);
        let near = near.filter(|h| self.is_near(tool, dt, h, margin));
        cuts.extend(near.map(|h| (h.column as u32, h.lowest)));
    }

    /// Whether the body may reach a column within two steps, or has too few grains between them. A body that rests on grains
    /// and creeps by their compaction would dig itself in, were the ground below it cut as soon as it is within the margin.
    fn is_near(&self, tool: &PosedCollider, dt: f32, hit: &Hit, margin: f32) -> bool {
        let middle = self.field.layout.middle(hit.column);
        let edge = hit.lowest + margin;
        let velocity = tool.velocity_at(Vec3::new(middle.x, edge, middle.y));
        let reach = CUSHION * self.grain.radius + 2.0 * velocity.length() * dt;
        self.field.height[hit.column] > edge - reach
    }

    /// Columns before a pushing body that fail with it.
    fn wedge(
        &self,
        tool: &PosedCollider,
        dt: f32,
        hit: &Hit,
        margin: f32,
        cuts: &mut Vec<(u32, f32)>,
    ) {
        let middle = self.field.layout.middle(hit.column);
        let edge = hit.lowest + margin;
        let velocity = tool.velocity_at(Vec3::new(middle.x, edge, middle.y));
        let pushing = Vec2::new(velocity.x, velocity.z);
        let speed = pushing.length();
        if speed * dt <= STILL * self.grain.radius || speed < 0.2 * velocity.length() {
            return;
        }
        let ahead = pushing / speed * self.field.layout.cell;
        for k in 1..=LONGEST_WEDGE {
            let at = middle + k as f32 * ahead;
            let Some(column) = self.field.layout.column_at(at.x, at.y) else {
                return;
            };
            // Level as far as the body will soon need it, so that a column is cut once, while it is whole.
            let ahead = (k as f32 * self.field.layout.cell - margin).max(0.0);
            let target = hit.lowest + ahead * self.wedge_slope;
            // A sliver that no grain fits in stays, and nothing fails beyond where the plane comes out.
            if target > self.field.height[column] - 2.0 * self.grain.radius {
                match ahead > 0.0 {
                    true => return,
                    false => continue,
                }
            }
            cuts.push((column as u32, target));
        }
    }

    /// Lowers a column to `target` or below, and sets aside what was there.
    fn lower(&mut self, column: usize, target: f32) {
        let top = self.field.full_height(column);
        if target >= self.field.height[column] || self.field.mass[column] == 0 {
            return;
        }
        let target = target.min(self.field.height[column] - SHALLOWEST * self.grain.radius);
        let depth = f64::from(target) - f64::from(self.field.floor);
        let kept = (depth.max(0.0) / self.field.rise) as u64;
        let cut = self.field.mass[column].saturating_sub(kept);
        self.field.mass[column] -= cut;
        let withheld = self
            .withheld
            .entry(column as u32)
            .or_insert(Withheld { mass: 0, top });
        withheld.mass += cut;
        withheld.top = withheld.top.max(top);
        self.hold(column, self.until());
        self.field.changed(column);
    }

    /// Nothing settles or slides at a column until then.
    fn hold(&mut self, column: usize, until: u32) {
        if self.held_until[column] == 0 {
            self.held.push(column as u32);
        }
        self.held_until[column] = self.held_until[column].max(until);
    }

    /// Lets go of columns whose time is over: their slopes may slide.
    fn release(&mut self) {
        let now = self.tick();
        let mut held = std::mem::take(&mut self.held);
        self.field.touched += held.len() as u64;
        held.retain(|&column| {
            let stays = self.held_until[column as usize] > now;
            if !stays {
                self.held_until[column as usize] = 0;
                self.field.activate(column as usize);
            }
            stays
        });
        self.held = held;
    }
}

fn is_finite(tool: &PosedCollider) -> bool {
    let bounds = tool.world_bounds();
    bounds.min.is_finite() && bounds.max.is_finite()
}
