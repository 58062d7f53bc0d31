//! How strongly each point and its neighbours belong together: the fuzzy graph of UMAP (McInnes, Healy, Melville 2018).

/// Neighbours of a point that the layout is made from.
pub const NEIGHBOURS: usize = 15;
/// Halvings of the interval in which a bandwidth lies.
const HALVINGS: usize = 32;
/// A bandwidth is at least this share of the mean distance.
const LEAST_BANDWIDTH: f32 = 1e-3;

/// The rows that are nearest to each row, and how far they are: at most [`NEIGHBOURS`], nearest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Nearest {
    /// Where those of each row begin; and at last, where all end.
    starts: Vec<u32>,
    found: Vec<(u32, f32)>,
}

impl Nearest {
    /// A list without rows.
    pub fn new() -> Self {
        Nearest { starts: vec![0], found: Vec::new() }
    }

    /// Adds the next row, with its neighbours.
    pub fn push(&mut self, neighbours: impl IntoIterator<Item = (u32, f32)>) {
        self.found.extend(neighbours);
        self.starts.push(self.found.len() as u32);
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The neighbours of a row.
    pub fn of(&self, row: usize) -> &[(u32, f32)] {
        &self.found[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// The edges of each row to others, each in both directions, with a strength from 0 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    starts: Vec<u32>,
    edges: Vec<(u32, f32)>,
}

impl Graph {
    /// The graph of these neighbours. The strongest edge has the strength 1.
    pub fn new(mut nearest: Nearest) -> Self {
        let rows = nearest.len();
        // From here on they have their strengths instead of their distances: of a million, each column counts.
        for row in 0..rows {
            let own = strengths(nearest.of(row));
            let found = &mut nearest.found[nearest.starts[row] as usize..nearest.starts[row + 1] as usize];
            found.iter_mut().zip(own).for_each(|((_, distance), strength)| *distance = strength);
        }
        // Who has a row among its neighbours.
        let mut ends = vec![0_u32; rows + 1];
        for (other, _) in &nearest.found {
            ends[*other as usize + 1] += 1;
        }
        for row in 0..rows {
            ends[row + 1] += ends[row];
        }
        let (starts, mut incoming) = (ends.clone(), vec![(0, 0.0); nearest.found.len()]);
        for row in 0..rows {
            for &(other, strength) in nearest.of(row) {
                let end = &mut ends[other as usize];
                incoming[*end as usize] = (row as u32, strength);
                *end += 1;
            }
        }
        let mut graph = Graph { starts: vec![0], edges: Vec::with_capacity(nearest.found.len() * 2) };
        let mut of_row: Vec<(u32, f32)> = Vec::new();
        for row in 0..rows {
            of_row.clear();
            of_row.extend(nearest.of(row));
            of_row.extend(&incoming[starts[row] as usize..starts[row + 1] as usize]);
            of_row.sort_unstable_by_key(|(other, _)| *other);
            // In both directions: one of the two, or both, as for probabilities.
            of_row.dedup_by(|later, kept| {
                let are_one = later.0 == kept.0;
                if are_one {
                    kept.1 += later.1 - kept.1 * later.1;
                }
                are_one
            });
            graph.edges.extend(&of_row);
            graph.starts.push(graph.edges.len() as u32);
        }
        let strongest = graph.edges.iter().map(|(_, strength)| *strength).fold(f32::MIN_POSITIVE, f32::max);
        graph.edges.iter_mut().for_each(|(_, strength)| *strength /= strongest);
        graph
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The edges of a row.
    pub fn of(&self, row: usize) -> &[(u32, f32)] {
        &self.edges[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// How strongly a point belongs to each of its neighbours: the nearest wholly, the others by a bandwidth that makes their
/// sum the same for each point, so that a sparse region counts as much as a dense one.
pub fn strengths(neighbours: &[(u32, f32)]) -> Vec<f32> {
    let wanted = (neighbours.len() as f32).log2();
    let nearest = neighbours.iter().map(|(_, distance)| *distance).find(|distance| *distance > 0.0).unwrap_or(0.0);
    let beyond = |distance: f32| (distance - nearest).max(0.0);
    let mean = neighbours.iter().map(|(_, distance)| *distance).sum::<f32>() / neighbours.len().max(1) as f32;
    let least = (LEAST_BANDWIDTH * mean).max(f32::MIN_POSITIVE);
    let (mut low, mut high, mut bandwidth) = (0.0, f32::INFINITY, 1.0_f32);
    for _ in 0..HALVINGS {
        let sum: f32 = neighbours.iter().map(|(_, distance)| (-beyond(*distance) / bandwidth).exp()).sum();
        if (sum - wanted).abs() < 1e-4 {
            break;
        }
        if sum > wanted {
            high = bandwidth;
            bandwidth = (low + high) / 2.0;
        } else {
            low = bandwidth;
            bandwidth = if high.is_finite() { (low + high) / 2.0 } else { bandwidth * 2.0 };
        }
    }
    let bandwidth = bandwidth.max(least);
    neighbours.iter().map(|(_, distance)| (-beyond(*distance) / bandwidth).exp()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbor_strengths_sum_the_same_in_dense_and_sparse_areas() {
        let dense: Vec<(u32, f32)> = (0..15).map(|at| (at, 0.01 + 0.001 * at as f32)).collect();
        let sparse: Vec<(u32, f32)> = (0..15).map(|at| (at, 0.3 + 0.03 * at as f32)).collect();
        for neighbours in [&dense, &sparse] {
            let strengths = strengths(neighbours);
            let sum: f32 = strengths.iter().sum();
            assert!((sum - 15_f32.log2()).abs() < 1e-2 && strengths[0] == 1.0, "{strengths:?}");
            assert!(strengths.is_sorted_by(|a, b| a >= b));
        }
        assert_eq!(strengths(&[(0, 0.0), (1, 0.0)]), [1.0, 1.0], "equal vectors");
        assert_eq!((strengths(&[]), strengths(&[(0, 0.4)])), (vec![], vec![1.0]));
    }

    #[test]
    fn an_edge_is_as_strong_from_either_end() {
        let mut nearest = Nearest::new();
        for row in 0..40_u32 {
            nearest.push(
                (1..=5).map(|step| ((row * 7 + step * step) % 40, 0.1 * step as f32)).filter(|(at, _)| *at != row),
            );
        }
        let graph = Graph::new(nearest);
        assert_eq!(graph.len(), 40);
        let strength =
            |from: usize, to: u32| graph.of(from).iter().find(|(at, _)| *at == to).map(|(_, strength)| *strength);
        let mut strongest = 0.0_f32;
        for row in 0..40 {
            assert!(graph.of(row).is_sorted_by(|a, b| a.0 < b.0));
            for &(other, there) in graph.of(row) {
                let back = strength(other as usize, row as u32).expect("an edge back");
                assert!((there - back).abs() < 1e-6 && there > 0.0);
                strongest = strongest.max(there);
            }
        }
        assert_eq!(strongest, 1.0);
    }
}
