//! The contact law of [Holz14] §6, as pure functions over [`Scalar`]: f64 in the tests, sixteen f32
//! lanes in the solver.
//!
//! Displacements over a step represent velocities, and λ represents forces: a force f between two points of inverse masses
//! wᵢ and wⱼ causes a relative displacement λ = Δt² (wᵢ + wⱼ) f in a step (Eq. 34 with the reduced mass).

use crate::math::Scalar;
pub use crate::math::scalar::dot;
use barchan_scene::PbdFriction;

/// A vector of scalars.
pub type V3<S> = [S; 3];

/// Parameters of a contact, constant during the iterations.
#[derive(Debug, Clone, Copy, Default)]
pub struct Law<S> {
    /// Fraction of the accumulated normal correction that an iteration retains: 1 in [Holz14], less where an iteration solves the
    /// whole step.
    pub retention: S,
    /// Spring factor k′ of Eq. 28.
    pub spring: S,
    /// Damper factor c′ of Eq. 28.
    pub damper: S,
    /// Coefficient of static friction.
    pub static_friction: S,
    /// Coefficient of kinetic friction.
    pub kinetic_friction: S,
    /// λ of the adhesive force [m], Eq. 34–36.
    pub adhesion: S,
    /// Limit of the separation by the normal correction [m].
    pub max_separation: S,
}

/// Corrections accumulated over the iterations of a step, as relative displacements [m].
#[derive(Debug, Clone, Copy, Default)]
pub struct Accumulated<S> {
    /// Repulsion along the normal; never negative.
    pub normal: S,
    /// Adhesion along the normal; never positive.
    pub adhesion: S,
    /// Friction.
    pub tangent: V3<S>,
}

/// Spring and damper factors of an iteration, Eq. 21 and 28: all `iterations` together move the contact as implicit Euler
/// would. `w` is wᵢ + wⱼ [1/kg].
pub fn iteration_factors(
    stiffness: f64,
    damping: f64,
    w: f64,
    dt: f64,
    iterations: u32,
) -> (f64, f64) {
    let spring = dt * dt * stiffness * w;
    let damper = dt * damping * w;
    let whole = 1.0 + spring + damper;
    if !whole.is_finite() {
        return (1.0, 0.0);
    }
    if whole <= 1.0 {
        return (0.0, 0.0);
    }
    let alpha = 1.0 / whole;
    let share = -(alpha.ln() / f64::from(iterations)).exp_m1() / (1.0 - alpha);
    (spring * alpha * share, damper * alpha * share)
}

/// Retention, spring and damper factors of an iteration that solves implicit Euler for the whole step from the accumulated
/// correction; repeated, coupled contacts converge to their springs and dampers. `w` is the sum of the (split) inverse masses.
pub fn implicit_factors(stiffness: f64, damping: f64, w: f64, dt: f64) -> (f64, f64, f64) {
    let spring = dt * dt * stiffness * w;
    let damper = dt * damping * w;
    let part = 1.0 / (1.0 + spring + damper);
    match part > 0.0 {
        true => (1.0 - part, spring * part, damper * part),
        false => (1.0, 1.0, 0.0),
    }
}

/// Steps per period of the stiffest warm-started contact that is resolved.
const STEPS_PER_PERIOD: f64 = 20.0;
/// Damping ratio at the stiffness limit.
const DAMPING_RATIO_AT_LIMIT: f64 = 10.0;

/// Fraction of the stiffness limit up to which a contact keeps its own damping.
const OWN_DAMPING_FRACTION: f64 = 0.1;

/// Stiffness [N/m] and damping [N s/m] that steps of `dt` resolve. Stiffness is limited by the period of oscillation, and damping
/// increases toward that limit: a warm-started force lags by a step, and many such contacts together gain energy.
pub fn resolved_spring_damper(stiffness: f64, damping: f64, w: f64, dt: f64) -> (f64, f64) {
    let highest = std::f64::consts::TAU / (STEPS_PER_PERIOD * dt);
    let limit = highest * highest / w;
    let near =
        ((stiffness / limit - OWN_DAMPING_FRACTION) / (1.0 - OWN_DAMPING_FRACTION)).clamp(0.0, 1.0);
    let least = near * 2.0 * DAMPING_RATIO_AT_LIMIT * highest / w;
    (stiffness.min(limit), damping.max(least))
}

/// Contact area [m²] at a penetration [m], Eq. 36; constant beyond a penetration of one radius.
pub fn contact_area(penetration: f64, smaller_radius: f64) -> f64 {
    let part = (penetration / smaller_radius).clamp(0.0, 1.0) - 1.0;
    std::f64::consts::PI * smaller_radius * smaller_radius * (1.0 - part * part)
}

