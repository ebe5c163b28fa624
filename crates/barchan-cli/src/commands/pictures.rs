//! Drawing many pictures into a folder, and films and sheets from them: shared by `render` and `run`.

use super::progress::Count;
use super::stop::StopRequest;
use super::{Failure, output};
use barchan::frame::{ResultDirectory, document_digest};
use barchan_render::film::{Film, FilmError, FilmOptions, FilmReport};
use barchan_render::framing::spread;
use barchan_render::sheet::Sheet;
use barchan_render::tracer::Quality;
use barchan_render::{Picture, RenderOptions, Renderer};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Pictures of the film that `run` makes.
const RUN_PICTURES: usize = 48;
/// Their size [pixels].
const RUN_SIZE: [u32; 2] = [640, 360];
/// Width of a contact sheet [pixels].
const SHEET_WIDTH: u32 = 1600;
/// Pictures per row of the contact sheet.
const SHEET_COLUMNS: u32 = 4;
/// File that records the settings of the pictures in its folder.
const SETTINGS: &str = "settings.txt";

/// What to draw, and where.
pub struct Job {
    /// Folder of the pictures.
    pub output: PathBuf,
    /// File name of the film; its extension determines the format.
    pub film: Option<&'static str>,
    /// Whether to write a small looped preview.
    pub preview: bool,
    /// Speed of the film relative to simulated time.
    pub speed: f64,
    /// Pictures on the contact sheet.
    pub sheet: usize,
    /// Whether to redraw existing pictures.
    pub again: bool,
    /// Whether to hide the progress.
    pub quiet: bool,
}

/// What was drawn.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Folder of the pictures.
    pub directory: String,
    /// Pictures in the folder.
    pub pictures: u32,
    /// Pictures that were drawn.
    pub drawn: u32,
    /// Existing pictures that were kept.
    pub kept: u32,
    /// Width and height [pixels].
    pub size: [u32; 2],
    /// Time spent on drawing [s].
    pub drawing_s: f64,
    /// Films and previews.
    pub films: Vec<FilmMade>,
    /// The contact sheet.
    pub sheet: Option<String>,
    /// Whether drawing was stopped early.
    pub stopped: bool,
}

/// A film that was written.
#[derive(Debug, Serialize)]
pub struct FilmMade {
    /// `film` or `preview`.
    pub kind: &'static str,
    #[serde(flatten)]
    pub film: FilmReport,
}

/// The pictures that `run` draws.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunPictures {
    /// Picture of the last frame.
    pub last: String,
    /// Short film.
    pub film: Option<String>,
    /// Wall time of drawing them [s].
    pub wall_s: f64,
}

/// Draws frames into the folder, then writes film, preview and contact sheet.
pub fn draw(
    renderer: &Renderer,
    frames: &[u32],
    job: &Job,
    stop: &StopRequest,
) -> Result<Report, Failure> {
    make_folder(&job.output)?;
    let again = job.again | !same_settings(renderer, &job.output)?;
    let clock = Instant::now();
    let mut report = Report {
        directory: job.output.display().to_string(),
        size: renderer.options().size,
        ..Report::default()
    };
    let mut progress = Count::new("picture", frames.len(), job.quiet);
    for (i, &frame) in frames.iter().enumerate() {
        if stop.is_requested() {
            report.stopped = true;
            break;
        }
        let path = picture_path(&job.output, frame);
        if !again && is_newer(&path, renderer.directory(), frame) {
            report.kept += 1;
        } else {
            renderer.draw(frame)?.write_png(&path)?;
            report.drawn += 1;
        }
        progress.done(i + 1);
    }
    drop(progress);
    report.drawing_s = clock.elapsed().as_secs_f64();
    report.pictures = report.kept + report.drawn;
    if !report.stopped && frames.len() > 1 {
        make_films(renderer, frames, job, stop, &mut report)?;
    }
    Ok(report)
}

/// The last frame in full quality and a short film, drawn at the end of a run.
pub fn after_run(
    directory: ResultDirectory,
    stop: &StopRequest,
    quiet: bool,
) -> Result<RunPictures, Failure> {
    let clock = Instant::now();
    let (mut renderer, last) = draw_last(directory)?;
    renderer.set_output(RUN_SIZE, Quality::PREVIEW);
    let frames = spread(renderer.frames(), RUN_PICTURES);
    let path = last.with_file_name("film.mp4");
    let is_made = frames.len() > 1 && film_of_run(&renderer, &frames, &path, stop, quiet)?;
    Ok(RunPictures {
        last: last.display().to_string(),
        film: is_made.then(|| path.display().to_string()),
        wall_s: clock.elapsed().as_secs_f64(),
    })
}

/// Draws the frames into a short film; returns whether it was finished before a stop request.
fn film_of_run(
    renderer: &Renderer,
    frames: &[u32],
    path: &Path,
    stop: &StopRequest,
    quiet: bool,
) -> Result<bool, Failure> {
    let options = FilmOptions::at_rate(film_rate(renderer, frames)?);
    let mut progress = Count::new("picture", frames.len(), quiet);
    let mut film = Film::create(path, RUN_SIZE[0], RUN_SIZE[1], &options)?;
    for (i, &frame) in frames.iter().enumerate() {
        if stop.is_requested() {
            return Ok(false);
        }
        film.add(&renderer.draw(frame)?)?;
        progress.done(i + 1);
    }
    film.finish()?;
    Ok(true)
}

