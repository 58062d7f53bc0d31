//! Connecting agents.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use memorist_clients::Client;

use super::profile::ProfileName;

/// `connect`.
#[derive(Debug, Args)]
pub struct Connect {
    #[command(flatten)]
    pub which: ClientArgs,
    /// Only register the server; existing hooks stay
    #[arg(long)]
    pub no_hooks: bool,
    /// Do not download the embedding model: keyword search only, until `memorist setup`
    #[arg(long)]
    pub no_model: bool,
    /// Tool set of the server [default: the setting `profile`]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<ProfileName>,
}

/// `disconnect`.
#[derive(Debug, Args)]
pub struct Disconnect {
    #[command(flatten)]
    pub which: ClientArgs,
}

/// Arguments of `connect` and `disconnect`.
#[derive(Debug, Args)]
pub struct ClientArgs {
    /// Clients [default: all installed]
    #[arg(value_name = "CLIENT", value_parser = clients())]
    pub clients: Vec<Client>,
    /// Show each change as a diff without applying it
    #[arg(long)]
    pub dry_run: bool,
    /// Skip the confirmation
    #[arg(short, long)]
    pub yes: bool,
}

fn clients() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::name)).try_map(|name| name.parse())
}
