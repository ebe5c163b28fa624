//! Sampling of the grains of a new base particle, after [Ihmsen13] §4.1.
//!
//! Grains are uniform over seven cubes of edge 2r, around the particle's center and the six face centers of its bounding box:
//! four of seven lie inside the box, where the density is four times that around it. In 2D there are five squares.

use glam::Vec3;

/// Hash of a number: the finalizer of splitmix64.
pub(super) fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A uniform number in [0, 1) from the highest bits.
pub(super) fn unit(bits: u64) -> f32 {
    (bits >> 40) as f32 / 16_777_216.0
}

/// Offset of grain `k` of a base particle from its center [radii of the particle], different for each `attempt`. A pure
/// function of its arguments.
pub fn offset(base: u64, k: u32, attempt: u32, flat: bool) -> Vec3 {
    let seed =
        mix(mix(base.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ u64::from(k) << 8 ^ u64::from(attempt));
    let draw = |i: u64| mix(seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let points = if flat { 5 } else { 7 };
    let support = match ((draw(1) >> 32) * points) >> 32 {
        0 => Vec3::ZERO,
        1 => Vec3::X,
        2 => Vec3::NEG_X,
        3 => Vec3::Y,
        4 => Vec3::NEG_Y,
        5 => Vec3::Z,
        _ => Vec3::NEG_Z,
    };
    let within = |bits: u64| 2.0 * unit(bits) - 1.0;
    let depth = if flat { 0.0 } else { within(draw(4)) };
    support + Vec3::new(within(draw(2)), within(draw(3)), depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(p: Vec3) -> bool {
        p.abs().max_element() <= 1.0
    }

    #[test]
    fn four_of_seven_grains_are_inside_at_four_times_the_density() {
        let count = 400_000;
        let points: Vec<Vec3> = (0..count).map(|k| offset(17, k, 0, false)).collect();
        let within = points.iter().filter(|p| inside(**p)).count() as f64;
        let part = within / f64::from(count);
        // Four standard deviations of a binomial count.
        let spread = 4.0 * (4.0 / 7.0 * 3.0 / 7.0 / f64::from(count)).sqrt();
        assert!((part - 4.0 / 7.0).abs() < spread, "{part}");
        // Volumes 8 r³ and 6 · 4 r³.
        let density = (part / 8.0) / ((1.0 - part) / 24.0);
        assert!((density - 4.0).abs() < 28.0 * spread, "{density}");
        // Negative control: the ratio is not the 3 : 1 of the paper's text.
        assert!((part - 0.75).abs() > 10.0 * spread);
        let mean = points.iter().sum::<Vec3>() / count as f32;
        assert!(mean.abs().max_element() < 0.01, "{mean}");
        assert!(points.iter().all(|p| p.abs().max_element() <= 2.0));
    }

    #[test]
    fn flat_samples_stay_in_the_plane() {
        let points: Vec<Vec3> = (0..50_000).map(|k| offset(3, k, 0, true)).collect();
        assert!(points.iter().all(|p| p.z == 0.0));
        // Five squares: the one in the middle and half of each other.
        let part = points.iter().filter(|p| inside(**p)).count() as f64 / 50_000.0;
        assert!((part - 0.6).abs() < 0.01, "{part}");
    }

    #[test]
    fn grains_of_one_particle_and_of_its_neighbors_differ() {
        let mut all: Vec<[u32; 3]> = (0..200)
            .flat_map(|base| (0..50).map(move |k| offset(base, k, 0, false).to_array()))
            .map(|p| p.map(f32::to_bits))
            .collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 10_000);
        assert_ne!(offset(1, 1, 0, false), offset(1, 1, 1, false));
    }
}
