//! Zero-copy access to the particles in a solver's own memory, between steps.

use glam::Vec3;

/// All particles, borrowed from the solver without a copy, until the next step.
///
/// Some solvers have an array for each quantity: [`Self::arrays`]. Others keep packets of a few particles; [`Self::iter`]
/// reads either. The order changes from step to step, because particles are sorted by position; the `id` of a particle never changes.
#[derive(Debug, Clone, Copy)]
pub enum ParticlesView<'a> {
    /// An array for each quantity.
    Arrays(ParticleArrays<'a>),
    /// Packets of a few particles.
    Packets(&'a dyn Packets),
}

/// Particles that are kept in packets.
pub trait Packets: std::fmt::Debug + Sync {
    /// A packet, by its index; `None` after the last.
    fn packet(&self, index: usize) -> Option<PacketView<'_>>;
}

/// Particles of one material side by side: arrays of one length, an entry for each lane.
#[derive(Debug, Clone, Copy)]
pub struct PacketView<'a> {
    /// Positions [m], by axis.
    pub position: [&'a [f32]; 3],
    /// Velocities [m/s], by axis.
    pub velocity: [&'a [f32]; 3],
    /// Stable identities.
    pub id: &'a [u32],
    /// Material, by index in the scene.
    pub material: u8,
    /// Lanes that hold a particle, as bits from the lowest.
    pub occupied: u64,
}

impl<'a> PacketView<'a> {
    /// Iterates over the particles.
    pub fn iter(&self) -> impl Iterator<Item = Particle> + use<'a> {
        let Self {
            position,
            velocity,
            id,
            material,
            occupied,
        } = *self;
        let vector = |rows: [&[f32]; 3], lane: usize| Vec3::from_array(rows.map(|row| row[lane]));
        let lanes = (0..id.len()).filter(move |lane| occupied >> lane & 1 == 1);
        lanes.map(move |lane| Particle {
            id: id[lane],
            material,
            position: vector(position, lane),
            velocity: vector(velocity, lane),
        })
    }
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
            Self::Packets(packets) => {
                let counts = all(*packets).map(|p| p.occupied.count_ones() as usize);
                counts.sum()
            }
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The arrays of a solver that has them.
    pub fn arrays(&self) -> Option<ParticleArrays<'a>> {
        match *self {
            Self::Arrays(arrays) => Some(arrays),
            Self::Packets(_) => None,
        }
    }

    /// Iterates over all particles of any solver without copying.
    pub fn iter(&self) -> impl Iterator<Item = Particle> + use<'a> {
        let (arrays, packets) = match *self {
            Self::Arrays(arrays) => (Some(arrays), None),
            Self::Packets(packets) => (None, Some(packets)),
        };
        let of_arrays = arrays.into_iter().flat_map(|a| {
            (0..a.id.len()).map(move |i| Particle {
                id: a.id[i],
                material: a.material[i],
                position: a.position[i],
                velocity: a.velocity[i],
            })
        });
        let of_packets = packets.into_iter().flat_map(all);
        of_arrays.chain(of_packets.flat_map(|p| p.iter()))
    }
}

/// All packets.
fn all(packets: &dyn Packets) -> impl Iterator<Item = PacketView<'_>> {
    (0..).map_while(|index| packets.packet(index))
}
