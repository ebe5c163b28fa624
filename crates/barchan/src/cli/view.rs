//! `barchan view`: the web viewer.

use super::{Failure, output};
use barchan::frame::CacheError;
use barchan::view::{self, Server, StartError, ViewError};
use clap::Args;
use serde_json::json;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Look at a result in a browser
#[derive(Debug, Args)]
pub struct View {
    /// Result directory; while a run writes to it, new frames appear by themselves
    directory: PathBuf,
    /// Port [default: 8427, or any that is free]
    #[arg(long, value_name = "P")]
    port: Option<u16>,
    /// Address to listen on. Anything but a loopback address lets others on the network look at the result
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    listen: IpAddr,
    /// Print the address, do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Print {"url": …} when the viewer listens
    #[arg(long)]
    pub json: bool,
}

impl View {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let runtime = tokio::runtime::Runtime::new().map_err(Failure::work)?;
        let served = runtime.block_on(self.serve());
        // Pages that are still connected are left to notice.
        runtime.shutdown_background();
        served
    }

    async fn serve(&self) -> Result<ExitCode, Failure> {
        let interrupted = interrupted()?;
        let server = Server::bind(&self.directory, self.listen, self.port).await?;
        let url = server.url();
        if self.json {
            output::say_json(&json!({ "url": url }))?;
        } else {
            output::say(format_args!("{url}"))?;
            output::note(format_args!(
                "showing {}; Ctrl-C ends it",
                self.directory.display()
            ));
        }
        if !view::is_built() {
            output::note(format_args!(
                "this barchan was built without Node, so the page only says how to build the viewer"
            ));
        }
        if !self.listen.is_loopback() {
            output::note(format_args!(
                "everyone who can reach {} can look at this result",
                self.listen
            ));
        }
        if !self.no_open && open::that_detached(&url).is_err() {
            output::note(format_args!(
                "no browser could be started: open the address yourself"
            ));
        }
        tokio::select! {
            ended = server.serve() => ended.map_err(Failure::work)?,
            () = interrupted => {}
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Ends with Ctrl-C or a request to end. Both are heard from the call on, not from the first time it is waited for.
fn interrupted() -> Result<impl Future<Output = ()>, Failure> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt()).map_err(Failure::work)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(Failure::work)?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Result(error) => error.into(),
            StartError::Listen { .. } => {
                Failure::call(&error, "choose another port with --port, or leave it out")
            }
        }
    }
}

impl From<ViewError> for Failure {
    fn from(error: ViewError) -> Self {
        match error {
            // Found before anything is served: there is nothing to look at.
            ViewError::Cache(error @ CacheError::BrokenManifest { .. }) => {
                let report = miette::miette!("{error}");
                Self { code: 2, report }
            }
            ViewError::Cache(error) => error.into(),
            ViewError::Internal(_) => Failure::work(error),
            error => {
                let report = miette::miette!("{error}");
                Self { code: 2, report }
            }
        }
    }
}
