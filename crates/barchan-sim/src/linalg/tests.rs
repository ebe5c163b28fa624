//! Compared with dense elimination in f64; singular systems and non-finite input.

use super::*;

struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(1)
    }

    /// In −1..1.
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 32) as f64 / f64::from(1u32 << 31) - 1.0
    }
}

#[derive(Clone)]
struct Dense {
    n: usize,
    a: Vec<f64>,
}

impl Dense {
    fn new(n: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let a = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        Self { n, a }
    }

    fn apply(&self, x: &[f32], y: &mut [f32]) {
        for (row, y) in self.a.chunks(self.n).zip(y) {
            let sum: f64 = row.iter().zip(x).map(|(a, x)| a * f64::from(*x)).sum();
            *y = sum as f32;
        }
    }

    fn solve(&self, b: &[f32]) -> Vec<f64> {
        let (n, mut a) = (self.n, self.a.clone());
        let mut x: Vec<f64> = b.iter().map(|v| f64::from(*v)).collect();
        for k in 0..n {
            let size = |i: &usize| a[i * n + k].abs();
            let pivot = (k..n).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap();
            for j in 0..n {
                a.swap(k * n + j, pivot * n + j);
            }
            x.swap(k, pivot);
            for i in k + 1..n {
                let factor = a[i * n + k] / a[k * n + k];
                for j in k..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
                x[i] -= factor * x[k];
            }
        }
        for k in (0..n).rev() {
            let known: f64 = (k + 1..n).map(|j| a[k * n + j] * x[j]).sum();
            x[k] = (x[k] - known) / a[k * n + k];
        }
        x
    }
}

/// Q Λ Qᵀ with these eigenvalues, Q a product of random reflections.
fn symmetric(random: &mut Random, values: &[f64]) -> Dense {
    let n = values.len();
    let mut m = Dense::new(n, |i, j| if i == j { values[i] } else { 0.0 });
    for _ in 0..3 {
        let u: Vec<f64> = (0..n).map(|_| random.number()).collect();
        let size: f64 = u.iter().map(|v| v * v).sum();
        let reflect = Dense::new(n, |i, j| {
            f64::from(u8::from(i == j)) - 2.0 * u[i] * u[j] / size
        });
        let product = |a: &Dense, b: &Dense| {
            Dense::new(n, |i, j| {
                (0..n).map(|k| a.a[i * n + k] * b.a[k * n + j]).sum()
            })
        };
        m = product(&product(&reflect, &m), &reflect);
    }
    m
}

fn copy(x: &[f32], y: &mut [f32]) {
    y.copy_from_slice(x);
}

/// M⁻¹ = 1/|diagonal|.
fn jacobi(m: &Dense) -> impl FnMut(&[f32], &mut [f32]) + '_ {
    move |x, y| {
        for i in 0..m.n {
            y[i] = x[i] / m.a[i * m.n + i].abs().max(0.1) as f32;
        }
    }
}

fn vector(random: &mut Random, n: usize) -> Vec<f32> {
    (0..n).map(|_| random.number() as f32).collect()
}

const STOP: Stop = Stop {
    residual: 1e-5,
    iterations: 500,
};

/// ‖x − x*‖ ≤ ‖A⁻¹‖ ‖b − A x‖: `inverse` bounds the norm of the inverse.
fn check(m: &Dense, b: &[f32], x: &[f32], outcome: Outcome, inverse: f64) {
    assert!(outcome.converged, "{outcome:?}");
    let exact = m.solve(b);
    let error: f64 = x
        .iter()
        .zip(&exact)
        .map(|(x, e)| (f64::from(*x) - e).powi(2))
        .sum();
    assert!(
        error.sqrt() <= 1.1 * inverse * outcome.residual.max(1e-6),
        "off by {:e}, {outcome:?}",
        error.sqrt()
    );
}

