//! `barchan run`: simulate a scene into a result directory, or resume a run.

use super::inputs::Ready;
use super::pictures;
use super::progress::Reporter;
use super::resources::{Estimate, use_threads, warn_small_disk};
use super::scene::{Loaded, SceneArguments};
use super::stop::StopRequest;
use super::summary::Summary;
use super::writer::FrameWriter;
use super::{Failure, inputs, output, repair};
use crate::manifest;
use barchan::final_check::check_final;
use barchan::frame::{Checkpoint, ResultDirectory, document_digest};
use barchan::scene::{Scene, SceneSource};
use barchan::sim::simulation::{Control, Simulation, SimulationError};
use clap::Args;
use miette::Report;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shortest time between two checkpoints, apart from the last: computation lost if the process is killed, besides the present frame.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);
/// Shortest time between checkpoints, as a multiple of the cost of the last one: large runs spend 2 % of their time on them.
const CHECKPOINT_PATIENCE: u32 = 50;

/// Simulate a scene: writes frames, checkpoints and the resolved scene
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    scene: SceneArguments,
    /// Result directory [default: NAME.barchan in the current directory]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Threads; any number gives the same result [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Resume an unfinished run; SCENE may be the result directory itself
    #[arg(long)]
    resume: bool,
    /// Do not draw the final picture and film
    #[arg(long)]
    no_render: bool,
    /// Show no progress and end with one JSON object
    #[arg(long)]
    json: bool,
}

impl Run {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let clock = Instant::now();
        use_threads(self.threads)?;
        let (mut session, stop) = if self.resume {
            let stop = StopRequest::listen(self.json)?;
            (Session::resume(self, &stop)?, stop)
        } else {
            (Session::start(self)?, StopRequest::listen(self.json)?)
        };
        if session.is_complete() {
            return session.report_again(self.json);
        }
        session.advance(&stop, self.json)?;
        let mut summary = session.summarize(clock)?;
        if !summary.finished {
            summary.show(self.json)?;
            session.print_how_to_resume(summary.frames);
            return Ok(summary.exit_code());
        }
        let path = session.directory.path().to_owned();
        // Drawing needs memory of its own.
        drop(session);
        summary.store(&path);
        if !self.no_render {
            let draw = |directory| pictures::after_run(directory, &stop, self.json);
            summary.pictures = pictures::if_possible(&path, "no pictures", draw);
            summary.store(&path);
        }
        summary.show(self.json)?;
        Ok(summary.exit_code())
    }

    fn default_output(&self, scene: &Scene) -> PathBuf {
        let named = || PathBuf::from(format!("{}.barchan", scene.name));
        self.output.clone().unwrap_or_else(named)
    }
}

/// A scene, its simulation and its result directory.
struct Session {
    scene: Scene,
    directory: Arc<ResultDirectory>,
    writer: FrameWriter,
    /// Held while this run writes.
    _lock: File,
    simulation: Simulation,
    resumed_from: Option<u32>,
    /// Whether frames that were missing or damaged have been simulated again.
    repaired: bool,
    last_checkpoint: Instant,
    /// Wall time of the last checkpoint.
    checkpoint_cost: Duration,
    writing: Duration,
}

impl Session {
    /// A new result. The scene is checked completely before anything is written.
    fn start(arguments: &Run) -> Result<Self, Failure> {
        let Loaded { scene, directory } = arguments.scene.load()?;
        let path = arguments.default_output(&scene);
        let Ready {
            estimate,
            simulation,
            ..
        } = inputs::prepare(&scene)?;
        warn_small_disk(&path, estimate.disk, "run");
        let mut manifest = manifest::of_scene(&scene, &directory);
        manifest.start = inputs::start_entry(&scene, simulation.start());
        let directory = ResultDirectory::create(&path, &manifest, &scene.document)?;
        let lock = directory.lock()?;
        let mut session = Self::new(scene, directory, lock, simulation)?;
        session.write(true)?;
        Ok(session)
    }

