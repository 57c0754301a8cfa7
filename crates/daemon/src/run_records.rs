//! The records of runs, in the repository that they belong to: each written whole, the latest wins.
//! Every plan has a folder of its own, since two may have tasks of the same name.

use crate::failpoint;
use crate::live::Live;
use crate::panics;
use crate::panics::held;
use crate::pools::{Kind, Pools};
use crate::tasks::beside_on;
use glis_core::SessionId;
use glis_record::durable;
use glis_wire::plan::RunView;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tracing::warn;

/// The folders in a repository that have the records of its runs.
const FOLDERS: [&str; 2] = [".glis", "runs"];
/// What keeps them out of the user's commits, in the repository's own list of what is ignored.
const IGNORED: &str = "/.glis/runs/";

/// Writes records, one after the other.
pub(crate) struct RunRecords {
    runtime: Handle,
    pools: Pools,
    live: Arc<Live>,
    waiting: Mutex<Waiting>,
    idle: Notify,
}

/// What is to be written: at most one record for each run.
#[derive(Default)]
struct Waiting {
    records: BTreeMap<PathBuf, RunView>,
    writing: bool,
    /// Repositories that ignore them already.
    ignoring: BTreeSet<String>,
}

impl RunRecords {
    /// Belongs to the runtime that this is called in.
    pub(crate) fn new(live: Arc<Live>, pools: Pools) -> Arc<Self> {
        let (waiting, idle) = (Mutex::default(), Notify::new());
        Arc::new(Self { runtime: Handle::current(), pools, live, waiting, idle })
    }

    /// Has a record written. An older one that still waits is not.
    pub(crate) fn put(self: &Arc<Self>, record: RunView) {
        if let Some(session) = &record.session {
            // One that was begun anew is nobody's concern any more.
            let why = record.unmerged.clone().filter(|_| record.superseded_by_run_id.is_none());
            self.live.set_unmerged(&SessionId(session.clone()), why);
        }
        let mut waiting = held(&self.waiting);
        waiting.records.insert(path(&record), record);
        if !std::mem::replace(&mut waiting.writing, true) {
            let (own, pools) = (Arc::clone(self), self.pools.clone());
            let work = async move { pools.run_blocking(Kind::Tree, move || own.work()).await };
            beside_on(&self.runtime, work);
        }
    }

    /// Returns when all that was put before is written.
    pub(crate) async fn settled(&self) {
        loop {
            let idle = self.idle.notified();
            if !held(&self.waiting).writing {
                return;
            }
            idle.await;
        }
    }

    fn work(&self) {
        loop {
            let next = {
                let mut waiting = held(&self.waiting);
                let next = waiting.records.pop_first();
                waiting.writing = next.is_some();
                next
            };
            let Some((path, record)) = next else {
                self.idle.notify_waiters();
                return;
            };
            // A repository that was moved away has taken its records along.
            if Path::new(&record.repo_root).is_dir()
                && let Err(why) = self.write_or_tell(&record)
            {
                warn!("{}: the record of a run: {why}", path.display());
            }
        }
    }

    /// A fault of ours in one record keeps no other from being written, and nobody waiting.
    fn write_or_tell(&self, record: &RunView) -> Result<(), String> {
        let written = catch_unwind(AssertUnwindSafe(|| self.write(record)));
        written.unwrap_or_else(|panic| Err(panics::fault(panic.as_ref())))
    }

    /// Writes a record, which lasts when this returns.
    pub(crate) fn write(&self, record: &RunView) -> Result<(), String> {
        failpoint::reach("run_record", &record.run_id);
        let told = |fault: io::Error| fault.to_string();
        let root = Path::new(&record.repo_root);
        let ignores = held(&self.waiting).ignoring.contains(&record.repo_root);
        if !ignores {
            ignore(root, IGNORED)?;
            held(&self.waiting).ignoring.insert(record.repo_root.clone());
        }
        let folder = folder(root, &record.plan_slug)?;
        let mut bytes = serde_json::to_vec_pretty(record).map_err(|fault| fault.to_string())?;
        bytes.push(b'\n');
        let name = file_name(record);
        if durable::read_file(&folder.join(&name)).is_ok_and(|known| known == bytes) {
            return Ok(());
        }
        durable::write(&folder, &name, &bytes).map_err(told)
    }
}

fn file_name(record: &RunView) -> String {
    format!("{}.json", record.run_id)
}

fn path(record: &RunView) -> PathBuf {
    let place: PathBuf = FOLDERS.iter().collect();
    Path::new(&record.repo_root).join(place).join(&record.plan_slug).join(file_name(record))
}

/// The folder for what is kept of a plan's runs; it is made where it is not there.
pub(crate) fn folder(root: &Path, slug: &str) -> Result<PathBuf, String> {
    let mut folder = root.to_owned();
    for name in FOLDERS.into_iter().chain([slug]) {
        folder.push(name);
        check(&folder)?;
    }
    durable::private_folder(&folder).map_err(|fault| format!("{}: {fault}", folder.display()))?;
    Ok(folder)
}

/// Why a repository cannot keep records.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Something else is in their place.
    Place(String),
    /// They would be in the user's commits.
    Unignored(String),
}

/// Says why a repository cannot keep records, if so. From here on it ignores them.
pub(crate) fn check_place(root: &Path) -> Result<(), Unfit> {
    let mut folder = root.to_owned();
    for name in FOLDERS {
        folder.push(name);
        check(&folder).map_err(Unfit::Place)?;
    }
    ignore(root, IGNORED).map_err(Unfit::Unignored)
}

/// Whether this is a folder, or can become one. A link is not followed: it leads out of the repository,
/// where nothing of its own may be written, and past its list of what is ignored.
fn check(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    match std::fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(found) if found.is_symlink() => {
            Err(format!("{shown} is a symbolic link, and records are written through none"))
        }
        Ok(_) => Err(format!("{shown} is no folder")),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(fault) => Err(format!("{shown}: {fault}")),
    }
}

/// Has a repository ignore a folder of ours (`/a/b/`), by its own list and by no file that it tracks; unless
/// that list cannot be written, and something else of the user's does it.
pub(crate) fn ignore(root: &Path, folder: &str) -> Result<(), String> {
    ignore_by_list(root, folder).or_else(|why| {
        let record = format!("{}/x", folder.trim_matches('/'));
        let asked = ["check-ignore", "--quiet", &record];
        if glis_snapshot::git::run(root, &asked).is_ok() { Ok(()) } else { Err(why) }
    })
}

fn ignore_by_list(root: &Path, folder: &str) -> Result<(), String> {
    let asked = ["rev-parse", "--git-path", "info/exclude"];
    let list = glis_snapshot::git::run(root, &asked).map_err(|fault| fault.to_string())?;
    let list = root.join(list);
    let told = |fault: io::Error| format!("{}: {fault}", list.display());
    let known = match std::fs::read(&list) {
        Ok(known) => known,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(fault) => return Err(told(fault)),
    };
    if known.split(|byte| *byte == b'\n').any(|line| line.trim_ascii() == folder.as_bytes()) {
        return Ok(());
    }
    if let Some(folder) = list.parent() {
        std::fs::create_dir_all(folder).map_err(told)?;
    }
    let mut file = File::options().append(true).create(true).open(&list).map_err(told)?;
    let apart = if known.is_empty() || known.ends_with(b"\n") { "" } else { "\n" };
    file.write_all(format!("{apart}{folder}\n").as_bytes()).map_err(told)?;
    file.sync_all().map_err(told)
}
