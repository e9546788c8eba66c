//! What the tests of this crate share: the files that set-up has fetched.

use std::path::PathBuf;

/// The runtime directory: as `make test` says, else where set-up puts it by itself.
pub(crate) fn runtime_dir() -> PathBuf {
    let runtime = match std::env::var_os("POLYMNEMO_RUNTIME_DIR") {
        Some(set) => PathBuf::from(set),
        None if rustix::process::geteuid().is_root() => PathBuf::from("/var/lib/polymnemo/runtime"),
        None => PathBuf::from(std::env::var_os("HOME").expect("a home directory"))
            .join(if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" })
            .join("polymnemo/runtime"),
    };
    assert!(runtime.is_dir(), "{} is missing: run scripts/setup.sh first", runtime.display());
    runtime
}
