//! Presets: common materials with sensible values, to be named in a scene or modified.
//!
//! Stiffness is far below that of real grains (which is 10⁸ Pa and more): it only has to be high enough that the
//! material hardly compresses under its own weight, and every factor of four halves the explicit time step.

use crate::color::{Color, ColorMix};
use crate::families::Settings;
use crate::model::{ElasticLaw, ElasticModel, Friction, Law, Material, SandLaw};
use std::sync::LazyLock;

/// Colors of dry sand and their parts, [Klar16] §9.
pub const SAND_COLORS: &[(Color, f32)] = &[
    ([225, 169, 95], 0.85),
    ([107, 84, 30], 0.10),
    ([255, 255, 255], 0.05),
];
/// Reflected light of wet sand, as a fraction of that of dry sand: water between the grains lets more of it in.
pub const WET_LIGHT: f32 = 0.55;
/// Grays of crushed stone.
pub const GRAVEL_COLORS: &[(Color, f32)] = &[
    ([138, 136, 131], 0.5),
    ([104, 103, 101], 0.3),
    ([178, 174, 166], 0.2),
];
/// Browns of garden soil.
pub const SOIL_COLORS: &[(Color, f32)] = &[
    ([94, 68, 47], 0.6),
    ([66, 47, 33], 0.3),
    ([125, 98, 72], 0.1),
];
/// Reddish browns of clay.
pub const CLAY_COLORS: &[(Color, f32)] = &[([158, 92, 66], 0.8), ([136, 76, 55], 0.2)];
/// Golds of wheat.
pub const GRAIN_COLORS: &[(Color, f32)] = &[
    ([217, 173, 88], 0.7),
    ([191, 142, 62], 0.2),
    ([234, 203, 132], 0.1),
];
/// An elastic material that no preset describes: muted teal.
pub const ELASTIC_COLOR: Color = [92, 138, 140];

/// A material available to every scene by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    /// Name to use in scenes.
    pub name: &'static str,
    /// One line: what it is, and the ranges of real values.
    pub description: &'static str,
    /// Values.
    pub material: Material,
}

/// All presets.
pub fn material_presets() -> &'static [Preset] {
    static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(presets);
    &PRESETS
}

#[rustfmt::skip]
fn presets() -> Vec<Preset> {
    let constant = Friction::Constant;
    let klar = Friction::Hardening { h0: 35.0, h1: 9.0, h2: 0.2, h3: 10.0 };
    let (dull_red, blue) = (&[([176, 58, 52], 1.0)], &[([52, 108, 176], 1.0)]);
    let (green, pale_yellow) = (&[([96, 164, 84], 1.0)], &[([236, 218, 148], 1.0)]);
    let mut wet = preset("wet sand", "moist sand that holds a castle (1700–2000 kg/m³, 32–38°, 0.5–5 kPa of suction)", 1850.0, sand(1e6, 0.3, constant(35.0), 1e3), SAND_COLORS);
    wet.material.color = wet.material.color.darkened(WET_LIGHT);
    vec![
        preset("dry sand", "dry, medium dense sand (1500–1700 kg/m³, 30–38°)", 1600.0, sand(1e6, 0.3, constant(35.0), 0.0), SAND_COLORS),
        preset("loose sand", "dry sand as poured (1400–1550 kg/m³, 28–33°)", 1450.0, sand(8e5, 0.3, constant(31.0), 0.0), SAND_COLORS),
        preset("dense sand", "dry, compacted sand (1700–1900 kg/m³, 38–45°)", 1800.0, sand(2e6, 0.3, constant(41.0), 0.0), SAND_COLORS),
        wet,
        preset("gravel", "crushed stone (1500–1800 kg/m³, 38–45°)", 1700.0, sand(2e6, 0.25, constant(42.0), 0.0), GRAVEL_COLORS),
        preset("soil", "garden loam (1200–1600 kg/m³, 25–32°, 2–10 kPa)", 1400.0, sand(8e5, 0.3, constant(28.0), 4e3), SOIL_COLORS),
        preset("clay", "soft, moist clay (1700–2000 kg/m³, 15–25°, 10–25 kPa)", 1800.0, sand(1e6, 0.35, constant(20.0), 1.5e4), CLAY_COLORS),
        preset("grain", "wheat in a silo (750–830 kg/m³, 23–28°)", 780.0, sand(5e5, 0.3, constant(25.0), 0.0), GRAIN_COLORS),
        preset("klar sand", "the sand of [Klar16] with its hardening", 2200.0, sand(3.537e5, 0.3, klar, 0.0), SAND_COLORS),
        preset("rubber", "natural rubber (900–1200 kg/m³, 1–5 MPa, nearly incompressible)", 1100.0, elastic(1e6, 0.45), dull_red),
        preset("soft rubber", "silicone or a bouncy ball (1000–1150 kg/m³, 0.1–0.5 MPa)", 1050.0, elastic(2e5, 0.45), blue),
        preset("jelly", "gelatin (1000–1050 kg/m³, 5–30 kPa)", 1020.0, elastic(1.5e4, 0.45), green),
        preset("foam", "upholstery foam (25–60 kg/m³, 20–100 kPa)", 50.0, elastic(5e4, 0.1), pale_yellow),
    ]
}

fn sand(young: f64, poisson: f64, friction: Friction, cohesion: f64) -> Law {
    Law::Sand(SandLaw {
        young,
        poisson,
        friction,
        cohesion,
    })
}

fn elastic(young: f64, poisson: f64) -> Law {
    Law::Elastic(ElasticLaw {
        young,
        poisson,
        model: ElasticModel::NeoHookean,
    })
}

fn preset(
    name: &'static str,
    description: &'static str,
    density: f64,
    law: Law,
    colors: &[(Color, f32)],
) -> Preset {
    let color = ColorMix::new(colors);
    Preset {
        name,
        description,
        material: Material {
            name: name.to_owned(),
            density,
            law,
            wet_cohesion: None,
            settings: Settings::default(),
            color: color.unwrap_or_else(|| ColorMix::plain(ELASTIC_COLOR)),
        },
    }
}

/// The preset of that name.
pub(crate) fn find(name: &str) -> Option<&'static Preset> {
    material_presets().iter().find(|p| p.name == name)
}
