//! Films are decoded and compared with the original pictures.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use barchan_render::Picture;
use barchan_render::canvas::blend;
use barchan_render::film::{
    EncoderChoice, Film, FilmError, FilmOptions, FilmReport, GifOptions, find_ffmpeg,
};
use openh264::formats::YUVSource;
use std::path::Path;

/// A heap of grains a few pixels wide that slides to the right, on a graded sky.
fn picture(width: u32, height: u32, time: u32) -> Picture {
    let mut picture = Picture::filled(width, height, [0; 3]);
    for y in 0..height {
        for x in 0..width {
            let sky = 200 - (100 * y / height) as u8;
            let moved = x as i64 - 3 * i64::from(time);
            let grain = (moved.div_euclid(3) * 7919 + i64::from(y / 3) * 104_729).rem_euclid(13);
            let center = i64::from(width) / 3;
            let heap = i64::from(y) > i64::from(height) / 3 + (moved - center).abs() / 2;
            let color = match (heap, grain) {
                (false, _) => [sky, sky, 220],
                (true, 0) => [255, 255, 255],
                (true, 1 | 2) => [107, 84, 30],
                (true, g) => [225 - 4 * g as u8, 169 - 3 * g as u8, 95],
            };
            blend(&mut picture, x.into(), y.into(), color, 1.0);
        }
    }
    picture
}

/// Peak signal-to-noise ratio [dB] over the pixels that both have.
fn psnr(a: &Picture, b: &Picture) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for y in 0..a.height.min(b.height) {
        for x in 0..a.width.min(b.width) {
            let (p, q) = (a.pixel(x, y), b.pixel(x, y));
            for c in 0..3 {
                sum += (f64::from(p[c]) - f64::from(q[c])).powi(2);
                n += 1.0;
            }
        }
    }
    10.0 * (255.0 * 255.0 * n / f64::max(sum, 1e-9)).log10()
}

fn options(rate: f64) -> FilmOptions {
    FilmOptions {
        encoder: EncoderChoice::BuiltIn,
        ..FilmOptions::at_rate(rate)
    }
}

fn write(path: &Path, size: [u32; 2], count: u32, options: &FilmOptions) -> FilmReport {
    let mut film = Film::create(path, size[0], size[1], options).unwrap();
    for time in 0..count {
        film.add(&picture(size[0], size[1], time)).unwrap();
    }
    film.finish().unwrap()
}

/// Content of the first box of a name, found inside its parents.
fn find<'a>(bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
    let Some((name, rest)) = path.split_first() else {
        return bytes;
    };
    let mut at = 0;
    while at + 8 <= bytes.len() {
        let size = number(bytes, at) as usize;
        if &bytes[at + 4..at + 8] == name.as_bytes() {
            let skip = match *name {
                "stsd" => 8,
                "avc1" => 78,
                _ => 0,
            };
            return find(&bytes[at + 8 + skip..at + size], rest);
        }
        at += size;
    }
    panic!("no box {name}");
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

const TABLES: [&str; 5] = ["moov", "trak", "mdia", "minf", "stbl"];

fn table<'a>(file: &'a [u8], name: &'a str) -> &'a [u8] {
    let path: Vec<&str> = TABLES.into_iter().chain(name.split('/')).collect();
    find(file, &path)
}

/// Offset and size of each sample, from the chunk tables.
fn samples(file: &[u8]) -> Vec<(usize, usize)> {
    let (sizes, chunks, runs) = (
        table(file, "stsz"),
        table(file, "stco"),
        table(file, "stsc"),
    );
    let count = number(sizes, 8) as usize;
    let mut out = Vec::new();
    for chunk in 0..number(chunks, 4) {
        let run = (0..number(runs, 4) as usize)
            .rfind(|r| number(runs, 8 + 12 * r) <= chunk + 1)
            .unwrap();
        let mut at = number(chunks, 8 + 4 * chunk as usize) as usize;
        for _ in 0..number(runs, 12 + 12 * run) {
            let size = number(sizes, 12 + 4 * out.len()) as usize;
            out.push((at, size));
            at += size;
        }
    }
    assert_eq!(out.len(), count);
    out
}

