//! barchan: a simulator of granular material. This crate is the library to depend on.

pub use barchan_frame as frame;
pub use barchan_post as post;
pub use barchan_scene as scene;
pub use barchan_sim as sim;
