//! A conversation with `git cat-file`: what an object is, and what is in it.

use crate::fault::{About as _, SnapshotFault};
use crate::git::{GitFault, offline};
use crate::hash::Oid;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Small files of a snapshot are read as a whole; nothing of ours is larger than this.
const WHOLE_BYTES_MAX: u64 = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) oid: Oid,
    pub(crate) kind: Kind,
    pub(crate) size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Blob,
    Tree,
    Commit,
    Tag,
}

pub(crate) struct Objects {
    child: Child,
    questions: Option<BufWriter<ChildStdin>>,
    answers: BufReader<ChildStdout>,
    repo: PathBuf,
}

impl Objects {
    pub(crate) fn open(git_dir: &Path) -> Result<Self, SnapshotFault> {
        let mut command = offline(git_dir);
        command.env("GIT_DIR", git_dir).args(["cat-file", "--batch-command", "--buffer"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(GitFault::NotRun)?;
        let questions = child.stdin.take().map(BufWriter::new);
        let answers = child.stdout.take().map(BufReader::new).ok_or_else(|| lost(git_dir))?;
        Ok(Self { child, questions, answers, repo: git_dir.to_owned() })
    }

    /// What each of the names stands for; `None` for one that stands for nothing, or for two.
    pub(crate) fn look_up(
        &mut self,
        names: &[String],
    ) -> Result<Vec<Option<Object>>, SnapshotFault> {
        let mut found = Vec::with_capacity(names.len());
        // As many as surely fit into the pipe with their answers, so that neither side waits.
        for some in names.chunks(200) {
            let pipe = self.questions.as_mut().ok_or_else(|| lost(&self.repo))?;
            for name in some {
                writeln!(pipe, "info {name}").about(&self.repo)?;
            }
            pipe.write_all(b"flush\n").and_then(|()| pipe.flush()).about(&self.repo)?;
            for _ in some {
                found.push(self.header()?);
            }
        }
        Ok(found)
    }

    /// The content of a blob that is known to be small.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, SnapshotFault> {
        let pipe = self.questions.as_mut().ok_or_else(|| lost(&self.repo))?;
        write!(pipe, "contents {name}\nflush\n").and_then(|()| pipe.flush()).about(&self.repo)?;
        let Some(object) = self.header()? else { return Ok(None) };
        if object.size > WHOLE_BYTES_MAX {
            return Err(SnapshotFault::Broken(format!("{name} is too large")));
        }
        let mut bytes = vec![0; usize::try_from(object.size).unwrap_or_default()];
        self.answers.read_exact(&mut bytes).about(&self.repo)?;
        self.answers.read_exact(&mut [0]).about(&self.repo)?;
        Ok(Some(bytes))
    }

    fn header(&mut self) -> Result<Option<Object>, SnapshotFault> {
        let mut line = String::new();
        if self.answers.read_line(&mut line).about(&self.repo)? == 0 {
            return Err(lost(&self.repo));
        }
        Ok(header(line.trim_end()))
    }
}

/// Reads `<name> <kind> <size>`; anything else means that there is no such object.
pub(crate) fn header(line: &str) -> Option<Object> {
    let mut words = line.split(' ');
    let oid = Oid::from_hex(words.next()?.as_bytes())?;
    let kind = match words.next()? {
        "blob" => Kind::Blob,
        "tree" => Kind::Tree,
        "commit" => Kind::Commit,
        "tag" => Kind::Tag,
        _ => return None,
    };
    Some(Object { oid, kind, size: words.next()?.parse().ok()? })
}

fn lost(repo: &Path) -> SnapshotFault {
    SnapshotFault::Broken(format!("git cat-file ended early in {}", repo.display()))
}

impl Drop for Objects {
    fn drop(&mut self) {
        drop(self.questions.take());
        drop(self.child.wait());
    }
}
