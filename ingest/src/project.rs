//! The project of a working folder.

use std::env;
use std::path::{Path, PathBuf};

use directories::BaseDirs;
use memorist_engine::types::Scope;
use memorist_sources::foreign;

/// Most bytes of a `.git` that is a file: it has one path.
const MAX_GIT_FILE: u64 = 64 << 10;

/// The project of this process's working folder.
pub fn of_working_folder() -> Option<String> {
    // Without links, like the path of the working folder.
    let home = BaseDirs::new().and_then(|dirs| dunce::canonicalize(dirs.home_dir()).ok());
    of_folder(&env::current_dir().ok()?, home.as_deref())
}

/// The name of the git work tree that contains `folder`. The work trees of one repository have the name of its main
/// one, and a submodule its own. `None` without git, and if the tree is the home folder, which contains much that
/// belongs to no project.
pub fn of_folder(folder: &Path, home: Option<&Path>) -> Option<String> {
    let tree = work_tree(folder)?;
    let tree = main_tree(tree).unwrap_or_else(|| tree.to_owned());
    if home.is_some_and(|home| home == tree) {
        return None;
    }
    let name = tree.file_name()?.to_str()?.to_owned();
    // An invalid project name counts as none.
    Scope { project: Some(name.clone()), agent: None }.validate().ok()?;
    Some(name)
}

/// The git work tree that contains `folder`.
pub fn work_tree(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|tree| tree.join(".git").exists())
}

/// The project of a session in this folder, which may be gone by now: as [`of_folder`], else the name of the folder.
/// Turns of a session in one folder do not belong to every project.
pub fn of_session(folder: &Path, home: Option<&Path>) -> Option<String> {
    let named = || {
        let name = name_of_gone(folder.to_str()?)?.to_owned();
        Scope { project: Some(name.clone()), agent: None }.validate().ok()?;
        Some(name)
    };
    let is_home = home.is_some_and(|home| home == folder);
    of_folder(folder, home).or_else(|| if is_home { None } else { named() })
}

/// The name of a folder that is gone, or is one of another machine. Work trees that an agent made have the name of the project.
fn name_of_gone(folder: &str) -> Option<&str> {
    // Of Windows, read elsewhere.
    let is_windows = folder.contains('\\') && !folder.starts_with('/');
    let parts: Vec<&str> =
        folder.split(['/', if is_windows { '\\' } else { '/' }]).filter(|part| !part.is_empty()).collect();
    let trees = parts.iter().position(|part| ["worktrees", ".worktrees"].contains(part));
    let of_tree = trees.and_then(|at| match *parts.get(at.checked_sub(1)?)? {
        ".claude" => parts.get(at.checked_sub(2)?),
        ".cursor" => parts.get(at + 1),
        ".codex" => parts.get(at + 2),
        _ if parts[at].starts_with('.') => parts.get(at - 1),
        _ => None,
    });
    of_tree.or(parts.last()).copied()
}

