//! A refinement in progress: the base, its grains, and their result directory.

use super::summary::Summary;
use super::{Detail, check_resources};
use crate::commands::inputs::equal_except_for_frames;
use crate::commands::progress::Reporter;
use crate::commands::repair::broken_frames;
use crate::commands::stop::StopRequest;
use crate::commands::writer::FrameWriter;
use crate::commands::{Failure, output};
use crate::view::intervals;
use barchan::frame::{
    CacheError, Frame, Manifest, ManifestDetail, ResultDirectory, document_digest,
};
use barchan::post::detail::{
    BaseFrame, BaseParticles, DetailError, Method, Plan, Refiner, Settings, World,
};
use barchan::scene::{Overrides, Scene, SceneSource, load_for_viewing};
use barchan::sim::simulation::Progress;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A refinement in progress.
pub struct Session {
    base: ResultDirectory,
    directory: Arc<ResultDirectory>,
    writer: FrameWriter<Arc<Frame>>,
    /// Held while this process writes.
    _lock: File,
    refiner: Refiner,
    /// Number of the last frame.
    last: u32,
    /// Error of the base that stopped the refinement.
    problem: Option<String>,
    resumed_from: Option<u32>,
    steps: u64,
    work: u64,
    stepping: Duration,
    writing: Duration,
}

impl Session {
    /// A new refinement. All inputs are checked before anything is written.
    pub fn start(arguments: &Detail) -> Result<Self, Failure> {
        let (base, path) = arguments.places()?;
        let Some(grains) = arguments.grains else {
            return Err(Failure::call(
                "the number of grains is missing",
                "give it with --grains, such as --grains 2M",
            ));
        };
        let scene = scene_of(&base)?;
        let first = BaseFrame::read(&base, 0)?;
        let listed = base.frames()?;
        let last = arguments.frames.unwrap_or(base.manifest().frames);
        let particles = BaseParticles::scan(&base, &listed)?;
        let settings = Settings {
            dt: arguments.dt.unwrap_or(Settings::default().dt),
            method: arguments.method.map_or(Method::Blended, Method::from),
        };
        let plan = plan(&particles, grains, last, &path)?;
        let detail = ManifestDetail {
            base: absolute(base.path()),
            grains,
            dt: settings.dt,
            method: settings.method.name().into(),
            counted: intervals(&particles.frames),
        };
        let manifest = manifest(base.manifest(), detail, last);
        let refiner = Refiner::begin(plan, World::new(&scene), settings, first)?;
        let document = base.scene_document()?;
        let directory = ResultDirectory::create(&path, &manifest, &document)?;
        let lock = directory.lock()?;
        let mut session = Self::new(base, directory, lock, refiner, last)?;
        session.write()?;
        Ok(session)
    }

    /// Resumes at the last frame before any missing or damaged one.
    pub fn resume(arguments: &Detail, stop: &StopRequest) -> Result<Self, Failure> {
        let (base, path) = arguments.places()?;
        let mut directory = ResultDirectory::open(&path)?;
        let Some(detail) = directory.manifest().detail.clone() else {
            return Err(Failure::call(
                format_args!(
                    "{} is the result of a run, not a refinement",
                    path.display()
                ),
                "start a refinement with --grains, without --resume; or give another directory with -o",
            ));
        };
        let lock = directory.lock()?;
        arguments.refuse_other_settings(&detail)?;
        refuse_other_base(&base, &directory)?;
        let scene = scene_of(&base)?;
        let last = arguments.frames.unwrap_or(base.manifest().frames);
        let whole = whole_frames(&directory, stop)?;
        let counted: Vec<u32> = detail.counted.iter().flat_map(|[a, b]| *a..=*b).collect();
        let particles = BaseParticles::scan(&base, &counted)?;
        if particles.frames != counted {
            return Err(lost_frame(&base, &counted, &particles));
        }
        let mut plan = plan(&particles, detail.grains, last, &path)?;
        let settings = Settings {
            dt: detail.dt,
            method: Method::named(&detail.method).unwrap_or_default(),
        };
        let world = World::new(&scene);
        let refiner = match whole {
            Some(frame) => {
                for index in (0..=frame).filter(|i| !counted.contains(i)) {
                    plan.allocate_emitted(&BaseFrame::read(&base, index)?)?;
                }
                directory.discard_after(frame)?;
                let own = directory.read_frame(frame)?;
                let at = BaseFrame::read(&base, frame)?;
                Refiner::resume(plan, world, settings, at, own)?
            }
            None => Refiner::begin(plan, world, settings, BaseFrame::read(&base, 0)?)?,
        };
        if directory.manifest().frames != last {
            let manifest = manifest(base.manifest(), detail, last);
            directory.rewrite(&manifest, &base.scene_document()?)?;
        }
        let mut session = Self::new(base, directory, lock, refiner, last)?;
        session.resumed_from = whole;
        if whole.is_none() {
            session.write()?;
        }
        Ok(session)
    }

