//! Prints the neighbour distances of generated vectors, beside those of the real ones if the environment variable
//! MEMORIST_SHARED_DATA names their directory: `cargo run --release -p bench-data --example profile -- [COUNT] [DIMS]`

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use bench_data::profile::{Profile, neighbour_profile};
use bench_data::vectors::{Shape, queries_for, vectors};

const SEED: u64 = 42;
const QUERIES: usize = 300;

fn print(out: &mut impl Write, name: &str, profile: &Profile) -> io::Result<()> {
    for (rank, spread) in &profile.neighbours {
        writeln!(
            out,
            "{name:<22} {rank:>8} {:>8.3} {:>8.3} {:>8.3} {:>8.3}",
            spread.mean, spread.low, spread.median, spread.high
        )?;
    }
    writeln!(out, "{name:<22}   random {:>8.3} +- {:.3}", profile.random_mean, profile.random_deviation)
}

fn show(count: usize, dims: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:<22} {:>8} {:>8} {:>8} {:>8} {:>8}", "", "n", "mean", "5 %", "median", "95 %")?;
    if let Some(real) = bench_data::real::directory().map(|path| bench_data::real::load(&path)).transpose()?.flatten() {
        let rows = count.min(real.base.len() / real.dims);
        let profile =
            neighbour_profile(&real.base[..rows * real.dims], &real.queries[..QUERIES * real.dims], real.dims);
        print(&mut out, &format!("real, {rows}"), &profile)?;
    }
    for shape in Shape::ALL {
        let start = Instant::now();
        let base: Vec<f32> = vectors(shape, SEED, count, dims).flatten().collect();
        let each = start.elapsed().as_secs_f64() * 1e6 / count as f64;
        let queries: Vec<f32> = queries_for(shape, SEED, count, dims, QUERIES).flatten().collect();
        print(&mut out, &format!("{shape:?}, {count}"), &neighbour_profile(&base, &queries, dims))?;
        writeln!(out, "{:<22} {each:.1} microseconds a vector", "")?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let (count, dims) = (numbers.next().unwrap_or(Ok(20_000)), numbers.next().unwrap_or(Ok(384)));
    let (Ok(count @ 2..), Ok(dims @ 2..)) = (count, dims) else {
        eprintln!("usage: profile [COUNT] [DIMS], both 2 or more");
        return ExitCode::from(2);
    };
    match show(count, dims) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
