//! Writes memories, or questions about them, as JSON lines:
//! `cargo run --release -p bench-data --example generate -- --seed 42 --count 100000 > memories.jsonl`

use std::io::{BufWriter, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: generate [--seed N] [--count N] [--questions N]
  --seed N       which corpus (default 42)
  --count N      how many memories (default 1000)
  --questions N  write N questions about those memories, with their answers, instead of the memories";

struct CorpusOptions {
    seed: u64,
    count: usize,
    questions: Option<usize>,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<CorpusOptions, String> {
    let mut options = CorpusOptions { seed: 42, count: 1000, questions: None };
    while let Some(name) = arguments.next() {
        let mut number = || {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a number"))?;
            value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"))
        };
        let size = |number: u64| usize::try_from(number).map_err(|error| error.to_string());
        match name.as_str() {
            "--seed" => options.seed = number()?,
            "--count" => options.count = size(number()?)?,
            "--questions" => options.questions = Some(size(number()?)?),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(options)
}

fn write(options: &CorpusOptions) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match options.questions {
        None => bench_data::write_jsonl(options.seed, options.count, out),
        Some(how_many) => {
            for question in bench_data::questions(options.seed, options.count, how_many) {
                serde_json::to_writer(&mut out, &question)?;
                out.write_all(b"\n")?;
            }
            out.flush()
        }
    }
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match write(&options) {
        // a reader such as `head` may close the pipe early
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("cannot write the output: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}
