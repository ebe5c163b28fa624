//! The boxes of an MP4 file with one H.264 track (ISO/IEC 14496-12 and -15): `ftyp`, `moov`, `mdat`.

/// One encoded picture in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Its size [bytes].
    pub bytes: u32,
    /// Whether decoding can begin here.
    pub key: bool,
}

/// The track: data of the tables that precede the samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Track {
    /// Width and height [pixels].
    pub size: [u16; 2],
    /// Unit of time: ticks per second.
    pub ticks_per_second: u32,
    /// Duration of each picture [ticks].
    pub ticks_per_picture: u32,
    /// Sequence parameter set (unit of type 7).
    pub sequence: Vec<u8>,
    /// Picture parameter set (unit of type 8).
    pub picture: Vec<u8>,
    /// The pictures in file order, which is display order.
    pub samples: Vec<Sample>,
}

/// Samples per chunk of the offset table.
const CHUNK: usize = 24;

impl Track {
    /// Everything before the bytes of the samples.
    pub fn head(&self) -> Vec<u8> {
        let total: u64 = self.samples.iter().map(|s| u64::from(s.bytes)).sum();
        let brands = [
            b"isom" as &[u8],
            &u32s(&[0x200]),
            b"isom",
            b"iso2",
            b"avc1",
            b"mp41",
        ];
        let mut out = boxed(b"ftyp", &brands.concat());
        let is_long = total + 8 > u64::from(u32::MAX);
        let header = if is_long { 16 } else { 8 };
        // The length of offsets does not depend on their values: measure first, then fill in.
        let large = total + 1_000_000 > u64::from(u32::MAX);
        let start = out.len() as u64 + self.movie(0, large).len() as u64 + header;
        out.extend(self.movie(start, large));
        out.extend(u32s(&[if is_long { 1 } else { total as u32 + 8 }]));
        out.extend(b"mdat");
        if is_long {
            out.extend((total + 16).to_be_bytes());
        }
        out
    }

    /// Playing time [ticks], saturating.
    fn duration(&self) -> u32 {
        let ticks = self.samples.len() as u64 * u64::from(self.ticks_per_picture);
        ticks.try_into().unwrap_or(u32::MAX)
    }

    fn movie(&self, start: u64, large: bool) -> Vec<u8> {
        let header = [
            u32s(&[0, 0, 0, self.ticks_per_second, self.duration()]),
            // Rate 1.0, volume 1.0, and zeros for reserved fields.
            u32s(&[0x1_0000, 0x0100_0000, 0, 0]),
            u32s(&MATRIX),
            u32s(&[0; 6]),
            u32s(&[2]),
        ];
        let [width, height] = self.size.map(|v| u32::from(v) << 16);
        let track_header = [
            // Enabled and in the movie; track 1.
            u32s(&[3, 0, 0, 1, 0, self.duration(), 0, 0, 0, 0]),
            u32s(&MATRIX),
            u32s(&[width, height]),
        ];
        let track = [
            boxed(b"tkhd", &track_header.concat()),
            boxed(b"mdia", &self.media(start, large)),
        ];
        let movie = [
            boxed(b"mvhd", &header.concat()),
            boxed(b"trak", &track.concat()),
        ];
        boxed(b"moov", &movie.concat())
    }

    fn media(&self, start: u64, large: bool) -> Vec<u8> {
        // 0x55c4 spells `und`, no language.
        let header = u32s(&[0, 0, 0, self.ticks_per_second, self.duration(), 0x55c4_0000]);
        let handler = [
            &u32s(&[0, 0]) as &[u8],
            b"vide",
            &u32s(&[0, 0, 0]),
            b"video\0",
        ];
        let reference = [u32s(&[0, 1]), boxed(b"url ", &u32s(&[1]))];
        let data = boxed(b"dref", &reference.concat());
        let information = [
            boxed(b"vmhd", &u32s(&[1, 0, 0])),
            boxed(b"dinf", &data),
            boxed(b"stbl", &self.tables(start, large)),
        ];
        [
            boxed(b"mdhd", &header),
            boxed(b"hdlr", &handler.concat()),
            boxed(b"minf", &information.concat()),
        ]
        .concat()
    }

    fn tables(&self, start: u64, large: bool) -> Vec<u8> {
        let count = self.samples.len() as u32;
        let sizes = self.samples.iter().map(|s| s.bytes);
        let keys = (1u32..).zip(&self.samples).filter(|(_, s)| s.key);
        let keys: Vec<u32> = keys.map(|(i, _)| i).collect();
        let entry = [u32s(&[0, 1]), self.sample_entry()].concat();
        let times = u32s(&[0, 1, count, self.ticks_per_picture]);
        [
            boxed(b"stsd", &entry),
            boxed(b"stts", &times),
            boxed(
                b"stss",
                &[u32s(&[0, keys.len() as u32]), u32s(&keys)].concat(),
            ),
            boxed(b"stsc", &self.samples_in_chunks()),
            boxed(
                b"stsz",
                &[u32s(&[0, 0, count]), u32s(&sizes.collect::<Vec<_>>())].concat(),
            ),
            self.offsets(start, large),
        ]
        .concat()
    }

