//! Where grains are already: a grid over the part of the site that new ones may appear in.

use super::GrainsNow;
use crate::neighbors::chains::Chains;
use barchan_scene::Bounds;
use glam::Vec3;

/// Cells of the grid at most; they grow when it would have more.
const MOST_CELLS: f32 = 262_144.0;

/// Grains by cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Occupied {
    low: Vec3,
    edge: f32,
    size: [usize; 3],
    cells: Chains,
    grains: Vec<(Vec3, f32)>,
}

impl Occupied {
    /// Sorts the grains that lie in `region` or touch it; `largest` is the radius of the largest new one.
    pub fn fill(&mut self, region: Bounds, largest: f32, now: GrainsNow<'_>) {
        self.grains.clear();
        let both = now.position.iter().zip(now.radius);
        let near = both.filter(|(p, r)| {
            let reach = **r + largest;
            (p.cmpge(region.min - reach) & p.cmple(region.max + reach)).all()
        });
        self.grains.extend(near.map(|(p, r)| (*p, *r)));
        let widest = self.grains.iter().map(|g| g.1).fold(largest, f32::max);
        self.low = region.min - 2.0 * widest;
        let extent = region.max + 2.0 * widest - self.low;
        let coarse = (extent.x * extent.y * extent.z / MOST_CELLS).cbrt();
        self.edge = (2.0 * widest).max(coarse);
        self.size = [0, 1, 2].map(|axis| (extent[axis] / self.edge) as usize + 1);
        let mut cells = std::mem::take(&mut self.cells);
        let places = (self.grains.iter()).map(|grain| self.cell(self.place(grain.0)));
        cells.fill(self.size.iter().product(), places);
        self.cells = cells;
    }

    fn place(&self, p: Vec3) -> [usize; 3] {
        let t = (p - self.low) / self.edge;
        [0, 1, 2].map(|axis| (t[axis].max(0.0) as usize).min(self.size[axis] - 1))
    }

    fn cell(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.size[1] + y) * self.size[0] + x
    }

    /// Whether a grain reaches into the ball.
    pub fn touches(&self, p: Vec3, radius: f32) -> bool {
        let at = self.place(p);
        let span = |axis: usize| at[axis].saturating_sub(1)..(at[axis] + 2).min(self.size[axis]);
        span(2).any(|z| {
            span(1).any(|y| {
                span(0).any(|x| {
                    let mut grains = self.cells.cell(self.cell([x, y, z]));
                    grains.any(|i| {
                        let (q, r) = self.grains[i];
                        q.distance(p) < radius + r
                    })
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::random::Random;

    #[test]
    fn the_grid_answers_as_a_search_of_all() {
        let mut random = Random::new(9);
        let mut point = |low: f32, size: f32| {
            Vec3::from_array(std::array::from_fn(|_| low + size * random.unit()))
        };
        let position: Vec<Vec3> = (0..400).map(|_| point(-0.5, 2.0)).collect();
        let radius: Vec<f32> = (0..400).map(|i| 0.02 + 0.0001 * i as f32).collect();
        let region = Bounds {
            min: Vec3::ZERO,
            max: Vec3::ONE,
        };
        let now = GrainsNow {
            position: &position,
            radius: &radius,
        };
        let mut occupied = Occupied::default();
        occupied.fill(region, 0.05, now);
        let mut hits = 0;
        for _ in 0..2000 {
            let p = point(0.0, 1.0);
            let both = || position.iter().zip(&radius);
            let expected = both().any(|(q, r)| q.distance(p) < 0.05 + r);
            assert_eq!(occupied.touches(p, 0.05), expected);
            hits += usize::from(expected);
        }
        assert!((100..1900).contains(&hits), "{hits}");
    }
}
