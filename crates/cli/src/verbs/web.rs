//! `web`: what is typed about the page and its devices. Another part of the program carries it out.

use super::Out;
use crate::complaint::Complaint;
use clap::{Args, Subcommand, ValueEnum};
use glis_wire::call::Scope;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct WebArgs {
    #[command(subcommand)]
    verb: Option<WebVerb>,
    /// Address and port; port 0 picks one. The first line that is printed is the URL
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7717")]
    listen: String,
    /// Serve https with this certificate (PEM, with its chain): other machines may come. It is read again when it is renewed
    #[arg(long, value_name = "FILE", requires = "tls_key", group = "front")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM, without a password)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A proxy with TLS stands before it: other machines may come through that
    #[arg(long, requires = "public_host", group = "front")]
    behind_proxy: bool,
    /// The name in links: one of the certificate, or that of the proxy
    #[arg(long, value_name = "NAME", requires = "front")]
    public_host: Option<String>,
}

#[derive(Debug, Subcommand)]
enum WebVerb {
    /// Let a device in: a link and a QR code, good once and for ten minutes
    Pair {
        /// What it is called
        #[arg(long, default_value = "browser")]
        name: String,
        /// What it may do
        #[arg(long, value_enum, default_value_t = May::Manage)]
        scope: May,
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
        #[arg(long, value_enum)]
        scope: May,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum May {
    /// Look at everything, change nothing
    Watch,
    /// Send messages as well
    Send,
    /// Answer what agents ask as well
    Answer,
    /// Everything
    Manage,
}

/// What stands between the server and who comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebFront {
    /// Nothing: only this machine may come.
    Plain,
    /// A proxy with TLS.
    Proxy {
        /// The name that it serves the page under.
        name: String,
    },
    /// TLS of its own.
    Tls {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of its key.
        key: PathBuf,
        /// The name for links.
        name: Option<String>,
    },
}

/// What is wanted of the page and its devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Web {
    /// Serve it.
    Serve {
        /// Where.
        listen: String,
        /// What stands before it.
        front: WebFront,
    },
    /// Let a device in.
    Pair {
        /// What it is called.
        name: String,
        /// What it may do.
        scope: Scope,
    },
    /// List who may come.
    Devices,
    /// Let one in no more.
    Revoke {
        /// Its name or id.
        name: String,
    },
    /// Make a token for a script.
    Token {
        /// What it is called.
        name: String,
        /// What it may do.
        scope: Scope,
    },
}

impl WebArgs {
    pub(crate) fn meant(self) -> Web {
        let scope = |may| match may {
            May::Watch => Scope::Watch,
            May::Send => Scope::Send,
            May::Answer => Scope::Answer,
            May::Manage => Scope::Manage,
        };
        match self.verb {
            None => {
                let front = match (self.tls_cert, self.tls_key, self.public_host) {
                    (Some(certificate), Some(key), name) => {
                        WebFront::Tls { certificate, key, name }
                    }
                    (_, _, Some(name)) => WebFront::Proxy { name },
                    (_, _, None) => WebFront::Plain,
                };
                Web::Serve { listen: self.listen, front }
            }
            Some(WebVerb::Pair { name, scope: may }) => Web::Pair { name, scope: scope(may) },
            Some(WebVerb::Devices) => Web::Devices,
            Some(WebVerb::Revoke { name }) => Web::Revoke { name },
            Some(WebVerb::Token { name, scope: may }) => Web::Token { name, scope: scope(may) },
        }
    }
}

/// Tells what another part of the program has done, as a verb does. The exit status.
pub fn tell(json: bool, done: Result<(Value, String), Complaint>) -> u8 {
    let out = Out { json };
    let told = done.and_then(|(document, words)| out.document(&document, || words));
    told.map_or_else(|complaint| out.complain(&complaint), |()| 0)
}
