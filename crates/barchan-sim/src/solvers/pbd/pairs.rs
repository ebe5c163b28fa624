use glam::Vec3;
#[derive(Default)]
pub struct Pairs;
