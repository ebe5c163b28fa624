//! Linked cell lists on a dense grid, for grids that are small, periodic, or queried at arbitrary points.

use glam::IVec3;

/// End of a list.
const END: u32 = u32::MAX;

/// A linked list of points for each cell, the last point first.
#[derive(Debug, Clone, Default)]
pub struct LinkedCells {
    /// Cells along each axis.
    size: IVec3,
    first: Vec<u32>,
    next: Vec<u32>,
}

impl LinkedCells {
    /// Sorts points into a grid of `size` cells along each axis, given the cell of each.
    pub fn fill(&mut self, size: IVec3, cell_of: impl IntoIterator<Item = IVec3>) {
        self.size = size;
        self.first.clear();
        self.first.resize(size.element_product() as usize, END);
        self.next.clear();
        for (cell, i) in cell_of.into_iter().zip(0..) {
            let index = self.index(cell);
            self.next.push(self.first[index]);
            self.first[index] = i;
        }
    }

    fn index(&self, cell: IVec3) -> usize {
        ((cell.z * self.size.y + cell.y) * self.size.x + cell.x) as usize
    }

    /// The points in a cell.
    pub fn cell(&self, cell: IVec3) -> impl Iterator<Item = usize> {
        let next = |i: &u32| self.next.get(*i as usize).copied();
        let first = self.first.get(self.index(cell)).copied();
        let all = std::iter::successors(first, next);
        all.take_while(|i| *i != END).map(|i| i as usize)
    }
}
