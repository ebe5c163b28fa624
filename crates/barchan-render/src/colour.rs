//! Colours of grains.

/// Grains of sand and the part of each colour, after [Klar16] §9.
pub const SAND: [([u8; 3], f32); 3] = [
    ([225, 169, 95], 0.85),
    ([107, 84, 30], 0.10),
    ([255, 255, 255], 0.05),
];

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
