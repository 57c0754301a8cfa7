//! Gives the fold a name, made from the sources of this crate, so that no build takes what another
//! build has folded for its own.
#![expect(clippy::disallowed_methods, reason = "the builder reads the sources; the core does not")]

use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=Cargo.toml");
    let mut files = vec![PathBuf::from("Cargo.toml")];
    collect(Path::new("src"), &mut files)?;
    // Whatever order the folder is read in, the name is the same.
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let mut add = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            }
        };
        add(file.to_string_lossy().as_bytes());
        add(&[0]);
        add(&std::fs::read(&file)?);
        add(&[0]);
    }
    println!("cargo::rustc-env=GLIS_FOLD={hash:016x}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
