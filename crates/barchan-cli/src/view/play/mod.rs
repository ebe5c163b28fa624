//! Live simulation of a scene.
//!
//! ```text
//! pages ──► socket ──► orders ──► engine (a thread: the simulation, in real time)
//!   ▲                                │
//!   └── socket ◄── the latest picture
//! ```
//!
//! The simulation runs while a page is open, pauses when there is none, and ends with the viewer.

mod engine;
mod message;
mod orders;
mod pace;
mod picture;
mod socket;
#[cfg(test)]
mod tests;

use super::error::{ErrorMessage, refusal};
use super::look::Look;
use super::{api, assets, encode};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use barchan::frame::Manifest;
use barchan::scene::Scene;
use barchan::sim::bodies::JointState;
use barchan::sim::simulation::{Simulation, SimulationError};
use barchan::sim::solvers::parameters;
use engine::Engine;
use message::Limits;
use orders::Inbox;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// A page that returns within this time was reloaded, not closed.
const GRACE: Duration = Duration::from_millis(2500);

/// Why the simulation has stopped.
fn error_message(error: &SimulationError, scene: &Scene) -> ErrorMessage {
    let mut text = error.to_string();
    let placed = error.in_scene(scene);
    if let Some(place) = placed.and_then(|errors| errors.errors()[0].location()) {
        text = format!("{place}: {text}");
    }
    match text.split_once("; ") {
        Some((error, help)) => ErrorMessage::new(error, format!("{help}; then start over")),
        None => ErrorMessage::new(text, "start over, or run the scene with `barchan run`"),
    }
}

/// State shared by the pages, their connections and the simulation.
pub(super) struct Play {
    about: Value,
    look: Look,
    limits: Limits,
    inbox: Inbox,
    pictures: watch::Sender<Bytes>,
    terrain: watch::Sender<Bytes>,
    pages: watch::Sender<Pages>,
    error: watch::Sender<Option<ErrorMessage>>,
    is_over: AtomicBool,
}

type Shared = State<Arc<Play>>;

impl Play {
    /// Number of open pages.
    fn pages(&self) -> usize {
        self.pages.borrow().open
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    fn report(&self, error: Option<ErrorMessage>) {
        self.error.send_replace(error);
    }

    /// Counts an open page until the returned guard is dropped.
    fn page(self: &Arc<Self>) -> Page {
        self.pages.send_modify(|pages| {
            pages.open += 1;
            pages.opened += 1;
        });
        self.inbox.add(|orders| orders.pages = true);
        Page(Arc::clone(self))
    }
}

/// Number of open pages, and of all pages so far, so that one that opens and closes between two checks still counts.
#[derive(Debug, Clone, Copy, Default)]
struct Pages {
    open: usize,
    opened: u64,
}

/// An open page.
struct Page(Arc<Play>);

impl Drop for Page {
    fn drop(&mut self) {
        self.0.pages.send_modify(|pages| pages.open -= 1);
        self.0.inbox.add(|orders| orders.pages = true);
    }
}

/// A live simulation, which ends when dropped.
pub struct Live {
    play: Arc<Play>,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Starts the simulation thread, which advances while a page is open. The manifest is that of a run of the scene; `notes` are shown on the page.
    ///
    /// # Errors
    /// The scene's first frame cannot be written.
    pub fn start(
        scene: Scene,
        manifest: &Manifest,
        mut simulation: Simulation,
        notes: Vec<String>,
    ) -> Result<Self, SimulationError> {
        let frame = simulation.write_frame()?;
        let look = Look::at_start(scene.clone(), manifest, &frame, notes);
        let limits = limits(&scene, &simulation);
        let play = Arc::new(Play {
            about: about(manifest, &mut simulation, &look, &limits),
            look,
            limits,
            inbox: Inbox::default(),
            pictures: watch::Sender::new(Bytes::new()),
            terrain: watch::Sender::new(Bytes::new()),
            pages: watch::Sender::new(Pages::default()),
            error: watch::Sender::new(None),
            is_over: AtomicBool::new(false),
        });
        let engine = Engine::new(Arc::clone(&play), scene, simulation, true);
        let thread = std::thread::spawn(move || engine.run());
        Ok(Self {
            play,
            thread: Some(thread),
        })
    }