#[test]
fn symmetric_systems_definite_or_not() {
    let mut random = Random::new();
    for (n, indefinite) in [(5, false), (40, false), (5, true), (40, true)] {
        // 0.5 ≤ |λ| ≤ 2.
        let values: Vec<f64> = (0..n)
            .map(|i| {
                (1.25 + 0.75 * random.number()) * if indefinite && i % 3 == 0 { -1.0 } else { 1.0 }
            })
            .collect();
        let m = symmetric(&mut random, &values);
        let b = vector(&mut random, n);
        let (mut minres, mut gmres) = (Minres::default(), Gmres::new(n));
        let apply = |x: &[f32], y: &mut [f32]| m.apply(x, y);
        let mut x = vector(&mut random, n);
        let plain = minres.solve(apply, copy, &b, &mut x, STOP).unwrap();
        check(&m, &b, &x, plain, 2.0);
        x.fill(0.0);
        let outcome = minres.solve(apply, jacobi(&m), &b, &mut x, STOP).unwrap();
        check(&m, &b, &x, outcome, 2.0);
        x.fill(0.0);
        let outcome = gmres.solve(apply, copy, &b, &mut x, STOP).unwrap();
        check(&m, &b, &x, outcome, 2.0);
        // In exact arithmetic both need at most n products; MINRES in f32 some more.
        assert!(outcome.iterations <= n && plain.iterations <= 3 * n);
    }
}

#[test]
fn nonsymmetric_systems_with_and_without_restart() {
    let mut random = Random::new();
    let n = 40;
    // 2 I + R with ‖R‖ ≤ ½ by rows and columns: ‖A⁻¹‖ ≤ 1/1.5.
    let m = Dense::new(n, |i, j| {
        random.number() / (2.0 * n as f64) + if i == j { 2.0 } else { 0.0 }
    });
    let b = vector(&mut random, n);
    for restart in [3, 10, n] {
        let mut x = vec![0.0; n];
        let apply = |x: &[f32], y: &mut [f32]| m.apply(x, y);
        let mut gmres = Gmres::new(restart);
        let outcome = gmres.solve(apply, jacobi(&m), &b, &mut x, STOP).unwrap();
        check(&m, &b, &x, outcome, 1.0 / 1.5);
    }
}

#[test]
fn a_good_preconditioner_saves_iterations() {
    let n = 200;
    let m = Dense::new(n, |i, j| {
        let off = if i.abs_diff(j) == 1 { 0.3 } else { 0.0 };
        if i == j { 1.0 + 10.0 * i as f64 } else { off }
    });
    let b = vector(&mut Random::new(), n);
    let apply = |x: &[f32], y: &mut [f32]| m.apply(x, y);
    let diagonal = |x: &[f32], y: &mut [f32]| {
        for i in 0..n {
            y[i] = x[i] / (1.0 + 10.0 * i as f32);
        }
    };
    let run = |preconditioned: bool| {
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        let (mut gmres, mut minres) = (Gmres::new(30), Minres::default());
        match preconditioned {
            true => [
                gmres.solve(apply, diagonal, &b, &mut x, STOP).unwrap(),
                minres.solve(apply, diagonal, &b, &mut y, STOP).unwrap(),
            ],
            false => [
                gmres.solve(apply, copy, &b, &mut x, STOP).unwrap(),
                minres.solve(apply, copy, &b, &mut y, STOP).unwrap(),
            ],
        }
    };
    for (with, without) in run(true).into_iter().zip(run(false)) {
        assert!(with.converged, "{with:?}");
        assert!(
            with.iterations * 4 < without.iterations,
            "{with:?} {without:?}"
        );
    }
}

