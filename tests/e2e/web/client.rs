//! A client that others' tools make of the description: checked by its compiler, and run before a real server.

use super::guard::token;
use crate::support::house::{House, Outcome};
use crate::support::skip::skip;
use crate::support::web::Web;
use glis_stub_model::browser;
use std::path::Path;
use std::process::Command;

/// Runs something to its end. What it says is told if it fails.
fn run(command: &mut Command) -> Outcome {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let [told, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    Err(format!("{command:?}: {}\n{told}{errors}", output.status).into())
}

#[test]
fn a_client_made_of_the_description_plays_a_whole_story() -> Outcome {
    let (Some(modules), Some(node)) = (browser::modules(), browser::node()) else {
        let why = "there is nothing to make a client by; `cargo xtask browser` installs it";
        return skip(why, Some("node and npm"));
    };
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let own = house.folder().join("client");
    std::fs::create_dir(&own)?;
    std::os::unix::fs::symlink(&modules, own.join("node_modules"))?;
    std::fs::write(own.join("package.json"), r#"{"type": "module"}"#)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(root.join("tests/client/story.ts"), own.join("story.ts"))?;
    let script = |file: &str| {
        let mut command = Command::new(&node);
        house.enter(&mut command);
        command.arg(file).current_dir(&own).env("HOME", &own);
        command
    };
    let description = root.join("crates/web/openapi.json");
    let mut make = script("node_modules/openapi-typescript/bin/cli.js");
    run(make.arg(description).args(["--output", "api.d.ts"]))?;
    let mut check = script("node_modules/typescript/bin/tsc");
    check.args(["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]);
    check.args(["--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"]);
    run(check.args(["--lib", "es2022,dom", "story.ts"]))?;
    let address = format!("http://{}", web.address);
    run(script("story.js").args([&address, &token]).arg(house.repo()))
}
