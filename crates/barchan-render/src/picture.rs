//! A finished picture.

/// Colours as screens show them: sRGB, 8 bits a channel, rows from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Red, green and blue of every pixel.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// A picture of one colour.
    pub fn filled(width: u32, height: u32, colour: [u8; 3]) -> Self {
        let pixels = width as usize * height as usize;
        Self {
            width,
            height,
            rgb: colour.repeat(pixels),
        }
    }

    /// Colour of a pixel; black outside.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let start = 3 * (y as usize * self.width as usize + x as usize);
        match self.rgb.get(start..start + 3) {
            Some(&[r, g, b]) if x < self.width => [r, g, b],
            _ => [0; 3],
        }
    }
}