/// The pictures of a film, decoded by OpenH264 and converted from BT.709.
fn decode(file: &[u8]) -> Vec<Picture> {
    let mut decoder = openh264::decoder::Decoder::new().unwrap();
    let config = table(file, "stsd/avc1/avcC");
    let sequence = 8 + u16::from_be_bytes([config[6], config[7]]) as usize;
    let picture_at = sequence + 3;
    let picture_length = u16::from_be_bytes([config[sequence + 1], config[sequence + 2]]) as usize;
    let mut stream = [&[0, 0, 0, 1], &config[8..sequence]].concat();
    stream.extend([0, 0, 0, 1]);
    stream.extend(&config[picture_at..picture_at + picture_length]);
    let mut out = Vec::new();
    for (at, size) in samples(file) {
        let mut rest = &file[at..at + size];
        while !rest.is_empty() {
            let length = number(rest, 0) as usize;
            stream.extend([0, 0, 0, 1]);
            stream.extend(&rest[4..4 + length]);
            rest = &rest[4 + length..];
        }
        out.extend(decoder.decode(&stream).unwrap().map(|yuv| rgb(&yuv)));
        stream.clear();
    }
    let rest = decoder.flush_remaining().unwrap();
    out.extend(rest.iter().map(rgb));
    out
}

fn rgb(yuv: &impl YUVSource) -> Picture {
    let (width, height) = yuv.dimensions();
    let strides = yuv.strides();
    let mut picture = Picture::filled(width as u32, height as u32, [0; 3]);
    for y in 0..height {
        for x in 0..width {
            let luma = (f32::from(yuv.y()[y * strides.0 + x]) - 16.0) * 255.0 / 219.0;
            let u = f32::from(yuv.u()[y / 2 * strides.1 + x / 2]) - 128.0;
            let v = f32::from(yuv.v()[y / 2 * strides.2 + x / 2]) - 128.0;
            let red = luma + 1.5748 * v * 255.0 / 224.0;
            let blue = luma + 1.8556 * u * 255.0 / 224.0;
            let green = (luma - 0.2126 * red - 0.0722 * blue) / 0.7152;
            let color = [red, green, blue].map(|c| (c + 0.5).clamp(0.0, 255.0) as u8);
            blend(&mut picture, x as i64, y as i64, color, 1.0);
        }
    }
    picture
}

#[test]
fn an_mp4_holds_the_pictures_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    let report = write(&path, [320, 180], 30, &options(12.0));
    assert_eq!((report.pictures, report.encoder.as_str()), (30, "built in"));
    assert!((report.duration - 2.5).abs() < 1e-9);
    let file = std::fs::read(&path).unwrap();
    assert_eq!(report.bytes, file.len() as u64);
    let pictures = decode(&file);
    assert_eq!(pictures.len(), 30);
    for (time, decoded) in pictures.iter().enumerate() {
        let same = psnr(decoded, &picture(320, 180, time as u32));
        let other = psnr(decoded, &picture(320, 180, time as u32 + 1));
        assert!(same > 26.0, "picture {time}: {same} dB");
        assert!(
            other < same - 5.0,
            "picture {time}: {other} dB against {same} dB"
        );
    }
    // No other file remains in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_boxes_of_an_mp4_describe_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    write(&path, [64, 48], 50, &options(23.976));
    let file = std::fs::read(&path).unwrap();
    assert_eq!(&file[4..12], b"ftypisom");
    // The tables precede the samples, so that playback can begin while the file loads.
    let place = |name: &[u8]| file.windows(4).position(|w| w == name).unwrap();
    assert!(place(b"moov") < place(b"mdat"));
    let media = find(&file, &["moov", "trak", "mdia", "mdhd"]);
    let seconds = f64::from(number(media, 16)) / f64::from(number(media, 12));
    assert!(
        (seconds - 50.0 * 1001.0 / 24000.0).abs() < 1e-9,
        "{seconds}"
    );
    let movie = find(&file, &["moov", "mvhd"]);
    assert_eq!(
        [number(movie, 12), number(movie, 16)],
        [number(media, 12), number(media, 16)]
    );
    let times = table(&file, "stts");
    assert_eq!([number(times, 4), number(times, 8)], [1, 50]);
    let keys = table(&file, "stss");
    let keys: Vec<u32> = (0..number(keys, 4) as usize)
        .map(|i| number(keys, 8 + 4 * i))
        .collect();
    assert_eq!(keys, [1, 25, 49]);
    let header = find(&file, &["moov", "trak", "tkhd"]);
    assert_eq!(
        [number(header, 76) >> 16, number(header, 80) >> 16],
        [64, 48]
    );
    assert_eq!(table(&file, "stsd/avc1/colr"), b"nclx\0\x01\0\x01\0\x01\0");
    let last = samples(&file).into_iter().next_back().unwrap();
    assert_eq!(last.0 + last.1, file.len());
}

