//! Messages, and the engine without a browser.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::message::{self, Limits, Message};
use super::orders::Orders;
use super::*;
use crate::manifest;
use barchan::frame::{BodyRecord, Checkpoint, Frame, JointRecord};
use barchan::scene::{Material, load_file};
use barchan::sim::bodies::MotorTarget;
use barchan::sim::sampling::Samples;
use barchan::sim::solver::{
    Bound, Columns, Pace, Region, Solver, SolverError, StepContext, StepStats,
};
use glam::Vec3;
use std::path::Path;
use std::time::Instant;

fn scene(set: &[&str]) -> Scene {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/tests/live.toml");
    load_file(file, set).unwrap()
}

fn start(scene: Scene, simulation: Simulation) -> Live {
    let manifest = manifest::of_scene(&scene, Path::new("."));
    Live::start(scene, &manifest, simulation, Vec::new()).unwrap()
}

fn live(set: &[&str]) -> Live {
    let scene = scene(set);
    let simulation = Simulation::new(&scene).unwrap();
    start(scene, simulation)
}

fn header(picture: &[u8]) -> Value {
    assert_eq!(&picture[..8], b"BARCHAN1");
    let length = u32::from_le_bytes(picture[8..12].try_into().unwrap()) as usize;
    serde_json::from_slice(&picture[12..12 + length]).unwrap()
}

