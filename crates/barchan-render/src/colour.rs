//! Colours of grains.

/// Grains of sand and the part of each colour, after [Klar16] §9.
pub const SAND: [([u8; 3], f32); 3] = [
    ([225, 169, 95], 0.85),
    ([107, 84, 30], 0.10),
    ([255, 255, 255], 0.05),
];

/// Chance of a grain by its identity, in [0, 1): the same for life.
pub fn chance(id: u64) -> f32 {
    (hash(id) >> 8) as f32 / 16_777_216.0
}

/// Index into [`SAND`] of a grain: chance by its identity, so that it stays for life.
pub fn sand_index(id: u64) -> usize {
    let chance = hash(id) as f32 / 4_294_967_296.0;
    let mut sum = 0.0;
    for (i, (_, part)) in SAND.iter().enumerate() {
        sum += part;
        if chance < sum {
            return i;
        }
    }
    SAND.len() - 1
}

/// 32 well-mixed bits of a number (multiplications and shifts, as in splitmix64).
fn hash(id: u64) -> u32 {
    let mut x = id.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 32) as u32
}

/// sRGB to linear light.
pub fn to_linear(colour: [u8; 3]) -> glam::Vec3 {
    glam::Vec3::from_array(colour.map(|c| LINEAR[usize::from(c)]))
}

/// Linear light in [0, 1] to sRGB.
pub fn encode(x: f32) -> u8 {
    let curve = if x <= 0.003_130_8 {
        12.92 * x
    } else {
        1.055 * x.powf(1.0 / 2.4) - 0.055
    };
    (255.0 * curve + 0.5) as u8
}

static LINEAR: std::sync::LazyLock<[f32; 256]> = std::sync::LazyLock::new(|| {
    std::array::from_fn(|c| {
        let x = c as f32 / 255.0;
        if x <= 0.040_45 {
            x / 12.92
        } else {
            ((x + 0.055) / 1.055).powf(2.4)
        }
    })
});
