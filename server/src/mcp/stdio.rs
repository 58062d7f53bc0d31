//! The server on stdin and stdout: one client, which ends it by going away.

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use super::handler::Handler;
use crate::exit::{Failure, Kind};

/// Serves until stdin ends or `stop` does. A client that leaves before it has said anything is no error.
pub async fn serve(handler: Handler, stop: impl Future<Output = ()>) -> Result<(), Failure> {
    tokio::pin!(stop);
    let started = tokio::select! {
        started = handler.serve(rmcp::transport::stdio()) => started,
        () = &mut stop => return Ok(()),
    };
    let running = match started {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::TransportError { .. }) => return Ok(()),
        Err(error) => return Err(Failure::input(format!("the client did not speak MCP: {error}"))),
    };
    let cancel = running.cancellation_token();
    let ended = running.waiting();
    tokio::pin!(ended);
    let ended = tokio::select! {
        ended = &mut ended => ended,
        () = &mut stop => {
            // Answers in hand are still sent.
            cancel.cancel();
            ended.await
        }
    };
    ended.map(drop).map_err(|error| Failure::new(Kind::Internal, error.to_string()))
}
