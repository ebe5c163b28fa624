//! The program `barchan`: the command line, and the server of the viewer.

mod commands;
mod manifest;
mod view;

fn main() -> std::process::ExitCode {
    commands::main()
}
