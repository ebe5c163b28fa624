//! A good scene to break, one rule at a time.

use super::*;

/// A scene with one of everything, to break.
pub const SCENE: &str = r#"frames = 10
frame_rate = 24
gravity = [0, -9.81, 0]
domain = { min = [-2, -2, -2], max = [2, 2, 2] }

[solver]
resolution = 0.02

[materials.sand]
density = 1600
friction_angle = 35

[[collider]]
name = "floor"
shape = { half_space = { normal = [0, 1, 0] } }
motion = { velocity = [0, 0, 0] }

[[fill]]
name = "ball"
shape = { sphere = { center = [0, 0.5, 0], radius = 0.2 } }
material = "sand"

[[emitter]]
name = "spout"
shape = { box = { center = [0, 1.5, 0], size = [0.2, 0.1, 0.1] } }
material = "sand"
velocity = [0, -2, 0]

[check]
max_speed = 1
"#;

/// Replaces `from` by `to` and expects exactly one error with that message, marking exactly `marked` in `to`.
#[track_caller]
pub fn expect(base: &str, from: &str, to: &str, message: &str, marked: &str) {
    assert!(base.contains(from), "{from:?} is not in the scene");
    let text = base.replacen(from, to, 1);
    let errors = bad(&text);
    let shown = show(&errors);
    assert_eq!(errors.errors().len(), 1, "{shown}");
    let error = &errors.errors()[0];
    assert!(error.message().contains(message), "{shown}");
    assert_eq!(error.marked(), Some(marked), "{shown}");
    assert_eq!(error.source_name(), Some("test.toml"));
    let at = match to.rfind(marked) {
        Some(i) => base.find(from).unwrap() + i,
        None => text.find(marked).unwrap(),
    };
    let line = 1 + text[..at].matches('\n').count();
    assert_eq!(error.line(), Some(line), "{shown}");
    assert!(!error.help_text().is_empty(), "{shown}");
}

/// The same for [`SCENE`].
#[track_caller]
pub fn refuse(from: &str, to: &str, message: &str, marked: &str) {
    expect(SCENE, from, to, message, marked);
}
