//! The server over streamable HTTP, at `/mcp`: many clients, one store.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::guard::{self, Options, Policy};
use super::handler::Handler;
use crate::exit::{Failure, Kind};
use crate::output::Output;

/// Longest request: a memory of 1 MiB of which every second character is escaped, and room for the rest.
const BODY_BYTES: usize = 4 << 20;
/// Requests whose answer is being made at once; others wait.
const REQUESTS: usize = 32;
/// How long a client may take to send its request.
const BODY_PATIENCE: Duration = Duration::from_secs(10);
/// How long ending waits for clients that do not hang up.
const PATIENCE: Duration = Duration::from_secs(3);

/// Serves until `stop` ends.
pub async fn serve(
    handler: Handler,
    options: Options,
    output: Output,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Failure> {
    let policy = Policy::new(options)?;
    let io = |error: std::io::Error| Failure::new(Kind::Io, format!("cannot serve at {}: {error}", policy.address));
    let listener = TcpListener::bind(policy.address).await.map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(&policy.hosts)
        .with_allowed_origins(&policy.origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(BODY_BYTES);
    let sessions = config.cancellation_token.clone();
    let app = router(handler, config, policy.token.clone());
    output.note(format!("serving MCP at http://{address}/mcp"));
    if address.ip().is_unspecified() && !policy.names_others {
        output.note("only requests to localhost are answered; name this machine with --allow-host");
    }

    let (ending, mut ended) = tokio::sync::watch::channel(false);
    let stop = async move {
        stop.await;
        // Open event streams would keep their connections for ever.
        sessions.cancel();
        ending.send_replace(true);
    };
    tokio::select! {
        served = async { axum::serve(listener, app).with_graceful_shutdown(stop).await } => served.map_err(io),
        () = async {
            // The sender lives in the server, so this ends with it at the latest.
            let _ = ended.wait_for(|ending| *ending).await;
            tokio::time::sleep(PATIENCE).await;
        } => Ok(()),
    }
}

fn router(handler: Handler, config: StreamableHttpServerConfig, token: Option<String>) -> Router {
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    let requests = Arc::new(Semaphore::new(REQUESTS));
    let limit = move |request: Request, next: Next| {
        let requests = requests.clone();
        async move {
            // Read before it takes up a place: who sends slowly keeps nobody else waiting.
            let (parts, body) = request.into_parts();
            let request = match tokio::time::timeout(BODY_PATIENCE, to_bytes(body, BODY_BYTES)).await {
                Ok(Ok(body)) => Request::from_parts(parts, Body::from(body)),
                Ok(Err(_)) => return StatusCode::PAYLOAD_TOO_LARGE.into_response(),
                Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
            };
            // The semaphore is never closed; without a permit the request would merely not be limited.
            let _permit = requests.acquire().await;
            next.run(request).await
        }
    };
    // The layer added last is the first to see a request: who has no token takes up no place.
    Router::new()
        .nest_service("/mcp", service)
        .layer(from_fn(limit))
        .layer(from_fn(move |request: Request, next: Next| guard::authenticate(token.clone(), request, next)))
}
