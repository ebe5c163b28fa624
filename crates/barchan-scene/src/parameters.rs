//! Parameters of a material that can be changed while it is simulated: which a solver heeds, their values, and the ranges
//! and units that the keys of the scene file state.

use crate::format::{Key, Kind, Range, slider_keys};
use crate::model::{Dimensions, Friction, Law, Material, PbdScheme, PbdSpec, SolverSpec};

/// A parameter that a material has.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Key in the scene file.
    pub key: &'static str,
    /// What it is, without the unit.
    pub meaning: String,
    /// Unit; empty when it has none.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// Where a slider begins.
    pub low: f64,
    /// Where a slider ends.
    pub high: f64,
    /// How a slider is divided.
    pub scale: Scale,
    range: Range,
}

/// How a slider is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By the third power, from zero: fine where it is small.
    Cubic,
    /// By factors.
    Logarithmic,
}

impl Scale {
    /// Name that the viewer knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Cubic => "cubic",
            Self::Logarithmic => "logarithmic",
        }
    }
}

/// Ends of a slider this many times apart are divided by factors.
const WIDE: f64 = 100.0;

impl Parameter {
    /// Whether the scene file would take the value.
    pub fn allows(&self, value: f64) -> bool {
        self.range.contains(value)
    }

    /// The values that the scene file takes, in words.
    pub fn range(&self) -> String {
        self.range.to_string()
    }
}

/// The parameters of a material that the solver of a scene heeds, in the order of the scene file's keys.
pub fn parameters(
    material: &Material,
    solver: &SolverSpec,
    dimensions: Dimensions,
) -> Vec<Parameter> {
    let of = |key: &'static Key| {
        // What is left open gets its value in a copy only.
        let value = *slot(&mut material.clone(), solver, dimensions, key.name)?;
        let (Some([low, high]), Kind::Number(range)) = (key.slider, &key.kind) else {
            return None;
        };
        let (low, high) = (low.min(value), high.max(value));
        let (meaning, unit) = meaning_and_unit(key.doc);
        Some(Parameter {
            key: key.name,
            meaning,
            unit,
            value,
            low,
            high,
            scale: scale(low, high),
            range: *range,
        })
    };
    slider_keys().filter_map(of).collect()
}

fn scale(low: f64, high: f64) -> Scale {
    if low > 0.0 && high / low >= WIDE {
        Scale::Logarithmic
    } else if low == 0.0 && high > WIDE {
        Scale::Cubic
    } else {
        Scale::Linear
    }
}

/// What a key's line says before its unit, and the unit in brackets.
fn meaning_and_unit(doc: &str) -> (String, String) {
    let first = doc.split(';').next().unwrap_or(doc);
    match first.split_once(" [") {
        Some((meaning, rest)) => {
            let unit = rest.split(']').next().unwrap_or_default();
            (meaning.to_owned(), unit.to_owned())
        }
        None => (first.to_owned(), String::new()),
    }
}

/// Gives a parameter another value; says whether the material has it.
pub fn set_parameter(
    material: &mut Material,
    solver: &SolverSpec,
    dimensions: Dimensions,
    key: &str,
    value: f64,
) -> bool {
    match slot(material, solver, dimensions, key) {
        Some(place) => {
            *place = value;
            true
        }
        None => false,
    }
}

/// Slopes of heaps [degrees] by the angle of friction where their grains touch [degrees], for balls that do not turn: these
/// stand on each other where others would roll. From `cargo test --release -p barchan-sim --test e_pile -- --nocapture`.
const SLOPES: [(f64, f64); 4] = [(9.0, 0.0), (18.0, 5.0), (37.0, 15.0), (62.0, 30.0)];

/// Angle of friction between grains with which a heap has a slope [degrees].
fn contact_angle_of_slope(slope: f64) -> f64 {
    let [.., before, last] = SLOPES;
    let above = SLOPES.windows(2).find(|pair| slope <= pair[1].0);
    let ((s0, c0), (s1, c1)) = above.map_or((before, last), |pair| (pair[0], pair[1]));
    (c0 + (slope - s0) / (s1 - s0) * (c1 - c0)).max(0.0)
}

