//! Folders as people have them.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use super::*;

fn write(root: &Path, files: &[&str]) {
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
}

/// The notes below `root`, and what was skipped.
fn walked(root: &Path, globs: &[&str], max_bytes: u64) -> (Vec<String>, Skipped) {
    let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
    let options = Options { globs, max_bytes, ..Options::new(root) };
    let (mut paths, mut skipped) = (Vec::new(), Skipped::default());
    walk(&options, &mut skipped, &mut |found| {
        assert!(found.path.is_absolute());
        assert_eq!((found.size, found.modified > 0), (fs::metadata(&found.path).unwrap().len(), true));
        paths.push(found.path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"));
        ControlFlow::Continue(())
    })
    .unwrap();
    (paths, skipped)
}

fn notes(root: &Path, globs: &[&str]) -> Vec<String> {
    walked(root, globs, 1 << 20).0
}

#[test]
fn notes_are_found_in_the_order_of_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &["b.txt", "a/z.md", "a.md", "a/b/README.MD", "c.org", "d.markdown", "e.rs", "f"]);
    assert_eq!(notes(folder.path(), &[]), ["a/b/README.MD", "a/z.md", "a.md", "b.txt", "c.org", "d.markdown"]);
    assert_eq!(notes(folder.path(), &["*.rs", "a/*.md"]), ["a/z.md", "e.rs"]);
    assert_eq!(notes(folder.path(), &["*.md", "!a/b/"]), ["a/z.md", "a.md"]);
    let mut first = Vec::new();
    walk(&Options::new(folder.path()), &mut Skipped::default(), &mut |found| {
        first.push(found);
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(first.len(), 1);
}

#[test]
fn ignored_files_and_folders_of_programs_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.md", "b.md", "c/d.md", "c/e.md", "c/.git/x.md", "node_modules/x.md", "c/.venv/x.md", "drafts/b.md"];
    write(folder.path(), &files);
    fs::write(folder.path().join(".gitignore"), "b.md\n").unwrap();
    fs::write(folder.path().join(".memoristignore"), "drafts/\n").unwrap();
    fs::write(folder.path().join("c/.gitignore"), "*\n!e.md\n").unwrap();
    assert_eq!(notes(folder.path(), &[]), ["a.md", "c/e.md"]);
    assert_eq!(notes(folder.path(), &["*.md", "c/.git/*.md", "node_modules/**"]), ["a.md", "c/e.md"]);
    // What is above the root has no say.
    assert_eq!(notes(&folder.path().join("drafts"), &[]), ["b.md"]);
}

#[test]
fn a_walk_reports_each_folder_it_enters_and_stops_on_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &["a.md", "b/c/d.md", "b/empty/x", ".git/x.md", "node_modules/a/x.md", "drafts/x.md", ".h/x.md"],
    );
    fs::write(folder.path().join(".gitignore"), "drafts/\n").unwrap();
    let mut entered = Vec::new();
    let options = Options::new(folder.path());
    let mut enter = |path: &Path| {
        entered.push(path.strip_prefix(folder.path()).unwrap().to_string_lossy().replace('\\', "/"));
        Ok(())
    };
    walk_folders(&options, &mut Skipped::default(), &mut enter, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(entered, ["", "b", "b/c", "b/empty"]);
    let mut stop = |_: &Path| Err(io::Error::from(io::ErrorKind::Interrupted));
    let ended = walk_folders(&options, &mut Skipped::default(), &mut stop, &mut |_| unreachable!());
    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::Interrupted);
}

#[test]
fn a_change_matters_if_a_walk_could_find_it() {
    let folder = tempfile::tempdir().unwrap();
    let matcher = Matcher::new(folder.path(), &["*.md".to_owned(), ".claude/**/*.md".to_owned()]).unwrap();
    let file = |name: &str| matcher.is_file_wanted(&folder.path().join(name));
    assert!(file("a/b.md") && file(".gitignore") && file("a/.memoristignore") && file(".claude/c.md"));
    assert!(!file("a/b.rs") && !file("memory.db-wal") && !file(".hidden.md"));
    let dir = |name: &str| matcher.is_folder_wanted(&folder.path().join(name));
    assert!(dir("a") && dir(".claude") && !dir(".git") && !dir("a/node_modules") && !dir(".other"));
}

#[test]
fn hidden_files_are_those_that_a_glob_names() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &["a.md", ".b.md", ".claude/c.md", ".claude/.d/e.md", ".other/f.md"]);
    assert_eq!(notes(folder.path(), &[]), ["a.md"]);
    assert_eq!(notes(folder.path(), &[".claude/**/*.md"]), [".claude/c.md"]);
    assert_eq!(notes(folder.path(), &["*.md", ".b.md", ".other/"]), [".b.md", ".other/f.md", "a.md"]);
    assert_eq!(notes(&folder.path().join(".claude"), &[]), ["c.md"], "the root may be hidden");
}

#[test]
fn a_file_that_is_too_large_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &["a.md", "a long name.md"]);
    let (paths, skipped) = walked(folder.path(), &[], 4);
    assert_eq!((paths, skipped.counts), (vec!["a.md".to_owned()], [("too large", 1)].into()));
}

