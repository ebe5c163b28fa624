//! Resources of the machine: memory (a run that exceeds it is refused), disk (a warning), threads.

use super::{Failure, output};
use barchan::scene::Scene;
use barchan::scene::numbers::rounded;
use barchan::sim::start::StartRecord;
use barchan::sim::{sampling, solvers};
use barchan_validate::report::Machine;
use fearless_simd::Level;
use std::path::Path;
use sysinfo::{CpuRefreshKind, Disks, RefreshKind, System};

/// Bytes on disk per particle and frame: position, velocity, id, material and a few more columns, compressed.
const FRAME_BYTES: u64 = 40;
/// Bytes on disk per particle of the checkpoints that are kept.
const CHECKPOINT_BYTES: u64 = 400;

/// Resources that a run is expected to need.
pub struct Estimate {
    /// Particles at the start and emitted over the run.
    pub particles: usize,
    /// Memory [bytes].
    pub memory: u64,
    /// Available memory [bytes].
    pub available: u64,
    /// Disk [bytes].
    pub disk: u64,
    /// Space dimensions of the scene.
    dimensions: usize,
}

impl Estimate {
    /// Estimate from the volumes of the scene's shapes and the number of particles that it starts from.
    pub fn of(scene: &Scene, start: Option<&StartRecord>) -> Self {
        let particles = sampling::estimate_particles(scene)
            .saturating_add(start.map_or(0, |start| start.particles));
        let per_particle = FRAME_BYTES
            .saturating_mul(u64::from(scene.frames) + 1)
            .saturating_add(CHECKPOINT_BYTES);
        Self {
            particles,
            memory: solvers::memory_estimate(scene, particles),
            available: available_memory(),
            disk: per_particle.saturating_mul(particles as u64),
            dimensions: scene.dimensions.count(),
        }
    }

    /// Refuses a run that does not fit into memory.
    pub fn refuse_too_large(&self) -> Result<(), Failure> {
        if self.memory <= self.available {
            return Ok(());
        }
        // Memory is proportional to the number of cells.
        let ratio = self.available as f64 / self.memory as f64;
        let scale = ratio.powf(1.0 / self.dimensions as f64) * 0.95;
        Err(Failure::call(
            format_args!(
                "the scene needs about {} of memory ({} particles), and this machine has {} free",
                output::bytes(self.memory),
                output::grouped(self.particles as u64),
                output::bytes(self.available),
            ),
            format_args!(
                "make it coarser: --scale {}, or a larger solver.resolution in the scene",
                rounded(scale, 2)
            ),
        ))
    }
}

/// Warns when the disk that holds `path` may fill up with `needed` bytes before the end of the `work`.
pub fn warn_small_disk(path: &Path, needed: u64, work: &str) {
    if let Some(free) = free_disk(path).filter(|&free| free < needed) {
        output::note(format_args!(
            "warning: the frames may take {}, and the disk has {} free; if the disk fills up, the {work} stops and can be resumed",
            output::bytes(needed),
            output::bytes(free),
        ));
    }
}

/// Memory available to this process [bytes], including the limit of a container; `u64::MAX` if unknown.
pub fn available_memory() -> u64 {
    let Ok(mut system) = System::new() else {
        return u64::MAX;
    };
    system.refresh_memory();
    // The free memory that a container reports excludes reclaimable page cache.
    let left = |l: sysinfo::CGroupLimits| l.total_memory.saturating_sub(l.rss);
    let limit = system.cgroup_limits().map_or(u64::MAX, left);
    system.available_memory().min(limit)
}

/// Free space on the disk that holds or will hold `path` [bytes].
fn free_disk(path: &Path) -> Option<u64> {
    let absolute = std::path::absolute(path).ok()?;
    let real = absolute.ancestors().find_map(|p| p.canonicalize().ok())?;
    let disks = Disks::new_with_refreshed_list().ok()?;
    let holding = disks.iter().filter(|d| real.starts_with(d.mount_point()));
    let nearest = holding.max_by_key(|d| d.mount_point().components().count());
    nearest.map(sysinfo::Disk::available_space)
}

/// Processor and SIMD level of this machine.
pub fn machine() -> Machine {
    let specifics = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
    let system = System::new_with_specifics(specifics).ok();
    let brand = system.and_then(|s| Some(s.cpus().first()?.brand().trim().to_owned()));
    let level = format!("{:?}", Level::new());
    Machine {
        processor: brand.unwrap_or_default(),
        simd: level.split('(').next().unwrap_or_default().to_owned(),
    }
}

/// Sets the number of threads; `None`: one for each processor.
pub fn use_threads(count: Option<usize>) -> Result<(), Failure> {
    let Some(count) = count else { return Ok(()) };
    if !(1..=4096).contains(&count) {
        return Err(Failure::call(
            format_args!("--threads {count} is out of range"),
            "give a number from 1 to 4096, or omit the option to use every processor",
        ));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(count)
        .build_global()
        .map_err(Failure::work)
}
