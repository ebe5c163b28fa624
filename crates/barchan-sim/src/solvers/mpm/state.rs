//! Frames and checkpoints of the MPM solver.

use super::Mpm;
use super::particles::{FLOAT_COLUMNS, FloatColumn, Packet};
use crate::math::Sym3;
use crate::math::lanes::LANES;
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Frame};
use barchan_scene::{Dimensions, OutputColumn, Transfer};
use rayon::prelude::*;

/// Attribute that holds the bits of the fastest speed, which the next step's length depends on.
const MAX_SPEED: &str = "mpm_max_speed_bits";

/// Packets that one task copies.
const PACKETS_PER_TASK: usize = 1024;

/// Particles in some packets.
fn count_live(packets: &[Packet]) -> usize {
    let in_packet = |p: &Packet| {
        let held = p.volume.iter().take(p.len as usize);
        held.filter(|volume| **volume > 0.0).count()
    };
    packets.iter().map(in_packet).sum()
}

impl Mpm {
    /// `components` values of each particle, in the order of the packets.
    fn per_particle<T: Copy + Default + Send + Sync>(
        &self,
        components: usize,
        write: impl Fn(&Packet, usize, &mut [T]) + Sync,
    ) -> Vec<T> {
        let counts: Vec<usize> = self
            .packets
            .par_chunks(PACKETS_PER_TASK)
            .map(count_live)
            .collect();
        let mut values = vec![T::default(); components * counts.iter().sum::<usize>()];
        let (mut targets, mut rest) = (Vec::with_capacity(counts.len()), &mut values[..]);
        for count in counts {
            let (own, others) = rest.split_at_mut(components * count);
            targets.push(own);
            rest = others;
        }
        self.packets
            .par_chunks(PACKETS_PER_TASK)
            .zip(targets)
            .for_each(|(packets, target)| {
                let mut targets = target.chunks_exact_mut(components);
                for p in packets {
                    for lane in (0..p.len as usize).filter(|&lane| p.volume[lane] > 0.0) {
                        if let Some(own) = targets.next() {
                            write(p, lane, own);
                        }
                    }
                }
            });
        values
    }

    /// One value of each particle.
    fn scalar<T: Copy + Default + Send + Sync>(
        &self,
        value: impl Fn(&Packet, usize) -> T + Sync,
    ) -> Vec<T> {
        self.per_particle(1, |p, lane, out| out[0] = value(p, lane))
    }

    /// Three values of each particle.
    fn vector(&self, value: impl Fn(&Packet, usize) -> [f32; 3] + Sync) -> Vec<f32> {
        self.per_particle(3, |p, lane, out| out.copy_from_slice(&value(p, lane)))
    }

    pub(super) fn write_columns(&self, out: &mut Frame) {
        let dx = self.spec.dx as f32;
        let position = self.vector(|p, lane| p.position_of(lane).to_array());
        let velocity = self.vector(|p, lane| p.velocity_of(lane).to_array());
        let pressure = self.scalar(|p, lane| pressure_of(p, lane, self.dimensions));
        let mass = self.scalar(|p, lane| p.volume[lane] * self.density[p.material as usize]);
        let id = self.scalar(|p, lane| p.id[lane]);
        let material = self.scalar(|p, _| p.material);
        let case = self.scalar(|p, lane| p.case[lane]);
        let pressure_is = "mean Cauchy stress, compression positive";
        let case_is = "last projection: 0 elastic, 1 tip (separating), 2 side (sliding)";
        out.columns = vec![
            Column::vector3("position", "m", "position", dx / 1024.0, position),
            Column::vector3("velocity", "m/s", "velocity", 1e-3, velocity),
            Column::exact("id", "1", "stable identity", 1, ColumnData::U32(id)),
            Column::exact(
                "material",
                "1",
                "index of the material",
                1,
                ColumnData::U8(material),
            ),
            Column::scalar("mass", "kg", "mass", 0.0, mass),
            Column::scalar("pressure", "Pa", pressure_is, 1.0, pressure),
            Column::exact("plastic_case", "1", case_is, 1, ColumnData::U8(case)),
        ];
        let asked = self.columns.iter().map(|c| self.asked_column(*c));
        out.columns.extend(asked);
    }