    /// An earlier result, at its latest checkpoint, with intact frames up to it; at t = 0 if it was stopped before the
    /// first checkpoint.
    fn resume(arguments: &Run, stop: &StopRequest) -> Result<Self, Failure> {
        let (loaded, path) = scene_to_resume(arguments)?;
        let mut directory = ResultDirectory::open(&path)?;
        let lock = directory.lock()?;
        let Loaded {
            scene,
            directory: base,
        } = loaded;
        refuse_other_scene(&directory, &scene)?;
        inputs::refuse_other_meshes(&directory, &scene)?;
        let start = inputs::refuse_other_start(&directory, &scene)?;
        Estimate::of(&scene, start.as_ref()).refuse_too_large()?;
        let checkpoint = newest_checkpoint(&directory)?;
        let (simulation, repaired) = match &checkpoint {
            Some(checkpoint) => {
                let used = checkpoint.index;
                if let Some(newest) = directory.checkpoints()?.last().filter(|n| **n != used) {
                    output::note(format_args!(
                        "warning: checkpoint {newest} is damaged; resuming from checkpoint {used}"
                    ));
                }
                let quiet = arguments.json;
                let repaired = repair::frames_up_to(&directory, &scene, used, stop, quiet)?;
                (inputs::resume(&scene, checkpoint)?, repaired)
            }
            None => (inputs::begin(&scene)?, false),
        };
        inputs::refuse_new_start(&directory, &simulation)?;
        directory.discard_after(simulation.frame())?;
        if scene.frames > simulation.frame() && scene.frames != directory.manifest().frames {
            let mut manifest = manifest::of_scene(&scene, &base);
            manifest.start = directory.manifest().start.clone();
            directory.rewrite(&manifest, &scene.document)?;
        }
        let mut session = Self::new(scene, directory, lock, simulation)?;
        session.resumed_from = checkpoint.as_ref().map(|c| c.index);
        session.repaired = repaired;
        if checkpoint.is_none() {
            session.write(true)?;
        }
        Ok(session)
    }

    fn new(
        scene: Scene,
        directory: ResultDirectory,
        lock: File,
        simulation: Simulation,
    ) -> Result<Self, Failure> {
        let directory = Arc::new(directory);
        Ok(Self {
            scene,
            writer: FrameWriter::new(directory.clone())?,
            directory,
            _lock: lock,
            simulation,
            resumed_from: None,
            repaired: false,
            last_checkpoint: Instant::now(),
            checkpoint_cost: Duration::ZERO,
            writing: Duration::ZERO,
        })
    }

    fn is_complete(&self) -> bool {
        self.simulation.frame() >= self.scene.frames
    }

    /// Simulates until the last frame or until asked to stop.
    fn advance(&mut self, stop: &StopRequest, quiet: bool) -> Result<(), Failure> {
        let mut reporter = Reporter::new(self.simulation.frame(), self.scene.frames, quiet);
        let mut stopping = stop.is_requested();
        while !self.is_complete() && !stopping {
            let end = self.simulation.advance_frame(&mut |progress| {
                reporter.step(progress);
                match stop.is_urgent() {
                    true => Control::Stop,
                    false => Control::Continue,
                }
            });
            if end.map_err(|error| self.stopped_by(&error))? == Control::Stop {
                break;
            }
            stopping = stop.is_requested();
            let pause = CHECKPOINT_INTERVAL.max(CHECKPOINT_PATIENCE * self.checkpoint_cost);
            let due = self.last_checkpoint.elapsed() >= pause;
            self.write(due || stopping || self.is_complete())?;
        }
        Ok(())
    }

    /// Writes the frame, then the checkpoint: if the process is killed in between, the run resumes from the previous
    /// checkpoint. The frame is written in the background, unless a checkpoint has to wait for it.
    fn write(&mut self, with_checkpoint: bool) -> Result<(), Failure> {
        let start = Instant::now();
        let spent = self.writer.take_spent()?;
        self.writer
            .write(self.simulation.write_frame_over(spent)?)?;
        if with_checkpoint {
            // Frees the memory of the frame for the checkpoint.
            drop(self.writer.take_spent()?);
            let saving = Instant::now();
            let checkpoint = self.simulation.save()?;
            self.directory.write_checkpoint(&checkpoint)?;
            self.last_checkpoint = Instant::now();
            self.checkpoint_cost = saving.elapsed();
        }
        self.writing += start.elapsed();
        Ok(())
    }

    fn stopped_by(&self, error: &SimulationError) -> Failure {
        let kept = format!(
            "the frames up to {} are kept in {}",
            self.simulation.frame(),
            self.directory.path().display()
        );
        let report = match error.in_scene(&self.scene) {
            Some(errors) => Report::new(errors).wrap_err(kept),
            None => miette::miette!(help = kept, "{error}"),
        };
        Failure { code: 1, report }
    }

