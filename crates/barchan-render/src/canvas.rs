//! Drawing on a picture: rectangles, lines and disks with smooth edges.
//!
//! Coordinates are in pixels from the upper left corner of the picture; the center of the first pixel is at
//! (0.5, 0.5). Anything outside is clipped. Colors mix as bytes of sRGB, as in browsers.

use crate::Picture;

/// A rectangle of whole pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Left edge.
    pub x: i64,
    /// Upper edge.
    pub y: i64,
    /// Width [pixels].
    pub width: i64,
    /// Height [pixels].
    pub height: i64,
}

impl Area {
    /// The rectangle with its upper left corner at a pixel.
    pub fn new(x: i64, y: i64, width: i64, height: i64) -> Self {
        Self {
            x,
            y,
            width,
            height,
        }
    }
}

/// Blends a color into a pixel: 0 keeps it, 1 replaces it.
#[inline]
pub fn blend(picture: &mut Picture, x: i64, y: i64, color: [u8; 3], amount: f32) {
    if x < 0 || y < 0 || x >= i64::from(picture.width) || y >= i64::from(picture.height) {
        return;
    }
    let start = 3 * (y as usize * picture.width as usize + x as usize);
    if let Some(pixel) = picture.rgb.get_mut(start..start + 3) {
        mix_into(pixel, color, amount);
    }
}

/// Blends a color into the three bytes of a pixel.
#[inline]
pub(crate) fn mix_into(pixel: &mut [u8], color: [u8; 3], amount: f32) {
    let amount = amount.clamp(0.0, 1.0);
    for (old, new) in pixel.iter_mut().zip(color) {
        let (a, b) = (f32::from(*old), f32::from(new));
        *old = (a + (b - a) * amount + 0.5) as u8;
    }
}

/// Fills a rectangle.
pub fn rectangle(picture: &mut Picture, area: Area, color: [u8; 3], amount: f32) {
    let area = cut(picture, area);
    for y in area.y..area.y + area.height {
        for x in area.x..area.x + area.width {
            blend(picture, x, y, color, amount);
        }
    }
}

/// Draws the outline of a rectangle, inside its edges.
pub fn frame(picture: &mut Picture, area: Area, thickness: i64, color: [u8; 3], amount: f32) {
    let t = thickness.min(area.width).min(area.height).max(0);
    let sides = [
        Area { height: t, ..area },
        Area {
            y: area.y + area.height - t,
            height: t,
            ..area
        },
        Area {
            y: area.y + t,
            width: t,
            height: area.height - 2 * t,
            ..area
        },
        Area::new(area.x + area.width - t, area.y + t, t, area.height - 2 * t),
    ];
    for side in sides {
        rectangle(picture, side, color, amount);
    }
}

/// Background that keeps dark text legible on any picture: nearly white, with rounded corners.
pub fn panel(picture: &mut Picture, area: Area, corner: f32) {
    let (cx, cy) = (area.width as f32 / 2.0, area.height as f32 / 2.0);
    let corner = corner.clamp(0.0, cx.min(cy));
    let inside = cut(picture, area);
    for y in inside.y..inside.y + inside.height {
        for x in inside.x..inside.x + inside.width {
            let dx = ((x - area.x) as f32 + 0.5 - cx).abs() - (cx - corner);
            let dy = ((y - area.y) as f32 + 0.5 - cy).abs() - (cy - corner);
            let outside = dx.max(0.0).hypot(dy.max(0.0)) + dx.max(dy).min(0.0) - corner;
            blend(picture, x, y, PANEL, PANEL_AMOUNT * coverage(outside));
        }
    }
}

const PANEL: [u8; 3] = [252, 252, 252];
const PANEL_AMOUNT: f32 = 0.82;

/// Draws a straight line with flat ends.
pub fn line(
    picture: &mut Picture,
    from: [f32; 2],
    to: [f32; 2],
    width: f32,
    color: [u8; 3],
    amount: f32,
) {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = dx.hypot(dy);
    if !length.is_finite() || length == 0.0 {
        return;
    }
    let (ux, uy) = (dx / length, dy / length);
    let reach = width / 2.0 + 1.0;
    let lower = [from[0].min(to[0]) - reach, from[1].min(to[1]) - reach];
    let upper = [from[0].max(to[0]) + reach, from[1].max(to[1]) + reach];
    each_pixel(picture, lower, upper, |picture, x, y, p| {
        let (px, py) = (p[0] - from[0], p[1] - from[1]);
        let along = px * ux + py * uy;
        let across = (px * uy - py * ux).abs();
        let ends = coverage(-along.min(length - along));
        let sides = coverage(across - width / 2.0).min(width);
        blend(picture, x, y, color, amount * ends * sides);
    });
}

/// Draws a filled disk.
pub fn disk(picture: &mut Picture, center: [f32; 2], radius: f32, color: [u8; 3], amount: f32) {
    let reach = radius + 1.0;
    let lower = [center[0] - reach, center[1] - reach];
    let upper = [center[0] + reach, center[1] + reach];
    each_pixel(picture, lower, upper, |picture, x, y, p| {
        let distance = (p[0] - center[0]).hypot(p[1] - center[1]) - radius;
        blend(picture, x, y, color, amount * coverage(distance));
    });
}