/// The latest picture whose header satisfies a condition.
fn when(live: &Live, holds: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let picture = live.play.pictures.borrow().clone();
        if !picture.is_empty() {
            let header = header(&picture);
            if holds(&header) {
                return header;
            }
            assert!(Instant::now() < end, "never satisfied: {header}");
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn say(live: &Live, text: &str) {
    let message = message::read(text).unwrap();
    live.play.inbox.add(|orders| {
        message.order(&live.play.limits, orders).unwrap();
    });
}

fn time(header: &Value) -> f64 {
    header["time"].as_f64().unwrap()
}

#[test]
fn it_runs_while_a_page_is_open_and_pauses_when_there_is_none() {
    let live = live(&[]);
    std::thread::sleep(Duration::from_millis(60));
    assert_eq!(time(&when(&live, |_| true)), 0.0);
    let page = live.play.page();
    when(&live, |h| time(h) > 0.05);
    drop(page);
    std::thread::sleep(Duration::from_millis(100));
    let before = live.play.pictures.borrow().clone();
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(before, *live.play.pictures.borrow());
}

#[test]
fn it_advances_in_real_time() {
    let live = live(&[]);
    let _page = live.play.page();
    say(&live, r#"{"type":"speed","factor":0.25}"#);
    let begin = time(&when(&live, |h| h["speed"] == 0.25));
    let start = Instant::now();
    let end = time(&when(&live, |h| time(h) >= begin + 0.1));
    // At a quarter of real time 0.1 s takes 0.4 s. It may be slower on a busy machine, but never ahead by more than one step.
    let passed = start.elapsed().as_secs_f64();
    assert!(
        passed >= (end - begin - 0.02) / 0.25 - 0.05,
        "{passed} s for {} s",
        end - begin
    );
}

#[test]
fn pause_step_and_restart() {
    let live = live(&[]);
    let _page = live.play.page();
    when(&live, |h| time(h) > 0.02);
    say(&live, r#"{"type":"play","on":false}"#);
    let paused = time(&when(&live, |h| h["playing"] == false));
    say(&live, r#"{"type":"step"}"#);
    let after = time(&when(&live, |h| time(h) > paused));
    assert!((after - paused - 0.01).abs() < 1e-9, "{paused} {after}");
    say(&live, r#"{"type":"reset"}"#);
    let begin = when(&live, |h| time(h) == 0.0);
    assert_eq!(begin["playing"], false);
}

#[test]
fn a_changed_parameter_survives_a_restart() {
    let live = live(&[]);
    let text = r#"{"type":"parameter","material":0,"key":"friction_angle","value":12}"#;
    say(&live, text);
    let changed = |h: &Value| h["parameters"][0][0] == 12.0;
    when(&live, changed);
    say(&live, r#"{"type":"reset"}"#);
    say(&live, r#"{"type":"color","speed":true}"#);
    when(&live, |h| changed(h) && h["colors"]["max"].is_number());
}

#[test]
fn a_motor_turns_its_joint_and_stops_at_zero() {
    let live = live(&[]);
    let _page = live.play.page();
    say(&live, r#"{"type":"motor","joint":0,"velocity":1.0}"#);
    let position = |h: &Value| h["joints"][0]["position"].as_f64().unwrap();
    let turned = when(&live, |h| position(h) > 0.3);
    assert!(position(&turned) < 1.0, "{turned}");
    say(&live, r#"{"type":"motor","joint":0,"velocity":0.0}"#);
    let speed = |h: &Value| h["joints"][0]["velocity"].as_f64().unwrap().abs();
    when(&live, |h| speed(h) < 0.01);
}

#[test]
fn bodies_and_joints_are_records_of_a_frame() {
    let live = live(&[]);
    let header = when(&live, |_| true);
    let bodies: Vec<BodyRecord> = serde_json::from_value(header["bodies"].clone()).unwrap();
    assert_eq!(bodies.len(), live.play.limits.bodies.len());
    assert!(bodies.iter().all(|body| !body.name.is_empty()));
    let joints: Vec<JointRecord> = serde_json::from_value(header["joints"].clone()).unwrap();
    assert_eq!(joints.len(), 1);
    assert_eq!(joints[0].kind, "revolute");
}

#[test]
fn dragging_lifts_a_body_and_releasing_drops_it() {
    let live = live(&[]);
    let _page = live.play.page();
    let height = |h: &Value| h["bodies"][1]["position"][1].as_f64().unwrap();
    say(
        &live,
        r#"{"type":"drag","body":1,"point":[0,0.55,0],"target":[0,1.5,0]}"#,
    );
    let pulled = when(&live, |h| height(h) > 0.5);
    assert_eq!(pulled["drag"]["body"], 1);
    say(&live, r#"{"type":"drop"}"#);
    when(&live, |h| h["drag"].is_null() && height(h) < 0.2);
}

#[test]
fn a_terrain_is_sent_once_and_after_changes() {
    let terrain = "terrain={ size = [2, 2], cell = 0.25, depth = 0.5, material = \"dry sand\" }";
    let live = live(&[terrain, "solver.resolution=0.1"]);
    let first = when(&live, |h| h["terrain"].is_string());
    assert_eq!(first["terrain"], "/api/live/terrain?number=1");
    let heights = live.play.terrain.borrow().clone();
    assert_eq!(header(&heights)["columns"], json!([8, 8]));
    // When paused, every picture checks for changes; there are none.
    let number = first["frame"].as_u64().unwrap();
    say(&live, r#"{"type":"play","on":false}"#);
    let later = when(&live, |h| h["frame"].as_u64().unwrap() > number);
    assert_eq!(later["terrain"], first["terrain"]);
    // The fill comes to rest on the terrain: columns rise.
    let _page = live.play.page();
    say(&live, r#"{"type":"play","on":true}"#);
    say(&live, r#"{"type":"speed","factor":16}"#);
    when(&live, |h| h["terrain"] != first["terrain"]);
    assert_ne!(*live.play.terrain.borrow(), heights);
}

/// A solver that fails in its first step.
struct Failing;

impl Solver for Failing {
    fn emit(&mut self, _: &Samples) -> Result<(), SolverError> {
        Ok(())
    }
    fn remove(&mut self, _: &Region<'_>) -> Result<usize, SolverError> {
        Ok(0)
    }
    fn particles(&self) -> usize {
        0
    }
    fn set_material(&mut self, _: usize, _: &Material) -> Result<(), SolverError> {
        Ok(())
    }
    fn pace(&mut self) -> Result<Pace, SolverError> {
        let bound = Bound {
            dt: 1.0,
            ..Bound::NONE
        };
        Ok(Pace::Fixed(bound))
    }
    fn step(&mut self, _: &mut StepContext<'_>) -> Result<StepStats, SolverError> {
        Err(SolverError::NotFinite {
            id: 7,
            position: Vec3::ZERO,
            quantity: "velocity",
            dt: 1e-3,
            settings: "max_dt".into(),
        })
    }
    fn download(&mut self, _: &Columns<'_>, _: &mut Frame) -> Result<(), SolverError> {
        Ok(())
    }
    fn save(&mut self, _: &mut Checkpoint) -> Result<(), SolverError> {
        Ok(())
    }
    fn load(&mut self, _: &Checkpoint) -> Result<(), SolverError> {
        Ok(())
    }
}

#[test]
fn a_solver_error_is_reported_and_the_scene_can_be_restarted() {
    let scene = scene(&[]);
    let simulation = Simulation::with_solver(&scene, Box::new(Failing)).unwrap();
    let live = start(scene, simulation);
    let _page = live.play.page();
    let stopped = when(&live, |h| !h["trouble"].is_null());
    let error = &stopped["trouble"];
    let text = |key: &str| error[key].as_str().unwrap().to_owned();
    assert!(text("error").contains("particle 7"), "{error}");
    assert!(text("help").contains("max_dt") && text("help").contains("start over"));
    assert!(live.errors().borrow().is_some());
    say(&live, r#"{"type":"play","on":false}"#);
    say(&live, r#"{"type":"reset"}"#);
    when(&live, |h| h["trouble"].is_null() && time(h) == 0.0);
    assert!(live.errors().borrow().is_none());
}

#[test]
fn a_refused_change_is_reported_with_the_line_of_its_material() {
    let scene = scene(&[]);
    let mut simulation = Simulation::new(&scene).unwrap();
    let denser = Material {
        density: 9000.0,
        ..scene.materials[0].clone()
    };
    let error = simulation.set_material(0, &denser).unwrap_err();
    let error = error_message(&error, &scene);
    assert!(error.error.contains("live.toml:13: "), "{error}");
    assert!(error.help.contains("start over"), "{error}");
}

#[test]
fn it_ends_at_once_even_during_a_long_frame() {
    let live = live(&[
        "frame_rate=1",
        "solver={ resolution = 0.02, mpm = { max_dt = 1e-5 } }",
    ]);
    let _page = live.play.page();
    say(&live, r#"{"type":"step"}"#);
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    drop(live);
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn it_ends_after_the_last_page_is_closed_unless_reloaded() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let live = live(&[]);
    runtime.block_on(async {
        let closed = live.closed();
        tokio::pin!(closed);
        let wait = Duration::from_millis(50);
        // No page yet.
        assert!(tokio::time::timeout(wait, &mut closed).await.is_err());
        let page = live.play.page();
        assert!(tokio::time::timeout(wait, &mut closed).await.is_err());
        drop(page);
        assert!(tokio::time::timeout(GRACE / 2, &mut closed).await.is_err());
        let again = live.play.page();
        assert!(tokio::time::timeout(GRACE, &mut closed).await.is_err());
        drop(again);
        assert!(tokio::time::timeout(2 * GRACE, &mut closed).await.is_ok());
    });
}

#[test]
fn a_page_opened_and_closed_between_checks_counts() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let live = live(&[]);
    runtime.block_on(async {
        let closed = live.closed();
        drop(live.play.page());
        assert!(tokio::time::timeout(2 * GRACE, closed).await.is_ok());
    });
}

fn example_limits() -> Limits {
    let scene = scene(&[]);
    limits(&scene, &Simulation::new(&scene).unwrap())
}

fn order(text: &str) -> Result<Orders, String> {
    let mut orders = Orders::default();
    let message = message::read(text).map_err(|e| e.to_string())?;
    let outcome = message.order(&example_limits(), &mut orders);
    outcome.map(|()| orders).map_err(|e| e.to_string())
}

#[test]
fn commands_are_validated() {
    let orders = order(r#"{"type":"motor","joint":0,"velocity":1e9}"#).unwrap();
    let MotorTarget::Velocity(velocity) = orders.motors[&0] else {
        panic!("{orders:?}");
    };
    // At most 90 degrees per second.
    assert!(
        (velocity - std::f64::consts::FRAC_PI_2).abs() < 1e-6,
        "{velocity}"
    );
    let wrong = [
        (r#"{"type":"motor","joint":1,"velocity":0}"#, "no joint 1"),
        (r#"{"type":"speed","factor":0}"#, "from 0.01 to 16"),
        (r#"{"type":"speed","factor":1e999}"#, "invalid message"),
        (
            r#"{"type":"parameter","material":7,"key":"young","value":1}"#,
            "no material 7",
        ),
        (
            r#"{"type":"parameter","material":0,"key":"color","value":1}"#,
            "it has friction_angle",
        ),
        (
            r#"{"type":"parameter","material":0,"key":"friction_angle","value":90}"#,
            "below 90",
        ),
        (
            r#"{"type":"drag","body":0,"point":[0,0,0],"target":[0,0,0]}"#,
            "cannot be dragged",
        ),
        (
            r#"{"type":"drag","body":9,"point":[0,0,0],"target":[0,0,0]}"#,
            "no body 9",
        ),
        (
            r#"{"type":"drag","body":1,"point":[0,0,0],"target":[0,1e30,0]}"#,
            "too far",
        ),
        (r#"{"type":"play"}"#, "invalid message"),
        (r#"{"type":"play","on":true,"more":1}"#, "invalid message"),
        ("", "invalid message"),
    ];
    for (text, words) in wrong {
        let error = order(text).unwrap_err();
        assert!(error.contains(words), "{text}: {error}");
    }
}

/// Random numbers for fuzzing.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % below
    }
}

#[test]
fn arbitrary_messages_do_not_panic() {
    const WORDS: [&str; 34] = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"type\"",
        "\"play\"",
        "\"motor\"",
        "\"drag\"",
        "\"parameter\"",
        "\"speed\"",
        "\"joint\"",
        "\"velocity\"",
        "\"material\"",
        "\"key\"",
        "\"value\"",
        "\"body\"",
        "\"point\"",
        "\"target\"",
        "\"factor\"",
        "\"on\"",
        "true",
        "null",
        "0",
        "-1",
        "1e308",
        "-1e999",
        "18446744073709551616",
        "0.5",
        "[0,0,0]",
        "[1e38,1e38,-1e38]",
        "\"friction_angle\"",
        "\"\\ud800\"",
    ];
    let limits = example_limits();
    let mut chance = Chance(7);
    let mut understood = 0;
    for round in 0..60_000 {
        let text = if round % 3 == 0 {
            let bytes: Vec<u8> = (0..chance.next(60))
                .map(|_| chance.next(256) as u8)
                .collect();
            String::from_utf8_lossy(&bytes).into_owned()
        } else if round % 3 == 1 {
            (0..chance.next(24))
                .map(|_| WORDS[chance.next(WORDS.len())])
                .collect()
        } else {
            almost(&mut chance)
        };
        if let Ok(message) = message::read(&text) {
            understood += 1;
            let _ = message.order(&limits, &mut Orders::default());
        }
    }
    assert!(understood > 1000, "only {understood} messages are valid");
}

/// A valid message with one token replaced.
fn almost(chance: &mut Chance) -> String {
    const RIGHT: [&str; 5] = [
        r#"{"type":"motor","joint":0,"velocity":1}"#,
        r#"{"type":"drag","body":1,"point":[0,0,0],"target":[0,1,0]}"#,
        r#"{"type":"parameter","material":0,"key":"friction_angle","value":30}"#,
        r#"{"type":"speed","factor":1}"#,
        r#"{"type":"seen"}"#,
    ];
    const NUMBERS: [&str; 7] = [
        "0",
        "-1",
        "1e308",
        "1e39",
        "18446744073709551615",
        "null",
        "[]",
    ];
    let text = RIGHT[chance.next(RIGHT.len())];
    text.replacen(
        ["0", "1", "\"seen\""][chance.next(3)],
        NUMBERS[chance.next(7)],
        1,
    )
}

#[test]
fn valid_commands_keep_the_simulation_consistent() {
    let live = live(&[]);
    let _page = live.play.page();
    let mut chance = Chance(11);
    for _ in 0..400 {
        if let Ok(message) = message::read(&almost(&mut chance))
            && message != Message::Seen
        {
            live.play.inbox.add(|orders| {
                let _ = message.order(&live.play.limits, orders);
            });
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    let now = when(&live, |_| true)["frame"].as_u64().unwrap();
    say(&live, r#"{"type":"play","on":true}"#);
    when(&live, |h| h["frame"].as_u64().unwrap() > now + 2);
}
