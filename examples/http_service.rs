//! A small HTTP service over one engine: `POST /` saves the body, `GET /?WORDS` searches.
//!
//! Every method of the engine blocks, so each request runs on tokio's blocking threads (`spawn_blocking`) and the
//! runtime's own threads stay free. An `Arc` shares the engine.
//! Run: `cargo run --example http_service`, which asks itself twice; with `-- 127.0.0.1:8080` it serves until it is stopped.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use memorist_engine::config::Config;
use memorist_engine::types::{NewRecord, Query};
use memorist_engine::{Engine, ErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_blocking;

/// Bytes of a body that are read at most.
const MAX_BODY: usize = 64 << 10;

type ServiceResult = Result<String, (StatusCode, String)>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let config = Config::without_model();
    let engine = Arc::new(Engine::open(folder.path().join("store"), config)?);

    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let at = listener.local_addr()?;
    eprintln!("http://{at}");
    let serving = tokio::spawn(serve(listener, engine));
    if address.is_some() {
        serving.await??;
        return Ok(());
    }
    for request in ["POST / HTTP/1.1\r\nContent-Length: 26", "GET /?thursdays HTTP/1.1"] {
        let body = if request.starts_with("POST") { "Deploys go out on Thursday" } else { "" };
        let mut stream = TcpStream::connect(at).await?;
        stream.write_all(format!("{request}\r\nHost: {at}\r\nConnection: close\r\n\r\n{body}").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        eprintln!("{}", answer.rsplit("\r\n").next().unwrap_or_default());
    }
    Ok(())
}

async fn serve(listener: TcpListener, engine: Arc<Engine>) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let engine = Arc::clone(&engine);
        tokio::spawn(async move {
            let service = service_fn(move |request| respond(Arc::clone(&engine), request));
            let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            if let Err(error) = connection.await {
                eprintln!("{error}");
            }
        });
    }
}

async fn respond(engine: Arc<Engine>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, text) = match answer(engine, request).await {
        Ok(text) => (StatusCode::OK, text),
        Err(refusal) => refusal,
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    Ok(response)
}

async fn answer(engine: Arc<Engine>, request: Request<Incoming>) -> ServiceResult {
    let work: Box<dyn FnOnce() -> memorist_engine::Result<String> + Send> = match *request.method() {
        Method::POST => {
            let body = Limited::new(request.into_body(), MAX_BODY).collect().await;
            let body = body.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?.to_bytes();
            let text = String::from_utf8(body.into()).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
            Box::new(move || engine.add(&NewRecord::new(text)).map(|outcome| format!("memory {}\n", outcome.id)))
        }
        Method::GET => {
            let words = request.uri().query().unwrap_or_default().replace('+', " ");
            Box::new(move || {
                let reply = engine.search(&Query::new(words))?;
                Ok(reply.hits.iter().map(|hit| format!("{:.3}  {}\n", hit.score, hit.record.content)).collect())
            })
        }
        _ => return Err((StatusCode::METHOD_NOT_ALLOWED, "use GET or POST\n".to_owned())),
    };
    let done = spawn_blocking(work).await.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    done.map_err(|error| {
        let status = match error.kind() {
            ErrorKind::Input => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, format!("{error}\n"))
    })
}
