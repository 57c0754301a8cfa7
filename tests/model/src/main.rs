//! `glis-stub-model [PORT]`: the stub model by hand.
//!
//! `GET /-/requests`, `/-/requests/N` and `/-/gates` show what came and what is held; `POST
//! /-/gates/NAME/open` lets an answer go on.
#![expect(clippy::print_stdout, reason = "a tool that talks to a terminal")]

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse())?;
    let model = glis_stub_model::Model::start_at(port)?;
    println!("{}", model.url());
    std::io::stdout().flush()?;
    model.serve();
    Ok(())
}
