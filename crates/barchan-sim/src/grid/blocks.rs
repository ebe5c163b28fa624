//! Block coordinates, the map from coordinate to index, and the adjacency of blocks.

use super::{BLOCK, MAX_BLOCK};
use rayon::prelude::*;

/// Integer position of a block, in blocks.
pub type BlockCoord = [i32; 3];

/// Marks a neighbor that does not exist.
pub const NONE: u32 = u32::MAX;

/// Packs a coordinate into a key that sorts by x, then z, then y.
#[inline(always)]
pub fn pack([x, y, z]: BlockCoord) -> u64 {
    let part = |c: i32| u64::from((c + MAX_BLOCK + 1) as u32 & 0x1f_ffff);
    part(x) << 42 | part(z) << 21 | part(y)
}

/// The coordinate of a key.
#[inline(always)]
pub fn unpack(key: u64) -> BlockCoord {
    let part = |shift: u32| ((key >> shift) & 0x1f_ffff) as i32 - MAX_BLOCK - 1;
    [part(42), part(0), part(21)]
}

/// Offsets of the 27 neighbors, in the order of their keys.
pub const NEIGHBORS: [BlockCoord; 27] = {
    let mut offsets = [[0; 3]; 27];
    let mut i = 0;
    while i < 27 {
        let n = i as i32;
        offsets[i] = [n / 9 - 1, n % 3 - 1, n / 3 % 3 - 1];
        i += 1;
    }
    offsets
};

/// Open-addressing map from packed coordinate to index. Keeps its memory.
#[derive(Debug, Default)]
pub struct BlockMap {
    slots: Vec<(u64, u32)>,
    len: usize,
}

const EMPTY: u64 = u64::MAX;

impl BlockMap {
    /// Removes all entries, keeps the memory.
    pub fn clear(&mut self) {
        self.slots.fill((EMPTY, 0));
        self.len = 0;
    }

    /// The slot of a key, or the empty one where it belongs.
    #[inline]
    fn slot_of(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24) as usize & mask;
        while self.slots[slot].0 != key && self.slots[slot].0 != EMPTY {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Index of a key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let (found, index) = self.slots[self.slot_of(key)];
        (found == key).then_some(index)
    }

    /// Index of a key, which becomes `fresh` when it was not there.
    pub fn get_or_insert(&mut self, key: u64, fresh: u32) -> u32 {
        if (self.len + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let slot = self.slot_of(key);
        if self.slots[slot].0 == EMPTY {
            self.slots[slot] = (key, fresh);
            self.len += 1;
        }
        self.slots[slot].1
    }

    fn grow(&mut self) {
        let larger = (self.slots.len() * 2).max(1024);
        let old = std::mem::replace(&mut self.slots, vec![(EMPTY, 0); larger]);
        self.len = 0;
        for (key, index) in old.into_iter().filter(|(k, _)| *k != EMPTY) {
            self.get_or_insert(key, index);
        }
    }
}

/// Particle blocks, the grid blocks around them, and their adjacency.
#[derive(Debug, Default)]
pub struct Topology {
    /// Sorted keys of the blocks that hold particles.
    pub particle_keys: Vec<u64>,
    /// Sorted keys of the blocks that hold nodes: particle blocks and all their neighbors.
    pub grid_keys: Vec<u64>,
    /// For each particle block, the 27 grid blocks of its neighborhood, itself included.
    pub grid_neighbors: Vec<[u32; 27]>,
    /// For each grid block, the particle blocks of its neighborhood, or [`NONE`].
    pub particle_neighbors: Vec<[u32; 27]>,
    particle_map: BlockMap,
    grid_map: BlockMap,
}

/// Number of blocks along each axis after which the domain repeats; 0 where it does not.
pub type Period = [i32; 3];

impl Topology {
    /// Index of a key among the particle blocks.
    #[inline]
    pub fn rank(&self, key: u64) -> Option<u32> {
        self.particle_map.get(key)
    }