    fn summarize(&self, clock: Instant) -> Result<Summary, Failure> {
        let newest = self.directory.latest_checkpoint()?;
        let missing = || Failure::work("the checkpoint that was just written is missing");
        let checkpoint = newest.ok_or_else(missing)?;
        let mut summary = Summary::new(&self.scene, &self.simulation, &checkpoint);
        summary.directory = self.directory.path().display().to_string();
        summary.resumed_from = self.resumed_from;
        summary.add_stage("writing", self.writing);
        summary.wall_s = clock.elapsed().as_secs_f64();
        if summary.finished {
            let frame = self.directory.read_frame(checkpoint.index)?;
            summary.checks = check_final(&frame, self.directory.manifest(), &self.scene.check)
                .map_err(Failure::work)?;
        }
        Ok(summary)
    }

    /// A finished result: prints its stored summary again.
    fn report_again(&self, json: bool) -> Result<ExitCode, Failure> {
        let fresh = self.summarize(Instant::now())?;
        let stored = Summary::stored_in(self.directory.path()).filter(|s| s.digest == fresh.digest);
        let summary = stored.unwrap_or(fresh);
        if !json && !self.repaired {
            output::note(format_args!(
                "nothing to do: {} is complete; simulate more frames with --frames",
                self.directory.path().display()
            ));
        }
        summary.show(json)?;
        Ok(summary.exit_code())
    }

    fn print_how_to_resume(&self, frame: u32) {
        output::note(format_args!(
            "stopped after frame {frame} of {}; resume with: barchan run {} --resume",
            self.scene.frames,
            self.directory.path().display()
        ));
    }
}

/// The newest readable checkpoint; `None` if the run was stopped before the first.
fn newest_checkpoint(directory: &ResultDirectory) -> Result<Option<Checkpoint>, Failure> {
    let checkpoint = directory.latest_checkpoint()?;
    let frames = directory.frames()?;
    if checkpoint.is_some() || frames.last().is_none_or(|last| *last == 0) {
        return Ok(checkpoint);
    }
    let path = directory.path().display();
    Err(Failure::call(
        format_args!(
            "{path} has frames but no checkpoint to resume from: `checkpoints` is missing or empty"
        ),
        format_args!(
            "`barchan info` and `barchan measure` still read its frames; simulate it again with: barchan run {path}/scene.toml -o DIR"
        ),
    ))
}

/// Scene and result directory of `--resume`.
fn scene_to_resume(arguments: &Run) -> Result<(Loaded, PathBuf), Failure> {
    let given = arguments.scene.scene.as_path();
    if !given.join("manifest.json").is_file() {
        let loaded = arguments.scene.load()?;
        let path = arguments.default_output(&loaded.scene);
        return Ok((loaded, path));
    }
    let path = given.display();
    if arguments.output.is_some() {
        return Err(Failure::call(
            format_args!("{path} is already a result; -o cannot be combined with it"),
            "omit -o, or give the scene instead of the result",
        ));
    }
    let directory = ResultDirectory::open(given)?;
    if directory.manifest().detail.is_some() {
        return Err(Failure::call(
            format_args!("{path} is the refinement of another result"),
            format_args!("resume with: barchan detail {path} --resume"),
        ));
    }
    let source = SceneSource {
        name: directory.manifest().scene.clone(),
        text: directory.scene_document()?,
        directory: PathBuf::from(&directory.manifest().scene_directory),
    };
    Ok((arguments.scene.load_from(source)?, given.to_owned()))
}

/// A run can only be resumed with its own scene; the number of frames may differ.
fn refuse_other_scene(directory: &ResultDirectory, scene: &Scene) -> Result<(), Failure> {
    let path = directory.path().display();
    let begun = directory.scene_document()?;
    if document_digest(&begun) != directory.manifest().scene_digest {
        return Err(Failure::call(
            format_args!("{path}/scene.toml was changed since the run started"),
            "restore it, or simulate the changed scene into another directory with -o",
        ));
    }
    if inputs::equal_except_for_frames(&begun, &scene.document) {
        return Ok(());
    }
    Err(Failure::call(
        format_args!("{path} is the result of another scene (its own is {path}/scene.toml)"),
        format_args!(
            "resume with its own scene: barchan run {path} --resume; or simulate the new one into another directory with -o"
        ),
    ))
}