/// The main tree of the repository whose linked work tree this is (`git worktree add`): its `.git` is a file that names
/// `REPOSITORY/worktrees/NAME`. For a repository without a main tree, the folder that names it.
fn main_tree(tree: &Path) -> Option<PathBuf> {
    let file = String::from_utf8(foreign::lone(&tree.join(".git"), MAX_GIT_FILE).ok()?).ok()?;
    let own = tree.join(file.strip_prefix("gitdir:")?.trim());
    let all = own.parent().filter(|all| all.ends_with("worktrees"))?;
    // It may be relative, and contain `..`.
    let repository = dunce::canonicalize(all.parent()?).ok()?;
    match repository.extension() {
        // `atlas.git` is bare, and the project's name is before the dot.
        Some(extension) if extension == "git" => Some(repository.with_extension("")),
        // `atlas/.git`, or `atlas/.bare`.
        None if repository.file_name()?.to_str()?.starts_with('.') => repository.parent().map(Path::to_owned),
        // `.git/modules/atlas`, of a submodule.
        _ => Some(repository),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use tempfile::TempDir;

    /// A folder with this content: `name/` is a folder, and `name=text` a file.
    fn tree(paths: &[&str]) -> TempDir {
        let root = TempDir::new().unwrap();
        for path in paths {
            let (path, text) = path.split_once('=').unwrap_or((path, ""));
            let at = root.path().join(path);
            if path.ends_with('/') {
                fs::create_dir_all(at).unwrap();
            } else {
                fs::create_dir_all(at.parent().unwrap()).unwrap();
                fs::write(at, text.replace("ROOT", root.path().to_str().unwrap())).unwrap();
            }
        }
        root
    }

    fn named(root: &TempDir, folder: &str) -> Option<String> {
        of_folder(&root.path().join(folder), Some(&root.path().join("home")))
    }

    #[test]
    fn a_folder_anywhere_in_a_work_tree_has_the_name_of_the_tree() {
        let root = tree(&["home/atlas/.git/", "home/atlas/src/deep/", "home/notes/"]);
        for folder in ["home/atlas", "home/atlas/src", "home/atlas/src/deep", "home/atlas/.git"] {
            assert_eq!(named(&root, folder).as_deref(), Some("atlas"), "{folder}");
        }
        for folder in ["home/notes", "home", ""] {
            assert_eq!(named(&root, folder), None, "{folder}");
        }
        assert_eq!(of_folder(Path::new("/"), None), None);
    }

    /// 44.7: a folder that is gone, or of another machine, gives one name.
    #[test]
    fn a_folder_that_is_gone_gives_one_name() {
        for (folder, name) in [
            ("/nowhere/atlas", Some("atlas")),
            ("/nowhere/atlas/", Some("atlas")),
            ("/nowhere/atlas/.claude/worktrees/fix-parser", Some("atlas")),
            ("/nowhere/atlas/.worktrees/fix/src", Some("atlas")),
            ("/nowhere/.cursor/worktrees/atlas/x1y2", Some("atlas")),
            ("/nowhere/.codex/worktrees/1f2e/atlas", Some("atlas")),
            ("C:\\Users\\ana\\src\\atlas", Some("atlas")),
            ("/nowhere/worktrees", Some("worktrees")),
            ("/", None),
        ] {
            assert_eq!(of_session(Path::new(folder), None).as_deref(), name, "{folder}");
        }
    }

    #[test]
    fn a_home_folder_under_git_is_not_a_project() {
        let root = tree(&["home/.git/", "home/notes/", "home/atlas/.git/"]);
        assert_eq!((named(&root, "home"), named(&root, "home/notes")), (None, None));
        assert_eq!(named(&root, "home/atlas").as_deref(), Some("atlas"));
    }

    #[test]
    fn the_work_trees_of_one_repository_are_one_project() {
        let root = tree(&[
            "atlas/.git/worktrees/fix/",
            "fix/.git=gitdir: ROOT/atlas/.git/worktrees/fix\n",
            "fix/src/",
            "atlas/inner/.git=gitdir: ../.git/worktrees/inner\n",
        ]);
        for folder in ["atlas", "fix", "fix/src", "atlas/inner"] {
            assert_eq!(named(&root, folder).as_deref(), Some("atlas"), "{folder}");
        }
    }

    #[test]
    fn a_bare_repository_gives_its_work_trees_its_name() {
        let root = tree(&[
            "borealis.git/worktrees/a/",
            "a/.git=gitdir: ROOT/borealis.git/worktrees/a\n",
            "atlas/.bare/worktrees/main/",
            "atlas/main/.git=gitdir: ROOT/atlas/.bare/worktrees/main\n",
        ]);
        assert_eq!(named(&root, "a").as_deref(), Some("borealis"));
        assert_eq!(named(&root, "atlas/main").as_deref(), Some("atlas"));
    }

    #[test]
    fn a_submodule_is_a_project_of_its_own() {
        let root = tree(&[
            "atlas/.git/modules/lib/worktrees/x/",
            "atlas/lib/.git=gitdir: ../.git/modules/lib\n",
            "x/.git=gitdir: ROOT/atlas/.git/modules/lib/worktrees/x\n",
        ]);
        assert_eq!(named(&root, "atlas/lib").as_deref(), Some("lib"));
        assert_eq!(named(&root, "x").as_deref(), Some("lib"));
    }

    #[test]
    fn a_missing_repository_or_an_invalid_name_is_not_a_project() {
        let root = tree(&["fix/.git=gitdir: ROOT/gone/.git/worktrees/fix", "odd/.git=junk"]);
        assert_eq!(named(&root, "fix").as_deref(), Some("fix"));
        assert_eq!(named(&root, "odd").as_deref(), Some("odd"));
        // Windows has no such names.
        #[cfg(unix)]
        assert_eq!(named(&tree(&["*/.git/"]), "*"), None);
    }
}
