//! `barchan scenes`: the gallery.

use super::scene::embedded;
use super::{Failure, output};
use barchan::gallery;
use barchan::scene::{Overrides, load};
use clap::Args;
use std::process::ExitCode;

/// List the gallery, or print one of its scenes as a template
#[derive(Debug, Args)]
pub struct Scenes {
    /// Print the text of this scene
    name: Option<String>,
    /// End with one JSON object
    #[arg(long)]
    json: bool,
}

impl Scenes {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        match &self.name {
            Some(name) => print(name)?,
            None => self.list()?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn list(&self) -> Result<(), Failure> {
        let width = gallery::GALLERY.iter().map(|(name, _)| name.len()).max();
        let mut scenes = Vec::new();
        for (name, text) in gallery::GALLERY {
            let scene = load(&embedded(name, text), &Overrides::default())?;
            if !self.json {
                let width = width.unwrap_or_default();
                output::say(format_args!("{name:width$}  {}", scene.description))?;
            }
            scenes.push(serde_json::json!({ "name": name, "description": scene.description }));
        }
        if self.json {
            output::say_json(&serde_json::json!({ "scenes": scenes }))?;
        } else {
            output::say(
                "\nbarchan run NAME runs a scene; barchan scenes NAME prints it as a template.",
            )?;
        }
        Ok(())
    }
}

fn print(name: &str) -> Result<(), Failure> {
    let text = gallery::text(name).ok_or_else(|| {
        let help = match gallery::nearest(name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`barchan scenes` lists them".into(),
        };
        Failure::call(format_args!("there is no gallery scene `{name}`"), help)
    })?;
    output::say(text.trim_end())
}
