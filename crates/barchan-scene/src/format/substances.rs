//! Materials of the scene file: presets, overridden by the keys given.

use super::Builder;
use super::node::{Entry, Node, Table};
use super::spec::is_mix;
use crate::color::{Color, ColorMix};
use crate::errors::{Place, suggestion};
use crate::families::{FAMILIES, Settings};
use crate::materials::{ELASTIC_COLOR, find, material_presets};
use crate::model::*;
use crate::numbers::rounded;

const SAND_KEYS: [&str; 4] = ["friction_angle", "hardening", "cohesion", "wet_cohesion"];

/// A material by name; without value if it is invalid, which has been reported.
pub(crate) struct Substance {
    name: String,
    pub material: Option<Material>,
}

impl Builder<'_> {
    /// Reads `[materials]`.
    pub fn substances(&mut self, document: &Table) {
        let Some(table) = document.table("materials") else {
            return;
        };
        for entry in &table.entries {
            let material = self.substance(entry);
            self.substances.push(Substance {
                name: entry.key.clone(),
                material,
            });
        }
    }

    /// Index of the material that a fill or an emitter names; presets join the scene when they are first used.
    pub fn material_of(&mut self, table: &Table) -> Option<usize> {
        let node = table.get("material")?;
        let name = node.text()?;
        if let Some(index) = self.substances.iter().position(|s| s.name == name) {
            return Some(index);
        }
        if let Some(preset) = find(name) {
            self.substances.push(Substance {
                name: name.to_owned(),
                material: Some(preset.material.clone()),
            });
            return Some(self.substances.len() - 1);
        }
        let own = self.substances.iter().map(|s| s.name.as_str());
        let help = suggestion(name, own.chain(material_presets().iter().map(|p| p.name)));
        let message = format!("unknown material `{name}`");
        self.report.refuse(node.at, message, help)
    }

    fn substance(&mut self, entry: &Entry) -> Option<Material> {
        let table = entry.node.table()?;
        let preset = table.optional("preset", |node| self.preset(node))?;
        let elastic = self.is_elastic(table, preset)?;
        if elastic {
            for key in SAND_KEYS {
                self.useless(table, key, "for an elastic material");
            }
        } else {
            self.useless(table, "model", "for sand");
        }
        let base = match preset {
            Some(material) => material.clone(),
            None if elastic => self.plain_elastic(table, entry.key_at)?,
            None => find("dry sand")?.material.clone(),
        };
        let law = match base.law {
            Law::Sand(law) => Law::Sand(self.sand(table, law)?),
            Law::Elastic(law) => Law::Elastic(ElasticLaw {
                young: table.number_or("young", law.young)?,
                poisson: table.number_or("poisson", law.poisson)?,
                model: table.or("model", law.model, Node::choice)?,
            }),
        };
        let mut settings = Settings::default();
        for family in FAMILIES {
            if let Some(own) = table.table(family.name) {
                settings.append((family.read_material)(self, own, &law));
            }
        }
        Some(Material {
            name: entry.key.clone(),
            density: table.number_or("density", base.density)?,
            law,
            wet_cohesion: table.number("wet_cohesion"),
            settings,
            color: match table.get("color") {
                Some(node) => color_mix(node)?,
                None => base.color,
            },
        })
    }

    /// The preset that a material names.
    fn preset(&mut self, node: &Node) -> Option<&'static Material> {
        let name = node.text()?;
        let found = find(name);
        if found.is_none() {
            let help = suggestion(name, material_presets().iter().map(|p| p.name));
            let message = format!("unknown preset `{name}`");
            self.report.error(node.at, message, help);
        }
        found.map(|p| &p.material)
    }

    fn is_elastic(&mut self, table: &Table, preset: Option<&Material>) -> Option<bool> {
        if table.is_bad("law") {
            return None;
        }
        let given = table.text("law").map(|law| law == "elastic");
        let Some(preset) = preset else {
            return Some(given.unwrap_or(table.has("model")));
        };
        let elastic = matches!(preset.law, Law::Elastic(_));
        if given.is_some_and(|given| given != elastic) {
            let law = if elastic { "elastic" } else { "sand" };
            return self.report.refuse(
                table.get("law")?.at,
                format!(
                    "the preset `{}` is {law}, which `law` contradicts",
                    preset.name
                ),
                "choose another preset, or leave out `law`",
            );
        }
        Some(elastic)
    }

    /// An elastic material without preset, for which density and stiffness have no default.
    fn plain_elastic(&mut self, table: &Table, at: Place) -> Option<Material> {
        for key in ["density", "young"] {
            if !table.has(key) {
                self.report.error(
                    at,
                    format!("this elastic material has no `{key}`"),
                    format!("add `{key} = …`, or start from a preset such as \"rubber\""),
                );
            }
        }
        let law = ElasticLaw {
            young: table.number("young")?,
            poisson: 0.3,
            model: ElasticModel::NeoHookean,
        };
        Some(Material {
            name: String::new(),
            density: table.number("density")?,
            law: Law::Elastic(law),
            wet_cohesion: None,
            settings: Settings::default(),
            color: ColorMix::plain(ELASTIC_COLOR),
        })
    }

    fn sand(&mut self, table: &Table, base: SandLaw) -> Option<SandLaw> {
        let friction = self.friction(table, base.friction);
        Some(SandLaw {
            young: table.number_or("young", base.young)?,
            poisson: table.number_or("poisson", base.poisson)?,
            friction: friction?,
            cohesion: table.number_or("cohesion", base.cohesion)?,
        })
    }

    fn friction(&mut self, table: &Table, base: Friction) -> Option<Friction> {
        let Some(node) = table.get("hardening") else {
            return match table.get("friction_angle") {
                None => Some(base),
                Some(node) => node.number().map(Friction::Constant),
            };
        };
        self.useless(
            table,
            "friction_angle",
            "beside `hardening`, whose h0 it is",
        );
        let [h0, h1, h2, h3] = <[f64; 4]>::try_from(node.numbers()?).ok()?;
        if let Some(fault) = hardening_fault(h0, h1, h2, h3) {
            let help = "h0 is the angle at large strain, h0 - h3 the one at the start [degrees], h1 and h2 shape the \
                        peak between; [35, 9, 0.2, 10] is usual";
            return self.report.refuse(node.at, fault, help);
        }
        Some(Friction::Hardening { h0, h1, h2, h3 })
    }
}

