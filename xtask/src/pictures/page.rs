//! The page before the same scene, as a real browser shows it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use glis_stub_model::browser;
use serde_json::Value;

use super::{Stage, at_work};
use crate::cargo::Workspace;

/// Which pictures are taken, and where they go.
#[derive(Clone, Copy)]
pub(super) enum Which<'f> {
    /// The two that docs/web.md shows.
    Docs(&'f Path),
    /// Every view in five sizes and both themes.
    Views(&'f Path),
}

/// Takes pictures of the page.
pub(super) fn take(workspace: &Workspace, glis: &Path, which: Which<'_>) -> Result<()> {
    let missing = "`cargo xtask browser` installs the browser and what drives it";
    let program = browser::program().context(missing)?;
    let (modules, node) = (browser::modules().context(missing)?, browser::node().context(missing)?);
    let stage = Stage::set(glis)?;
    at_work(&stage)?;
    let _server = Server::start(&stage)?;
    let mut pair = stage.command(&stage.glis);
    pair.args(["--json", "web", "pair", "--name", "picture", "--scope", "manage"]);
    let link: Value = serde_json::from_slice(&pair.stdin(Stdio::null()).output()?.stdout)?;
    let link = link["url"].as_str().context("no link")?;
    let mut script = Command::new(node);
    script.arg(workspace.root.join("tests/browser/pictures.mjs"));
    script.env("GLIS_BROWSER", program).env("GLIS_BROWSER_MODULES", modules);
    script.env("GLIS_PAGE", link).env("GLIS_PICTURES_HOME", stage.home());
    let folder = match which {
        Which::Docs(folder) => folder,
        Which::Views(folder) => {
            script.env("GLIS_PICTURES_ALL", "1");
            folder
        }
    };
    std::fs::create_dir_all(folder)?;
    let done = script.env("GLIS_PICTURES", folder).stdin(Stdio::null()).status()?;
    ensure!(done.success(), "the pictures of the page: {done}");
    println!("{}", folder.display());
    Ok(())
}

/// `glis web`, for as long as this lives.
struct Server(Child);

impl Server {
    fn start(stage: &Stage) -> Result<Self> {
        let mut command = stage.command(&stage.glis);
        command.args(["web", "--listen", "127.0.0.1:0"]).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut url = String::new();
        let output = child.stdout.take().context("no output")?;
        let server = Self(child);
        BufReader::new(output).read_line(&mut url)?;
        ensure!(url.starts_with("http://"), "no URL: {url}");
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
