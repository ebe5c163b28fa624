//! Postprocessing of a result: refinement, measurements, stresses and a summary.

pub mod detail;
pub mod info;
pub mod measure;
pub mod stress;
pub mod yield_cone;

pub use info::{Info, info};
pub use measure::{Hints, MeasureError, Measurement, measure, measure_with};
pub use stress::{StressError, StressState, stress};
pub use yield_cone::YieldCone;
