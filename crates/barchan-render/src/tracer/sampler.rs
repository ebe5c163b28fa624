//! Quasi-random sample points: a pure function of pixel, frame and sample.

/// Steps of the two-dimensional additive recurrence with the plastic number, whose points have low discrepancy for any count.
const PLASTIC: [f32; 2] = [0.754_877_7, 0.569_840_3];
/// The same in one dimension, with the golden ratio.
const GOLDEN: f32 = 0.618_034;

/// Sample points of a pixel. Each draw uses a dimension of its own, stratified over the samples of the pixel and shuffled, so that
/// dimensions are uncorrelated.
pub struct Sampler {
    seed: u32,
    sample: u32,
    count: u32,
    /// Number of samples less one, with all lower bits set: samples are shuffled within this mask.
    mask: u32,
    dimension: u32,
}

impl Sampler {
    /// Sample `sample` of `count` of a pixel.
    pub fn new(pixel: u32, frame: u32, sample: u32, count: u32) -> Self {
        Self {
            seed: mix(pixel ^ mix(frame.wrapping_add(0x51ed_270b))),
            sample,
            count,
            mask: count.max(1).next_power_of_two() - 1,
            dimension: 0,
        }
    }

    /// A number in [0, 1).
    pub fn one(&mut self) -> f32 {
        let (index, offset, _) = self.draw();
        fraction(offset + index * GOLDEN)
    }

    /// A point of the unit square.
    pub fn two(&mut self) -> [f32; 2] {
        let (index, x, y) = self.draw();
        [
            fraction(x + index * PLASTIC[0]),
            fraction(y + index * PLASTIC[1]),
        ]
    }

    /// Shuffled number of the sample, and an offset in the unit square, both by pixel and dimension.
    fn draw(&mut self) -> (f32, f32, f32) {
        self.dimension += 1;
        let a = mix(self
            .seed
            .wrapping_add(self.dimension.wrapping_mul(0x9e37_79b9)));
        let b = mix(a);
        let odd = (a >> 8) | 1;
        // Cycle walking: a permutation within the mask is repeated until the result is a sample number; otherwise some samples would be
        // missing and the rest stratified less well.
        let mut shuffled = self.sample;
        loop {
            shuffled = (shuffled ^ b).wrapping_mul(odd) & self.mask;
            if shuffled < self.count || self.sample >= self.count {
                break;
            }
        }
        (shuffled as f32, unit(a), unit(mix(b)))
    }
}

/// Mixes the bits of a number.
fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 / 16_777_216.0
}

/// Fractional part of a non-negative number.
fn fraction(x: f32) -> f32 {
    (x - x as u32 as f32).min(0.999_999_9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_pixel_are_evenly_spread() {
        for pixel in 0..200 {
            let mut cells = [[0; 4]; 4];
            for sample in 0..64 {
                let mut sampler = Sampler::new(pixel, 3, sample, 64);
                sampler.one();
                let [x, y] = sampler.two();
                cells[(x * 4.0) as usize][(y * 4.0) as usize] += 1;
            }
            let counts = cells.as_flattened();
            assert!(counts.iter().all(|c| (2..=6).contains(c)), "{cells:?}");
        }
    }

    #[test]
    fn counts_other_than_powers_of_two_are_stratified_as_well() {
        // Multiples of the golden ratio leave no gap larger than 0.056 from 21 of them on.
        for pixel in 0..200 {
            let one = |sample| Sampler::new(pixel, 1, sample, 24).one();
            let mut values: Vec<f32> = (0..24).map(one).collect();
            values.sort_by(f32::total_cmp);
            values.push(1.0 + values[0]);
            let gap = values.windows(2).map(|w| w[1] - w[0]).fold(0.0, f32::max);
            assert!(gap < 0.057, "{gap}");
        }
    }

    #[test]
    fn dimensions_are_independent() {
        let (mut sum, mut count) = (0.0_f64, 0.0);
        for pixel in 0..500 {
            for sample in 0..16 {
                let mut sampler = Sampler::new(pixel, 0, sample, 16);
                let ([a, _], [b, _]) = (sampler.two(), sampler.two());
                sum += f64::from(a - 0.5) * f64::from(b - 0.5);
                count += 1.0;
            }
        }
        // Variance of a uniform number is 1/12; the correlation must vanish within chance.
        assert!((12.0 * sum / count).abs() < 0.04, "{}", 12.0 * sum / count);
    }
}
