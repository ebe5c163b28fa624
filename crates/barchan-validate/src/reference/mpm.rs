//! A plain MPM in f64 on a dense grid: the same method as the solver, written as in the paper, without blocks, tiles,
//! packets or lanes. It shares only the kernel and the laws with the solver.

use crate::trial::Particle;
use barchan_scene::{Material, MpmSpec, Scene, Transfer};
use barchan_sim::material::PreparedLaw;
use barchan_sim::material::drucker_prager::SandState;
use barchan_sim::math::{Sym3, bspline};
use glam::{DMat3, DVec3};

/// A density and a law.
#[derive(Clone, Copy)]
struct Substance {
    density: f64,
    law: PreparedLaw,
}

/// The dense grid: nodes `low .. low + count` along each axis, node n at n h. Axes past D have one node.
#[derive(Debug, Clone, Copy)]
pub struct Lattice<const D: usize, const K: usize> {
    pub h: f64,
    pub low: [i64; 3],
    pub count: [i64; 3],
    pub periodic: [bool; 3],
    /// Storage of values: exact, or rounded to f32.
    pub keep: fn(f64) -> f64,
}

/// A node within the support of a particle's kernel.
pub struct Support {
    pub node: usize,
    pub w: f64,
    /// ∇w [1/m].
    pub grad: DVec3,
    /// x_i − x_p [m].
    pub d: DVec3,
}

impl<const D: usize, const K: usize> Lattice<D, K> {
    /// The K^D nodes around a point.
    pub fn support(self, x: DVec3) -> impl Iterator<Item = Support> {
        let mut base = [0i64; 3];
        let (mut w, mut g, mut f) = ([[1.0; K]; 3], [[0.0; K]; 3], [0.0; 3]);
        for axis in 0..D {
            let cells = (self.keep)(x[axis] / self.h);
            let first = (cells + f64::from(bspline::base_offset::<K>())).floor();
            (base[axis], f[axis]) = (first as i64, cells - first);
            (w[axis], g[axis]) = bspline::weights::<f64, K>(f[axis]);
            w[axis] = w[axis].map(self.keep);
            g[axis] = g[axis].map(self.keep);
        }
        (0..K.pow(D as u32)).map(move |n| {
            let k = [n % K, n / K % K, n / (K * K)];
            let [x, y, z] = [0, 1, 2].map(|a| (w[a][k[a]], g[a][k[a]] / self.h));
            let d = DVec3::from_array([0, 1, 2].map(|a| {
                if a < D {
                    (k[a] as f64 - f[a]) * self.h
                } else {
                    0.0
                }
            }));
            Support {
                node: self.index([0, 1, 2].map(|a| base[a] + k[a] as i64)),
                w: x.0 * y.0 * z.0,
                grad: DVec3::new(x.1 * y.0 * z.0, x.0 * y.1 * z.0, x.0 * y.0 * z.1),
                d,
            }
        })
    }

    fn index(&self, node: [i64; 3]) -> usize {
        let mut index = 0;
        for (axis, at) in node.into_iter().enumerate() {
            let mut n = at - self.low[axis];
            if self.periodic[axis] {
                n = n.rem_euclid(self.count[axis]);
            }
            assert!(
                (0..self.count[axis]).contains(&n),
                "a particle left the lattice"
            );
            index = index * self.count[axis] + n;
        }
        index as usize
    }

    fn position(&self, index: usize) -> DVec3 {
        let (i, [_, ny, nz]) = (index as i64, self.count);
        let node = [i / (ny * nz), i / nz % ny, i % nz];
        DVec3::from_array([0, 1, 2].map(|a| (node[a] + self.low[a]) as f64 * self.h))
    }
}

/// A node.
#[derive(Debug, Clone, Copy, Default)]
pub struct Node {
    pub mass: f64,
    pub momentum: DVec3,
    pub force: DVec3,
    /// Velocity before forces.
    pub old: DVec3,
    /// Velocity after forces.
    pub new: DVec3,
}

/// The reference implementation.
#[derive(Clone)]
pub struct DenseMpm<const D: usize, const K: usize> {
    pub lattice: Lattice<D, K>,
    pub transfer: Transfer,
    materials: Vec<Substance>,
    pub gravity: DVec3,
    pub particles: Vec<Particle>,
    pub grid: Vec<Node>,
}

impl<const D: usize, const K: usize> DenseMpm<D, K> {
    /// Particles under the laws and the transfer of a scene.
    pub fn new(lattice: Lattice<D, K>, scene: &Scene, particles: &[Particle]) -> Self {
        let substance = |m: &Material| Substance {
            density: m.density,
            law: PreparedLaw::new(m, scene.dimensions),
        };
        Self {
            lattice,
            transfer: scene.settings::<MpmSpec>().transfer,
            materials: scene.materials.iter().map(substance).collect(),
            gravity: DVec3::ZERO,
            particles: particles.to_vec(),
            grid: vec![Node::default(); lattice.count.iter().product::<i64>() as usize],
        }
    }

    fn density(&self, p: &Particle) -> f64 {
        self.materials[usize::from(p.material)].density
    }

    /// One explicit step.
    pub fn step(&mut self, dt: f64) {
        self.particles_to_grid();
        self.update_grid(dt);
        self.grid_to_particles(dt);
        self.keep_particles();
    }