/// Why φ(q) = h0 + (h1 q − h3) e^(−h2 q) would leave [0°, 90°), if it does.
///
/// The peak is at q = 1/h2 + h3/h1. Differs from [Klar16] §7.3, which allows h2 = 0: the angle would then grow
/// without bound.
fn hardening_fault(h0: f64, h1: f64, h2: f64, h3: f64) -> Option<String> {
    if h1 < 0.0 || h2 < 0.0 || h3 < 0.0 {
        return Some("h1, h2 and h3 of `hardening` cannot be negative".to_owned());
    }
    if h3 > h0 {
        let start = rounded(h0 - h3, 4);
        return Some(format!(
            "the friction angle would start at h0 - h3 = {start}°"
        ));
    }
    if h1 > 0.0 && h2 == 0.0 {
        return Some("with h2 = 0 the friction angle would grow without bound".to_owned());
    }
    let peak = match h1 > 0.0 {
        true => h0 + h1 / h2 * (-(1.0 + h2 * h3 / h1)).exp(),
        false => h0,
    };
    (peak >= 90.0 || !peak.is_finite())
        .then(|| format!("the friction angle would reach {peak:.1}°, but it must stay below 90°"))
}

/// One color, or several with their parts; `None` when it was refused.
fn color_mix(node: &Node) -> Option<ColorMix> {
    if !is_mix(node) {
        return color(node).map(ColorMix::plain);
    }
    let part = |node: &Node| {
        let table = node.table()?;
        Some((color(table.get("color")?)?, table.number("part")? as f32))
    };
    let parts: Vec<_> = node.list()?.iter().map(part).collect::<Option<_>>()?;
    ColorMix::new(&parts)
}

/// A color that has been checked.
pub(super) fn color(node: &Node) -> Option<Color> {
    let channels = node.numbers()?;
    let [r, g, b] = <[f64; 3]>::try_from(channels).ok()?;
    Some([r as u8, g as u8, b as u8])
}

#[cfg(test)]
mod tests {
    use super::hardening_fault;

    #[test]
    fn hardening_peak_is_the_maximum_of_the_curve() {
        // Just below and just above 90° by the closed form, checked against the curve itself.
        for (h1, feasible) in [(9.0, true), (30.0, true), (40.0, false)] {
            let (h0, h2, h3) = (35.0, 0.2, 10.0);
            let peak = (0..100_000)
                .map(|i| f64::from(i) * 1e-3)
                .map(|q| h0 + (h1 * q - h3) * (-h2 * q).exp())
                .fold(0.0, f64::max);
            assert_eq!(peak < 90.0, feasible, "h1 = {h1}: {peak}");
            assert_eq!(hardening_fault(h0, h1, h2, h3).is_none(), feasible);
        }
    }
}
