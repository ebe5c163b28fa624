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

use live::Live;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use store::Store;
use tokio::net::TcpListener;

/// Port that is tried first, so that the address is usually the same.
pub const DEFAULT_PORT: u16 = 8427;

/// A viewer that is listening.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    routes: axum::Router,
}

/// Why a viewer cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The result cannot be read.
    #[error(transparent)]
    Result(#[from] ViewError),
    /// Listening on the address failed.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// Address and port.
        address: SocketAddr,
        /// Reason.
        reason: io::Error,
    },
}

impl Server {
    /// Opens a result and listens. Without a port, on [`DEFAULT_PORT`] or any free one.
    ///
    /// # Errors
    /// The directory is missing, foreign, of a newer format or broken; the port is taken.
    pub async fn bind(
        directory: &Path,
        listen: IpAddr,
        port: Option<u16>,
    ) -> Result<Self, StartError> {
        let store = Arc::new(Store::open(directory)?);
        let live = Live::start(Arc::clone(&store))?;
        let viewer = Arc::new(api::Viewer::new(store, live));
        Self::serving(api::routes(viewer), listen, port).await
    }

    /// Listens for the pages of a scene that is simulated live.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn bind_live(
        live: &play::Live,
        listen: IpAddr,
        port: Option<u16>,
    ) -> Result<Self, StartError> {
        Self::serving(live.routes(), listen, port).await
    }

    async fn serving(
        routes: axum::Router,
        listen: IpAddr,
        port: Option<u16>,
    ) -> Result<Self, StartError> {
        let (listener, address) = listen_on(listen, port).await?;
        let guard = axum::middleware::from_fn_with_state(listen, guard::guard);
        Ok(Self {
            listener,
            address,
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

async fn listen_on(
    listen: IpAddr,
    port: Option<u16>,
) -> Result<(TcpListener, SocketAddr), StartError> {
    let usual = SocketAddr::new(listen, port.unwrap_or(DEFAULT_PORT));
    let mut bound = TcpListener::bind(usual).await;
    if bound.is_err() && port.is_none() {
        bound = TcpListener::bind(SocketAddr::new(listen, 0)).await;
    }
    let address = |reason| StartError::Listen {
        address: usual,
        reason,
    };
    let listener = bound.map_err(address)?;
    let found = listener.local_addr().map_err(address)?;
    Ok((listener, found))
}
