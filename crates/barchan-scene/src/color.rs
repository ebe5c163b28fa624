//! Colors of materials: what pictures and the viewer give each grain.

/// Red, green and blue as screens show them (sRGB), 0–255.
pub type Color = [u8; 3];

/// Colors of the grains of a material, each with its fraction of the grains. At least one; the fractions add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ColorMix(Vec<(Color, f32)>);

impl ColorMix {
    /// Normalizes fractions of any sum; `None` without colors, or unless every fraction is positive and finite.
    pub fn new(parts: &[(Color, f32)]) -> Option<Self> {
        let sum: f32 = parts.iter().map(|(_, part)| part).sum();
        let positive = parts.iter().all(|(_, part)| *part > 0.0);
        let usable = !parts.is_empty() && positive && sum.is_finite();
        usable.then(|| Self(parts.iter().map(|(c, part)| (*c, part / sum)).collect()))
    }

    /// One color for all grains.
    pub fn plain(color: Color) -> Self {
        Self(vec![(color, 1.0)])
    }

    /// The colors with their fractions of the grains.
    pub fn parts(&self) -> &[(Color, f32)] {
        &self.0
    }

    /// Index into [`parts`](Self::parts) for a uniform random number in [0, 1).
    pub fn index(&self, chance: f32) -> usize {
        let mut sum = 0.0;
        let below = |(_, part): &(Color, f32)| {
            sum += part;
            chance < sum
        };
        self.0.iter().position(below).unwrap_or(self.0.len() - 1)
    }

    /// Mean color of the grains, taken in linear light.
    pub fn mean(&self) -> Color {
        std::array::from_fn(|channel| {
            let parts = self.0.iter();
            screen(parts.map(|(c, part)| linear(c[channel]) * part).sum())
        })
    }

    /// The same colors with their linear light multiplied by `factor`.
    pub fn darkened(&self, factor: f32) -> Self {
        let darker = |c: &Color| c.map(|channel| screen(factor * linear(channel)));
        Self(self.0.iter().map(|(c, part)| (darker(c), *part)).collect())
    }
}

/// Linear light of an sRGB channel, in [0, 1] (IEC 61966-2-1).
pub fn linear(channel: u8) -> f32 {
    let x = f32::from(channel) / 255.0;
    if x <= 0.04045 {
        x / 12.92
    } else {
        ((x + 0.055) / 1.055).powf(2.4)
    }
}

/// sRGB channel of linear light, which is clamped to [0, 1]: the inverse of [`linear`].
pub fn screen(light: f32) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let x = if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    };
    (255.0 * x).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_normalized_and_indices_are_in_proportion() {
        let mix = ColorMix::new(&[([1; 3], 3.0), ([2; 3], 1.0)]).unwrap();
        assert_eq!(mix.parts(), &[([1; 3], 0.75), ([2; 3], 0.25)]);
        let second = (0..1000)
            .filter(|i| mix.index(*i as f32 / 1000.0) == 1)
            .count();
        assert_eq!(second, 250);
        assert_eq!(mix.index(1.0), 1);
        for bad in [&[][..], &[([0; 3], 0.0)], &[([0; 3], f32::NAN)]] {
            assert!(ColorMix::new(bad).is_none());
        }
    }

    #[test]
    fn darkening_and_mixing_are_linear_in_light() {
        for channel in 0..=255 {
            assert_eq!(screen(linear(channel)), channel);
        }
        // Half the light of white is a channel of 188, far above half of 255.
        let gray = ColorMix::plain([255; 3]).darkened(0.5);
        assert_eq!(gray.parts()[0].0, [188; 3]);
        let mixed = ColorMix::new(&[([255; 3], 1.0), ([0; 3], 1.0)]).unwrap();
        assert_eq!(mixed.mean(), [188; 3]);
    }
}