    /// m_i = Σ w m,  (m v)_i = Σ w m (v + C d),  f_i = −Σ V τ ∇w.
    pub fn particles_to_grid(&mut self) {
        self.grid.fill(Node::default());
        for p in &self.particles {
            let mass = self.density(p) * p.volume;
            let tau = DMat3::from_cols_array_2d(&Sym3::from_array(p.stress).to_mat3());
            for r in self.lattice.support(p.x) {
                let node = &mut self.grid[r.node];
                node.mass += r.w * mass;
                node.momentum += r.w * mass * (p.v + p.affine * r.d);
                node.force -= p.volume * (tau * r.grad);
            }
        }
    }

    /// v_i = (m v)_i/m_i + Δt (f_i/m_i + g).
    pub fn update_grid(&mut self, dt: f64) {
        let keep = self.lattice.keep;
        for node in self.grid.iter_mut().filter(|n| n.mass > 0.0) {
            node.mass = keep(node.mass);
            node.old = keep3(node.momentum / node.mass, keep);
            node.new = keep3(
                node.old + dt * (node.force / node.mass + self.gravity),
                keep,
            );
        }
    }

    /// v = Σ w v_i,  C = Σ w v_i dᵀ D⁻¹ or the FLIP blend,  x += Δt v,  strain by Δt Σ v_i ∇wᵀ, then the law.
    pub fn grid_to_particles(&mut self, dt: f64) {
        let inertia = bspline::inertia::<K>() * self.lattice.h.powi(2);
        for p in &mut self.particles {
            let (mut v, mut old) = (DVec3::ZERO, DVec3::ZERO);
            let (mut moment, mut gradient) = (DMat3::ZERO, DMat3::ZERO);
            for r in self.lattice.support(p.x) {
                let node = &self.grid[r.node];
                v += r.w * node.new;
                old += r.w * node.old;
                moment += outer(r.w * node.new, r.d);
                gradient += outer(node.new, r.grad);
            }
            match self.transfer {
                Transfer::Apic => (p.v, p.affine) = (v, moment * (1.0 / inertia)),
                Transfer::FlipPic { flip } => p.v = v + flip * (p.v - old),
            }
            p.x += dt * v;
            advance::<D>(
                p,
                &self.materials[usize::from(p.material)].law,
                gradient * dt,
            );
        }
    }

    fn keep_particles(&mut self) {
        let keep = self.lattice.keep;
        for p in &mut self.particles {
            (p.x, p.v) = (keep3(p.x, keep), keep3(p.v, keep));
            p.affine = DMat3::from_cols_array(&p.affine.to_cols_array().map(keep));
            p.strain = p.strain.map(keep);
            p.stress = p.stress.map(keep);
            (p.hardening, p.volume_gain) = (keep(p.hardening), keep(p.volume_gain));
        }
    }

    /// Momentum of the particles, and angular momentum about the origin with the contribution of C: ε : m C D.
    pub fn momenta(&self) -> (DVec3, DVec3) {
        let inertia = match self.transfer {
            Transfer::Apic => bspline::inertia::<K>() * self.lattice.h.powi(2),
            Transfer::FlipPic { .. } => 0.0,
        };
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        for p in &self.particles {
            let mass = self.density(p) * p.volume;
            linear += mass * p.v;
            angular += mass * (p.x.cross(p.v) + inertia * axial(p.affine));
        }
        (linear, angular)
    }

    /// The same of the nodes, with their velocity before forces.
    pub fn grid_momenta(&self) -> (DVec3, DVec3) {
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        for (i, node) in self.grid.iter().enumerate() {
            linear += node.momentum;
            angular += self.lattice.position(i).cross(node.momentum);
        }
        (linear, angular)
    }

    /// Unweighted root mean square difference between the velocities of particles and grid.
    pub fn velocity_noise(&mut self) -> f64 {
        self.particles_to_grid();
        self.update_grid(0.0);
        let square = |p: &Particle| {
            let nodes = self.lattice.support(p.x);
            let v: DVec3 = nodes.map(|r| r.w * self.grid[r.node].old).sum();
            (p.v - v).length_squared()
        };
        (self.particles.iter().map(square).sum::<f64>() / self.particles.len() as f64).sqrt()
    }
}

fn advance<const D: usize>(p: &mut Particle, law: &PreparedLaw, increment: DMat3) {
    let increment = increment.transpose().to_cols_array_2d();
    match law {
        PreparedLaw::Sand(sand) => {
            let state = SandState {
                strain: Sym3::from_array(p.strain),
                hardening: p.hardening,
                volume_gain: p.volume_gain,
            };
            let r = sand.advance::<f64, D>(state, &increment);
            (p.strain, p.stress) = (r.state.strain.to_array(), r.stress.to_array());
            (p.hardening, p.volume_gain) = (r.state.hardening, r.state.volume_gain);
        }
        PreparedLaw::Elastic(elastic) => {
            let strain = Sym3::from_array(p.strain);
            let (strain, stress) = elastic.advance::<f64, D>(strain, &increment);
            (p.strain, p.stress) = (strain.to_array(), stress.to_array());
        }
    }
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// ε : A, the vector of its antisymmetric part.
pub fn axial(a: DMat3) -> DVec3 {
    let at = |row: usize, column: usize| a.col(column)[row];
    DVec3::new(
        at(2, 1) - at(1, 2),
        at(0, 2) - at(2, 0),
        at(1, 0) - at(0, 1),
    )
}

fn keep3(v: DVec3, keep: fn(f64) -> f64) -> DVec3 {
    DVec3::new(keep(v.x), keep(v.y), keep(v.z))
}
