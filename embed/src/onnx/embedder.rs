//! A sentence model run by ONNX Runtime.
//!
//! The library is loaded once per process and stays: ONNX Runtime allows one environment, and such a library cannot be
//! unloaded safely. The model is loaded and dropped with each [`OnnxEmbedder`].

use std::borrow::Cow;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ort::environment::Environment;
use ort::logging::LogLevel;
use ort::session::{Session, SessionInputValue};
use ort::value::TensorRef;
use parking_lot::Mutex;

use super::open_file::OpenFile;
use super::pooling::mean_pool;
use super::tokenize::{TextTokenizer, TokenBatch, plan_batches};
use crate::embedder::Embedder;
use crate::error::{Error, Result};
use crate::identity::ModelIdentity;
use crate::provision::{ModelFiles, SourceFile, own_identity};

/// From this many batches in a call on, separate sessions are worth their loading time (a third of a second each).
const BULK_BATCHES: usize = 8;
/// Sessions that share a bulk of batches. Two with half of the cores each take a tenth less CPU time than one with all
/// of them, and every session costs 100 MB.
const BULK_SESSIONS: usize = 2;
/// More threads than this, in one session, gain little on sentences.
const MAX_THREADS: usize = 4;
/// Bulk sessions are dropped at the first query after this long without bulk work.
const BULK_IDLE: Duration = Duration::from_secs(60);

/// The one environment of the process, and the library it came from.
static RUNTIME: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);

/// A sentence model with token vectors as its output, pooled by their mean.
///
/// Queries run on one thread, one at a time: on two cores neither a second session nor batching the waiting queries
/// answers more of them. Many batches run on all cores in separate sessions, so that a query need not wait for a batch.
pub struct OnnxEmbedder {
    identity: ModelIdentity,
    tokenizer: TextTokenizer,
    environment: Environment,
    model: SourceFile,
    single: Mutex<OnnxModel>,
    bulk: Mutex<Bulk>,
}

/// The sessions for many batches, loaded on first use.
struct Bulk {
    models: Vec<OnnxModel>,
    last_use: Instant,
}

impl OnnxEmbedder {
    /// Loads the library (once per process), the tokenizer and the model, and runs the model once.
    pub fn load(files: &ModelFiles, library: &SourceFile) -> Result<Self> {
        let environment = environment(library)?;
        let tokenizer = TextTokenizer::load(&files.tokenizer)?;
        let mut model = OnnxModel::load(&environment, &files.model, 1)?;
        let probe = TokenBatch::new(&[&tokenizer.encode("probe")?], tokenizer.padding());
        let dims = model.run(&probe)?.first().map_or(0, Vec::len);
        let identity = match &files.identity {
            Some(identity) if identity.dims == dims => identity.clone(),
            Some(identity) => {
                return Err(Error::Failed(format!(
                    "{} makes vectors of {dims} dimensions, not {}",
                    files.model.path().display(),
                    identity.dims
                )));
            }
            None => own_identity::establish(files.model.path(), dims)?,
        };
        Ok(OnnxEmbedder {
            identity,
            tokenizer,
            environment,
            model: files.model.clone(),
            single: Mutex::new(model),
            bulk: Mutex::new(Bulk { models: Vec::new(), last_use: Instant::now() }),
        })
    }