/// Normal from j to i and gap C_s (Eq. 22) of two spheres with center offset `offset` at the beginning of the step, relative
/// displacement `displacement` and sum of the radii `radius_sum` [m]. The normal of concentric spheres points up.
#[inline(always)]
pub fn normal_and_gap<S: Scalar>(offset: V3<S>, displacement: V3<S>, radius_sum: S) -> (V3<S>, S) {
    let now: V3<S> = std::array::from_fn(|a| offset[a] + displacement[a]);
    let squared = dot(now, now);
    let distance = squared.sqrt();
    let tiny = radius_sum.constant(1e-12);
    let is_distinct = tiny.lt(distance);
    let inverse = radius_sum.constant(1.0) / distance.max(tiny);
    let up = [0.0, 1.0, 0.0];
    let normal = std::array::from_fn(|a| {
        S::select(is_distinct, now[a] * inverse, radius_sum.constant(up[a]))
    });
    (normal, distance - radius_sum)
}

/// Spring and damper, Eq. 23: the change of the accumulated normal correction.
///
/// Differs from [Holz14]: the two do not separate faster than `max_separation`. Overlap not caused by motion (a body placed in
/// soil, a step much shorter than the last) has no elastic energy to return.
#[inline(always)]
fn spring_and_damper<S: Scalar>(
    law: &Law<S>,
    gap: S,
    normal_displacement: S,
    sum: &mut Accumulated<S>,
) -> S {
    let trial =
        law.retention * sum.normal - law.spring.mul_add(gap, law.damper * normal_displacement);
    let upper_bound = sum.normal + (law.max_separation - normal_displacement);
    let normal = (-((-trial).max(-upper_bound))).max(gap.constant(0.0));
    let change = normal - sum.normal;
    sum.normal = normal;
    change
}

/// Adhesion: a damper on the remaining `separation`, without relaxation, up to the adhesive force.
#[inline(always)]
fn adhesion<S: Scalar>(law: &Law<S>, separation: S, sum: &mut Accumulated<S>) -> S {
    let pull = sum.adhesion - separation;
    let pull = -((-pull).max(separation.constant(0.0)));
    let pull = pull.max(-law.adhesion);
    let change = pull - sum.adhesion;
    sum.adhesion = pull;
    change
}

/// Coulomb friction against a `slip`, Eq. 30–33.
#[inline(always)]
fn coulomb<S: Scalar>(law: &Law<S>, normal: V3<S>, slip: V3<S>, sum: &mut Accumulated<S>) -> V3<S> {
    let trial: V3<S> = std::array::from_fn(|a| sum.tangent[a] - slip[a]);
    let out = dot(trial, normal);
    let trial: V3<S> = std::array::from_fn(|a| trial[a] - out * normal[a]);
    let length = dot(trial, trial).sqrt();
    let stick_limit = law.static_friction.mul_add(sum.normal, law.adhesion);
    let slip_limit = law.kinetic_friction.mul_add(sum.normal, law.adhesion);
    let factor = S::select(
        stick_limit.ge(length),
        out.constant(1.0),
        slip_limit / length.max(out.constant(1e-30)),
    );
    std::array::from_fn(|a| {
        let tangent = trial[a] * factor;
        let change = tangent - sum.tangent[a];
        sum.tangent[a] = tangent;
        change
    })
}

/// Friction of [Macklin14] against a `slip`: proportional to the penetration found in this iteration, not accumulated.
#[inline(always)]
fn macklin<S: Scalar>(law: &Law<S>, gap: S, slip: V3<S>, sum: &mut Accumulated<S>) -> V3<S> {
    let zero = gap.constant(0.0);
    let depth = (-gap).max(zero);
    let length = dot(slip, slip).sqrt();
    let factor = S::select(
        length.lt(law.static_friction * depth),
        gap.constant(1.0),
        // min(µ_k d/|Δx⊥|, 1)
        -((-(law.kinetic_friction * depth / length.max(gap.constant(1e-30))))
            .max(gap.constant(-1.0))),
    );
    sum.tangent = [zero; 3];
    std::array::from_fn(|a| -(slip[a] * factor))
}

/// One iteration of one contact: `normal` is the unit vector from j to i, `gap` the constraint C_s (Eq. 22), `displacement` the
/// relative displacement (pᵢ − xᵢ) − (pⱼ − xⱼ) so far. Returns the correction of the relative displacement, to be split
/// by inverse mass. There is no adhesion with the friction of [Macklin14].
///
/// Differs from [Holz14]: the cone of Eq. 33 and the limit of adhesion hold for the correction accumulated over a step, not for each
/// iteration (otherwise static friction is lost and adhesion multiplied), Eq. 31 has the opposite sign, and the accumulated
/// normal correction is never tensile.
#[inline(always)]
pub fn project<S: Scalar>(
    friction: PbdFriction,
    law: &Law<S>,
    normal: V3<S>,
    gap: S,
    displacement: V3<S>,
    sum: &mut Accumulated<S>,
) -> V3<S> {
    let normal_displacement = dot(displacement, normal);
    let repulsion = spring_and_damper(law, gap, normal_displacement, sum);
    let slip: V3<S> = std::array::from_fn(|a| displacement[a] - normal_displacement * normal[a]);
    let (along, tangent) = match friction {
        PbdFriction::Coulomb => {
            let pull = adhesion(law, normal_displacement + repulsion, sum);
            (repulsion + pull, coulomb(law, normal, slip, sum))
        }
        PbdFriction::Macklin => (repulsion, macklin(law, gap, slip, sum)),
    };
    std::array::from_fn(|a| along.mul_add(normal[a], tangent[a]))
}
