//! Linked cell lists on a dense grid: for grids that are small, periodic, or queried at any point.

/// End of a list.
const END: u32 = u32::MAX;

/// A linked list of points for each cell, the last point first.
#[derive(Debug, Clone, Default)]
pub struct Chains {
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Chains {
    /// Sorts points into `cells` cells, given the cell of each.
    pub fn fill(&mut self, cells: usize, cell_of: impl IntoIterator<Item = usize>) {
        self.first.clear();
        self.first.resize(cells, END);
        self.next.clear();
        for (cell, i) in cell_of.into_iter().zip(0..) {
            self.next.push(self.first[cell]);
            self.first[cell] = i;
        }
    }

    /// The points in a cell.
    pub fn cell(&self, cell: usize) -> impl Iterator<Item = usize> {
        let next = |i: &u32| self.next.get(*i as usize).copied();
        let all = std::iter::successors(self.first.get(cell).copied(), next);
        all.take_while(|i| *i != END).map(|i| i as usize)
    }
}
