//! The requests of the page. Request paths are parsed into numbers and names of columns; none is ever used as a file path.

use super::encode;
use super::error::ViewError;
use super::live::Live;
use super::look::Look;
use super::store::{Store, locked};
use super::values::{self, Part, Range};
use super::{assets, grain, terrain};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::get;
use barchan::frame::Manifest;
use barchan_render::color::ColorMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;

/// Maximum number of concurrent requests that read frames: bounds memory.
const READERS: usize = 3;
/// Shortest time between two events sent to a page.
const EVENT_PAUSE: Duration = Duration::from_millis(150);
/// A range is determined again once the number of frames has grown by this factor.
const RANGE_GROWTH: f64 = 1.25;

/// State shared by all requests.
pub(super) struct Viewer {
    pub store: Arc<Store>,
    pub live: Arc<Live>,
    look: OnceLock<Look>,
    readers: Semaphore,
    /// Range of each column and part, with the number of frames when it was determined.
    ranges: Mutex<HashMap<String, (usize, Range)>>,
}

type Shared = State<Arc<Viewer>>;

impl Viewer {
    pub fn new(store: Arc<Store>, live: Arc<Live>) -> Self {
        Self {
            store,
            live,
            look: OnceLock::new(),
            readers: Semaphore::new(READERS),
            ranges: Mutex::default(),
        }
    }

    /// Appearance of the scene, read once.
    fn look(&self) -> &Look {
        self.look
            .get_or_init(|| Look::of(&self.store, &self.live.frames()))
    }

    fn range(&self, column: &str, part: Option<&str>) -> Result<Range, ViewError> {
        let frames = self.live.frames();
        let key = format!("{column}/{}", part.unwrap_or_default());
        let fresh = |from: usize| (frames.len() as f64) < (from as f64) * RANGE_GROWTH;
        let known = locked(&self.ranges).get(&key).copied();
        if let Some((_, range)) = known.filter(|(from, _)| fresh(*from)) {
            return Ok(range);
        }
        let range = values::range_of_result(&self.store, &frames, column, part)?;
        locked(&self.ranges).insert(key, (frames.len(), range));
        Ok(range)
    }
}

/// A number in a path: digits only.
fn number<T: FromStr>(text: &str, what: &str) -> Result<T, ViewError> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| ViewError::Unknown {
        what: format!("{what} `{}`", text.escape_default()),
        help: "give its number".into(),
    })
}

/// All routes.
pub(super) fn routes(viewer: Arc<Viewer>) -> Router {
    Router::new()
        .route("/api/result", get(result))
        .route("/api/events", get(events))
        .route("/api/statistics", get(statistics))
        .route("/api/columns/{column}/range", get(range))
        .route("/api/bodies/{body}/surface", get(surface))
        .route("/api/frames/{frame}/grains", get(grains))
        .route("/api/frames/{frame}/terrain", get(terrain_of))
        .route("/api/frames/{frame}/grains/{index}", get(grain_at))
        .route("/api/frames/{frame}/ids/{id}", get(grain_with_id))
        .route("/api/frames/{frame}/columns/{column}", get(colors))
        .fallback(assets::page)
        .with_state(viewer)
}

/// Runs blocking work outside the server's threads, with bounded concurrency.
async fn work<T, F>(viewer: &Arc<Viewer>, job: F) -> Result<T, Response>
where
    T: Send + 'static,
    F: FnOnce(&Viewer) -> Result<T, ViewError> + Send + 'static,
{
    let root = viewer.store.root().to_owned();
    let permit = viewer.readers.acquire().await;
    let shared = Arc::clone(viewer);
    let done = tokio::task::spawn_blocking(move || job(&shared)).await;
    drop(permit);
    match done {
        Ok(done) => done.map_err(|error| error.answer(&root)),
        Err(error) => Err(ViewError::Internal(error.to_string()).answer(&root)),
    }
}

