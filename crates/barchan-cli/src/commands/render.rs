//! `barchan render`: pictures, film, preview and contact sheet of a result.

use super::pictures::{self, FilmMade, Job, Report};
use super::stop::StopRequest;
use super::{Failure, output};
use barchan::frame::ResultDirectory;
use barchan::scene::Overrides;
use barchan_render::color::{ColorMap, Coloring};
use barchan_render::tracer::Quality;
use barchan_render::{RenderOptions, Renderer, Space};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

/// Draw a result: pictures, a film, a small looped preview and a contact sheet
#[derive(Debug, Args)]
pub struct Render {
    /// Result directory
    #[arg(value_name = "DIR")]
    result: PathBuf,
    /// Folder of the pictures [default: `render` in the result directory, or `stress` with --space stress]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Frames: `all`, `first`, `last`, `48`, `0..96`, `0..96/4`, or several of these with commas
    #[arg(long, value_name = "FRAMES", default_value = "all")]
    frames: FrameChoice,
    /// Quality of the pictures
    #[arg(long, value_enum, default_value_t = QualityName::Production)]
    quality: QualityName,
    /// Paths per pixel, instead of the number given by the quality
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    samples: Option<u32>,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    size: [u32; 2],
    /// Color by a column: speed, pressure, plastic_case, material, … [default: the colors of the materials]
    #[arg(long, value_name = "COLUMN")]
    color: Option<String>,
    /// Lowest and highest value of the colors [default: the range of most values]
    #[arg(
        long,
        value_name = "LOW,HIGH",
        allow_hyphen_values = true,
        requires = "color",
        value_parser = value_range
    )]
    range: Option<[f32; 2]>,
    /// Color map: viridis, cividis, turbo or balance
    #[arg(long, value_name = "NAME", requires = "color", value_parser = color_map)]
    map: Option<ColorMap>,
    /// What the picture shows: the scene, or its grains in the space of principal stresses
    #[arg(long, value_enum, default_value_t = SpaceName::Scene)]
    space: SpaceName,
    /// Grains to highlight, by id: enlarged and colored in the scene, with their yield surfaces over time in stress space
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    grains: Vec<u64>,
    /// Radius of the grains, as a factor
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = factor)]
    grain_size: f32,
    /// Fraction of the time between frames for which the shutter is open; 0 for no motion blur
    #[arg(long, value_name = "PART", default_value_t = 0.5, value_parser = shutter)]
    shutter: f32,
    /// Change the scene's camera, looks or colors, such as camera.fov=40 or collider.glass.look=cutaway
    #[arg(long, value_name = "K=V")]
    set: Vec<String>,
    /// Write the time into the pictures
    #[arg(long)]
    label: bool,
    /// Kind of film
    #[arg(long, value_enum, default_value_t = FilmKind::Mp4)]
    film: FilmKind,
    /// Speed of the film: 0.25 is slow motion by a factor of four
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = factor)]
    speed: f32,
    /// Pictures on the contact sheet
    #[arg(long, value_name = "N", default_value_t = 12)]
    sheet: usize,
    /// Redraw existing pictures
    #[arg(long)]
    again: bool,
    /// Threads; any number gives the same pictures [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Show no progress and end with one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum QualityName {
    /// Quick, with some noise
    Preview,
    /// For films and print
    Production,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SpaceName {
    /// Grains and bodies at their positions
    Scene,
    /// Principal stresses with the yield surface; needs the column principal_stress
    Stress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FilmKind {
    /// H.264, for browsers and editors
    Mp4,
    /// VP9; needs ffmpeg
    Webm,
    /// Pictures only: no film, no preview
    None,
}

impl Render {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        super::resources::use_threads(self.threads)?;
        let directory = ResultDirectory::open(&self.result)?;
        let output = self.output.clone();
        let folder = match self.space {
            SpaceName::Scene => "render",
            SpaceName::Stress => "stress",
        };
        let job = Job {
            output: output.unwrap_or_else(|| directory.path().join(folder)),
            film: match self.film {
                FilmKind::Mp4 => Some("film.mp4"),
                FilmKind::Webm => Some("film.webm"),
                FilmKind::None => None,
            },
            preview: self.film != FilmKind::None,
            speed: f64::from(self.speed),
            sheet: self.sheet,
            again: self.again,
            quiet: self.json,
        };
        let renderer = Renderer::open(directory, self.options())?;
        output::warn(&renderer.warnings);
        let frames = self.frames.of(renderer.frames())?;
        let stop = StopRequest::listen(self.json)?;
        let report = pictures::draw(&renderer, &frames, &job, &stop)?;
        output::report(&report, self.json, show)?;
        Ok(ExitCode::from(u8::from(report.stopped)))
    }

    fn options(&self) -> RenderOptions {
        let mut quality = match self.quality {
            QualityName::Preview => Quality::PREVIEW,
            QualityName::Production => Quality::PRODUCTION,
        };
        quality.samples = self.samples.unwrap_or(quality.samples);
        RenderOptions {
            size: self.size,
            quality,
            grain_size: self.grain_size,
            shutter: self.shutter,
            coloring: match &self.color {
                None => Coloring::Own,
                Some(name) => Coloring::Column {
                    name: name.clone(),
                    range: self.range,
                    map: self.map.unwrap_or_default(),
                },
            },
            space: match self.space {
                SpaceName::Scene => Space::Scene,
                SpaceName::Stress => Space::Stress,
            },
            grains: self.grains.clone(),
            label: self.label,
            overrides: Overrides {
                set: self.set.clone(),
                ..Overrides::default()
            },
        }
    }
}

