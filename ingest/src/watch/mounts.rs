//! File systems that do not tell when another machine, or a host, changes a file.

use std::fs;
use std::path::{Path, PathBuf};

/// Their names in the table of mounts.
const SILENT: [&str; 16] = [
    "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "glusterfs", "lustre", "nfs", "nfs4", "prl_fs", "smb3",
    "smbfs", "vboxsf", "virtiofs",
];

/// The name of the file system of this path, if its files have to be looked at.
pub fn silent(path: &Path) -> Option<String> {
    // Only Linux has this table. Elsewhere the interval has to do.
    silent_in(&fs::read_to_string("/proc/self/mounts").ok()?, path)
}

fn silent_in(mounts: &str, path: &Path) -> Option<String> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((PathBuf::from(plain(fields.next()?)), fields.next()?))
    });
    // The last one of a place hides those before.
    let of_path = mounts.filter(|(at, _)| path.starts_with(at)).max_by_key(|(at, _)| at.components().count());
    let (_, kind) = of_path?;
    (SILENT.contains(&kind) || kind.starts_with("fuse.")).then(|| kind.to_owned())
}

/// The table writes a space as `\040`.
fn plain(field: &str) -> String {
    field.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_folders_are_looked_at() {
        let mounts = "/dev/sda1 / ext4 rw 0 0\nhost:/home /home/ada/share nfs4 rw 0 0\nC:\\134 /mnt/c 9p rw 0 0\n\
                      //nas/x /mnt/my\\040notes cifs rw 0 0\nsshfs /mnt/s fuse.sshfs rw 0 0\ntmpfs /mnt/c/tmp tmpfs rw 0 0\nodd\n";
        let kind = |path: &str| silent_in(mounts, Path::new(path));
        assert_eq!(kind("/home/ada/notes"), None);
        assert_eq!(kind("/home/ada/shared"), None);
        assert_eq!(kind("/home/ada/share/notes").as_deref(), Some("nfs4"));
        assert_eq!(kind("/mnt/c/Users/ada").as_deref(), Some("9p"));
        assert_eq!(kind("/mnt/my notes").as_deref(), Some("cifs"));
        assert_eq!(kind("/mnt/s/a.md").as_deref(), Some("fuse.sshfs"));
        assert_eq!(kind("/mnt/c/tmp/x"), None);
    }
}
