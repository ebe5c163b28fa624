//! barchan: a simulator of granular material. This crate is the library to depend on; the program is `barchan-cli`.
//!
//! ```no_run
//! use barchan::scene::{Overrides, SceneSource, load};
//! use barchan::sim::simulation::{Control, Simulation};
//!
//! let source = SceneSource::from_file("pile.toml".as_ref())?;
//! let scene = load(&source, &Overrides::default())?;
//! let mut simulation = Simulation::new(&scene)?;
//! while simulation.frame() < scene.frames {
//!     simulation.advance_frame(&mut |_| Control::Continue)?;
//!     let frame = simulation.write_frame()?;
//!     println!("{} particles at {} s", frame.particles(), frame.time);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use barchan_frame as frame;
pub use barchan_post as post;
#[cfg(feature = "render")]
pub use barchan_render as render;
pub use barchan_scene as scene;
pub use barchan_sim as sim;

pub mod final_check;
pub mod gallery;