    /// Rebuilds everything from the sorted, distinct keys in `particle_keys`. `flat`: a 2D grid without z neighbors.
    pub fn rebuild(&mut self, period: Period, flat: bool) {
        self.particle_map.clear();
        self.grid_map.clear();
        self.grid_keys.clear();
        for (i, &key) in self.particle_keys.iter().enumerate() {
            self.particle_map.get_or_insert(key, i as u32);
            for (_, around) in neighbors(key, period, flat) {
                let fresh = self.grid_keys.len() as u32;
                if self.grid_map.get_or_insert(around, fresh) == fresh {
                    self.grid_keys.push(around);
                }
            }
        }
        self.grid_keys.sort_unstable();
        self.grid_map.clear();
        for (i, &key) in self.grid_keys.iter().enumerate() {
            self.grid_map.get_or_insert(key, i as u32);
        }
        let (particles, grid) = (&self.particle_map, &self.grid_map);
        let table = |map: &BlockMap, key: u64| {
            let mut around = [NONE; 27];
            for (i, other) in neighbors(key, period, flat) {
                around[i] = map.get(other).unwrap_or(NONE);
            }
            around
        };
        self.particle_keys
            .par_iter()
            .map(|&k| table(grid, k))
            .collect_into_vec(&mut self.grid_neighbors);
        self.grid_keys
            .par_iter()
            .map(|&k| table(particles, k))
            .collect_into_vec(&mut self.particle_neighbors);
    }
}

/// The neighbors of a block: their place in [`NEIGHBORS`] and their key.
fn neighbors(key: u64, period: Period, flat: bool) -> impl Iterator<Item = (usize, u64)> {
    let coord = unpack(key);
    let all = NEIGHBORS.into_iter().enumerate();
    let all = all.filter(move |(_, offset)| !flat || offset[2] == 0);
    all.map(move |(i, offset)| {
        let shifted = |axis: usize| match period[axis] {
            0 => coord[axis] + offset[axis],
            period => (coord[axis] + offset[axis]).rem_euclid(period),
        };
        (i, pack(std::array::from_fn(shifted)))
    })
}

/// First node of a block along each axis.
pub fn first_node(coord: BlockCoord) -> [i32; 3] {
    coord.map(|c| c * BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_round_trip(c in prop::array::uniform3(-MAX_BLOCK..=MAX_BLOCK)) {
            prop_assert_eq!(unpack(pack(c)), c);
        }

        #[test]
        fn map_agrees_with_the_standard_map(keys in prop::collection::vec(0u64..500, 0..2000)) {
            let mut map = BlockMap::default();
            let mut standard = std::collections::HashMap::new();
            for (i, &k) in keys.iter().enumerate() {
                let want = *standard.entry(k).or_insert(i as u32);
                prop_assert_eq!(map.get_or_insert(k, i as u32), want);
            }
            for k in 0..500 {
                prop_assert_eq!(map.get(k), standard.get(&k).copied());
            }
        }
    }

    #[test]
    fn adjacency_is_symmetric() {
        let mut t = Topology {
            particle_keys: vec![pack([0, 0, 0]), pack([1, 0, 0])],
            ..Default::default()
        };
        t.particle_keys.sort_unstable();
        t.rebuild([0; 3], false);
        assert_eq!(t.grid_keys.len(), 4 * 3 * 3);
        for (p, around) in t.grid_neighbors.iter().enumerate() {
            for (i, g) in around.iter().enumerate() {
                // The opposite neighbor.
                let back = NEIGHBORS.len() - 1 - i;
                assert_eq!(NEIGHBORS[back], NEIGHBORS[i].map(|o| -o));
                assert_eq!(t.particle_neighbors[*g as usize][back], p as u32);
            }
        }
    }

    #[test]
    fn periodic_neighbors_wrap_around() {
        let mut t = Topology {
            particle_keys: vec![pack([0, 0, 0])],
            ..Default::default()
        };
        t.rebuild([1, 0, 1], false);
        assert_eq!(t.grid_keys.len(), 3);
    }
}
