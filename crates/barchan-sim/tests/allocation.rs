//! Nothing allocates in a settled step.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(unsafe_code, reason = "an allocator that counts")]

mod support;

use barchan_sim::linalg::{Gmres, Krylov, Minres, Stop};
use barchan_sim::simulation::{Control, Simulation};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: all calls are forwarded to the system's allocator; counting does not affect them.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of `steps` steps.
fn allocations(simulation: &mut Simulation, steps: u32) -> u64 {
    let mut left = steps;
    let mut before = 0;
    let mut after = 0;
    // The callback is first called after a step: counting starts there.
    let end = simulation.advance_frame(&mut |_| {
        if left == steps {
            before = ALLOCATIONS.load(Ordering::Relaxed);
        }
        after = ALLOCATIONS.load(Ordering::Relaxed);
        if left == 0 {
            return Control::Stop;
        }
        left -= 1;
        Control::Continue
    });
    assert_eq!(end.unwrap(), Control::Stop, "the frame was too short");
    after - before
}

/// A heap on a floor, with keys set.
fn heap(more: &[&str]) -> Simulation {
    let heap = [
        "solver.resolution=0.02",
        "fill.block.shape.box.max=[0.1, 0.1, 0.1]",
        "collider.floor.friction=0.6",
    ];
    support::start_file("tests/block.toml", &[&heap, more].concat())
}

/// A single test, because the counter is that of the whole process.
#[test]
fn a_settled_step_does_not_allocate() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    pool.unwrap().install(|| {
        for (solver, rate, frames) in [("mpm", 2.0, 2), ("pbd", 0.2, 1), ("sph", 0.2, 1)] {
            let solver = format!("solver.method={solver}");
            let mut heap = heap(&[&solver, &format!("frame_rate={rate}")]);
            support::advance(&mut heap, frames);
            assert_eq!(allocations(&mut heap, 100), 0, "{solver}");
        }

        // Linear solvers, when they are reused.
        let apply = |x: &[f32], y: &mut [f32]| {
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                *y = (1 + i % 5) as f32 * x;
            }
        };
        let same = |x: &[f32], y: &mut [f32]| y.copy_from_slice(x);
        let (b, mut x) = (vec![1.0; 20_000], vec![0.0; 20_000]);
        let (mut gmres, mut minres) = (Gmres::new(4), Minres::default());
        let stop = Stop {
            residual: 1e-3,
            iterations: 50,
        };
        let mut before = 0;
        for _ in 0..2 {
            before = ALLOCATIONS.load(Ordering::Relaxed);
            for by_gmres in [true, false] {
                x.fill(0.0);
                let outcome = match by_gmres {
                    true => gmres.solve(apply, same, &b, &mut x, stop),
                    false => minres.solve(apply, same, &b, &mut x, stop),
                };
                assert!(outcome.unwrap().converged);
            }
        }
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0);

        // Negative control: the batches of an emitter are counted.
        let spout = "emitter=[{ material = \"dry sand\", velocity = [0, -1, 0], rate = 1, \
                     shape = { cylinder = { from = [0, 0.5, 0], to = [0, 0.45, 0], radius = 0.05 } } }]";
        let mut poured = heap(&["frame_rate=2", spout]);
        support::advance(&mut poured, 1);
        assert!(allocations(&mut poured, 100) > 0);
    });
}
