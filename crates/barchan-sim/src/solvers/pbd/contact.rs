//! The contact law of [Holz14] §6, as pure functions over [`Scalar`]: f64 in the tests, sixteen contacts in the solver.
//!
//! Displacements of a step stand for velocities, and "λ" for forces: a force f between two points of inverse masses
//! wᵢ and wⱼ moves them by λ = Δt² (wᵢ + wⱼ) f relative to each other in a step (Eq. 34 with the reduced mass).

use crate::math::Scalar;

/// A vector of scalars.
pub type V3<S> = [S; 3];

/// What a contact is, the same for all passes of a step.
#[derive(Debug, Clone, Copy, Default)]
pub struct Law<S> {
    /// Part of what was pushed so far that a pass leaves: 1 in [Holz14], less where a pass solves for the whole step.
    pub keep: S,
    /// Part of the spring's error that a pass corrects, k′ of Eq. 28.
    pub spring: S,
    /// Part of the damper's error that a pass corrects, c′ of Eq. 28.
    pub damper: S,
    /// Coefficient of static friction.
    pub static_friction: S,
    /// Coefficient of kinetic friction.
    pub kinetic_friction: S,
    /// λ of the adhesive force [m], Eq. 34–36.
    pub adhesion: S,
    /// Displacement along the normal with which a push may let the two part, at most [m].
    pub parting: S,
}

/// What the passes of a step have added up to, as relative displacements [m].
#[derive(Debug, Clone, Copy, Default)]
pub struct Accumulated<S> {
    /// Push along the normal; never negative.
    pub normal: S,
    /// Pull of adhesion along the normal; never positive.
    pub adhesion: S,
    /// Friction.
    pub tangent: V3<S>,
}

/// Spring and damper factors of one pass out of `passes`, Eq. 21 and 28: after all passes the contact has moved as
/// implicit Euler would move it. `w` is wᵢ + wⱼ [1/kg].
pub fn pass_factors(stiffness: f64, damping: f64, w: f64, dt: f64, passes: u32) -> (f64, f64) {
    let spring = dt * dt * stiffness * w;
    let damper = dt * damping * w;
    let whole = 1.0 + spring + damper;
    if whole <= 1.0 || !whole.is_finite() {
        return match whole.is_finite() {
            true => (0.0, 0.0),
            false => (1.0, 0.0),
        };
    }
    let alpha = 1.0 / whole;
    let share = -(alpha.ln() / f64::from(passes)).exp_m1() / (1.0 - alpha);
    (spring * alpha * share, damper * alpha * share)
}

/// Keep, spring and damper factors of a pass that solves implicit Euler for the whole step, given what was pushed so
/// far: repeated, many contacts converge to their springs and dampers. `w` is the sum of the (split) inverse masses.
pub fn whole_step_factors(stiffness: f64, damping: f64, w: f64, dt: f64) -> (f64, f64, f64) {
    let spring = dt * dt * stiffness * w;
    let damper = dt * damping * w;
    let part = 1.0 / (1.0 + spring + damper);
    match part > 0.0 {
        true => (1.0 - part, spring * part, damper * part),
        false => (1.0, 1.0, 0.0),
    }
}

/// Steps in a period of the stiffest contact that steps of a given length can follow when it remembers its force.
const STEPS_PER_PERIOD: f64 = 20.0;
/// Damping ratio of a contact that is stiffer than that.
const OVERDAMPED: f64 = 10.0;

/// Part of the limit up to which a contact keeps its own damping.
const EASY: f64 = 0.1;

/// Stiffness [N/m] and damping [N s/m] that steps of `dt` can follow: a contact that is stiffer than its period allows is
/// taken for the stiffest one that is not. Toward that limit damping grows: a force that is remembered for a step lags
/// behind, and many such contacts together pump energy.
pub fn followed(stiffness: f64, damping: f64, w: f64, dt: f64) -> (f64, f64) {
    let highest = std::f64::consts::TAU / (STEPS_PER_PERIOD * dt);
    let limit = highest * highest / w;
    let near = ((stiffness / limit - EASY) / (1.0 - EASY)).clamp(0.0, 1.0);
    let least = near * 2.0 * OVERDAMPED * highest / w;
    (stiffness.min(limit), damping.max(least))
}

/// Contact area [m²] at a penetration [m], Eq. 36, where it still grows.
pub fn contact_area(penetration: f64, smaller_radius: f64) -> f64 {
    let part = (penetration / smaller_radius).clamp(0.0, 1.0) - 1.0;
    std::f64::consts::PI * smaller_radius * smaller_radius * (1.0 - part * part)
}