#[test]
fn odd_and_tiny_sizes_are_padded_and_one_picture_is_a_film() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.mp4");
    let report = write(&path, [161, 91], 1, &options(25.0));
    assert_eq!([report.width, report.height, report.pictures], [162, 92, 1]);
    let pictures = decode(&std::fs::read(&path).unwrap());
    assert_eq!([pictures[0].width, pictures[0].height], [162, 92]);
    assert!(psnr(&pictures[0], &picture(161, 91, 0)) > 26.0);
    let report = write(&folder.path().join("tiny.mp4"), [3, 5], 2, &options(25.0));
    assert_eq!([report.width, report.height], [16, 16]);
}

#[test]
fn invalid_calls_are_errors_and_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let create = |name: &str, w, h, rate| Film::create(&at(name), w, h, &options(rate));
    assert!(matches!(
        create("a.avi", 64, 64, 24.0),
        Err(FilmError::Ending { .. })
    ));
    assert!(matches!(
        create("a.mp4", 64, 64, 0.0),
        Err(FilmError::Rate { .. })
    ));
    assert!(matches!(
        create("a.mp4", 0, 64, 24.0),
        Err(FilmError::Size { .. })
    ));
    assert!(matches!(
        create("a.mp4", 7680, 4320, 24.0),
        Err(FilmError::TooLarge { .. })
    ));
    let Err(error) = create("a.webm", 64, 64, 24.0) else {
        panic!("WebM needs ffmpeg");
    };
    assert!(
        error.to_string().contains("install ffmpeg") && error.to_string().contains("frames remain")
    );
    let empty = create("a.mp4", 64, 64, 24.0).unwrap().finish();
    assert!(matches!(empty, Err(FilmError::Empty { .. })));
    let empty = create("a.gif", 64, 64, 24.0).unwrap().finish();
    assert!(matches!(empty, Err(FilmError::Empty { .. })));
    let mut film = create("a.mp4", 64, 64, 24.0).unwrap();
    let other = film.add(&Picture::filled(32, 64, [0; 3]));
    assert!(matches!(other, Err(FilmError::Size { .. })));
    film.add(&picture(64, 64, 0)).unwrap();
    drop(film);
    let missing = Film::create(&at("none/a.mp4"), 64, 64, &options(24.0));
    assert!(matches!(missing, Err(FilmError::Write { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Composited pictures and delays [1/100 s] of a GIF.
fn decode_gif(path: &Path) -> (Vec<Picture>, Vec<u16>, gif::Repeat) {
    let mut settings = gif::DecodeOptions::new();
    settings.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = settings
        .read_info(std::fs::File::open(path).unwrap())
        .unwrap();
    let (width, height) = (u32::from(decoder.width()), u32::from(decoder.height()));
    let mut screen = Picture::filled(width, height, [0; 3]);
    let (mut pictures, mut delays) = (Vec::new(), Vec::new());
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        for (i, p) in frame.buffer.chunks(4).enumerate() {
            let across = usize::from(frame.width);
            let (x, y) = (
                i % across + usize::from(frame.left),
                i / across + usize::from(frame.top),
            );
            if p[3] > 0 {
                blend(&mut screen, x as i64, y as i64, [p[0], p[1], p[2]], 1.0);
            }
        }
        pictures.push(screen.clone());
        delays.push(frame.delay);
    }
    (pictures, delays, decoder.repeat())
}

#[test]
fn a_gif_loops_forever_and_shows_the_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("preview.gif");
    let mut options = options(24.0);
    options.gif.width = 160;
    let report = write(&path, [320, 180], 25, &options);
    let (pictures, delays, repeat) = decode_gif(&path);
    assert_eq!(repeat, gif::Repeat::Infinite);
    assert_eq!(pictures.len(), 13);
    assert_eq!(
        [report.width, report.height, report.pictures],
        [160, 90, 13]
    );
    // 25 pictures at 24 a second, and the pause.
    assert_eq!(delays.iter().map(|d| u32::from(*d)).sum::<u32>(), 104 + 80);
    assert!((report.duration - 1.84).abs() < 1e-9);
    for (i, shown) in pictures.iter().enumerate() {
        let time = 2 * i as u32;
        let same = psnr(shown, &picture(320, 180, time).scaled_down(160));
        let other = psnr(shown, &picture(320, 180, time + 2).scaled_down(160));
        assert!(same > 30.0, "picture {i}: {same} dB");
        assert!(
            other < same - 5.0,
            "picture {i}: {other} dB against {same} dB"
        );
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn plain_areas_of_a_gif_stay_plain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.gif");
    let mut picture = picture(320, 180, 0);
    for y in 0..60 {
        (0..320).for_each(|x| blend(&mut picture, x, y, [196, 198, 202], 1.0));
    }
    let mut film = Film::create(&path, 320, 180, &options(12.0)).unwrap();
    film.add(&picture).unwrap();
    film.finish().unwrap();
    let shown = decode_gif(&path).0.remove(0);
    let first = shown.pixel(0, 0);
    assert!((0..60).all(|y| (0..320).all(|x| shown.pixel(x, y) == first)));
}

#[test]
fn a_gif_stays_within_its_budget_and_static_areas_cost_little() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("preview.gif");
    let generous = write(&path, [320, 180], 24, &options(12.0));
    let mut tight = options(12.0);
    tight.gif = GifOptions {
        budget: generous.bytes / 3,
        ..tight.gif
    };
    let report = write(&path, [320, 180], 24, &tight);
    assert!(
        report.bytes <= generous.bytes / 3,
        "{} of {}",
        report.bytes,
        generous.bytes
    );
    assert!(report.bytes > generous.bytes / 20);

    let mut film = Film::create(&path, 320, 180, &options(12.0)).unwrap();
    (0..24).for_each(|_| film.add(&picture(320, 180, 0)).unwrap());
    let still = film.finish().unwrap();
    assert!(
        still.bytes < generous.bytes / 8,
        "{} of {}",
        still.bytes,
        generous.bytes
    );
}

/// Planes as ffmpeg writes them.
struct Raw<'a>(&'a [u8], usize, usize);

impl YUVSource for Raw<'_> {
    fn dimensions(&self) -> (usize, usize) {
        (self.1, self.2)
    }
    fn strides(&self) -> (usize, usize, usize) {
        (self.1, self.1 / 2, self.1 / 2)
    }
    fn y(&self) -> &[u8] {
        &self.0[..self.1 * self.2]
    }
    fn u(&self) -> &[u8] {
        &self.0[self.1 * self.2..]
    }
    fn v(&self) -> &[u8] {
        &self.0[self.1 * self.2 * 5 / 4..]
    }
}

