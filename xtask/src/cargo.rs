//! Cargo as a tool: where the workspace and its build output lie, and whether a part of cargo is
//! installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// The workspace and the folder it builds into.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Asks cargo, because `CARGO_TARGET_DIR` and configuration files may move the target folder.
    pub(crate) fn find() -> Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut ask = cargo();
        ask.args(["metadata", "--format-version", "1", "--no-deps"]).current_dir(here);
        let answer = ask.stderr(Stdio::inherit()).output().context("cargo cannot be run")?;
        ensure!(answer.status.success(), "`cargo metadata` failed: {}", answer.status);
        let metadata: serde_json::Value = serde_json::from_slice(&answer.stdout)?;
        let path = |key: &str| -> Result<PathBuf> {
            let text = metadata.get(key).and_then(serde_json::Value::as_str);
            Ok(PathBuf::from(text.with_context(|| format!("`cargo metadata` names no {key}"))?))
        };
        Ok(Self { root: path("workspace_root")?, target: path("target_directory")? })
    }

    /// A program of the release build.
    pub(crate) fn release(&self, program: &str) -> PathBuf {
        self.target.join("release").join(program)
    }

    /// A program as packages have it.
    pub(crate) fn dist(&self, program: &str) -> PathBuf {
        self.target.join("dist").join(program)
    }

    /// A program of the build that the tests are made with.
    pub(crate) fn debug(&self, program: &str) -> PathBuf {
        self.target.join("debug").join(program)
    }

    /// The program to play with: `GLIS_BINARY`, as the end-to-end tests take it, or one that is
    /// built here.
    pub(crate) fn glis(&self) -> Result<PathBuf> {
        if let Some(other) = std::env::var_os("GLIS_BINARY") {
            return Ok(PathBuf::from(other));
        }
        let mut build = cargo();
        build.args(["build", "--bin", "glis"]).current_dir(&self.root);
        ensure!(build.status()?.success(), "the build failed");
        Ok(self.debug("glis"))
    }
}

/// The cargo that runs us, or the one on the path.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Whether `cargo PART` exists here: rustfmt, clippy and nextest are installed apart from cargo.
pub(crate) fn has(part: &str) -> bool {
    let mut ask = cargo();
    ask.args([part, "--version"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ask.status().is_ok_and(|status| status.success())
}
