//! What a session has changed, read from git's patch: files, hunks, and lines with their numbers.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// A file of a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FilePatch {
    pub(crate) path: String,
    /// What it was called, if it was renamed or copied.
    pub(crate) was: Option<String>,
    /// What is not told by its lines: that it is new, deleted or binary.
    pub(crate) note: Option<&'static str>,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    pub(crate) lines: Vec<PatchLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchLine {
    pub(crate) kind: LineKind,
    /// Its number in the file as it was, and as it is; 0 where it is not there.
    pub(crate) numbers: (usize, usize),
    pub(crate) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Where a hunk begins; the text is what it is in.
    Hunk,
    Same,
    Added,
    Removed,
}

impl PatchLine {
    /// As a patch has it.
    pub(crate) fn source(&self) -> String {
        let sign = match self.kind {
            LineKind::Hunk => "@@ ",
            LineKind::Same => " ",
            LineKind::Added => "+",
            LineKind::Removed => "-",
        };
        format!("{sign}{}", self.text)
    }
}

impl FilePatch {
    /// Names what it changes: another change of the same file has another name.
    pub(crate) fn print(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for line in &self.lines {
            (line.kind as u8, &line.text).hash(&mut hasher);
        }
        (&self.path, self.note).hash(&mut hasher);
        hasher.finish()
    }

    fn take_head(&mut self, line: &str) {
        let unquoted = |path: &str| unquoted(path.trim_end_matches('\t'));
        let sided = |path: &str| {
            let path = unquoted(path);
            path.split_once('/').map_or(path.clone(), |(_, rest)| rest.to_owned())
        };
        if let Some(both) = line.strip_prefix("diff --git ") {
            // What has no lines is named only here: twice, with a blank between.
            let half = both.get(both.len().div_ceil(2)..).unwrap_or(both);
            self.path = sided(half);
        } else if let Some(path) = line.strip_prefix("+++ ").filter(|path| *path != "/dev/null") {
            self.path = sided(path);
        } else if let Some(path) = line.strip_prefix("--- ").filter(|path| *path != "/dev/null") {
            self.path = sided(path);
        } else if let Some(path) = after(line, &["rename from ", "copy from "]) {
            self.was = Some(unquoted(path));
        } else if let Some(path) = after(line, &["rename to ", "copy to "]) {
            self.path = unquoted(path);
        } else if line.starts_with("new file") {
            self.note = Some("new");
        } else if line.starts_with("deleted file") {
            self.note = Some("deleted");
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            self.note = Some(if self.note == Some("new") { "new, binary" } else { "binary" });
        }
    }
}

fn after<'l>(line: &'l str, signs: &[&str]) -> Option<&'l str> {
    signs.iter().find_map(|sign| line.strip_prefix(sign))
}

/// A path as it is, where git has quoted it: its bytes beyond ASCII are written as numbers.
fn unquoted(path: &str) -> String {
    let Some(inside) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else {
        return path.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inside.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let code = (0..2).filter_map(|_| rest.next()).fold(digit - b'0', |code, next| {
                    code.wrapping_mul(8).wrapping_add(next.wrapping_sub(b'0'))
                });
                bytes.push(code);
            }
            Some(b't') => bytes.push(b'\t'),
            Some(b'n') => bytes.push(b'\n'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The first lines of both sides of a hunk, from its head: `@@ -1,5 +1,6 @@ fn total`; and what it is in.
fn hunk(line: &str) -> Option<((usize, usize), &str)> {
    let (ranges, within) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let first = |range: &str| range.split(',').next()?.parse::<usize>().ok();
    Some(((first(old)?, first(new)?), within.trim()))
}

/// The files of a patch. Of what git says around them only that is kept which a person wants to know.
pub(crate) fn read(patch: &str) -> Vec<FilePatch> {
    let mut files: Vec<FilePatch> = Vec::new();
    // None before the first hunk of a file.
    let mut at: Option<(usize, usize)> = None;
    for line in patch.lines() {
        if line.starts_with("diff --git ") {
            files.push(FilePatch::default());
            at = None;
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some((first, within)) = hunk(line) {
            at = Some(first);
            let (kind, text) = (LineKind::Hunk, within.to_owned());
            file.lines.push(PatchLine { kind, numbers: first, text });
            continue;
        }
        let Some((old, new)) = &mut at else {
            file.take_head(line);
            continue;
        };
        let mut chars = line.chars();
        let (kind, numbers) = match chars.next() {
            Some('+') => (LineKind::Added, (0, *new)),
            Some('-') => (LineKind::Removed, (*old, 0)),
            Some(' ') | None => (LineKind::Same, (*old, *new)),
            // That a file ends without a line end.
            Some(_) => continue,
        };
        *old += usize::from(kind != LineKind::Added);
        *new += usize::from(kind != LineKind::Removed);
        file.added += usize::from(kind == LineKind::Added);
        file.removed += usize::from(kind == LineKind::Removed);
        file.lines.push(PatchLine { kind, numbers, text: chars.as_str().to_owned() });
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = r#"diff --git a/src/a.rs b/src/a.rs
index 12..34 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -3,2 +3,3 @@ fn total() {
 same
-old
+new	tab
+more
\ No newline at end of file
diff --git a/was.txt b/is.txt
similarity index 90%
rename from was.txt
rename to is.txt
diff --git "a/\303\244.png" "b/\303\244.png"
new file mode 100644
index 0..1
Binary files /dev/null and "b/\303\244.png" differ
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
--- it said
"#;

    #[test]
    fn a_patch_is_read_file_by_file_and_line_by_line() {
        let files = read(PATCH);
        let names: Vec<_> =
            files.iter().map(|file| (file.path.as_str(), file.was.as_deref(), file.note)).collect();
        let wanted = [
            ("src/a.rs", None, None),
            ("is.txt", Some("was.txt"), None),
            ("ä.png", None, Some("new, binary")),
            ("gone.txt", None, Some("deleted")),
        ];
        assert_eq!(names, wanted);
        assert_eq!((files[0].added, files[0].removed, files[3].removed), (2, 1, 1));
        let lines: Vec<_> =
            files[0].lines.iter().map(|line| (line.numbers, line.source())).collect();
        let wanted = [
            ((3, 3), "@@ fn total() {"),
            ((3, 3), " same"),
            ((4, 0), "-old"),
            ((0, 4), "+new\ttab"),
            ((0, 5), "+more"),
        ];
        assert_eq!(lines, wanted.map(|(numbers, line)| (numbers, line.to_owned())));
        assert_eq!(files[3].lines[1].source(), "--- it said");
        assert_ne!(files[0].print(), FilePatch { note: Some("new"), ..files[0].clone() }.print());
    }
}
