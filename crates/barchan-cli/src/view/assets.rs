//! The page, built into the program.

use axum::body::Body;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// Path and content of every file of the page; empty when the program was built without Node.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/viewer.rs"));

/// Shown if the page was not built.
const NO_PAGE: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>barchan view</title>\n\
    <h1>This barchan was built without its viewer</h1>\n\
    <p>The page needs Node 20 or newer and npm when the program is built. Install them, then build again: \
    <code>touch viewer/package.json &amp;&amp; cargo build --release</code>.</p>\n\
    <p>Meanwhile <code>barchan render</code> makes pictures and <code>barchan measure</code> prints numbers.</p>\n";

/// Whether the page was built.
pub fn is_built() -> bool {
    !FILES.is_empty()
}

/// A file of the page. The path is only looked up in a list: no file is ever opened.
pub(super) async fn page(uri: Uri) -> Response {
    let path = match uri.path() {
        "/" => "index.html",
        path => path.trim_start_matches('/'),
    };
    let file = FILES.iter().find(|(name, _)| *name == path);
    let content = match file {
        Some((_, content)) => *content,
        None if path == "index.html" => NO_PAGE.as_bytes(),
        None => {
            return super::error::refusal(
                StatusCode::NOT_FOUND,
                "there is no page at this address",
                "the page is at /",
            );
        }
    };
    let caching = match path.starts_with("assets/") {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let headers = [
        (header::CONTENT_TYPE, kind(path)),
        (header::CACHE_CONTROL, caching),
    ];
    (headers, Body::from(content)).into_response()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}
