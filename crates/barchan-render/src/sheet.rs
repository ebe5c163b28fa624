//! Contact sheets: chosen frames side by side.

use crate::Picture;
use crate::canvas::{self, Area};
use crate::text::{self, Style};

/// A sheet being filled; pictures are scaled down as they are added.
#[derive(Debug, Clone)]
pub struct Sheet {
    width: u32,
    columns: u32,
    cells: Vec<(Picture, String)>,
    size: Option<[u32; 2]>,
}

/// Why a sheet cannot be drawn.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum SheetError {
    /// There are no pictures.
    #[error("a contact sheet needs at least one picture; choose frames that exist")]
    Empty,
    /// Pictures differ in size.
    #[error(
        "the pictures of a contact sheet must have one size; got {}x{} after {}x{} pixels",
        .found[0], .found[1], .expected[0], .expected[1]
    )]
    Size {
        /// Width and height of the first [pixels].
        expected: [u32; 2],
        /// Width and height of the other [pixels].
        found: [u32; 2],
    },
    /// The sheet is too narrow.
    #[error("a contact sheet of {width} pixels is too narrow for {columns} columns; choose at least {}", 64 * .columns)]
    Narrow {
        /// Width of the sheet [pixels].
        width: u32,
        /// Pictures per row.
        columns: u32,
    },
}

const PAPER: [u8; 3] = [246, 246, 244];

impl Sheet {
    /// A sheet of a width [pixels] for `count` pictures, in rows of `columns`.
    pub fn new(pictures: u32, columns: u32, width: u32) -> Result<Self, SheetError> {
        let columns = columns.min(pictures).max(1);
        if width < 64 * columns {
            return Err(SheetError::Narrow { width, columns });
        }
        Ok(Self {
            width,
            columns,
            cells: Vec::new(),
            size: None,
        })
    }

    /// Adds the next picture with the text below it, such as `frame 48 · 1.00 s`.
    pub fn add(&mut self, picture: &Picture, caption: &str) -> Result<(), SheetError> {
        let found = [picture.width, picture.height];
        let expected = *self.size.get_or_insert(found);
        if found != expected {
            return Err(SheetError::Size { expected, found });
        }
        let small = picture.scaled_down(self.cell());
        self.cells.push((small, caption.into()));
        Ok(())
    }

    /// The sheet.
    pub fn finish(self) -> Result<Picture, SheetError> {
        let Some((first, _)) = self.cells.first() else {
            return Err(SheetError::Empty);
        };
        let (gap, cell) = (self.gap(), self.cell());
        let style = self.style(cell);
        let tall = first.height + style.height + gap / 2;
        let rows = (self.cells.len() as u32).div_ceil(self.columns);
        let height = rows * (tall + gap) + gap;
        let mut sheet = Picture::filled(self.width, height, PAPER);
        for (i, (picture, caption)) in self.cells.iter().enumerate() {
            let (column, row) = (i as u32 % self.columns, i as u32 / self.columns);
            let x = gap + column * (cell + gap);
            let y = gap + row * (tall + gap);
            // Pictures smaller than their cell are centered in it.
            let inset = (cell - picture.width.min(cell)) / 2;
            place(&mut sheet, picture, x + inset, y);
            let text = caption_that_fits(caption, cell, style);
            let [wide, _] = text::size(&text, style);
            let left = i64::from(x) + (i64::from(cell) - i64::from(wide)) / 2;
            let below = i64::from(y + picture.height + gap / 4);
            text::draw(&mut sheet, &text, left, below, style);
        }
        Ok(sheet)
    }

    fn gap(&self) -> u32 {
        (self.width / 100).clamp(4, 24)
    }

    /// Width of a picture on the sheet [pixels].
    fn cell(&self) -> u32 {
        let gaps = self.gap() * (self.columns + 1);
        (self.width.saturating_sub(gaps) / self.columns).max(8)
    }

    fn style(&self, cell: u32) -> Style {
        let longest = self.cells.iter().map(|(_, c)| c.chars().count()).max();
        // A letter is about 0.56 as wide as its line is high.
        let fitting = f64::from(cell) / (0.56 * longest.unwrap_or(0).max(1) as f64);
        let wished = f64::from(cell) / 16.0;
        Style::dark((wished.clamp(12.0, 32.0).min(fitting) as u32).max(9))
    }
}

fn caption_that_fits(caption: &str, width: u32, style: Style) -> String {
    let mut text = text::printable(caption);
    while text::size(&text, style)[0] > width && text.pop().is_some() {}
    text
}

fn place(sheet: &mut Picture, picture: &Picture, x: u32, y: u32) {
    sheet.paste(picture, x, y);
    let edge = Area::new(
        i64::from(x),
        i64::from(y),
        i64::from(picture.width),
        i64::from(picture.height),
    );
    canvas::frame(sheet, edge, 1, [0; 3], 0.15);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(count: u32, columns: u32, width: u32) -> Picture {
        let mut sheet = Sheet::new(count, columns, width).unwrap();
        for i in 0..count {
            let shade = 20 * (i as u8 + 1);
            let picture = Picture::filled(640, 360, [shade, 0, 0]);
            sheet.add(&picture, &format!("frame {i} · 1.00 s")).unwrap();
        }
        sheet.finish().unwrap()
    }

    #[test]
    fn pictures_are_arranged_in_rows_in_order() {
        let sheet = sheet(6, 3, 960);
        assert_eq!(sheet.width, 960);
        let cell = |column: u32, row: u32| sheet.pixel(160 + 320 * column, 60 + 220 * row);
        for (i, place) in [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
            .iter()
            .enumerate()
        {
            assert_eq!(cell(place[0], place[1]), [20 * (i as u8 + 1), 0, 0]);
        }
        // Dark letters below the first picture.
        let below = (190..220).flat_map(|y| (10..310).map(move |x| (x, y)));
        assert!(below.filter(|(x, y)| sheet.pixel(*x, *y)[1] < 120).count() > 50);
    }

    #[test]
    fn sheets_fit_their_rows_and_small_pictures() {
        let height = |pictures, columns| sheet(pictures, columns, 800).height;
        assert!(height(9, 3) < 620 && height(9, 3) > 400);
        assert!(height(1, 1) > 400);
        assert!(sheet(4, 4, 256).height < 80);
    }

    #[test]
    fn invalid_sheets_are_errors() {
        assert_eq!(
            Sheet::new(1, 1, 640).unwrap().finish().unwrap_err(),
            SheetError::Empty
        );
        assert!(matches!(
            Sheet::new(9, 3, 100),
            Err(SheetError::Narrow { .. })
        ));
        let mut sheet = Sheet::new(2, 2, 640).unwrap();
        sheet.add(&Picture::filled(64, 36, [0; 3]), "").unwrap();
        let other = sheet.add(&Picture::filled(64, 37, [0; 3]), "");
        assert!(matches!(other, Err(SheetError::Size { .. })));
        assert!(sheet.finish().is_ok());
    }
}
