//! `barchan view`: the web viewer.

use super::inputs::Ready;
use super::resources::use_threads;
use super::scene::{Loaded, SceneArguments};
use super::{Failure, inputs, output};
use crate::manifest;
use crate::view::play::Live;
use crate::view::{self, ListenError, Server, ViewError};
use barchan::frame::CacheError;
use barchan::gallery;
use barchan::scene::SceneErrors;
use clap::Args;
use serde_json::json;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// View a result in a browser, or a scene while it is simulated
#[derive(Debug, Args)]
pub struct View {
    /// Result directory, which may still be written to; or a scene file or the name of a gallery scene, to run it live
    #[arg(value_name = "DIR|SCENE")]
    what: PathBuf,
    /// Port [default: 8427, or any that is free]
    #[arg(long, value_name = "P")]
    port: Option<u16>,
    /// Address to listen on. Anything but a loopback address lets others on the network view the result and control a live scene
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    listen: IpAddr,
    /// Print the address, do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Scene: multiply the resolution; 0.5 doubles the size of cells or grains
    #[arg(long, value_name = "S")]
    scale: Option<f64>,
    /// Scene: family of solvers, instead of the scene's own
    #[arg(long, value_name = "NAME")]
    solver: Option<String>,
    /// Scene: change a value, such as `solver.resolution=0.02`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Scene: threads [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Scene: when the last page is closed, wait, paused, instead of ending
    #[arg(long)]
    stay: bool,
    /// Print {"url": …} once the viewer is ready
    #[arg(long)]
    json: bool,
}

impl View {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let live = match self.is_result() {
            true => None,
            false => Some(self.begin()?),
        };
        let runtime = tokio::runtime::Runtime::new().map_err(Failure::work)?;
        let served = runtime.block_on(self.serve(live.as_ref()));
        // Does not wait for pages that are still connected.
        runtime.shutdown_background();
        served
    }

    /// A folder is a result; a file ending in .toml or a gallery scene's name is a scene. Otherwise a name with
    /// any other extension is taken for a result, one without for a scene.
    fn is_result(&self) -> bool {
        let ending = self.what.extension();
        let is_gallery = || {
            self.what
                .to_str()
                .is_some_and(|name| gallery::text(name).is_some())
        };
        self.what.is_dir()
            || (ending.is_none_or(|e| e != "toml")
                && !is_gallery()
                && (self.what.is_file() || ending.is_some()))
    }

    /// The scene, ready to run. Reports all errors of the scene.
    fn begin(&self) -> Result<Live, Failure> {
        use_threads(self.threads)?;
        let Loaded { scene, directory } = self.load()?;
        let Ready {
            simulation,
            warnings,
            ..
        } = inputs::prepare(&scene)?;
        let manifest = manifest::of_scene(&scene, &directory);
        Ok(Live::start(scene, &manifest, simulation, warnings)?)
    }

    fn load(&self) -> Result<Loaded, Failure> {
        let arguments = SceneArguments {
            scene: self.what.clone(),
            frames: None,
            scale: self.scale,
            solver: self.solver.clone(),
            set: self.set.clone(),
        };
        let is_there = self.what.exists();
        arguments.load().map_err(|failure| {
            let is_unknown = !is_there && failure.report.downcast_ref::<SceneErrors>().is_none();
            let help = failure.report.help().map(|help| help.to_string());
            match help.filter(|_| is_unknown) {
                Some(help) => Failure::call(
                    format_args!(
                        "there is no result directory `{0}`, no scene file and no gallery scene of that name",
                        self.what.display()
                    ),
                    help,
                ),
                None => failure,
            }
        })
    }

    async fn serve(&self, live: Option<&Live>) -> Result<ExitCode, Failure> {
        let interrupted = interrupted()?;
        let routes = match live {
            Some(live) => live.routes(),
            None => view::routes_of_result(&self.what)?,
        };
        let server = Server::bind(routes, self.listen, self.port).await?;
        self.announce(&server.url(), live.is_some())?;
        tokio::select! {
            ended = server.serve() => ended.map_err(Failure::work)?,
            () = interrupted => {}
            () = self.closed(live) => {}
        }
        Ok(ExitCode::SUCCESS)
    }

    fn announce(&self, url: &str, is_live: bool) -> Result<(), Failure> {
        let what = self.what.display();
        if self.json {
            output::say_json(&json!({ "url": url }))?;
        } else {
            output::say(url)?;
            match (is_live, self.stay) {
                (true, false) => output::note(format_args!(
                    "running {what}; close the page or press Ctrl-C to end"
                )),
                (true, true) => output::note(format_args!("running {what}; press Ctrl-C to end")),
                (false, _) => output::note(format_args!("showing {what}; press Ctrl-C to end")),
            }
        }
        if !view::is_built() {
            output::note(
                "this barchan was built without Node, so the page only explains how to build the viewer",
            );
        }
        if !self.listen.is_loopback() {
            let control = if is_live { " and control" } else { "" };
            output::note(format_args!(
                "anyone who can reach {} can view{control} this",
                self.listen
            ));
        }
        if !self.no_open && open::that_detached(url).is_err() {
            output::note("could not start a browser; open the address yourself");
        }
        Ok(())
    }

    /// Ends when the pages of a live scene are closed, unless `--stay` is given. Meanwhile reports errors that stop the simulation.
    async fn closed(&self, live: Option<&Live>) {
        let Some(live) = live else {
            return std::future::pending().await;
        };
        let mut errors = live.errors();
        let tell = async {
            while errors.changed().await.is_ok() {
                if let Some(error) = &*errors.borrow_and_update() {
                    output::note(format_args!("the simulation has stopped: {error}"));
                }
            }
            std::future::pending().await
        };
        let closed = async {
            live.closed().await;
            if self.stay {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = tell => {}
            () = closed => {}
        }
    }
}

/// Completes on Ctrl-C or a termination signal. Both are handled from the call on, not from the first poll.
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

impl From<ListenError> for Failure {
    fn from(error: ListenError) -> Self {
        let help = "choose another port with --port, or omit the option";
        Self::call(error, help)
    }
}

impl From<ViewError> for Failure {
    fn from(error: ViewError) -> Self {
        match error {
            // Detected before anything is served.
            ViewError::Cache(error @ CacheError::BrokenManifest { .. }) => {
                Self::with_code(2, error)
            }
            ViewError::Cache(error) => error.into(),
            ViewError::Internal(_) => Self::work(error),
            error => Self::with_code(2, error),
        }
    }
}