    /// A column that only some scenes have in their frames.
    fn asked_column(&self, column: OutputColumn) -> Column {
        let name = column.name();
        match column {
            OutputColumn::PrincipalStress => {
                let meaning = match self.dimensions {
                    Dimensions::Three => {
                        "principal Kirchhoff stresses, largest first, tension positive"
                    }
                    Dimensions::Two => {
                        "principal Kirchhoff stresses: two in the plane, larger first, and across; tension positive"
                    }
                };
                let stress = self.vector(|p, lane| {
                    principal_stress(std::array::from_fn(|i| p.stress[i][lane]), self.dimensions)
                });
                Column::vector3(name, "Pa", meaning, 0.0, stress)
            }
            OutputColumn::Hardening => {
                let q = self.scalar(|p, lane| p.hardening[lane]);
                Column::scalar(name, "1", "hardening state q", 0.0, q)
            }
        }
    }

    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        out.columns = FLOAT_COLUMNS
            .iter()
            .map(|column| {
                let data = self.per_particle(column.components, |p, lane, out| {
                    for (value, row) in out.iter_mut().zip((column.rows)(p)) {
                        *value = row[lane];
                    }
                });
                let FloatColumn { name, unit, .. } = *column;
                let data = ColumnData::F32(data);
                Column::exact(name, unit, column.meaning, column.components, data)
            })
            .collect();
        let id = self.scalar(|p, lane| p.id[lane]);
        let material = self.scalar(|p, _| p.material);
        let case = self.scalar(|p, lane| p.case[lane]);
        out.columns.push(Column::exact(
            "id",
            "1",
            "stable identity",
            1,
            ColumnData::U32(id),
        ));
        out.columns.push(Column::exact(
            "material",
            "1",
            "index of the material",
            1,
            ColumnData::U8(material),
        ));
        out.columns.push(Column::exact(
            "plastic_case",
            "1",
            "last projection",
            1,
            ColumnData::U8(case),
        ));
        out.attributes
            .insert(MAX_SPEED.into(), self.max_speed.to_bits().into());
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let count = from.particles();
        let missing = |name: &str| {
            SolverError::Checkpoint(format!("column `{name}` is missing or has another shape"))
        };
        let floats = FLOAT_COLUMNS
            .iter()
            .map(|column| match from.column(column.name).map(|c| &c.data) {
                Some(ColumnData::F32(data)) if data.len() == count * column.components => Ok(data),
                _ => Err(missing(column.name)),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let id = match from.column("id").map(|c| &c.data) {
            Some(ColumnData::U32(data)) if data.len() == count => data,
            _ => return Err(missing("id")),
        };
        let bytes = |name: &str| match from.column(name).map(|c| &c.data) {
            Some(ColumnData::U8(data)) if data.len() == count => Ok(data),
            _ => Err(missing(name)),
        };
        let (material, case) = (bytes("material")?, bytes("plastic_case")?);
        if material.iter().any(|m| *m as usize >= self.materials.len()) {
            return Err(SolverError::Checkpoint(
                "it names a material that the scene does not have".into(),
            ));
        }
        let speed = from.attributes.get(MAX_SPEED).and_then(|v| v.as_u64());
        let speed = speed
            .and_then(|bits| u32::try_from(bits).ok())
            .ok_or_else(|| missing(MAX_SPEED))?;

        self.packets.clear();
        self.count = count;
        for i in 0..count {
            let open = self
                .packets
                .last()
                .is_some_and(|p| p.material == material[i] && (p.len as usize) < LANES);
            if !open {
                self.packets.push(Packet {
                    material: material[i],
                    ..Packet::EMPTY
                });
            }
            let Some(packet) = self.packets.last_mut() else {
                continue;
            };
            let lane = packet.len as usize;
            packet.len += 1;
            let mut rows = packet.floats_mut();
            for (data, FloatColumn { components, .. }) in floats.iter().zip(FLOAT_COLUMNS) {
                for (row, value) in rows.by_ref().take(components).zip(&data[i * components..]) {
                    row[lane] = *value;
                }
            }
            drop(rows);
            packet.id[lane] = id[i];
            packet.case[lane] = case[i];
        }
        if self.spec.transfer != Transfer::Apic {
            // As for emitted particles. A state of another transfer may have C.
            for packet in &mut self.packets {
                packet.affine = Packet::EMPTY.affine;
            }
        }
        self.max_speed = f32::from_bits(speed);
        self.needs_sort = true;
        Ok(())
    }
}

/// Principal stresses [Pa] of xx yy zz yz xz xy, largest first; in 2D the third is the one across the plane.
fn principal_stress(stress: [f32; 6], dimensions: Dimensions) -> [f32; 3] {
    let stress = Sym3::from_array(stress);
    let mut values = match dimensions {
        Dimensions::Three => stress.eigen::<3>().values,
        Dimensions::Two => stress.eigen::<2>().values,
    };
    values[..dimensions.count()].sort_by(|a, b| b.total_cmp(a));
    values
}

/// Mean Cauchy stress [Pa], compression positive: −tr τ/(d J).
fn pressure_of(p: &Packet, lane: usize, dimensions: Dimensions) -> f32 {
    let e: [f32; 6] = std::array::from_fn(|i| p.strain[i][lane]);
    let j_squared = 1.0 + Sym3::from_array(e).det_identity_plus_m1();
    let d = dimensions.count();
    let trace: f32 = (0..d).map(|i| p.stress[i][lane]).sum();
    -trace / (d as f32 * j_squared.max(1e-12).sqrt())
}
