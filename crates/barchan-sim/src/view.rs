//! Zero-copy access to the particles in a solver's own memory, between steps.

use crate::solvers::mpm::particles::Packet;
use glam::Vec3;

/// All particles, borrowed from the solver without a copy, until the next step.
///
/// `pbd` has an array for each quantity: [`Self::arrays`]. `mpm` keeps packets of sixteen, so it has none; [`Self::iter`]
/// reads either. The order changes from step to step, because particles are sorted by position; the `id` of a particle never changes.
#[derive(Debug, Clone, Copy)]
pub enum ParticlesView<'a> {
    /// An array for each quantity.
    Arrays(ParticleArrays<'a>),
    /// Packets of sixteen.
    Packets(&'a [Packet]),
}

/// Arrays of one length, an entry for each particle.
#[derive(Debug, Clone, Copy)]
pub struct ParticleArrays<'a> {
    /// Positions [m].
    pub position: &'a [Vec3],
    /// Velocities [m/s].
    pub velocity: &'a [Vec3],
    /// Radii [m].
    pub radius: &'a [f32],
    /// Masses [kg].
    pub mass: &'a [f32],
    /// Stable identities.
    pub id: &'a [u32],
    /// Materials, by index in the scene.
    pub material: &'a [u8],
}

/// The quantities of a particle that every solver has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Particle {
    /// Stable identity.
    pub id: u32,
    /// Material, by index in the scene.
    pub material: u8,
    /// Position [m].
    pub position: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
}

impl<'a> ParticlesView<'a> {
    /// Number of particles.
    pub fn len(&self) -> usize {
        match self {
            Self::Arrays(arrays) => arrays.id.len(),
            Self::Packets(packets) => packets.iter().map(|p| usize::from(p.len)).sum(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The arrays of a solver that has them: `pbd`.
    pub fn arrays(&self) -> Option<ParticleArrays<'a>> {
        match *self {
            Self::Arrays(arrays) => Some(arrays),
            Self::Packets(_) => None,
        }
    }

    /// Iterates over all particles of any solver without copying.
    pub fn iter(&self) -> impl Iterator<Item = Particle> + use<'a> {
        let (arrays, packets) = match *self {
            Self::Arrays(arrays) => (Some(arrays), &[][..]),
            Self::Packets(packets) => (None, packets),
        };
        let of_arrays = arrays.into_iter().flat_map(|a| {
            (0..a.id.len()).map(move |i| Particle {
                id: a.id[i],
                material: a.material[i],
                position: a.position[i],
                velocity: a.velocity[i],
            })
        });
        let of_packets = packets.iter().flat_map(|p| {
            (0..usize::from(p.len)).map(|lane| Particle {
                id: p.id[lane],
                material: p.material,
                position: p.position_of(lane),
                velocity: p.velocity_of(lane),
            })
        });
        of_arrays.chain(of_packets)
    }
}