impl Material {
    /// Angle of friction where two of its grains touch [degrees], given or following from that of the bulk; `None` for what
    /// is no sand. The schemes of [Holz14] take the angle as it is: what their passes leave out makes heaps as much flatter
    /// as balls that do not turn make them steeper.
    pub fn contact_friction_angle(&self, spec: &PbdSpec) -> Option<f64> {
        let Law::Sand(law) = &self.law else {
            return None;
        };
        let bulk = match law.friction {
            Friction::Constant(angle) => angle,
            // That of large strains.
            Friction::Hardening { h0, .. } => h0,
        };
        let usual = match spec.scheme {
            PbdScheme::MassSplitting => contact_angle_of_slope(bulk),
            PbdScheme::Averaged | PbdScheme::GaussSeidel => bulk,
        };
        Some(self.contact.friction_angle.unwrap_or(usual))
    }

    /// Stiffness of the contact of two of its grains [N/m], given or following from Young's modulus.
    pub fn contact_stiffness(&self, spec: &PbdSpec) -> f64 {
        let young = match &self.law {
            Law::Sand(law) => law.young,
            Law::Elastic(law) => law.young,
        };
        let usual = 2.0 * spec.radius * young;
        self.contact.stiffness.unwrap_or(usual)
    }

    /// Damping of the contact of two of its grains [N s/m], given or critical for their reduced mass, m/2.
    pub fn contact_damping(&self, spec: &PbdSpec, dimensions: Dimensions) -> f64 {
        let density = self.density / PbdSpec::packing(dimensions);
        let mass = density * PbdSpec::grain_volume(spec.radius, dimensions);
        let critical = 2.0 * (self.contact_stiffness(spec) * 0.5 * mass).sqrt();
        self.contact.damping.unwrap_or(critical)
    }
}

/// Where a parameter stands in a material; what was left open is no longer.
fn slot<'a>(
    material: &'a mut Material,
    solver: &SolverSpec,
    dimensions: Dimensions,
    key: &str,
) -> Option<&'a mut f64> {
    match solver {
        SolverSpec::Mpm(_) => law_slot(&mut material.law, key),
        SolverSpec::Pbd(spec) => grain_slot(material, spec, dimensions, key),
        SolverSpec::Sph(_) => moist_slot(material, key),
    }
}

fn grain_slot<'a>(
    material: &'a mut Material,
    spec: &PbdSpec,
    dimensions: Dimensions,
    key: &str,
) -> Option<&'a mut f64> {
    let stiffness = material.contact_stiffness(spec);
    let damping = material.contact_damping(spec, dimensions);
    let rubbing = material.contact_friction_angle(spec);
    let mut usual = |key: &str| law_slot(&mut material.law, key).map(|value| *value);
    let cohesion = usual("cohesion");
    let contact = &mut material.contact;
    match key {
        // The one that counts.
        "friction_angle" if contact.friction_angle.is_none() => law_slot(&mut material.law, key),
        "contact_friction_angle" => contact.friction_angle.as_mut(),
        "static_friction_angle" => Some(contact.static_friction_angle.get_or_insert(rubbing?)),
        "adhesion" => Some(contact.adhesion.get_or_insert(cohesion?)),
        "stiffness" => Some(contact.stiffness.get_or_insert(stiffness)),
        "damping" => Some(contact.damping.get_or_insert(damping)),
        _ => None,
    }
}

fn moist_slot<'a>(material: &'a mut Material, key: &str) -> Option<&'a mut f64> {
    let cohesion = law_slot(&mut material.law, "cohesion").map(|value| *value);
    let moisture = &mut material.moisture;
    let viscosity = moisture.viscosity;
    match key {
        "young" => None,
        "viscosity" => Some(&mut moisture.viscosity),
        "wet_viscosity" => Some(moisture.wet_viscosity.get_or_insert(viscosity)),
        "cohesion_intensity" => moisture.cohesion_intensity.as_mut(),
        "wet_cohesion_intensity" => moisture.wet_cohesion_intensity.as_mut(),
        "wet_cohesion" if moisture.wet_cohesion_intensity.is_none() => {
            Some(moisture.wet_cohesion.get_or_insert(cohesion?))
        }
        // The one that counts.
        "cohesion" if moisture.cohesion_intensity.is_some() => None,
        _ => law_slot(&mut material.law, key),
    }
}