    /// Runs `batches` on all cores; the vectors of each, in the order of the batches.
    fn run_in_bulk(&self, batches: &[TokenBatch]) -> Result<Vec<Vec<Vec<f32>>>> {
        let mut bulk = self.bulk.lock();
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let sessions = BULK_SESSIONS.min(cores);
        while bulk.models.len() < sessions {
            bulk.models.push(OnnxModel::load(&self.environment, &self.model, (cores / sessions).min(MAX_THREADS))?);
        }
        let next = AtomicUsize::new(0);
        let work = |model: &mut OnnxModel| -> Result<Vec<(usize, Vec<Vec<f32>>)>> {
            let mut made = Vec::new();
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(batch) = batches.get(index)
            {
                made.push((index, model.run(batch)?));
            }
            Ok(made)
        };
        let made: Vec<Result<_>> = std::thread::scope(|scope| {
            let workers: Vec<_> = bulk.models.iter_mut().map(|model| scope.spawn(|| work(model))).collect();
            let ended = workers.into_iter().map(|worker| worker.join());
            ended.map(|made| made.unwrap_or_else(|_| Err(Error::Failed("a worker stopped".to_owned())))).collect()
        });
        bulk.last_use = Instant::now();
        let mut vectors = vec![Vec::new(); batches.len()];
        for made in made {
            for (index, rows) in made? {
                vectors[index] = rows;
            }
        }
        Ok(vectors)
    }

    fn drop_idle_bulk(&self) {
        if let Some(mut bulk) = self.bulk.try_lock()
            && bulk.last_use.elapsed() > BULK_IDLE
        {
            bulk.models = Vec::new();
        }
    }
}

impl Embedder for OnnxEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.drop_idle_bulk();
        let tokens = self.tokenizer.encode(text)?;
        let batch = TokenBatch::new(&[&tokens], self.tokenizer.padding());
        let vectors = self.single.lock().run(&batch)?;
        vectors.into_iter().next().ok_or_else(|| Error::Failed("it made no vector".to_owned()))
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let rows: Vec<Vec<i64>> = texts.iter().map(|text| self.tokenizer.encode(text)).collect::<Result<_>>()?;
        let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
        let plan = plan_batches(&lengths);
        let batches: Vec<TokenBatch> = plan
            .iter()
            .map(|indices| {
                let members: Vec<&[i64]> = indices.iter().map(|index| rows[*index].as_slice()).collect();
                TokenBatch::new(&members, self.tokenizer.padding())
            })
            .collect();
        let made = if batches.len() >= BULK_BATCHES {
            self.run_in_bulk(&batches)?
        } else {
            // The lock is taken for each batch, so that a query gets its turn in between.
            batches.iter().map(|batch| self.single.lock().run(batch)).collect::<Result<_>>()?
        };
        let mut vectors = vec![Vec::new(); texts.len()];
        for (index, vector) in plan.into_iter().flatten().zip(made.into_iter().flatten()) {
            vectors[index] = vector;
        }
        Ok(vectors)
    }

    fn unknown_share(&self, text: &str) -> Option<f64> {
        self.tokenizer.unknown_share(text)
    }
}

/// The inputs that a model may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Ids,
    Mask,
    Types,
}

impl Input {
    fn named(name: &str) -> Option<Self> {
        match name {
            "input_ids" => Some(Input::Ids),
            "attention_mask" => Some(Input::Mask),
            "token_type_ids" => Some(Input::Types),
            _ => None,
        }
    }
}

/// Names of the output with the token vectors. A model with neither has its first output used.
const TOKEN_VECTORS: [&str; 2] = ["last_hidden_state", "token_embeddings"];

/// One session and the names of its inputs and output.
struct OnnxModel {
    session: Session,
    inputs: Vec<(String, Input)>,
    output: usize,
}

impl OnnxModel {
    fn load(environment: &Environment, file: &SourceFile, threads: usize) -> Result<Self> {
        let path = file.path();
        let session = open_session(environment, OpenFile::open(file)?.path(), threads)
            .map_err(|error| Error::Failed(format!("{} cannot be loaded: {error}", path.display())))?;
        let mut inputs = Vec::new();
        for input in session.inputs() {
            let known = Input::named(input.name()).ok_or_else(|| {
                Error::Failed(format!(
                    "{} wants an input named {}; only input_ids, attention_mask and token_type_ids can be given",
                    path.display(),
                    input.name()
                ))
            })?;
            inputs.push((input.name().to_owned(), known));
        }
        let output = session.outputs().iter().position(|output| TOKEN_VECTORS.contains(&output.name())).unwrap_or(0);
        Ok(OnnxModel { session, inputs, output })
    }