    fn new(
        base: ResultDirectory,
        directory: ResultDirectory,
        lock: File,
        refiner: Refiner,
        last: u32,
    ) -> Result<Self, Failure> {
        let directory = Arc::new(directory);
        Ok(Self {
            base,
            writer: FrameWriter::new(directory.clone())?,
            directory,
            _lock: lock,
            refiner,
            last,
            problem: None,
            resumed_from: None,
            steps: 0,
            work: 0,
            stepping: Duration::ZERO,
            writing: Duration::ZERO,
        })
    }

    /// Result directory of the grains.
    pub fn output(&self) -> &Path {
        self.directory.path()
    }

    fn frame(&self) -> u32 {
        self.refiner.frame().index
    }

    /// Queues the frame for writing, and returns the previous one for reuse of its memory.
    fn write(&mut self) -> Result<Frame, Failure> {
        let start = Instant::now();
        let spent = self.writer.take_spent()?;
        self.writer.write(self.refiner.frame().clone())?;
        self.writing += start.elapsed();
        Ok(Arc::try_unwrap(spent).unwrap_or_default())
    }

    /// Refines until the last frame, a stop request, or the end of the base.
    pub fn advance(&mut self, stop: &StopRequest, quiet: bool) -> Result<(), Failure> {
        let mut reporter = Reporter::new(self.frame(), self.last, quiet);
        let mut spare = Frame::default();
        while self.frame() < self.last && !stop.is_requested() {
            let index = self.frame() + 1;
            let next = match BaseFrame::read(&self.base, index) {
                Ok(next) => next,
                Err(error) => {
                    self.problem = Some(self.describe(index, &error));
                    break;
                }
            };
            let time = next.time;
            let start = Instant::now();
            let (steps, work) = (&mut self.steps, &mut self.work);
            let advanced = self.refiner.advance(next, spare, &mut |step| {
                *steps += 1;
                *work += step.grains as u64;
                reporter.step(&Progress {
                    frame: index,
                    part: step.part,
                    time,
                    dt: step.dt,
                    particles: step.grains,
                    substeps: *steps,
                });
                match stop.is_urgent() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
            self.stepping += start.elapsed();
            match advanced {
                Ok(Some(_)) => spare = self.write()?,
                Ok(None) => break,
                Err(error) => {
                    self.problem = Some(self.describe(index, &error));
                    break;
                }
            }
        }
        let start = Instant::now();
        self.writer.finish()?;
        self.writing += start.elapsed();
        Ok(())
    }

    /// Error and remedy for a frame of the base that cannot be read.
    fn describe(&self, index: u32, error: &DetailError) -> String {
        let DetailError::Cache(CacheError::NoFrame { .. }) = error else {
            return error.to_string();
        };
        let path = self.base.path().display();
        let later = self.base.frames().is_ok_and(|f| f.last() > Some(&index));
        if later {
            return format!(
                "frame {index} of the base {path} is missing; simulate it again with: barchan run {path} --resume"
            );
        }
        let growing = self.base.path().join(".lock").exists()
            && matches!(self.base.lock(), Err(CacheError::InUse(_)));
        if growing {
            return format!(
                "frame {index} of the base {path} does not exist yet: another run is writing it; wait for it"
            );
        }
        format!(
            "the base {path} ends before frame {index}: its run was stopped; resume it first: barchan run {path} --resume"
        )
    }

    /// Summary of the refinement.
    pub fn summarize(&self, clock: Instant) -> Summary {
        let frame = self.refiner.frame();
        let step_wall_s = self.stepping.as_secs_f64();
        Summary {
            scene: self.base.manifest().scene.clone(),
            directory: self.directory.path().display().to_string(),
            base: self.base.path().display().to_string(),
            finished: frame.index >= self.last,
            problem: self.problem.clone(),
            grains: frame.particles() as u64,
            base_particles: self.refiner.plan().particles() as u64,
            frames: frame.index,
            frames_wanted: self.last,
            steps: self.steps,
            sim_time_s: frame.time,
            step_wall_s,
            grain_steps_per_s: output::rate(self.work as f64, step_wall_s),
            writing_wall_s: self.writing.as_secs_f64(),
            removed: self.refiner.removed(),
            resumed_from: self.resumed_from,
            digest: frame.digest(),
            wall_s: clock.elapsed().as_secs_f64(),
            picture: None,
        }
    }
}

/// The number of grains of each particle, if they fit into memory.
fn plan(particles: &BaseParticles, grains: u64, last: u32, output: &Path) -> Result<Plan, Failure> {
    let plan = Plan::new(particles, grains)?;
    let share = particles.peak as f64 / particles.particles().max(1) as f64;
    check_resources((grains as f64 * share) as u64, last, output)?;
    Ok(plan)
}

/// The scene of the base. Colliders whose mesh is missing are omitted with a warning.
fn scene_of(base: &ResultDirectory) -> Result<Scene, Failure> {
    let source = SceneSource {
        name: base.path().join("scene.toml").display().to_string(),
        text: base.scene_document()?,
        directory: PathBuf::from(&base.manifest().scene_directory),
    };
    let (scene, warnings) = load_for_viewing(&source, &Overrides::default())?;
    for warning in warnings {
        output::note(format_args!("warning: {warning}; the grains ignore it"));
    }
    Ok(scene)
}

fn absolute(path: &Path) -> String {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    full.to_string_lossy().into_owned()
}

fn manifest(base: &Manifest, detail: ManifestDetail, last: u32) -> Manifest {
    Manifest {
        frames: last,
        start: None,
        detail: Some(detail),
        created_by: concat!("barchan ", env!("CARGO_PKG_VERSION")).into(),
        ..base.clone()
    }
}

/// The last frame before any missing or damaged one; `None` if the first is.
fn whole_frames(directory: &ResultDirectory, stop: &StopRequest) -> Result<Option<u32>, Failure> {
    let listed = directory.frames()?;
    let in_row = listed.iter().zip(0..).take_while(|(a, b)| *a == b).count() as u32;
    let stopped = || {
        let path = directory.path().display();
        Failure::work(format_args!(
            "stopped while the frames were being checked; resume with: barchan detail {path} --resume"
        ))
    };
    let broken = broken_frames(directory, 0..in_row, stop, stopped)?;
    let whole = broken.first().copied().unwrap_or(in_row);
    if (whole as usize) < listed.len() {
        output::note(format_args!(
            "frame {whole} of the grains is missing or damaged; refining again from that frame"
        ));
    }
    Ok(whole.checked_sub(1))
}

/// A refinement can only be resumed with its own base.
fn refuse_other_base(base: &ResultDirectory, grains: &ResultDirectory) -> Result<(), Failure> {
    let (theirs, own) = (base.scene_document()?, grains.scene_document()?);
    let same =
        document_digest(&theirs) == document_digest(&own) || equal_except_for_frames(&theirs, &own);
    if same {
        return Ok(());
    }
    Err(Failure::call(
        format_args!(
            "the grains in {} do not refine the scene of {}",
            grains.path().display(),
            base.path().display()
        ),
        "give the base of these grains, or refine into another directory with -o",
    ))
}

/// A base frame that was counted when the refinement started and cannot be read any more.
fn lost_frame(base: &ResultDirectory, counted: &[u32], particles: &BaseParticles) -> Failure {
    let lost = counted.iter().find(|i| !particles.frames.contains(i));
    let path = base.path().display();
    Failure::work(format_args!(
        "frame {} of the base {path} existed when the refinement started, and is now missing or damaged; simulate it again with: barchan run {path} --resume",
        lost.map_or("?".into(), u32::to_string)
    ))
}
