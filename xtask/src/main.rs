//! Development commands: `cargo xtask test`.

fn main() {}