#[test]
fn consistent_singular_systems_are_solved() {
    let mut random = Random::new();
    let n = 30;
    let values: Vec<f64> = (0..n)
        .map(|i| if i < 6 { 0.0 } else { i as f64 / 10.0 })
        .collect();
    let m = symmetric(&mut random, &values);
    let apply = |x: &[f32], y: &mut [f32]| m.apply(x, y);
    let mut image = vec![0.0; n];
    m.apply(&vector(&mut random, n), &mut image);
    let stop = Stop {
        residual: 1e-4,
        ..STOP
    };
    let mut x = vec![0.0; n];
    let outcome = Minres::default()
        .solve(apply, copy, &image, &mut x, stop)
        .unwrap();
    assert!(outcome.converged, "{outcome:?}");
    x.fill(0.0);
    let outcome = Gmres::new(n)
        .solve(apply, copy, &image, &mut x, stop)
        .unwrap();
    assert!(outcome.converged, "{outcome:?}");
    // Without a solution: the zero matrix.
    let none = |_: &[f32], y: &mut [f32]| y.fill(0.0);
    for outcome in [
        Minres::default()
            .solve(none, copy, &image, &mut x, stop)
            .unwrap(),
        Gmres::new(n)
            .solve(none, copy, &image, &mut x, stop)
            .unwrap(),
    ] {
        assert!(!outcome.converged && outcome.residual > 1e-3, "{outcome:?}");
    }
}

#[test]
fn a_zero_right_hand_side_needs_no_iteration() {
    let apply = |x: &[f32], y: &mut [f32]| copy(x, y);
    for n in [0, 7] {
        let (b, mut x) = (vec![0.0; n], vec![0.0; n]);
        for outcome in [
            Minres::default()
                .solve(apply, copy, &b, &mut x, STOP)
                .unwrap(),
            Gmres::new(5).solve(apply, copy, &b, &mut x, STOP).unwrap(),
        ] {
            assert_eq!((outcome.iterations, outcome.residual), (0, 0.0));
        }
        assert!(x.iter().all(|v| *v == 0.0));
    }
}

#[test]
fn non_finite_input_is_an_error() {
    let good = |x: &[f32], y: &mut [f32]| copy(x, y);
    let mut calls = 0;
    let mut bad_later = |x: &[f32], y: &mut [f32]| {
        calls += 1;
        copy(x, y);
        y[1] = if calls > 1 { f32::NAN } else { 0.0 };
    };
    let mut x = vec![0.0; 3];
    let b = [1.0, f32::NAN, 0.0];
    assert_eq!(
        Minres::default().solve(good, copy, &b, &mut x, STOP),
        Err(NotFinite)
    );
    assert_eq!(
        Gmres::new(3).solve(good, copy, &b, &mut x, STOP),
        Err(NotFinite)
    );
    let b = [1.0, 2.0, 3.0];
    assert_eq!(
        Minres::default().solve(&mut bad_later, copy, &b, &mut x, STOP),
        Err(NotFinite)
    );
    let mut x = vec![0.0; 3];
    assert_eq!(
        Gmres::new(3).solve(&mut bad_later, copy, &b, &mut x, STOP),
        Err(NotFinite)
    );
}

/// Many chunks, so that threads share the work; the same bits for 1 and 5 of them.
#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let n = 9 * CHUNK + 123;
    let apply = |x: &[f32], y: &mut [f32]| {
        for i in 0..n {
            let (below, above) = (x[i.saturating_sub(1)], x[(i + 1).min(n - 1)]);
            y[i] = 3.0 * x[i] - below - above + (i % 7) as f32 * 0.1 * x[i];
        }
    };
    let b = vector(&mut Random::new(), n);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
            let (mut minres, mut gmres) = (Minres::default(), Gmres::new(10));
            let stop = Stop {
                residual: 1e-3,
                ..STOP
            };
            let a = minres.solve(apply, copy, &b, &mut x, stop).unwrap();
            let c = gmres.solve(apply, copy, &b, &mut y, stop).unwrap();
            assert!(a.converged && c.converged, "{a:?} {c:?}");
            x.append(&mut y);
            x.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        })
    };
    assert!(run(1) == run(5));
}

#[test]
fn dot_is_exact_beyond_f32() {
    // 1e8 + 1 − 1e8 would lose the one in f32.
    let a = [1e8, 1.0, -1e8, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    assert_eq!(dot(&a, &[1.0; 9]), 7.0);
    let long = vec![0.1; 3 * CHUNK + 5];
    let want = f64::from(0.1f32) * (3 * CHUNK + 5) as f64;
    assert!((dot(&long, &vec![1.0; long.len()]) - want).abs() < 1e-9 * want);
}
