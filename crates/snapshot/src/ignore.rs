//! What git ignores, asked from git itself: its rules are many and only it knows them all.

use crate::fault::SnapshotFault;
use crate::git::{GitFault, offline};
use crate::place::Place;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Git answers in microseconds. It can hang only on a rule file that is a pipe or on a dead disk.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// A pipe holds 64 KiB and a name at most 4: this many never block, even if git does not read.
const NAMES_AT_ONCE: usize = 15;

/// A conversation with `git check-ignore`.
pub(crate) struct Judge {
    child: Child,
    questions: Option<BufWriter<ChildStdin>>,
    answers: Receiver<Option<bool>>,
    /// Git does not answer any more: from here on, nothing counts as ignored.
    mute: bool,
}

/// Whether the rules are to be found in the index, too: a sparse checkout leaves them there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    OnDisk,
    AlsoInIndex,
    /// They cannot be read; nothing counts as ignored.
    OutOfReach,
}

impl Judge {
    pub(crate) fn start(place: &Place, rules: Rules) -> Result<Self, SnapshotFault> {
        let mut command = offline(&place.root);
        command.env("GIT_DIR", &place.git_dir).env("GIT_WORK_TREE", &place.root);
        // This command knows no literal names; the `./` in front of each keeps it from seeing magic.
        command.env_remove("GIT_LITERAL_PATHSPECS");
        command.args(["check-ignore", "--stdin", "-z", "--verbose", "--non-matching"]);
        if rules == Rules::OnDisk {
            command.arg("--no-index");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(GitFault::NotRun)?;
        let questions = child.stdin.take().map(BufWriter::new);
        let (send, answers) = channel();
        let out = child.stdout.take();
        let judge = Self { child, questions, answers, mute: rules == Rules::OutOfReach };
        if let Some(out) = out {
            drop(crate::threads::begin(move || listen(out, &send))?);
        }
        Ok(judge)
    }

    /// Says for each name whether it is ignored; `None` if git died over the question.
    pub(crate) fn judge(&mut self, names: &[&[u8]]) -> Option<Vec<bool>> {
        let mut verdicts = Vec::with_capacity(names.len());
        for some in names.chunks(NAMES_AT_ONCE) {
            verdicts.extend(self.judge_some(some)?);
        }
        Some(verdicts)
    }

    fn judge_some(&mut self, names: &[&[u8]]) -> Option<Vec<bool>> {
        if self.mute {
            return Some(vec![false; names.len()]);
        }
        let pipe = self.questions.as_mut()?;
        for name in names {
            pipe.write_all(b"./").ok()?;
            pipe.write_all(name).and_then(|()| pipe.write_all(&[0])).ok()?;
        }
        pipe.flush().ok()?;
        let mut verdicts = Vec::with_capacity(names.len());
        for _ in names {
            match self.answers.recv_timeout(ANSWER_WAIT) {
                Ok(Some(verdict)) => verdicts.push(verdict),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    self.mute = true;
                    verdicts.resize(names.len(), false);
                    return Some(verdicts);
                }
            }
        }
        Some(verdicts)
    }

    /// Whether git stopped to answer, so that ignored files were taken for others.
    pub(crate) fn went_mute(&self) -> bool {
        self.mute
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        drop(self.questions.take());
        if self.mute {
            drop(self.child.kill());
        }
        drop(self.child.wait());
    }
}

fn listen(out: ChildStdout, send: &std::sync::mpsc::Sender<Option<bool>>) {
    let mut out = BufReader::new(out);
    let mut field = Vec::new();
    let mut fields: [Vec<u8>; 4] = Default::default();
    'records: loop {
        for slot in &mut fields {
            field.clear();
            match out.read_until(0, &mut field) {
                Ok(len) if len > 0 && field.last() == Some(&0) => {
                    field.pop();
                    slot.clone_from(&field);
                }
                _ => break 'records,
            }
        }
        // Source, line, pattern, name. A pattern with `!` takes the name back.
        let [source, _, pattern, _] = &fields;
        let ignored = !source.is_empty() && pattern.first() != Some(&b'!');
        if send.send(Some(ignored)).is_err() {
            return;
        }
    }
    let _ = send.send(None);
}
