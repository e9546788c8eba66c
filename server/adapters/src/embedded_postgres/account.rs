//! Under which account the database runs. PostgreSQL refuses to run as root, and rightly so.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, chown},
    path::{Path, PathBuf},
};

use tokio::process::Command;

use super::error::{Doing as _, Error, Result};

/// An unprivileged account to which root drops for the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Account {
    name: String,
    uid: u32,
    gid: u32,
}

impl Account {
    /// The account for the database, or `None` where this process is not root and simply stays who it is.
    ///
    /// The owner of a cluster that exists already stays its owner, because PostgreSQL insists on
    /// that. A new one belongs to whoever called `sudo`, else to the user `postgres`, else to `nobody`.
    pub(super) fn choose(cluster: &Path) -> Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let sudo = |name| std::env::var(name).ok()?.parse().ok();
        Self::among(
            fs::metadata(cluster).ok().map(|cluster| (cluster.uid(), cluster.gid())),
            sudo("SUDO_UID").zip(sudo("SUDO_GID")),
            &passwd,
        )
        .map(Some)
        .ok_or(Error::NoAccount)
    }

    /// The choice, given the owner of the cluster and the caller of `sudo` as (user, group), and the list of users.
    fn among(owner: Option<(u32, u32)>, sudo: Option<(u32, u32)>, passwd: &str) -> Option<Self> {
        let users = || {
            passwd.lines().filter_map(|line| {
                let mut fields = line.split(':');
                let name = fields.next()?.to_owned();
                let _password = fields.next()?;
                Some(Self { name, uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
            })
        };
        let by_id = |(uid, gid): (u32, u32)| {
            let name = users().find(|user| user.uid == uid).map_or_else(|| uid.to_string(), |user| user.name);
            Self { name, uid, gid }
        };
        let by_name = |name: &str| users().find(|user| user.name == name);
        [owner.map(by_id), sudo.map(by_id), by_name("postgres"), by_name("nobody")]
            .into_iter()
            .flatten()
            .find(|account| account.uid != 0)
    }

    /// Gives the account a file or directory, not what is inside.
    pub(super) fn give(&self, path: &Path) -> Result<()> {
        chown(path, Some(self.uid), Some(self.gid)).doing(|| format!("give {} to {}", path.display(), self.name))
    }

    /// Has a command run under the account. The standard library then drops root's further groups as well.
    pub(super) fn run(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }

    /// The number of the user.
    pub(super) fn uid(&self) -> u32 {
        self.uid
    }

    /// The error for something on the way to one of these paths being closed to the account, if there is such a thing.
    pub(super) fn obstacle(&self, paths: &[&Path]) -> Option<Error> {
        let closed = |directory: &&Path| {
            fs::metadata(directory).is_ok_and(|found| {
                let needed = match found {
                    _ if found.uid() == self.uid => 0o100,
                    _ if found.gid() == self.gid => 0o010,
                    _ => 0o001,
                };
                found.is_dir() && found.mode() & needed == 0
            })
        };
        let directory: PathBuf = paths.iter().find_map(|path| path.ancestors().filter(closed).last())?.to_owned();
        Some(Error::NotSearchable { account: self.name.clone(), directory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n\
        postgres:x:101:104::/var/lib/postgresql:/bin/bash\nada:x:1000:1001:Ada:/home/ada:/bin/bash\n";

    fn name(owner: Option<(u32, u32)>, sudo: Option<(u32, u32)>, passwd: &str) -> Option<String> {
        Account::among(owner, sudo, passwd).map(|account| account.name)
    }

    #[test]
    fn the_owner_comes_first_then_the_caller_of_sudo_then_the_usual_accounts() {
        assert_eq!(name(Some((65534, 65534)), Some((1000, 1001)), PASSWD).as_deref(), Some("nobody"));
        assert_eq!(name(None, Some((1000, 1001)), PASSWD).as_deref(), Some("ada"));
        assert_eq!(name(None, None, PASSWD).as_deref(), Some("postgres"));
        let without_postgres = PASSWD.replace("postgres:", "other:");
        assert_eq!(name(None, None, &without_postgres).as_deref(), Some("nobody"));
    }

    #[test]
    fn root_is_never_chosen() {
        assert_eq!(name(Some((0, 0)), Some((0, 0)), PASSWD).as_deref(), Some("postgres"));
        assert_eq!(name(None, Some((0, 0)), "root:x:0:0::/:/bin/sh\n"), None);
    }

    #[test]
    fn a_user_without_a_name_is_called_by_the_number() {
        assert_eq!(name(None, Some((4242, 4242)), PASSWD).as_deref(), Some("4242"));
    }

    #[test]
    fn the_outermost_closed_directory_is_named() {
        use std::os::unix::fs::PermissionsExt as _;

        let base = tempfile::tempdir_in("/tmp").expect("a directory");
        let (outer, inner) = (base.path().join("outer"), base.path().join("outer/inner"));
        fs::create_dir_all(&inner).expect("directories");
        let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
        allow(base.path(), 0o755);
        allow(&outer, 0o700);
        allow(&inner, 0o700);
        let stranger = Account { name: "stranger".into(), uid: 4242, gid: 4242 };
        let Some(Error::NotSearchable { directory, .. }) = stranger.obstacle(&[&inner]) else {
            panic!("the obstacle was not seen");
        };
        assert_eq!(directory, outer);
        allow(&outer, 0o711);
        allow(&inner, 0o755);
        assert!(stranger.obstacle(&[&inner]).is_none());
    }
}