/// The last frame alone, in full quality.
pub fn last_frame(directory: ResultDirectory) -> Result<String, Failure> {
    let (_, last) = draw_last(directory)?;
    Ok(last.display().to_string())
}

/// Draws the last frame in full quality; returns the renderer for further pictures.
fn draw_last(directory: ResultDirectory) -> Result<(Renderer, PathBuf), Failure> {
    let folder = directory.path().join("render");
    make_folder(&folder)?;
    let renderer = Renderer::open(directory, RenderOptions::default())?;
    output::warn(&renderer.warnings);
    let last = folder.join("last.png");
    if let Some(&frame) = renderer.frames().last() {
        renderer.draw(frame)?.write_png(&last)?;
    }
    Ok((renderer, last))
}

/// Draws a complete result. Failures only cause a warning, which starts with `nothing`; the frames are complete.
pub fn if_possible<T>(
    result: &Path,
    nothing: &str,
    draw: impl FnOnce(ResultDirectory) -> Result<T, Failure>,
) -> Option<T> {
    let opened = ResultDirectory::open(result).map_err(Failure::from);
    let warn = |failure: &Failure| {
        output::note(format_args!(
            "warning: {nothing}: {}; try again with: barchan render {}",
            failure.report,
            result.display()
        ));
    };
    opened.and_then(draw).inspect_err(warn).ok()
}

/// Film, preview and sheet from the pictures in the folder.
fn make_films(
    renderer: &Renderer,
    frames: &[u32],
    job: &Job,
    stop: &StopRequest,
    report: &mut Report,
) -> Result<(), Failure> {
    let options = FilmOptions::at_rate(job.speed * film_rate(renderer, frames)?);
    let [width, height] = renderer.options().size;
    let preview = job.preview.then_some("preview.gif");
    for (kind, name) in [("film", job.film), ("preview", preview)] {
        let Some(name) = name else { continue };
        let mut film = match Film::create(&job.output.join(name), width, height, &options) {
            // The pictures exist; only the film is missing.
            Err(error @ FilmError::NeedsFfmpeg { .. }) => {
                output::note(format_args!("warning: {error}"));
                continue;
            }
            film => film?,
        };
        for &frame in frames {
            if stop.is_requested() {
                report.stopped = true;
                return Ok(());
            }
            film.add(&Picture::read_png(&picture_path(&job.output, frame))?)?;
        }
        let film = film.finish()?;
        report.films.push(FilmMade { kind, film });
    }
    if job.sheet > 0 {
        report.sheet = Some(make_sheet(renderer, frames, job)?);
    }
    Ok(())
}

fn make_sheet(renderer: &Renderer, frames: &[u32], job: &Job) -> Result<String, Failure> {
    let frames = spread(frames, job.sheet.max(2));
    let count = u32::try_from(frames.len()).unwrap_or(u32::MAX);
    let mut sheet = Sheet::new(count, SHEET_COLUMNS, SHEET_WIDTH)?;
    for frame in frames {
        let picture = Picture::read_png(&picture_path(&job.output, frame))?;
        let time = renderer.time_of(frame)?;
        sheet.add(&picture, &format!("frame {frame} · {time:.2} s"))?;
    }
    let path = job.output.join("sheet.png");
    sheet.finish()?.write_png(&path)?;
    Ok(path.display().to_string())
}

/// Pictures per second at which the film runs in real time.
fn film_rate(renderer: &Renderer, frames: &[u32]) -> Result<f64, Failure> {
    let (Some(&first), Some(&last)) = (frames.first(), frames.last()) else {
        return Ok(1.0);
    };
    let duration = renderer.time_of(last)? - renderer.time_of(first)?;
    Ok(match duration > 0.0 {
        true => (frames.len() - 1) as f64 / duration,
        false => 1.0,
    })
}

fn picture_path(folder: &Path, frame: u32) -> PathBuf {
    folder.join(format!("{frame:06}.png"))
}

fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| {
        Failure::call(
            format_args!("{} cannot be created: {error}", path.display()),
            "choose another folder with -o",
        )
    })
}

/// Whether the pictures in the folder were drawn with the present settings, which are then recorded.
fn same_settings(renderer: &Renderer, folder: &Path) -> Result<bool, Failure> {
    let path = folder.join(SETTINGS);
    let now = format!(
        "{}\nscene {}\n{:?}\n",
        concat!("barchan ", env!("CARGO_PKG_VERSION")),
        renderer.directory().manifest().scene_digest,
        renderer.options(),
    );
    let same =
        fs::read_to_string(&path).is_ok_and(|text| document_digest(&text) == document_digest(&now));
    if !same {
        fs::write(&path, now).map_err(|error| {
            Failure::call(
                format_args!("{} cannot be written: {error}", path.display()),
                "choose another folder with -o",
            )
        })?;
    }
    Ok(same)
}

/// Whether a picture is newer than its frame.
fn is_newer(picture: &Path, result: &ResultDirectory, frame: u32) -> bool {
    let frame = result.path().join(format!("frames/{frame:06}/zarr.json"));
    let time = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
    matches!((time(picture), time(&frame)), (Some(picture), Some(frame)) if picture > frame)
}
