//! The documents name files that exist.

use std::fs;
use std::path::Path;

/// Every `path/to/file.ext` in back quotes of the README is a file of this repository.
#[test]
fn every_path_in_the_readme_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let quoted = readme.split('`').skip(1).step_by(2);
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths: Vec<&str> = quoted
        .chain(links)
        .filter(|text| text.contains('/') && !text.contains([' ', '{', '<', '$', '~', ':', '*']))
        .filter(|text| text.split('/').next().is_some_and(|first| root.join(first).is_dir()))
        .collect();
    assert!(paths.len() > 10, "the README names its rooms: {paths:?}");
    let missing: Vec<_> =
        paths.iter().filter(|path| !root.join(path.split('#').next().unwrap_or(path)).exists()).collect();
    assert!(missing.is_empty(), "named in README.md but missing: {missing:?}");
}