    /// The routes of its pages.
    pub fn routes(&self) -> Router {
        Router::new()
            .route("/api/result", get(result))
            .route("/api/bodies/{body}/surface", get(surface))
            .route("/api/live", get(socket::connect))
            .route("/api/live/terrain", get(terrain))
            .fallback(assets::page)
            .with_state(Arc::clone(&self.play))
    }

    /// Completes when the last page has been closed for longer than [`GRACE`].
    pub fn closed(&self) -> impl Future<Output = ()> + use<> {
        let mut pages = self.play.pages.subscribe();
        async move {
            if pages.wait_for(|pages| pages.opened > 0).await.is_err() {
                return;
            }
            loop {
                let Ok(before) = pages.wait_for(|pages| pages.open == 0).await.map(|p| *p) else {
                    return;
                };
                let back = pages.wait_for(|pages| pages.opened > before.opened);
                if tokio::time::timeout(GRACE, back).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Errors that stop the simulation.
    pub fn errors(&self) -> watch::Receiver<Option<ErrorMessage>> {
        self.play.error.subscribe()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.play.is_over.store(true, Ordering::Release);
        self.play.inbox.add(|orders| orders.quit = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn limits(scene: &Scene, simulation: &Simulation) -> Limits {
    let joints = simulation.bodies().joints().iter();
    let solids = scene.solids().count();
    let free = scene.colliders.len()..solids;
    Limits {
        parameters: scene
            .materials
            .iter()
            .map(|m| parameters(scene, m))
            .collect(),
        joints: joints
            .map(|j| j.control.as_ref().map_or(0.0, |c| c.speed.abs()))
            .collect(),
        bodies: (0..solids).map(|i| free.contains(&i)).collect(),
    }
}

/// `/api/result` of a live scene: as for a result, and with the controls.
fn about(manifest: &Manifest, simulation: &mut Simulation, look: &Look, limits: &Limits) -> Value {
    let step = simulation.fixed_step().unwrap_or(1.0 / manifest.frame_rate);
    let columns = json!([{
        "name": "velocity", "unit": "m/s", "meaning": "speed", "kind": "quantity", "parts": ["magnitude"], "tolerance": 0,
    }, {
        "name": "material", "unit": "1", "meaning": "material", "kind": "category", "parts": ["value"], "tolerance": 0,
    }]);
    let joints = simulation.bodies().joints().iter();
    let mut about = api::describe(manifest, columns, look);
    about["live"] = json!({
        "step_s": step,
        "parameters": limits.parameters,
        "joints": joints.map(joint).collect::<Vec<_>>(),
        "free": limits.bodies,
    });
    about
}

fn joint(joint: &JointState) -> Value {
    let control = joint.control.as_ref().map(|control| {
        json!({
            "keys": control.keys,
            "gamepad_axis": control.gamepad_axis,
            "speed": control.speed,
            "label": control.label,
        })
    });
    json!({ "name": joint.name, "kind": joint.kind.name(), "limits": joint.limits, "control": control })
}

async fn result(State(play): Shared) -> Response {
    api::fresh(&play.about)
}

async fn surface(State(play): Shared, Path(body): Path<String>) -> Response {
    let shared = Arc::clone(&play);
    let made = tokio::task::spawn_blocking(move || {
        let surface = shared.look.surface(body.parse().ok()?)?;
        Some(encode::surface(&surface))
    });
    match made.await {
        Ok(Some(bytes)) => binary(bytes.into()),
        _ => refusal(
            StatusCode::NOT_FOUND,
            "there is no such surface",
            "/api/result lists the bodies that have one",
        ),
    }
}

/// The latest terrain, whichever version was requested.
async fn terrain(State(play): Shared) -> Response {
    let bytes = play.terrain.borrow().clone();
    if bytes.is_empty() {
        return refusal(
            StatusCode::NOT_FOUND,
            "this scene has no terrain",
            "give it one with [terrain]",
        );
    }
    binary(bytes)
}

fn binary(bytes: Bytes) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, bytes).into_response()
}