fn decode_with_ffmpeg(path: &Path, size: [usize; 2]) -> Vec<Picture> {
    let output = std::process::Command::new("ffmpeg")
        .args(["-loglevel", "error", "-i"])
        .arg(path)
        .args(["-f", "rawvideo", "-pix_fmt", "yuv420p", "pipe:1"])
        .output()
        .unwrap();
    let frames = output.stdout.chunks(size[0] * size[1] * 3 / 2);
    frames.map(|f| rgb(&Raw(f, size[0], size[1]))).collect()
}

/// Runs only if ffmpeg is installed; the other tests cover the built-in encoder.
#[test]
fn ffmpeg_writes_the_same_film_if_installed() {
    let Some(ffmpeg) = find_ffmpeg() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let automatic = FilmOptions::at_rate(25.0);
    if ffmpeg.writes_mp4() {
        let path = folder.path().join("film.mp4");
        let report = write(&path, [161, 90], 10, &automatic);
        assert!(report.encoder.starts_with("ffmpeg "), "{}", report.encoder);
        let pictures = decode_with_ffmpeg(&path, [162, 90]);
        assert_eq!(pictures.len(), 10);
        let same = psnr(&pictures[9], &picture(161, 90, 9));
        let other = psnr(&pictures[9], &picture(161, 90, 8));
        assert!(same > 26.0 && other < same - 5.0, "{same} dB, {other} dB");
        let broken = folder.path().join("none").join("film.mp4");
        let mut film = Film::create(&broken, 64, 64, &automatic).unwrap();
        let mut result = Ok(());
        for time in 0..500 {
            result = result.and_then(|()| film.add(&picture(64, 64, time)));
        }
        let error = result.and_then(|()| film.finish().map(|_| ())).unwrap_err();
        assert!(error.to_string().contains("No such file"), "{error}");
    }
    if ffmpeg.writes_webm() {
        let path = folder.path().join("film.webm");
        let report = write(&path, [64, 64], 5, &automatic);
        assert!(report.bytes > 100);
        let head = std::fs::read(&path).unwrap();
        assert_eq!(head[..4], [0x1a, 0x45, 0xdf, 0xa3]);
    }
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let names: Vec<_> = entries.map(|e| e.unwrap().file_name()).collect();
    assert!(
        names
            .iter()
            .all(|n| !n.to_string_lossy().starts_with(".partial"))
    );
}
