//! `memorist doctor`: do records, vectors and keywords agree?

use memorist_engine::doctor::Diagnosis;
use serde_json::json;

use super::App;
use super::app::Upkeep;
use crate::args::Doctor;
use crate::exit::{Kind, Outcome};

/// Runs the command. Its exit code says whether all is sound.
pub fn run(app: &App, args: &Doctor) -> Outcome {
    let bars = app.bars()?;
    let engine = app.engine(Upkeep::Off)?;
    let diagnosis = engine.doctor(args.repair, &bars)?;
    engine.close();
    drop(bars);
    let sound = diagnosis.is_sound();
    let checks: Vec<_> = diagnosis
        .checks
        .iter()
        .map(|check| json!({ "name": check.name, "ok": check.ok, "details": check.details }))
        .collect();
    app.output().result(&json!({ "ok": sound, "checks": checks }), |_| text(&diagnosis))?;
    Ok(if sound { 0 } else { Kind::Store.code() })
}

fn text(diagnosis: &Diagnosis) -> String {
    let lines: Vec<_> = diagnosis
        .checks
        .iter()
        .flat_map(|check| {
            let verdict = if check.ok { "sound" } else { "NOT SOUND" };
            let head = format!("{:<12} {verdict}", check.name);
            std::iter::once(head).chain(check.details.iter().map(|detail| format!("{:<12} {detail}", "")))
        })
        .collect();
    lines.join("\n")
}