async fn result(State(viewer): Shared) -> Result<Response, Response> {
    let about = work(&viewer, |viewer| {
        let manifest = viewer.store.manifest();
        let look = viewer.look();
        let frames = viewer.live.frames();
        // The columns of the first readable frame.
        let info = frames.iter().find_map(|f| viewer.store.info(*f).ok());
        let columns = info.iter().flat_map(|info| &info.columns).map(|column| {
            json!({
                "name": column.name,
                "unit": column.unit,
                "meaning": column.meaning,
                // Small integers are categories, each with a color.
                "kind": if column.data_type == "uint8" { "category" } else { "quantity" },
                "parts": Part::names(column.components),
                "tolerance": column.tolerance,
            })
        });
        Ok(describe(&manifest, columns.collect(), look))
    });
    Ok(fresh(about.await?))
}

/// The answer of `/api/result` for a result, and for a live scene without its controls.
pub(super) fn describe(manifest: &Manifest, columns: Value, look: &Look) -> Value {
    json!({
        "scene": manifest.scene,
        "description": manifest.description,
        "solver": manifest.solver,
        "dimensions": manifest.dimensions,
        "dx": manifest.dx,
        "frame_rate": manifest.frame_rate,
        "created_by": manifest.created_by,
        "columns": columns,
        "grain_radius": look.grain_radius,
        "bounds": [look.bounds.min.to_array(), look.bounds.max.to_array()],
        "maps": maps(),
        "palette": look.palette.colors(),
        "materials": look.materials,
        "bodies": look.bodies,
        "camera": look.camera,
        "notes": look.notes,
    })
}

/// Color maps, the same as in pictures: 256 colors each, six hexadecimal digits per color.
fn maps() -> Value {
    let text = |map: ColorMap| {
        let colors = (0..256).flat_map(|i| map.at(i as f32 / 255.0));
        colors.map(|c| format!("{c:02x}")).collect::<String>()
    };
    ColorMap::ALL
        .map(|map| (map.name(), text(map)))
        .into_iter()
        .collect()
}

