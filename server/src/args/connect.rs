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
    /// Only register the server; hooks that are there stay
    #[arg(long)]
    pub no_hooks: bool,
    /// Do not fetch the embedding model: agents find memories by words alone until `memorist setup`
    #[arg(long)]
    pub no_model: bool,
    /// The tools that the server offers [default: that of the settings]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<ProfileName>,
}

/// `disconnect`.
#[derive(Debug, Args)]
pub struct Disconnect {
    #[command(flatten)]
    pub which: ClientArgs,
}

/// What both take.
#[derive(Debug, Args)]
pub struct ClientArgs {
    /// Which clients [default: all of this machine]
    #[arg(value_name = "CLIENT", value_parser = clients())]
    pub clients: Vec<Client>,
    /// Show each change as a diff, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask before anything is changed
    #[arg(short, long)]
    pub yes: bool,
}

fn clients() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::name)).try_map(|name| name.parse())
}
