#[derive(Default)]
pub struct Walls;
