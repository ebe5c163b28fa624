//! What a scene asks for that will hardly come out as meant.

use super::output;
use barchan::scene::Scene;

/// Warns of what will run, but hardly as meant.
pub fn warnings(scene: &Scene) -> Vec<String> {
    let thin = barchan::sim::collider::thin_movers(scene);
    thin.iter().map(ToString::to_string).collect()
}

/// Shows them.
pub fn warn(scene: &Scene) {
    for warning in warnings(scene) {
        output::note(format_args!("warning: {warning}"));
    }
}