/// Fraction of a pixel that a shape covers, by the signed distance of its center from the edge [pixels].
#[inline]
pub(crate) fn coverage(distance: f32) -> f32 {
    (0.5 - distance).clamp(0.0, 1.0)
}

fn each_pixel(
    picture: &mut Picture,
    lower: [f32; 2],
    upper: [f32; 2],
    mut visit: impl FnMut(&mut Picture, i64, i64, [f32; 2]),
) {
    // `as` saturates, and turns NaN into 0.
    let first = [lower[0].floor().max(0.0), lower[1].floor().max(0.0)].map(|v| v as i64);
    let end_x = (upper[0].ceil() as i64).min(i64::from(picture.width));
    let end_y = (upper[1].ceil() as i64).min(i64::from(picture.height));
    for y in first[1]..end_y {
        for x in first[0]..end_x {
            visit(picture, x, y, [x as f32 + 0.5, y as f32 + 0.5]);
        }
    }
}

/// Intersection of an area with the picture.
fn cut(picture: &Picture, area: Area) -> Area {
    let (width, height) = (i64::from(picture.width), i64::from(picture.height));
    let x = area.x.clamp(0, width);
    let y = area.y.clamp(0, height);
    let right = area.x.saturating_add(area.width).clamp(x, width);
    let bottom = area.y.saturating_add(area.height).clamp(y, height);
    Area::new(x, y, right - x, bottom - y)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Area drawn in black on white [pixels].
    fn ink(picture: &Picture) -> f64 {
        let dark = |v: &u8| f64::from(255 - *v) / 255.0;
        picture.rgb.iter().step_by(3).map(dark).sum()
    }

    fn page() -> Picture {
        Picture::filled(64, 48, [255; 3])
    }

    #[test]
    fn a_disk_covers_its_area_at_any_position() {
        for (center, radius) in [([30.0, 20.0], 8.0), ([30.3, 20.7], 8.0), ([12.1, 9.9], 2.5)] {
            let mut picture = page();
            disk(&mut picture, center, radius, [0; 3], 1.0);
            let area = std::f64::consts::PI * f64::from(radius) * f64::from(radius);
            assert!((ink(&picture) / area - 1.0).abs() < 0.03);
        }
        let mut cut = page();
        disk(&mut cut, [0.0, 20.0], 8.0, [0; 3], 1.0);
        assert!((ink(&cut) / (std::f64::consts::PI * 32.0) - 1.0).abs() < 0.03);
    }

    #[test]
    fn a_line_covers_length_times_width_in_any_direction() {
        for to in [[50.0, 10.0], [45.0, 40.0], [12.0, 44.0]] {
            for width in [0.5, 1.0, 3.0] {
                let mut picture = page();
                line(&mut picture, [10.0, 10.0], to, width, [0; 3], 1.0);
                let length = f64::from((to[0] - 10.0f32).hypot(to[1] - 10.0));
                let expected = length * f64::from(width);
                assert!(
                    (ink(&picture) / expected - 1.0).abs() < 0.12,
                    "{to:?} {width}"
                );
            }
        }
    }

    #[test]
    fn rectangles_frames_and_amounts_are_exact() {
        let mut picture = page();
        let area = Area::new(60, -3, 10, 6);
        rectangle(&mut picture, area, [0; 3], 1.0);
        assert_eq!(ink(&picture), 12.0);
        let mut picture = page();
        let area = Area::new(5, 5, 10, 8);
        frame(&mut picture, area, 1, [0; 3], 1.0);
        assert_eq!(ink(&picture), 32.0);
        let mut picture = page();
        blend(&mut picture, 3, 3, [0; 3], 0.5);
        assert_eq!(picture.pixel(3, 3), [128; 3]);
    }

    #[test]
    fn a_panel_is_light_on_black_and_changes_nothing_else() {
        let mut picture = Picture::filled(64, 48, [0; 3]);
        let area = Area::new(10, 10, 30, 20);
        panel(&mut picture, area, 5.0);
        assert!(picture.pixel(25, 20)[0] > 200);
        assert_eq!(picture.pixel(10, 10), [0; 3]);
        assert_eq!(picture.pixel(41, 20), [0; 3]);
    }

    #[test]
    fn invalid_numbers_draw_nothing_and_do_not_hang() {
        let mut picture = page();
        disk(&mut picture, [f32::NAN, 3.0], 2.0, [0; 3], 1.0);
        disk(&mut picture, [1e30, 3.0], 2.0, [0; 3], 1.0);
        line(
            &mut picture,
            [0.0, 0.0],
            [f32::INFINITY, 3.0],
            1.0,
            [0; 3],
            1.0,
        );
        let huge = Area::new(i64::MAX - 3, 0, i64::MAX, 1);
        rectangle(&mut picture, huge, [0; 3], 1.0);
        assert_eq!(ink(&picture), 0.0);
    }
}
