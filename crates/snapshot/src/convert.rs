//! Tracked files whose bytes on the disk are not those that git stores, although git calls them
//! unchanged: line ends, filters, encodings. A snapshot keeps the bytes on the disk.

use crate::fault::SnapshotFault;
use crate::git::{GitFault, checked, offline};
use crate::index::{Index, Stat};
use crate::objects::Objects;
use crate::place::Place;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Says whether anything in reach could make git convert files at all. Most repositories have
/// nothing of the kind, and then nothing has to be asked.
pub(crate) fn is_possible(place: &Place, index: &Index, found: &[&[u8]]) -> bool {
    let is_rules = |path: &[u8]| path == b".gitattributes" || path.ends_with(b"/.gitattributes");
    if index.entries.iter().any(|entry| is_rules(&entry.path)) || found.iter().any(|p| is_rules(p))
    {
        return true;
    }
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.or_else(|| home.map(|home| home.join(".config")));
    let users = config.map(|config| config.join("git/attributes"));
    let fixed = [place.common.join("info/attributes"), PathBuf::from("/etc/gitattributes")];
    if fixed.iter().chain(&users).any(|path| path.exists()) {
        return true;
    }
    // The settings of the repository and of the user; printed only if there are any.
    let names = r"^core\.(autocrlf|eol|attributesfile)$";
    crate::git::run_in(&place.git_dir, &["config", "--get-regexp", names]).is_ok()
}

/// The entries among `clean` whose files may hold other bytes than their blobs.
pub(crate) fn suspects(
    place: &Place,
    index: &Index,
    clean: &[(usize, Stat)],
) -> Result<Vec<usize>, SnapshotFault> {
    let filtered = std::thread::scope(|scope| {
        let asking = crate::threads::within(scope, || filtered(place, index, clean))?;
        let sizes = other_sizes(&place.common, index, clean);
        let filtered = asking.join().unwrap_or_else(|_| Ok(Vec::new()));
        Ok::<_, SnapshotFault>((filtered?, sizes?))
    });
    let (mut found, sizes) = filtered?;
    found.extend(sizes);
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Line ends and `$Id$` cannot be converted without changing the length.
fn other_sizes(
    common: &Path,
    index: &Index,
    clean: &[(usize, Stat)],
) -> Result<Vec<usize>, SnapshotFault> {
    let names: Vec<String> =
        clean.iter().map(|(at, _)| index.entries[*at].oid.to_string()).collect();
    let objects = Objects::open(common)?.look_up(&names)?;
    let differing = clean.iter().zip(objects).filter(|((_, stat), object)| {
        // A blob that a partial clone left out cannot be compared, so the file is read.
        object.is_none_or(|object| object.size != stat.size)
    });
    Ok(differing.map(|((at, _), _)| *at).collect())
}

/// Filters and encodings may keep the length: what has one is always read.
fn filtered(
    place: &Place,
    index: &Index,
    clean: &[(usize, Stat)],
) -> Result<Vec<usize>, SnapshotFault> {
    let mut command = offline(&place.root);
    command.env("GIT_DIR", &place.git_dir).env("GIT_WORK_TREE", &place.root);
    command.args(["check-attr", "--stdin", "-z", "filter", "working-tree-encoding"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(GitFault::NotRun)?;
    let pipe = child.stdin.take();
    let output = std::thread::scope(|scope| {
        let asking = crate::threads::within(scope, move || {
            let mut pipe = std::io::BufWriter::new(pipe?);
            for (at, _) in clean {
                pipe.write_all(&index.entries[*at].path).ok()?;
                pipe.write_all(&[0]).ok()?;
            }
            pipe.flush().ok()
        });
        let output = child.wait_with_output().map_err(GitFault::NotRun);
        asking.and(output)
    })?;
    let said = checked(output, "check-attr")?;
    let fields: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    // Name, attribute, value, twice for each file.
    let found = fields.chunks(6).zip(clean).filter(|(six, _)| {
        let plain = |value: Option<&&[u8]>| {
            value.is_none_or(|value| matches!(*value, b"unspecified" | b"unset" | b""))
        };
        !plain(six.get(2)) || !plain(six.get(5))
    });
    Ok(found.map(|(_, (at, _))| *at).collect())
}
