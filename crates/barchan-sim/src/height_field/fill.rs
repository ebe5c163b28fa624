//! Soil that is added fills hollows first.

use super::HeightField;
use glam::{Vec2, Vec3};

impl HeightField {
    /// Adds quanta to the columns around a point (x, z) [m], hollows first: at least to those that surround it. `false` when one
    /// would overflow.
    pub(crate) fn spread(&mut self, at: Vec2, radius: f32, quanta: u64) -> bool {
        let reach = radius.max(1.5 * self.layout.cell);
        let [across, along] = self.layout.range(at - reach, at + reach);
        let columns = along.flat_map(|j| across.clone().map(move |i| (i, j)));
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        places.extend(columns.map(|(i, j)| {
            let column = self.layout.index(i, j);
            let away = self.layout.middle(column) - at;
            (column, away.extend(self.full_height(column)))
        }));
        let fits = |place: &(usize, Vec3)| self.mass[place.0] <= u64::MAX / 4;
        let good = !places.is_empty() && places.iter().all(fits);
        if good {
            level(&mut places);
            self.fill(&places, quanta);
        }
        self.places = places;
        good
    }

    /// Fills columns that lie in the order of their heights as water would: up to one level.
    fn fill(&mut self, places: &[(usize, Vec3)], quanta: u64) {
        let quanta_to = |from: f32, to: f32| f64::from(to - from) / self.rise;
        // So many columns are filled, and this is what is left for above the highest of them.
        let (mut count, mut left) = (1, quanta as f64);
        while let Some(next) = places.get(count) {
            let needed = count as f64 * quanta_to(places[count - 1].1.z, next.1.z);
            if needed >= left {
                break;
            }
            left -= needed;
            count += 1;
        }
        let highest = places[count - 1].1.z;
        let each = left / count as f64;
        let mut rest = quanta;
        for &(column, place) in places[..count].iter().rev() {
            let share = (quanta_to(place.z, highest) + each).max(0.0) as u64;
            let share = share.min(rest);
            rest -= share;
            self.mass[column] += share;
        }
        // What rounding has left.
        self.mass[places[0].0] += rest;
        for &(column, _) in &places[..count] {
            self.changed(column);
        }
    }
}

/// Takes the plane through the heights z away and orders the columns by what remains: on a slope, a hollow is what lies
/// below the slope.
fn level(places: &mut [(usize, Vec3)]) {
    let count = places.len() as f32;
    let mean = places.iter().map(|p| p.1).sum::<Vec3>() / count;
    let [mut xx, mut xy, mut yy, mut xh, mut yh] = [0.0; 5];
    for (_, place) in places.iter() {
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
    for (_, place) in places.iter_mut() {
        place.z -= slope.dot((*place - mean).truncate());
    }
    places.sort_unstable_by(|a, b| a.1.z.total_cmp(&b.1.z).then(a.0.cmp(&b.0)));
}
