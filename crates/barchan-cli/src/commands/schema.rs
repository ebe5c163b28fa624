//! `barchan schema`: the JSON schema of the scene file.

use super::{Failure, output};
use clap::Args;
use std::process::ExitCode;

/// Print the JSON schema of scene files, for editors
#[derive(Debug, Args)]
pub struct Schema {}

impl Schema {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let schema = barchan::scene::schema();
        let text = serde_json::to_string_pretty(&schema).map_err(Failure::work)?;
        output::say(text)?;
        Ok(ExitCode::SUCCESS)
    }
}
