//! Encoding with the built-in OpenH264.

use super::mp4::{self, Sample, Track};
use super::rate::Rate;
use super::yuv::{Planes, padded};
use super::{FilmError, Written};
use crate::Picture;
use crate::partial::Partial;
use openh264::OpenH264API;
use openh264::encoder::{
    BitRate, Complexity, Encoder, EncoderConfig, FrameRate, IntraFramePeriod, QpRange,
    RateControlMode, VuiConfig,
};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Quantizer of every picture: grains one pixel wide remain distinct, and a film of sand at 1280x720 has about
/// 5 to 20 Mbit/s.
const QUANTIZER: u8 = 24;

/// Interval of key frames [s].
const KEY_PICTURES: f64 = 1.0;

/// An unfinished MP4 file: samples are written to a separate file, since the tables that precede them contain their sizes.
pub(super) struct Writer {
    target: PathBuf,
    samples: Partial,
    out: BufWriter<File>,
    encoder: Encoder,
    planes: Planes,
    rate: Rate,
    track: Track,
}

impl Writer {
    pub(super) fn new(target: &Path, size: [u32; 2], rate: Rate) -> Result<Self, FilmError> {
        let [width, height] = padded(size);
        if width.max(height) > 3840 || width.min(height) > 2160 {
            return Err(FilmError::TooLarge {
                path: target.to_path_buf(),
                size,
            });
        }
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), settings(rate))
            .map_err(|e| FilmError::encode(target, e))?;
        let samples = Partial::new(target, "samples-");
        let file = File::create(samples.path()).map_err(|e| FilmError::write(target, e))?;
        let (ticks_per_second, ticks_per_picture) = rate.ticks();
        Ok(Self {
            target: target.to_path_buf(),
            samples,
            out: BufWriter::new(file),
            encoder,
            planes: Planes::new(size),
            rate,
            track: Track {
                size: [width as u16, height as u16],
                ticks_per_second,
                ticks_per_picture,
                ..Track::default()
            },
        })
    }

    pub(super) fn add(&mut self, picture: &Picture) -> Result<(), FilmError> {
        self.planes.fill(picture);
        let failed = |reason: String| FilmError::encode(&self.target, reason);
        let stream = self
            .encoder
            .encode(&self.planes)
            .map_err(|e| failed(e.to_string()))?
            .to_vec();
        let mut bytes = Vec::with_capacity(stream.len() + 16);
        let mut key = false;
        for unit in mp4::units(&stream) {
            match unit[0] & 31 {
                7 => self.track.sequence = unit.to_vec(),
                8 => self.track.picture = unit.to_vec(),
                kind => {
                    key |= kind == 5;
                    bytes.extend((unit.len() as u32).to_be_bytes());
                    bytes.extend(unit);
                }
            }
        }
        if bytes.is_empty() {
            return Err(failed("the encoder skipped a picture".into()));
        }
        self.out
            .write_all(&bytes)
            .map_err(|e| FilmError::write(&self.target, e))?;
        self.track.samples.push(Sample {
            bytes: bytes.len() as u32,
            key,
        });
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Written, FilmError> {
        let pictures = self.track.samples.len() as u32;
        let written = self.out.flush().and_then(|()| self.assemble());
        written.map_err(|e| FilmError::write(&self.target, e))?;
        Ok(Written {
            pictures,
            size: [self.planes.width as u32, self.planes.height as u32],
            duration: self.rate.duration(pictures),
        })
    }

    fn assemble(&self) -> std::io::Result<()> {
        let partial = Partial::new(&self.target, "");
        let mut out = BufWriter::new(File::create(partial.path())?);
        out.write_all(&self.track.head())?;
        let mut samples = BufReader::new(File::open(self.samples.path())?);
        std::io::copy(&mut samples, &mut out)?;
        out.flush()?;
        partial.finish()
    }
}

fn settings(rate: Rate) -> EncoderConfig {
    let key = (rate.value() * KEY_PICTURES).round().max(1.0) as u32;
    EncoderConfig::new()
        .rate_control_mode(RateControlMode::Bufferbased)
        .qp(QpRange::new(QUANTIZER, QUANTIZER))
        .bitrate(BitRate::from_bps(100_000_000))
        .max_frame_rate(FrameRate::from_hz(rate.value() as f32))
        .skip_frames(false)
        .adaptive_quantization(false)
        .background_detection(false)
        .scene_change_detect(false)
        .complexity(Complexity::High)
        .intra_frame_period(IntraFramePeriod::from_num_frames(key))
        .vui(VuiConfig::bt709())
}
