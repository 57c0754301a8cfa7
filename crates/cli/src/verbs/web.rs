//! `web`: what is typed about the page and its devices. Another part of the program carries it out.

use super::Out;
use super::values::{Choices, one_of};
use clap::{Args, Subcommand};
use glis_verbs::Complaint;
use glis_wire::call::Scope;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Web {
    #[command(subcommand)]
    pub verb: Option<WebVerb>,
    /// Address and port; port 0 picks one. The first line that is printed is the URL
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7717")]
    pub listen: String,
    /// Serve https with this certificate (PEM, with its chain): other machines may come. It is read again when it is renewed
    #[arg(long, value_name = "FILE", requires = "tls_key", group = "front")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM, without a password)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// A proxy with TLS stands before it: other machines may come through that
    #[arg(long, requires = "public_host", group = "front")]
    pub behind_proxy: bool,
    /// The name in links: one of the certificate, or that of the proxy
    #[arg(long, value_name = "NAME", requires = "front")]
    pub public_host: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum WebVerb {
    /// Let a device in: a link and a QR code, good once and for ten minutes
    Pair {
        /// What it is called
        #[arg(long, default_value = "browser")]
        name: String,
        /// What it may do
        #[arg(long, value_parser = one_of(SCOPES), default_value = "manage")]
        scope: Scope,
    },
    /// List devices and tokens
    Devices,
    /// Let a device or a token in no more, at once
    Revoke {
        /// Its name or id
        name: String,
    },
    /// Make a token for a script; it is shown once
    Token {
        /// What it is called
        #[arg(long)]
        name: String,
        /// What it may do
        #[arg(long, value_parser = one_of(SCOPES))]
        scope: Scope,
    },
}

const SCOPES: Choices<Scope> = &[
    ("watch", "Look at everything, change nothing", Scope::Watch),
    ("send", "Send messages as well", Scope::Send),
    ("answer", "Answer what agents ask as well", Scope::Answer),
    ("manage", "Everything", Scope::Manage),
];

/// Tells what another part of the program has done, as a verb does. The exit status.
pub fn tell(json: bool, done: Result<(Value, String), Complaint>) -> u8 {
    let out = Out { json };
    let told = done.and_then(|(document, words)| out.document(&document, || words));
    told.map_or_else(|complaint| out.complain(&complaint), |()| 0)
}