#[test]
fn a_root_may_be_a_file_and_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &["notes.rst", "a.md"]);
    let file = folder.path().join("notes.rst");
    assert_eq!(notes(&file, &[]), [""]);
    let missing = walk(&Options::new(folder.path().join("b")), &mut Skipped::default(), &mut |_| unreachable!());
    assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    let wrong = Options { globs: vec!["a[".to_owned()], ..Options::new(folder.path()) };
    assert_eq!(
        walk(&wrong, &mut Skipped::default(), &mut |_| unreachable!()).unwrap_err().kind(),
        io::ErrorKind::InvalidInput
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_in_the_root_and_files_visited_once() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), &["secret.md", "sub/x.md"]);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, &["real/a.md", "real/deep/b.md", "hidden/.kept/c.md", "real/text"]);
    symlink(root.join("real"), root.join("again")).unwrap();
    symlink(root, root.join("real/loop")).unwrap();
    symlink(root.join("hidden/.kept"), root.join("shown")).unwrap();
    symlink(root.join("real/text"), root.join("text.md")).unwrap();
    symlink(root.join("real/a.md"), root.join("0.md")).unwrap();
    symlink(outside.path().join("secret.md"), root.join("secret.md")).unwrap();
    symlink(outside.path().join("sub"), root.join("sub")).unwrap();
    symlink(root.join("nothing"), root.join("broken.md")).unwrap();
    let (paths, skipped) = walked(root, &[], 1 << 20);
    assert_eq!(paths, ["real/a.md", "real/deep/b.md", "shown/c.md", "text.md"]);
    assert_eq!(skipped.counts, [("the link points outside the source folder", 2), ("link to nothing", 1)].into());
    // A root that is a link.
    symlink(root.join("real"), outside.path().join("root")).unwrap();
    assert_eq!(notes(&outside.path().join("root"), &[]), ["a.md", "deep/b.md"]);
}

#[cfg(unix)]
#[test]
fn many_folders_that_link_to_each_other_are_walked_once() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..24).map(|n| format!("d{n}")).collect();
    for name in &names {
        write(folder.path(), &[&format!("{name}/a.md")]);
        for other in &names {
            std::os::unix::fs::symlink(folder.path().join(other), folder.path().join(name).join(format!("to-{other}")))
                .unwrap();
        }
    }
    assert_eq!(notes(folder.path(), &[]).len(), 24);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_counted() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &["a.md", "shut/b.md"]);
    let shut = folder.path().join("shut");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads it all the same.
    let readable = fs::read_dir(&shut).is_ok();
    let (paths, skipped) = walked(folder.path(), &[], 1 << 20);
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(paths.len(), if readable { 2 } else { 1 });
    assert_eq!(skipped.counts.get("unreadable").copied().unwrap_or(0), u64::from(!readable));
}

#[cfg(unix)]
#[test]
fn ignore_files_are_regular_files_inside_the_root_with_limits() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("rules"), "a.md\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        root,
        &["a.md", "pipe/a.md", "zero/a.md", "large/a.md", "many/a.md", "many/b.md", "linked/a.md", "linked/b.md"],
    );
    symlink(outside.path().join("rules"), root.join(".memoristignore")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(root.join("pipe/.gitignore")).status().unwrap().success());
    symlink("/dev/zero", root.join("zero/.gitignore")).unwrap();
    fs::write(root.join("large/.gitignore"), format!("a.md\n{}", "#".repeat(1 << 20))).unwrap();
    let rules = |count: usize| (0..count).map(|number| format!("x{number}?\n")).collect::<String>();
    fs::write(root.join("many/.gitignore"), format!("a.md\n{}b.md\n", rules(10_100))).unwrap();
    fs::write(root.join("rules"), format!("# text\n\nb.md\n{}\n", "x".repeat(5_000))).unwrap();
    symlink("../rules", root.join("linked/.gitignore")).unwrap();
    let (paths, skipped) = walked(root, &[], 1 << 20);
    assert_eq!(paths, ["a.md", "large/a.md", "linked/a.md", "many/b.md", "pipe/a.md", "zero/a.md"]);
    let memoristignore = (".memoristignore, which is no file of at most 1 MiB in the folder", 1);
    let gitignore = (".gitignore, which is no file of at most 1 MiB in the folder", 3);
    let left_out = ("ignore rules left out (too many, or longer than 4,096 bytes)", 102 + 1);
    assert_eq!(skipped.counts, [memoristignore, gitignore, left_out].into());
}

#[test]
fn nearer_ignore_rules_win_and_ours_win_over_those_of_git() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, &["a.md", "b/a.md", "b/c/a.md", "b/c/d/a.md", "e/a.md", "e/f/a.md", "g.md"]);
    fs::write(root.join(".gitignore"), "a.md\n/g.md\n").unwrap();
    fs::write(root.join("b/.gitignore"), "!a.md\n").unwrap();
    fs::write(root.join("b/c/.gitignore"), "\u{feff}a.md\r\n").unwrap();
    fs::write(root.join("e/.memoristignore"), "!a.md\n").unwrap();
    fs::write(root.join("e/f/.gitignore"), "a.md\n").unwrap();
    assert_eq!(notes(root, &[]), ["b/a.md", "e/a.md", "e/f/a.md"]);
}
