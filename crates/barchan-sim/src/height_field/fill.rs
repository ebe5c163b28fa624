//! Deposition: added soil fills hollows first.

use super::HeightField;
use glam::{Vec2, Vec3};

impl HeightField {
    /// Adds quanta to the columns around a point (x, z) [m], hollows first: at least to those that surround it. `false` if a
    /// column would overflow.
    pub(crate) fn add(&mut self, at: Vec2, radius: f32, quanta: u64) -> bool {
        let reach = radius.max(1.5 * self.layout.cell);
        let mut columns = std::mem::take(&mut self.neighborhood);
        columns.clear();
        let around = self.layout.columns_in(at - reach, at + reach);
        columns.extend(around.map(|column| {
            let offset = self.layout.center(column) - at;
            (column, offset.extend(self.target_height(column)))
        }));
        let fits = |(column, _): &(usize, Vec3)| self.mass[*column] <= u64::MAX / 4;
        let possible = !columns.is_empty() && columns.iter().all(fits);
        if possible {
            sort_by_detrended_height(&mut columns);
            self.fill(&columns, quanta);
        }
        self.neighborhood = columns;
        possible
    }

    /// Fills columns, sorted by height (z), up to a common level, as water would.
    fn fill(&mut self, columns: &[(usize, Vec3)], quanta: u64) {
        let quanta_between = |from: f32, to: f32| f64::from(to - from) / self.quantum_height;
        // The number of columns that are filled, and the quanta that remain above the highest of them.
        let (mut count, mut left) = (1, quanta as f64);
        while let Some(next) = columns.get(count) {
            let needed = count as f64 * quanta_between(columns[count - 1].1.z, next.1.z);
            if needed >= left {
                break;
            }
            left -= needed;
            count += 1;
        }
        let highest = columns[count - 1].1.z;
        let each = left / count as f64;
        let mut rest = quanta;
        for &(column, place) in columns[..count].iter().rev() {
            let share = (quanta_between(place.z, highest) + each).max(0.0) as u64;
            let share = share.min(rest);
            rest -= share;
            self.mass[column] += share;
        }
        // The remainder of rounding.
        self.mass[columns[0].0] += rest;
        for &(column, _) in &columns[..count] {
            self.mass_changed(column);
        }
    }
}

/// Subtracts the least-squares plane from the heights (z) and sorts the columns by the remainder, so that on a slope a hollow is a
/// column below the plane.
fn sort_by_detrended_height(columns: &mut [(usize, Vec3)]) {
    let count = columns.len() as f32;
    let mean = columns.iter().map(|c| c.1).sum::<Vec3>() / count;
    let [mut xx, mut xy, mut yy, mut xh, mut yh] = [0.0; 5];
    for (_, place) in columns.iter() {
        let d = *place - mean;
        xx += d.x * d.x;
        xy += d.x * d.y;
        yy += d.y * d.y;
        xh += d.x * d.z;
        yh += d.y * d.z;
    }
    let determinant = xx * yy - xy * xy;
    let mut slope = Vec2::ZERO;
    if determinant > 0.0 {
        slope = Vec2::new(yy * xh - xy * yh, xx * yh - xy * xh) / determinant;
    }
    for (_, place) in columns.iter_mut() {
        place.z -= slope.dot((*place - mean).truncate());
    }
    columns.sort_unstable_by(|a, b| a.1.z.total_cmp(&b.1.z).then(a.0.cmp(&b.0)));
}
