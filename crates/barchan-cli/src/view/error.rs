//! What the viewer answers when it cannot give what was asked for.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use barchan::frame::CacheError;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What is wrong, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{error}; {help}")]
pub struct Trouble {
    /// What is wrong.
    pub error: String,
    /// What to do.
    pub help: String,
}

impl Trouble {
    pub fn new(error: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            error: error.into(),
            help: help.into(),
        }
    }
}

/// Why something of a result cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The result cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A link, or something else that is neither file nor folder, stands where the result should be.
    #[error("{} {reason}; the viewer shows only what is in the result directory: copy it there", .path.display())]
    Outside {
        /// The link.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// No such grain.
    #[error("frame {frame} has no grain {which}; {help}")]
    NoGrain {
        /// Frame.
        frame: u32,
        /// How the grain was named: `with id 7`, `number 7`.
        which: String,
        /// What there is.
        help: String,
    },
    /// Anything else that is not there.
    #[error("there is no {what}; {help}")]
    Unknown {
        /// What was asked for.
        what: String,
        /// What there is.
        help: String,
    },
    /// The program failed, not the result.
    #[error("{0}; please report this as a bug")]
    Internal(String),
}

impl ViewError {
    /// Message and remedy, apart, with files named relative to the result directory.
    pub fn trouble(&self, root: &Path) -> Trouble {
        let text = self
            .to_string()
            .replace(&format!("{}/", root.display()), "");
        match text.rsplit_once("; ") {
            Some((message, help)) => Trouble::new(message, help),
            None => Trouble::new(text, "look at the terminal that runs `barchan view`"),
        }
    }

    /// Whether the answer is about the state of the result (a damaged frame), and not about the request.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Cache(error) if !matches!(error, CacheError::NoFrame { .. } | CacheError::NoColumn { .. }))
    }

    /// The answer. Damage is reported with status 200: the request was fine, and the page shows it in a banner, where any
    /// other status would also end up as an error in the console of the browser.
    pub fn answer(&self, root: &Path) -> Response {
        let status = match self {
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            error if error.is_damage() => StatusCode::OK,
            _ => StatusCode::NOT_FOUND,
        };
        refused(status, self.trouble(root))
    }
}

/// An error as JSON.
pub(super) fn refusal(status: StatusCode, error: &str, help: &str) -> Response {
    refused(status, Trouble::new(error, help))
}

/// Never stored by the browser.
fn refused(status: StatusCode, trouble: Trouble) -> Response {
    (status, [("cache-control", "no-store")], Json(trouble)).into_response()
}
