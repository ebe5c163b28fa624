//! The web viewer: serves one result directory, or a scene that is simulated live, and the page that shows it, to the
//! browsers of this machine.
//!
//! ```text
//! result directory ──► store (checks, caches) ──► encode ──► api ──► page (viewer/, embedded)
//!                        └──► live (new frames, damage, statistics) ──┘
//! ```
//!
//! Nothing is ever written, and nothing outside the result directory is read. A live scene (`play`) has its own requests
//! behind the same guard.

mod api;
mod assets;
mod encode;
mod error;
pub mod grain;
mod guard;
mod live;
mod look;
pub mod play;
mod store;
mod terrain;
mod values;

pub use assets::is_built;
pub use error::ViewError;
pub use live::intervals;

use axum::Router;
use live::Live;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use store::Store;
use tokio::net::TcpListener;

/// Port that is tried first, so that the address is usually the same.
pub const DEFAULT_PORT: u16 = 8427;

/// The routes of a result, which is watched for changes.
///
/// # Errors
/// The directory is missing, foreign, of a newer format or broken.
pub fn routes_of_result(directory: &Path) -> Result<Router, ViewError> {
    let store = Arc::new(Store::open(directory)?);
    let live = Live::start(Arc::clone(&store))?;
    Ok(api::routes(Arc::new(api::Viewer::new(store, live))))
}

/// A viewer that is listening.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    routes: Router,
}

/// Listening on an address failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {reason}")]
pub struct ListenError {
    address: SocketAddr,
    reason: io::Error,
}

impl Server {
    /// Listens for the pages of a result or of a live scene. Without a port, on [`DEFAULT_PORT`] or any free one.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn bind(
        routes: Router,
        listen: IpAddr,
        port: Option<u16>,
    ) -> Result<Self, ListenError> {
        let usual = SocketAddr::new(listen, port.unwrap_or(DEFAULT_PORT));
        let mut bound = TcpListener::bind(usual).await;
        if bound.is_err() && port.is_none() {
            bound = TcpListener::bind(SocketAddr::new(listen, 0)).await;
        }
        let failed = |reason| ListenError {
            address: usual,
            reason,
        };
        let listener = bound.map_err(failed)?;
        let guard = axum::middleware::from_fn_with_state(listen, guard::guard);
        Ok(Self {
            address: listener.local_addr().map_err(failed)?,
            listener,
            routes: routes.layer(guard),
        })
    }

    /// Address to open in a browser on this machine.
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(IpAddr::from([127, 0, 0, 1]));
        }
        format!("http://{address}/")
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    /// The listener fails.
    pub async fn serve(self) -> io::Result<()> {
        axum::serve(self.listener, self.routes).await
    }
}