fn law_slot<'a>(law: &'a mut Law, key: &str) -> Option<&'a mut f64> {
    match (law, key) {
        (Law::Sand(law), "young") => Some(&mut law.young),
        (Law::Sand(law), "cohesion") => Some(&mut law.cohesion),
        (Law::Sand(law), "friction_angle") => match &mut law.friction {
            Friction::Constant(angle) => Some(angle),
            Friction::Hardening { .. } => None,
        },
        (Law::Elastic(law), "young") => Some(&mut law.young),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, SceneSource, load};

    const SCENE: &str = r#"
[solver]
dx = 0.05
[materials.sand]
preset = "dry sand"
friction_angle = 33
[[fill]]
shape = { box = { min = [0, 0, 0], max = [1, 1, 1] } }
material = "sand"
"#;

    fn scene(text: &str) -> crate::Scene {
        let source = SceneSource {
            name: "s".into(),
            text: text.into(),
            directory: ".".into(),
        };
        load(&source, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn sand_has_the_parameters_that_its_law_has() {
        let scene = scene(SCENE);
        let found = parameters(&scene.materials[0], &scene.solver, scene.dimensions);
        let keys: Vec<&str> = found.iter().map(|p| p.key).collect();
        assert_eq!(keys, ["young", "friction_angle", "cohesion"]);
        let angle = &found[1];
        assert_eq!((angle.value, angle.unit.as_str()), (33.0, "degrees"));
        assert_eq!(angle.meaning, "Angle of internal friction");
        assert!(angle.allows(0.0) && !angle.allows(90.0) && !angle.allows(f64::NAN));
        assert_eq!(found[0].scale, Scale::Logarithmic);
        assert_eq!(found[2].scale, Scale::Cubic);
    }

    #[test]
    fn grains_have_those_of_their_contacts_given_or_not() {
        let text = SCENE.replace("dx = 0.05", "method = \"pbd\"\nradius = 0.02");
        let mut scene = scene(&text);
        let found = parameters(&scene.materials[0], &scene.solver, scene.dimensions);
        let values: Vec<_> = found.iter().map(|p| (p.key, p.value)).collect();
        let [angle, resting, adhesion, stiffness, damping] = values[..] else {
            panic!("{values:?}");
        };
        assert_eq!(angle, ("friction_angle", 33.0));
        // Between 18° (5°) and 37° (15°).
        assert_eq!(resting.0, "static_friction_angle");
        assert!((resting.1 - (5.0 + 150.0 / 19.0)).abs() < 1e-9);
        assert_eq!(adhesion, ("adhesion", 0.0));
        assert_eq!(stiffness, ("stiffness", 0.04 * 1e6));
        // 2 √(k m/2), with m = 1600/0.6 · 4/3 π 0.02³.
        assert_eq!(damping.0, "damping");
        assert!((damping.1 / 84.54 - 1.0).abs() < 1e-3, "{damping:?}");
        // Looking at them does not fix them; setting one fixes that one.
        assert_eq!(scene.materials[0].contact.adhesion, None);
        let (material, solver) = (&mut scene.materials[0], &scene.solver);
        assert!(set_parameter(
            material,
            solver,
            scene.dimensions,
            "adhesion",
            7.0
        ));
        assert_eq!(material.contact.adhesion, Some(7.0));
        assert_eq!(material.contact.stiffness, None);
    }

    #[test]
    fn every_slider_lies_in_the_range_of_its_key_and_reaches_the_value() {
        for key in slider_keys() {
            let (Some([low, high]), Kind::Number(range)) = (key.slider, &key.kind) else {
                panic!("{} is no number", key.name);
            };
            assert!(low < high && range.contains(low) && range.contains(high));
        }
        let scene = scene(&SCENE.replace("friction_angle = 33", "young = 1e11"));
        let found = parameters(&scene.materials[0], &scene.solver, scene.dimensions);
        assert_eq!((found[0].value, found[0].high), (1e11, 1e11));
    }

    #[test]
    fn a_value_that_was_set_is_there() {
        let mut scene = scene(SCENE);
        let material = &mut scene.materials[0];
        let dimensions = scene.dimensions;
        let mut set = |key| set_parameter(material, &scene.solver, dimensions, key, 12.0);
        assert!(set("friction_angle"));
        assert!(!set("colour"));
        let found = parameters(material, &scene.solver, dimensions);
        assert_eq!(found[1].value, 12.0);
    }
}
