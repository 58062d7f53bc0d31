//! `memorist import`: records from JSONL, a batch a transaction. A line that is refused does not stop the others, and
//! an import that was stopped goes on when it is run again: what is there already is skipped by its hash.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use memorist_engine::Engine;
use memorist_engine::config::ModelSource;
use memorist_engine::progress::Progress;
use memorist_engine::types::NewRecord;
use serde_json::Value;

use super::app::Upkeep;
use super::import_report::Report;
use super::lines::Lines;
use super::progress::Bars;
use super::{App, format};
use crate::args::Import;
use crate::exit::{Failure, Kind, Outcome};
use crate::wire::{self, AddParams, Defaults};

/// Records per transaction.
const BATCH_RECORDS: usize = 1_000;
/// Bytes of input per transaction, so that a batch of long texts fits in memory.
const BATCH_BYTES: u64 = 16 << 20;

/// What someone who stopped an import wants to know.
const RESTART: &str = "what was saved stays saved; run the same import again to go on";

/// Runs the command.
pub fn run(app: &App, args: &Import) -> Outcome {
    let (input, size) = open(&args.file)?;
    let bars = app.bars()?;
    let engine = app.engine(Upkeep::Off)?;
    let mut import = Batches {
        engine: &engine,
        bars: &bars,
        defaults: &app.settings().context.defaults,
        waiting: Vec::new(),
        bytes: 0,
        report: Report::default(),
    };
    bars.start_bytes("reading", size);
    let read = import.read(input, &args.file);
    bars.finish();
    let mut report = import.report;
    if let Err(failure) = read {
        app.output().note(report.text());
        app.output().note(RESTART);
        return Err(failure);
    }
    if !args.no_embed && app.settings().engine.model != ModelSource::None {
        let ready = engine.prepare_model(&mut |plan| app.announce(plan), &bars);
        match ready.and_then(|()| engine.embed_pending(&bars)) {
            Ok(embedded) => report.embedded = embedded,
            Err(error @ memorist_engine::Error::Cancelled) => {
                app.output().note(RESTART);
                return Err(error.into());
            }
            Err(error) => report.warning = Some(error.to_string()),
        }
    }
    engine.flush(&bars)?;
    engine.close();
    drop(bars);
    app.output().result(&report, Report::text)?;
    Ok(if report.refused > 0 { Kind::Input.code() } else { 0 })
}

fn open(file: &Path) -> Result<(Box<dyn BufRead>, Option<u64>), Failure> {
    if file == Path::new("-") {
        return Ok((Box::new(BufReader::new(io::stdin())), None));
    }
    let failure = |error: io::Error| Failure::file(file, &error);
    let opened = File::open(file).map_err(failure)?;
    let metadata = opened.metadata().map_err(failure)?;
    if metadata.is_dir() {
        return Err(Failure::new(Kind::Io, format!("{} is a folder; name a JSONL file", file.display())));
    }
    let size = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(BufReader::with_capacity(1 << 16, opened)), size))
}

/// Records on their way into the store.
struct Batches<'a> {
    engine: &'a Engine,
    bars: &'a Bars,
    defaults: &'a Defaults,
    /// Records of the batch in the making, and their lines.
    waiting: Vec<(u64, NewRecord)>,
    /// Bytes of input that they came from.
    bytes: u64,
    report: Report,
}

impl Batches<'_> {
    fn read(&mut self, input: impl BufRead, file: &Path) -> Result<(), Failure> {
        let mut lines = Lines::new(input);
        while let Some(line) = lines.next_line().map_err(|error| Failure::file(file, &error))? {
            if self.bars.cancelled() {
                // What was read is saved: less to do when it is run again.
                self.save()?;
                return Err(Failure::new(Kind::Cancelled, "interrupted"));
            }
            self.bars.advance(line.bytes);
            let empty = line.text.as_ref().is_ok_and(String::is_empty);
            if !empty {
                self.report.lines += 1;
                match line.text.and_then(|text| record(&text, self.defaults)) {
                    Ok(record) => self.waiting.push((line.number, record)),
                    Err(error) => self.report.refuse(line.number, error),
                }
            }
            self.bytes += line.bytes;
            if self.waiting.len() >= BATCH_RECORDS || self.bytes >= BATCH_BYTES {
                self.save()?;
            }
        }
        self.save()
    }

    fn save(&mut self) -> Result<(), Failure> {
        self.bytes = 0;
        let (numbers, records): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting).into_iter().unzip();
        if records.is_empty() {
            return Ok(());
        }
        for (number, outcome) in numbers.into_iter().zip(self.engine.add_batch(&records)?) {
            match outcome {
                Ok(outcome) if outcome.created => self.report.created += 1,
                Ok(_) => self.report.duplicates += 1,
                Err(error) => self.report.refuse(number, error.to_string()),
            }
        }
        self.bars.message(format!("reading ({})", format::memories(self.report.created + self.report.duplicates)));
        Ok(())
    }
}

/// The record of a line, or why it is refused.
pub(crate) fn record(line: &str, defaults: &Defaults) -> Result<NewRecord, String> {
    let object = match serde_json::from_str(line) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Err("is not a JSON object".into()),
        Err(error) => return Err(format!("is not JSON: {}", without_line(&error))),
    };
    let record = wire::new_record(wire::parse::<AddParams>(object)?, defaults);
    record.validate().map_err(|error| error.to_string())?;
    Ok(record)
}

/// The error without its line number, which counts within the line and would be taken for that of the file.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_parameters_of_memory_add() {
        let line = r#"{"content":"x","entryType":"task","importance":7,"tags":["a"],"project":"apollo"}"#;
        let record = record(line, &Defaults::default()).unwrap();
        assert_eq!((record.importance, record.scope.project.as_deref()), (7, Some("apollo")));
    }

    #[test]
    fn a_bad_line_is_refused_with_a_reason() {
        for (line, reason) in [
            ("{", "is not JSON"),
            ("[1]", "is not a JSON object"),
            ("{}", "missing field `content`"),
            (r#"{"content":"x","colour":"red"}"#, "unknown field `colour`, expected one of `content`"),
            (r#"{"content":" "}"#, "content: is empty"),
            (r#"{"content":}"#, "expected value at column 12"),
            (r#"{"content":"x","importance":11}"#, "importance: 11 is outside 1 to 10"),
            (r#"{"content":"x","expiresAt":1738540800}"#, "looks like seconds"),
            (r#"{"content":"a\u0000b"}"#, "NUL"),
        ] {
            let error = record(line, &Defaults::default()).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }
}
