//! Invalid placement: buried, outside the domain, infinite, out of the plane.

mod common;

use common::breaking::*;
use common::*;

#[test]
fn misplaced_fills_are_refused() {
    let ball = "{ sphere = { center = [0, 0.5, 0], radius = 0.2 } }";
    let buried = "{ sphere = { center = [0, -0.5, 0], radius = 0.2 } }";
    refuse(
        ball,
        buried,
        "fill `ball` lies wholly inside collider `floor`",
        buried,
    );
    let away = "{ sphere = { center = [5, 1, 0], radius = 0.2 } }";
    refuse(ball, away, "lies wholly outside the domain", away);
    let half = "{ sphere = { center = [2, 1, 0], radius = 0.2 } }";
    refuse(ball, half, "lies partly outside the domain", half);
}

#[test]
fn misplaced_emitters_are_refused() {
    let spout = "{ box = { center = [0, 1.5, 0], size = [0.2, 0.1, 0.1] } }";
    let buried = "{ box = { center = [0, -0.5, 0], size = [0.2, 0.1, 0.1] } }";
    refuse(
        spout,
        buried,
        "the mouth of emitter `spout` lies inside collider `floor` at 0 s",
        buried,
    );
    let away = "{ box = { center = [0, 3, 0], size = [0.2, 0.1, 0.1] } }";
    refuse(spout, away, "outside the domain", away);
    refuse(
        "velocity = [0, -2, 0]",
        "velocity = [0, 0, 0]",
        "has no velocity",
        "[0, 0, 0]",
    );
    let pair = "{ union = [{ sphere = { center = [0, 1, 0], radius = 0.1 } }, { sphere = { center = [0, 1.8, 0], radius = 0.1 } }] }";
    refuse(spout, pair, "has no mouth", pair);
    refuse(
        "velocity = [0, -2, 0]",
        "velocity = [0, -2, 0]\nstart = 3\nend = 2",
        "would end at 2 s",
        "2",
    );
}

/// A body that leaves before the emitter starts does not block it.
#[test]
fn emitter_is_checked_at_its_start() {
    let lid = "[[collider]]\nname = \"lid\"\nshape = { box = { center = [0, 1.5, 0], size = [1, 1, 1] } }\nmotion = { velocity = [10, 0, 0] }\n[check]";
    let errors = bad(&SCENE.replace("[check]", lid));
    assert!(
        errors.messages()[0].contains("inside collider `lid` at 0 s"),
        "{}",
        show(&errors)
    );
    let later = SCENE.replace("velocity = [0, -2, 0]", "velocity = [0, -2, 0]\nstart = 1");
    good(&later.replace("[check]", lid));
}

/// The mouth is 0.2 m × 0.1 m: 1600 kg/m³ · 0.02 m² · 2 m/s = 64 kg/s.
#[test]
fn rate_is_bounded_by_the_mouth() {
    let from = "velocity = [0, -2, 0]";
    good(&SCENE.replace(from, "velocity = [0, -2, 0]\nrate = 63"));
    refuse(
        from,
        "velocity = [0, -2, 0]\nrate = 70",
        "cannot deliver 70 kg/s",
        "70",
    );
    refuse(from, "velocity = [0, -2, 0]\nrate = 0", "above 0", "0");
}

#[test]
fn rate_in_two_dimensions_is_by_meter_of_depth() {
    let spout = "\n[[emitter]]\nshape = { box = { center = [2, 2], size = [0.2, 0.1] } }\nmaterial = \"dry sand\"\nvelocity = [0, -1]\nrate = ";
    good(&format!("{FLAT}{spout}310\n"));
    let errors = bad(&format!("{FLAT}{spout}400\n"));
    assert!(
        errors.messages()[0].contains("about 320"),
        "{}",
        show(&errors)
    );
}

#[test]
fn nothing_to_simulate() {
    let errors = bad("[solver]\nresolution = 0.1\n");
    assert_eq!(errors.errors().len(), 1);
    assert!(errors.messages()[0].contains("nothing to simulate"));
    assert_eq!(errors.errors()[0].line(), Some(1));
}

#[test]
fn two_dimensions_stay_in_the_plane() {
    let flat =
        |from: &str, to: &str, message: &str, marked: &str| expect(FLAT, from, to, message, marked);
    flat(
        "dimensions = 2",
        "dimensions = 2\ndomain = { min = [-1, -1], max = [2, 2], periodic = [\"x\", \"z\"] }",
        "no z axis along which",
        "\"z\"",
    );
    let column = "material = \"dry sand\"";
    flat(
        column,
        &format!("{column}\nvelocity = [0, 1, 2]"),
        "`velocity` has z = 2",
        "[0, 1, 2]",
    );
    flat(
        column,
        &format!("{column}\nspin = [1, 0, 0]"),
        "spin is about z only",
        "[1, 0, 0]",
    );
    flat(
        "dimensions = 2",
        "dimensions = 2\ngravity = [0, 0, -9]",
        "out of the plane",
        "[0, 0, -9]",
    );
    let floor = "name = \"floor\"";
    flat(
        floor,
        "motion = { velocity = [0, 0, 1] }",
        "out of the plane",
        "[0, 0, 1]",
    );
    flat(
        floor,
        "motion = { rotation = { axis = [0, 1, 0], rate = 3 } }",
        "rotations are about z only",
        "[0, 1, 0]",
    );
    let ball = "{ sphere = { center = [0, 1, 3], radius = 0.5 } }";
    flat(
        "{ box = { min = [0, 0], max = [0.5, 1] } }",
        ball,
        "has no volume",
        ball,
    );
    flat(
        "min = [0, 0], max = [0.5, 1]",
        "min = [0, 0, 1], max = [0.5, 1, 2]",
        "outside the plane",
        "[0.5, 1, 2]",
    );
}