    fn run(&mut self, batch: &TokenBatch) -> Result<Vec<Vec<f32>>> {
        let failed = |error: ort::Error| Error::Failed(error.to_string());
        let shape = [batch.rows, batch.tokens];
        let types = vec![0i64; batch.ids.len()];
        let mut values: Vec<(Cow<'_, str>, SessionInputValue<'_>)> = Vec::with_capacity(self.inputs.len());
        for (name, input) in &self.inputs {
            let data = match input {
                Input::Ids => &batch.ids,
                Input::Mask => &batch.mask,
                Input::Types => &types,
            };
            let tensor = TensorRef::from_array_view((shape, data.as_slice())).map_err(failed)?;
            values.push((Cow::Borrowed(name), tensor.into()));
        }
        let outputs = self.session.run(values).map_err(failed)?;
        let output = outputs.values().nth(self.output).ok_or_else(|| Error::Failed("it has no output".to_owned()))?;
        let (shape, hidden) = output.try_extract_tensor::<f32>().map_err(failed)?;
        let [rows, tokens, dims] = shape[..] else {
            return Err(Error::Failed(format!(
                "its output has the shape {:?}; token vectors [texts, tokens, dimensions] are wanted",
                &shape[..]
            )));
        };
        if (rows, tokens) != (batch.rows as i64, batch.tokens as i64) {
            return Err(Error::Failed(format!(
                "{rows} x {tokens} token vectors came back for {} x {}",
                batch.rows, batch.tokens
            )));
        }
        mean_pool(hidden, &batch.mask, batch.tokens, usize::try_from(dims).unwrap_or(0))
    }
}

fn open_session(environment: &Environment, path: &Path, threads: usize) -> Result<Session, String> {
    let text = |error: ort::Error| error.to_string();
    Session::builder(environment)
        .map_err(text)?
        .with_intra_threads(threads)
        .map_err(|error| error.to_string())?
        // Threads that spin while they wait take the core from threads with work.
        .with_intra_op_spinning(false)
        .map_err(|error| error.to_string())?
        // Memory planning helps for repeated shapes; here hardly two batches are alike.
        .with_memory_pattern(false)
        .map_err(|error| error.to_string())?
        .commit_from_file(path)
        .map_err(text)
}

/// The environment of this process, created from `library` on first use.
fn environment(library: &SourceFile) -> Result<Environment> {
    let mut runtime = RUNTIME.lock();
    if let Some((loaded, environment)) = runtime.as_ref() {
        if loaded != library.path() {
            tracing::debug!("{} is not loaded, because {} already is", library.path().display(), loaded.display());
        }
        return Ok(environment.clone());
    }
    let unusable = |why: String| {
        Error::Failed(format!("{} cannot be used as the ONNX Runtime library: {why}", library.path().display()))
    };
    let opened = OpenFile::open(library)?;
    let environment = ort::init_from(opened.path())
        .map_err(|error| unusable(load_failure(&error)))?
        .with_name("memorist")
        .with_telemetry(false)
        .with_logger(Arc::new(|level, _category, _id, place, message| match level {
            LogLevel::Error | LogLevel::Fatal => tracing::warn!("ONNX Runtime: {message} ({place})"),
            _ => tracing::debug!("ONNX Runtime: {message} ({place})"),
        }))
        .build()
        .map_err(|error| unusable(error.to_string()))?;
    *runtime = Some((library.path().to_owned(), environment.clone()));
    Ok(environment)
}

/// Why the library could not be loaded, with the message of the system's loader.
fn load_failure(error: &ort::LoadDynamicError) -> String {
    match error {
        ort::LoadDynamicError::Dlopen { error, .. } => match std::error::Error::source(error) {
            Some(cause) => cause.to_string(),
            None => error.to_string(),
        },
        other => other.to_string(),
    }
}