    fn samples_in_chunks(&self) -> Vec<u8> {
        let (full, rest) = (self.samples.len() / CHUNK, self.samples.len() % CHUNK);
        let mut runs = Vec::new();
        if full > 0 {
            runs.extend([1, CHUNK as u32, 1]);
        }
        if rest > 0 {
            runs.extend([full as u32 + 1, rest as u32, 1]);
        }
        [u32s(&[0, runs.len() as u32 / 3]), u32s(&runs)].concat()
    }

    fn offsets(&self, start: u64, large: bool) -> Vec<u8> {
        let mut at = start;
        let mut table = Vec::new();
        for chunk in self.samples.chunks(CHUNK) {
            if large {
                table.extend(at.to_be_bytes());
            } else {
                table.extend((at as u32).to_be_bytes());
            }
            at += chunk.iter().map(|s| u64::from(s.bytes)).sum::<u64>();
        }
        let count = self.samples.len().div_ceil(CHUNK) as u32;
        let content = [u32s(&[0, count]), table].concat();
        boxed(if large { b"co64" } else { b"stco" }, &content)
    }

    fn sample_entry(&self) -> Vec<u8> {
        let [width, height] = self.size.map(u16::to_be_bytes);
        let mut entry = u32s(&[0, 1, 0, 0, 0, 0]);
        entry.extend([width, height].concat());
        // 72 dpi in both directions, one picture per sample, no name, 24 bits of color.
        entry.extend(u32s(&[0x48_0000, 0x48_0000, 0]));
        entry.extend(1u16.to_be_bytes());
        entry.extend([0; 32]);
        entry.extend([0, 24, 0xff, 0xff]);
        entry.extend(boxed(b"avcC", &self.configuration()));
        // BT.709 primaries, transfer and matrix, limited range.
        entry.extend(boxed(b"colr", b"nclx\0\x01\0\x01\0\x01\0"));
        entry.extend(boxed(b"pasp", &u32s(&[1, 1])));
        boxed(b"avc1", &entry)
    }

    fn configuration(&self) -> Vec<u8> {
        let profile = self.sequence.get(1..4).unwrap_or(&[66, 0xc0, 31]);
        // A length of 4 bytes before each unit; one parameter set of each type.
        let mut out = vec![1, profile[0], profile[1], profile[2], 0xff, 0xe1];
        out.extend((self.sequence.len() as u16).to_be_bytes());
        out.extend(&self.sequence);
        out.push(1);
        out.extend((self.picture.len() as u16).to_be_bytes());
        out.extend(&self.picture);
        if matches!(profile[0], 100 | 110 | 122 | 144) {
            // High profiles repeat: 4:2:0, 8 bits, no extension.
            out.extend([0xfd, 0xf8, 0xf8, 0]);
        }
        out
    }
}

/// Identity matrix: no rotation or scaling of the picture.
const MATRIX: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];

fn boxed(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut out = u32s(&[content.len() as u32 + 8]);
    out.extend(name);
    out.extend(content);
    out
}

fn u32s(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_be_bytes()).collect()
}

/// The units of an H.264 byte stream, each after a start code 00 00 01; empty ones are omitted.
pub fn units(stream: &[u8]) -> Vec<&[u8]> {
    let mut starts = Vec::new();
    let mut i = 0;
    while i + 3 <= stream.len() {
        if stream[i..i + 3] == [0, 0, 1] {
            starts.push(i);
            i += 3;
        } else {
            i += 1;
        }
    }
    let ends = starts.iter().skip(1).copied().chain([stream.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| {
            let unit = &stream[start + 3..end];
            let zeros = unit.iter().rev().take_while(|b| **b == 0).count();
            &unit[..unit.len() - zeros]
        })
        .filter(|unit| !unit.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_cut_at_start_codes_of_both_lengths() {
        let stream = [0, 0, 0, 1, 7, 9, 0, 0, 1, 8, 5, 0, 0, 0, 1, 0x65, 0, 3, 4];
        let units = units(&stream);
        assert_eq!(units, [&[7, 9][..], &[8, 5], &[0x65, 0, 3, 4]]);
        assert!(super::units(&[0, 0]).is_empty());
    }

    #[test]
    fn offsets_grow_to_64_bits_with_the_film() {
        let sample = Sample {
            bytes: 200_000_000,
            key: true,
        };
        let track = Track {
            size: [64, 64],
            ticks_per_second: 1000,
            ticks_per_picture: 40,
            samples: vec![sample; 30],
            ..Track::default()
        };
        let head = track.head();
        let has = |name: &[u8]| head.windows(4).any(|w| w == name);
        assert!(has(b"co64") && !has(b"stco"));
        // A size of 1 means that the actual size follows the name.
        let mdat = head.len() - 16;
        assert_eq!(&head[mdat..mdat + 8], b"\0\0\0\x01mdat");
        assert_eq!(head[mdat + 8..], (6_000_000_000u64 + 16).to_be_bytes());
        let at = head.windows(4).position(|w| w == b"co64").unwrap() + 12;
        let offset = |i: usize| u64::from_be_bytes(head[at + 8 * i..][..8].try_into().unwrap());
        assert_eq!(offset(0), head.len() as u64);
        assert_eq!(offset(1), head.len() as u64 + 24 * 200_000_000);
    }
}