/// The present state and every change, as events; slow pages skip outdated states.
async fn events(State(viewer): Shared) -> Response {
    let mut state = viewer.live.watch();
    let (sender, receiver) = mpsc::channel::<Result<Event, Infallible>>(1);
    tokio::spawn(async move {
        loop {
            let data = serde_json::to_string(&*state.borrow_and_update()).unwrap_or_default();
            if sender.send(Ok(Event::default().data(data))).await.is_err() {
                return;
            }
            tokio::time::sleep(EVENT_PAUSE).await;
            tokio::select! {
                changed = state.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
        }
    });
    Sse::new(ReceiverStream::new(receiver))
        .keep_alive(KeepAlive::default())
        .into_response()
}

async fn statistics(State(viewer): Shared) -> Response {
    fresh(viewer.live.statistics())
}

#[derive(Deserialize)]
struct ColumnQuery {
    part: Option<String>,
    min: Option<f32>,
    max: Option<f32>,
}

async fn range(
    State(viewer): Shared,
    Path(column): Path<String>,
    Query(query): Query<ColumnQuery>,
) -> Result<Response, Response> {
    let range = work(&viewer, move |viewer| {
        viewer.range(&column, query.part.as_deref())
    });
    Ok(fresh(range.await?))
}

async fn surface(
    State(viewer): Shared,
    Path(body): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let job = move |viewer: &Viewer| {
        let body: usize = number(&body, "body")?;
        let key = format!("surface-{body}-{}", viewer.store.manifest().scene_digest);
        let bytes = viewer.store.encoded(key.clone(), || {
            let surface = viewer.look().surface(body);
            let surface = surface.ok_or_else(|| ViewError::Unknown {
                what: format!("surface of body {body}"),
                help: "/api/result lists the bodies that have one".into(),
            })?;
            Ok(encode::surface(&surface))
        })?;
        Ok((key, bytes))
    };
    let (version, bytes) = work(&viewer, job).await?;
    Ok(binary(&headers, &version, &bytes))
}

async fn grains(
    State(viewer): Shared,
    Path(frame): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let make = |viewer: &Viewer, frame| {
        let info = viewer.store.info(frame)?;
        let there = |name: &&str| info.columns.iter().any(|c| c.name == *name);
        let optional = ["id", "material"].into_iter().filter(there);
        let names = std::iter::once("position").chain(optional);
        let columns: Result<Vec<_>, _> =
            names.map(|name| viewer.store.column(frame, name)).collect();
        encode::grains(&info, &columns?, &viewer.look().palette)
    };
    of_frame(&viewer, frame, &headers, "grains".into(), make).await
}

async fn terrain_of(
    State(viewer): Shared,
    Path(frame): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let make = |viewer: &Viewer, frame| {
        let palette = &viewer.look().palette;
        terrain::of_frame(&viewer.store, frame, |m| palette.mean(m))
    };
    of_frame(&viewer, frame, &headers, "terrain".into(), make).await
}

async fn colors(
    State(viewer): Shared,
    Path((frame, column)): Path<(String, String)>,
    Query(query): Query<ColumnQuery>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let what = format!("{column}-{:?}-{:?}-{:?}", query.part, query.min, query.max);
    let make = move |viewer: &Viewer, frame| {
        let values = viewer.store.column(frame, &column)?;
        let part = Part::of(&column, values.components, query.part.as_deref())?;
        let range = match (query.min, query.max) {
            (Some(min), Some(max)) if min < max => Range { min, max },
            _ => values::range_in_frame(&values, part),
        };
        Ok(encode::colors(frame, &values, part, range))
    };
    of_frame(&viewer, frame, &headers, what, make).await
}

/// Data derived from a frame, cached by the version of the frame. Damage is recorded.
async fn of_frame(
    viewer: &Arc<Viewer>,
    frame: String,
    headers: &HeaderMap,
    what: String,
    make: impl FnOnce(&Viewer, u32) -> Result<Vec<u8>, ViewError> + Send + 'static,
) -> Result<Response, Response> {
    let job = move |viewer: &Viewer| {
        let frame: u32 = number(&frame, "frame")?;
        let made = viewer.store.version(frame).and_then(|version| {
            let key = format!("{version}-{what}");
            let bytes = viewer.store.encoded(key.clone(), || make(viewer, frame))?;
            Ok((key, bytes))
        });
        if let Err(error) = &made
            && error.is_damage()
        {
            viewer.live.add_damage(frame, error);
        }
        made
    };
    let (version, bytes) = work(viewer, job).await?;
    Ok(binary(headers, &version, &bytes))
}

async fn grain_at(
    State(viewer): Shared,
    Path((frame, index)): Path<(String, String)>,
) -> Result<Response, Response> {
    let grain = work(&viewer, move |viewer| {
        let (frame, index) = (number(&frame, "frame")?, number(&index, "grain")?);
        grain::at(&*viewer.store.whole(frame)?, index)
    });
    Ok(fresh(grain.await?))
}

/// A grain that is missing in this frame is not an error: grains are emitted and removed.
async fn grain_with_id(
    State(viewer): Shared,
    Path((frame, id)): Path<(String, String)>,
) -> Result<Response, Response> {
    let grain = work(&viewer, move |viewer| {
        let (frame, id) = (number(&frame, "frame")?, number(&id, "grain")?);
        match grain::with_id(&*viewer.store.whole(frame)?, id) {
            Ok(grain) => Ok(Some(grain)),
            Err(ViewError::NoGrain { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    });
    Ok(fresh(grain.await?))
}

/// JSON that the browser must not cache.
pub(super) fn fresh(content: impl Serialize) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store")];
    (headers, Json(content)).into_response()
}

/// Bytes that the browser may cache but must revalidate, since a frame can be rewritten.
fn binary(request: &HeaderMap, version: &str, bytes: &Bytes) -> Response {
    let digest = barchan::frame::document_digest(version);
    let tag = format!("\"{}\"", &digest[..digest.len().min(24)]);
    let known = request
        .get(header::IF_NONE_MATCH)
        .and_then(|v| v.to_str().ok());
    let headers = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, "no-cache".into()),
    ];
    if known.is_some_and(|known| known.split(',').any(|k| k.trim() == tag)) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    (headers, kind, bytes.clone()).into_response()
}
