//! What the viewer answers when it cannot give what was asked for.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use barchan::frame::CacheError;
use serde_json::json;
use std::path::{Path, PathBuf};

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
    pub fn parts(&self, root: &Path) -> (String, String) {
        let text = self
            .to_string()
            .replace(&format!("{}/", root.display()), "");
        match text.rsplit_once("; ") {
            Some((message, help)) => (message.to_owned(), help.to_owned()),
            None => (text, "look at the terminal that runs `barchan view`".into()),
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
        let (error, help) = self.parts(root);
        refusal(status, &error, &help)
    }
}

/// An error as JSON, never stored by the browser.
pub(super) fn refusal(status: StatusCode, error: &str, help: &str) -> Response {
    let body = Json(json!({ "error": error, "help": help }));
    (status, [("cache-control", "no-store")], body).into_response()
}