/// Reports what was drawn.
fn show(report: &Report) -> Result<(), Failure> {
    let [width, height] = report.size;
    let kept = match report.kept {
        0 => String::new(),
        n => format!(", {n} of them kept"),
    };
    let pictures = match report.pictures {
        1 => "1 picture".to_owned(),
        n => format!("{n} pictures"),
    };
    let folder = &report.directory;
    output::say(format_args!(
        "{pictures} of {width}×{height} in {folder}{kept}"
    ))?;
    let line = |name: &str, text: String| output::say(format_args!("  {name:<9} {text}"));
    if report.drawn > 0 {
        let each = report.drawing_s / f64::from(report.drawn);
        line("time", format!("{} per picture", output::duration(each)))?;
    }
    for FilmMade { kind, film } in &report.films {
        line(
            kind,
            format!(
                "{}: {}×{}, {:.1} s, {} (encoder: {})",
                film.path.display(),
                film.width,
                film.height,
                film.duration,
                output::bytes(film.bytes),
                film.encoder
            ),
        )?;
    }
    if let Some(sheet) = &report.sheet {
        line("sheet", sheet.clone())?;
    }
    if report.stopped {
        output::note("stopped; repeat the command to draw the missing pictures");
    }
    Ok(())
}

/// Two numbers with a separator.
fn two<T: FromStr>(parts: Option<(&str, &str)>) -> Option<[T; 2]> {
    let (a, b) = parts?;
    Some([a.trim().parse().ok()?, b.trim().parse().ok()?])
}

/// Width and height [pixels].
fn size(text: &str) -> Result<[u32; 2], String> {
    match two(text.split_once(['x', 'X', '×'])) {
        Some(size @ [16..=16_384, 16..=16_384]) => Ok(size),
        _ => Err("give width and height from 16 to 16384, such as 1280x720".into()),
    }
}

fn value_range(text: &str) -> Result<[f32; 2], String> {
    match two(text.split_once(',')) {
        Some([low, high]) if f32::is_finite(low) && f32::is_finite(high) && low < high => {
            Ok([low, high])
        }
        _ => Err("give the lowest and the highest value, such as 0,2.5".into()),
    }
}

fn color_map(text: &str) -> Result<ColorMap, String> {
    ColorMap::named(text).ok_or_else(|| {
        let names = ColorMap::ALL.map(ColorMap::name);
        format!("there are {}", names.join(", "))
    })
}

fn factor(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && x <= 1000.0 => Ok(x),
        _ => Err("give a number above 0, up to 1000".into()),
    }
}

fn shutter(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(x) if (0.0..=4.0).contains(&x) => Ok(x),
        _ => Err("give a number from 0 to 4; 0.5 is usual for cameras".into()),
    }
}

/// Which frames to draw.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FrameChoice(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    All,
    First,
    Last,
    One(u32),
    /// First, last (inclusive; `None`: the last of the result), stride.
    Range(u32, Option<u32>, u32),
}

impl FromStr for FrameChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(|part| frame_part(part.trim()));
        let parts: Option<Vec<Part>> = parts.collect();
        parts.map(Self).ok_or_else(|| {
            "give `all`, `first`, `last`, a number, or a range such as 0..96 or 0..96/4".into()
        })
    }
}

fn frame_part(text: &str) -> Option<Part> {
    match text {
        "all" => return Some(Part::All),
        "first" => return Some(Part::First),
        "last" => return Some(Part::Last),
        _ => {}
    }
    let Some((from, rest)) = text.split_once("..") else {
        return text.parse().ok().map(Part::One);
    };
    let (to, step) = match rest.split_once('/') {
        Some((to, step)) => (to, step.parse().ok().filter(|s| *s > 0)?),
        None => (rest, 1),
    };
    let bound = |text: &str| match text {
        "" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some(Part::Range(bound(from)?.unwrap_or(0), bound(to)?, step))
}

impl FrameChoice {
    /// The chosen ones of the available frames, in order, without duplicates.
    fn of(&self, there: &[u32]) -> Result<Vec<u32>, Failure> {
        let wanted = |frame: u32, part: &Part| match *part {
            Part::All => true,
            Part::First => Some(&frame) == there.first(),
            Part::Last => Some(&frame) == there.last(),
            Part::One(number) => frame == number,
            Part::Range(from, to, step) => {
                frame >= from
                    && to.is_none_or(|to| frame <= to)
                    && (frame - from).is_multiple_of(step)
            }
        };
        for part in &self.0 {
            if !there.iter().any(|&frame| wanted(frame, part)) {
                let (first, last) = (there.first(), there.last());
                return Err(Failure::call(
                    format_args!("the result has no such frames: {part:?}"),
                    format_args!(
                        "it has frames {} to {}",
                        first.copied().unwrap_or(0),
                        last.copied().unwrap_or(0)
                    ),
                ));
            }
        }
        let any = |frame: &u32| self.0.iter().any(|part| wanted(*frame, part));
        Ok(there.iter().copied().filter(any).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> Option<Vec<u32>> {
        let there: Vec<u32> = (0..=10).collect();
        text.parse::<FrameChoice>().ok()?.of(&there).ok()
    }

    #[test]
    fn frame_selections_are_parsed() {
        assert_eq!(chosen("all").map(|f| f.len()), Some(11));
        assert_eq!(chosen("last,3"), Some(vec![3, 10]));
        assert_eq!(chosen("2..6/2"), Some(vec![2, 4, 6]));
        assert_eq!(chosen("8.."), Some(vec![8, 9, 10]));
        assert_eq!(chosen("..1"), Some(vec![0, 1]));
        for wrong in ["", "x", "3..1/0", "11", "12..20", "1;2", "-1"] {
            assert_eq!(chosen(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_are_parsed() {
        assert_eq!(size("1280x720"), Ok([1280, 720]));
        for wrong in ["1280", "0x10", "1e3x10", "99999x99999", "x"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