/// A dot product.
#[inline(always)]
pub fn dot<S: Scalar>(a: V3<S>, b: V3<S>) -> S {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// Normal from j to i and the constraint C_s (Eq. 22) of two balls, `apart` at the beginning of the step, that have
/// `moved` relative to each other. Balls in one place part upwards.
#[inline(always)]
pub fn between<S: Scalar>(apart: V3<S>, moved: V3<S>, reach: S) -> (V3<S>, S) {
    let now: V3<S> = std::array::from_fn(|a| apart[a] + moved[a]);
    let squared = dot(now, now);
    let distance = squared.sqrt();
    let tiny = reach.constant(1e-12);
    let apart = tiny.lt(distance);
    let inverse = reach.constant(1.0) / distance.max(tiny);
    let up = [0.0, 1.0, 0.0];
    let normal = std::array::from_fn(|a| S::select(apart, now[a] * inverse, reach.constant(up[a])));
    (normal, distance - reach)
}

/// Spring and damper of a pass, Eq. 23: what it adds to the push.
///
/// Differs from [Holz14]: the two do not part faster than `parting`. Overlap that no motion has made (a body that appears in
/// soil, a step much shorter than the last) is no energy to be given back.
#[inline(always)]
fn spring_and_damper<S: Scalar>(law: &Law<S>, gap: S, closing: S, sum: &mut Accumulated<S>) -> S {
    let wanted = law.keep * sum.normal - law.spring.mul_add(gap, law.damper * closing);
    let most = sum.normal + (law.parting - closing);
    let pushed = (-((-wanted).max(-most))).max(gap.constant(0.0));
    let push = pushed - sum.normal;
    sum.normal = pushed;
    push
}

/// One pass over one contact: `normal` is the unit vector from j to i, `gap` the constraint C_s (Eq. 22), `moved` the
/// relative displacement (pᵢ − xᵢ) − (pⱼ − xⱼ) so far. Returns the relative displacement to add, which the two share by
/// their inverse masses.
///
/// Differs from [Holz14]: the cone of Eq. 33 and the cap of adhesion hold for what a step has accumulated, not for each
/// pass (else static friction is lost and adhesion multiplied), Eq. 31 has the other sign, and the normal correction of a
/// step never pulls.
#[inline(always)]
pub fn project<S: Scalar>(
    law: &Law<S>,
    normal: V3<S>,
    gap: S,
    moved: V3<S>,
    sum: &mut Accumulated<S>,
) -> V3<S> {
    let zero = gap.constant(0.0);
    let closing = dot(moved, normal);
    let push = spring_and_damper(law, gap, closing, sum);
    let pushed = sum.normal;
    // Adhesion: a damper without relaxation on what is still separating, up to its force.
    let pulled = sum.adhesion - (closing + push);
    let pulled = -((-pulled).max(zero));
    let pulled = pulled.max(-law.adhesion);
    let pull = pulled - sum.adhesion;
    sum.adhesion = pulled;
    // Friction, Eq. 30–33.
    let slip: V3<S> = std::array::from_fn(|a| moved[a] - closing * normal[a]);
    let trial: V3<S> = std::array::from_fn(|a| sum.tangent[a] - slip[a]);
    let out = dot(trial, normal);
    let trial: V3<S> = std::array::from_fn(|a| trial[a] - out * normal[a]);
    let length = dot(trial, trial).sqrt();
    let holds = law.static_friction.mul_add(pushed, law.adhesion);
    let drags = law.kinetic_friction.mul_add(pushed, law.adhesion);
    let tiny = gap.constant(1e-30);
    let factor = S::select(
        holds.ge(length),
        gap.constant(1.0),
        drags / length.max(tiny),
    );
    let along = push + pull;
    std::array::from_fn(|a| {
        let tangent = trial[a] * factor;
        let rub = tangent - sum.tangent[a];
        sum.tangent[a] = tangent;
        along.mul_add(normal[a], rub)
    })
}

/// As [`project`] with the friction of [Macklin14]: in proportion to the penetration that the pass finds. Nothing of it is
/// accumulated, and there is no adhesion.
#[inline(always)]
pub fn project_macklin<S: Scalar>(
    law: &Law<S>,
    normal: V3<S>,
    gap: S,
    moved: V3<S>,
    sum: &mut Accumulated<S>,
) -> V3<S> {
    let zero = gap.constant(0.0);
    let closing = dot(moved, normal);
    let push = spring_and_damper(law, gap, closing, sum);
    let depth = (-gap).max(zero);
    let slip: V3<S> = std::array::from_fn(|a| moved[a] - closing * normal[a]);
    let length = dot(slip, slip).sqrt();
    let tiny = gap.constant(1e-30);
    let factor = S::select(
        length.lt(law.static_friction * depth),
        gap.constant(1.0),
        // min(µ_k d/|Δx⊥|, 1)
        -((-(law.kinetic_friction * depth / length.max(tiny))).max(gap.constant(-1.0))),
    );
    sum.tangent = [zero; 3];
    std::array::from_fn(|a| push.mul_add(normal[a], -(slip[a] * factor)))
}
