//! Error responses of the viewer.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use barchan::frame::CacheError;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// An error message with its remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{error}; {help}")]
pub struct ErrorMessage {
    /// The error.
    pub error: String,
    /// The remedy.
    pub help: String,
}

impl ErrorMessage {
    pub fn new(error: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            error: error.into(),
            help: help.into(),
        }
    }
}

/// Why a part of a result cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The result cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// An entry of the result is a link to the outside, or neither a file nor a folder.
    #[error("{} {reason}; the viewer shows only what is in the result directory: copy it there", .path.display())]
    Outside {
        /// The entry.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// No such grain.
    #[error("frame {frame} has no grain {which}; {help}")]
    NoGrain {
        /// Frame.
        frame: u32,
        /// How the grain was requested: `with id 7`, `number 7`.
        which: String,
        /// The available grains.
        help: String,
    },
    /// Anything else that does not exist.
    #[error("there is no {what}; {help}")]
    Unknown {
        /// The requested item.
        what: String,
        /// The available items.
        help: String,
    },
    /// A bug in the program.
    #[error("{0}; please report this as a bug")]
    Internal(String),
}

impl ViewError {
    /// Message and remedy, with file names relative to the result directory.
    pub fn message(&self, root: &Path) -> ErrorMessage {
        let text = self
            .to_string()
            .replace(&format!("{}/", root.display()), "");
        match text.rsplit_once("; ") {
            Some((message, help)) => ErrorMessage::new(message, help),
            None => ErrorMessage::new(text, "see the terminal in which `barchan view` runs"),
        }
    }

    /// Whether the error concerns the state of the result (a damaged frame) rather than the request.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Cache(error) if !matches!(error, CacheError::NoFrame { .. } | CacheError::NoColumn { .. }))
    }

    /// The response. Damage is reported with status 200: the request was valid and the page shows a banner, whereas any
    /// other status would also appear as an error in the browser's console.
    pub fn answer(&self, root: &Path) -> Response {
        let status = match self {
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            error if error.is_damage() => StatusCode::OK,
            _ => StatusCode::NOT_FOUND,
        };
        refused(status, self.message(root))
    }
}

/// An error response in JSON.
pub(super) fn refusal(status: StatusCode, error: &str, help: &str) -> Response {
    refused(status, ErrorMessage::new(error, help))
}

/// The browser must not cache it.
fn refused(status: StatusCode, message: ErrorMessage) -> Response {
    (status, [("cache-control", "no-store")], Json(message)).into_response()
}
