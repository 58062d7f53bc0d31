//! Nothing of the working folder is executed, and nothing of the cache that is not the pinned file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::{memorist, text};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn write_program(path: &Path, content: &str) {
    fs::write(path, content).unwrap();
    set_mode(path, 0o755);
}

/// A work tree full of things that programs pick up by name, an empty cache, and no network.
struct CodeWorld {
    folder: TempDir,
}

impl CodeWorld {
    fn new(settings: &str) -> Self {
        let world = CodeWorld { folder: tempfile::tempdir().unwrap() };
        for folder in ["tree", "store", "cache"] {
            fs::create_dir(world.at(folder)).unwrap();
        }
        set_mode(&world.at("cache"), 0o700);
        fs::write(world.at("store").join("memorist.toml"), settings).unwrap();
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Any executed code leaves this file.
    fn mark(&self) -> PathBuf {
        self.at("mark")
    }

    /// A folder with a model of the user's own, which needs the library.
    fn own_model(&self) -> PathBuf {
        let folder = self.at("model");
        fs::create_dir(&folder).unwrap();
        for file in ["model.onnx", "tokenizer.json"] {
            fs::write(folder.join(file), "x").unwrap();
        }
        folder
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = memorist(&self.at("store"), arguments);
        command.arg("--cache").arg(self.at("cache")).current_dir(self.at("tree"));
        command.env("PIP_NO_INDEX", "1").env_remove("ORT_DYLIB_PATH").stdin(Stdio::null());
        command
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn no_code_of_the_working_folder_runs_when_the_model_is_fetched() {
    let world = CodeWorld::new("");
    let tree = world.at("tree");
    let python = format!("open({:?}, 'a').write('ran')\n", world.mark());
    let shell = format!("#!/bin/sh\necho ran >> {:?}\nexit 1\n", world.mark());
    for name in ["pip.py", "sitecustomize.py", "usercustomize.py", "runpy.py", "zipfile.py", "start.py"] {
        fs::write(tree.join(name), &python).unwrap();
    }
    for name in ["python3", "python", "py"] {
        write_program(&tree.join(name), &shell);
    }
    fs::create_dir(tree.join("bin")).unwrap();
    write_program(&tree.join("bin").join("python3"), &shell);
    let path = std::env::var("PATH").unwrap();
    for relative in ["", ".:", "bin:", ":"] {
        let mut command = world.command(&["setup"]);
        command.env("PATH", format!("{relative}{path}"));
        command.env("PYTHONPATH", ".").env("PYTHONSTARTUP", "start.py").env("PYTHONUSERBASE", ".");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(5), "there is no network: {}", said(&output));
        assert!(!world.mark().exists(), "with {relative:?} before PATH: {}", fs::read_to_string(world.mark()).unwrap());
    }
}

#[test]
fn pip_runs_in_an_empty_private_folder_without_python_env() {
    let world = CodeWorld::new("");
    let programs = world.at("programs");
    fs::create_dir(&programs).unwrap();
    let report = format!(
        "#!/bin/sh\n(pwd; ls -A | wc -l; stat -c %a . ..; env | grep -E '^(PYTHON|PIP_PYTHON|PATH=)') >> {:?}\nexit 1\n",
        world.mark()
    );
    write_program(&programs.join("python3"), &report);
    let mut command = world.command(&["setup"]);
    command.env("PATH", format!("{}:/usr/bin:/bin:relative", programs.display()));
    command
        .env("PYTHONPATH", ".")
        .env("PYTHONHOME", ".")
        .env("PYTHONWARNINGS", "error::evil.Evil")
        .env("PIP_PYTHON", "./x");
    let output = command.output().unwrap();
    let report = fs::read_to_string(world.mark()).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    let lines: Vec<_> = report.lines().collect();
    assert!(lines[0].starts_with(world.at("cache").canonicalize().unwrap().to_str().unwrap()), "{report}");
    assert_eq!(lines[1], "0", "nothing is in there: {report}");
    assert_eq!(lines[3], "700", "the folder it is in: {report}");
    assert!(lines.contains(&"PYTHONSAFEPATH=1"), "{report}");
    assert!(!report.contains("PYTHONPATH") && !report.contains("PYTHONHOME") && !report.contains("evil"), "{report}");
    assert!(!report.contains("PIP_PYTHON") && !report.contains("relative"), "{report}");
}

#[test]
fn a_library_is_not_looked_for_in_the_working_folder() {
    let world = CodeWorld::new("");
    fs::write(world.at("tree").join("libonnxruntime.so"), "x").unwrap();
    let model = world.own_model();
    for variable in ["MEMORIST_ORT", "ORT_DYLIB_PATH"] {
        let mut command = world.command(&["setup"]);
        let output = command.env("MEMORIST_MODEL", &model).env(variable, "libonnxruntime.so").output().unwrap();
        assert!(!output.status.success() && said(&output).contains("absolute path"), "{}", said(&output));
    }
}

/// The sets of files of the cache, as `embed/src/provision/packages.rs` pins them for this platform.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
const PINNED: [(&str, &str, u64, &str); 3] = [
    (
        "onnxruntime-1.31.1",
        "libonnxruntime.so.1.31.1",
        29_352_200,
        "fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3",
    ),
    (
        "all-MiniLM-L6-v2-int8-1.0.0",
        "model.onnx",
        22_928_619,
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    (
        "all-MiniLM-L6-v2-int8-1.0.0",
        "tokenizer.json",
        466_247,
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
];

/// A cache that looks whole, with another library of the right length, which leaves a mark as soon as it is loaded.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
fn forge_cache(world: &CodeWorld) -> PathBuf {
    let source = world.at("library.c");
    let mark = world.mark();
    let code = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void run(void) {{ fclose(fopen({:?}, \"w\")); }}\n",
        mark.to_str().unwrap()
    );
    fs::write(&source, code).unwrap();
    let cache = world.at("cache");
    let mut manifests = std::collections::BTreeMap::<_, Vec<_>>::new();
    for (set, name, bytes, sha256) in PINNED {
        let folder = cache.join(set);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        if name.ends_with(".onnx") || name.ends_with(".json") {
            fs::write(&path, "").unwrap();
        } else {
            let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
            let mut compile = Command::new(compiler);
            compile.args(["-shared", "-fPIC", "-o"]).arg(&path).arg(&source);
            assert!(compile.status().unwrap().success());
        }
        // Longer than the code: the loader ignores the rest.
        fs::File::options().write(true).open(&path).unwrap().set_len(bytes).unwrap();
        let file = serde_json::json!({ "name": name, "bytes": bytes, "sha256": sha256 });
        manifests.entry(folder).or_default().push(file);
    }
    for (folder, files) in manifests {
        let manifest = serde_json::json!({ "version": 1, "files": files });
        fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
    }
    cache.join(PINNED[0].0).join(PINNED[0].1)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn a_library_that_is_not_the_pinned_one_is_never_loaded() {
    let world = CodeWorld::new("download = false\n");
    let library = forge_cache(&world);
    let loads = Command::new(env!("CARGO_BIN_EXE_memorist")).arg("--version").env("LD_PRELOAD", &library).output();
    assert!(loads.unwrap().status.success() && world.mark().exists(), "the mark would be left");
    fs::remove_file(world.mark()).unwrap();
    let output = world.command(&["setup"]).env("MEMORIST_MODEL", world.own_model()).output().unwrap();
    assert!(!world.mark().exists(), "its constructor ran: {}", said(&output));
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert!(said(&output).contains("not the expected file"), "{}", said(&output));
}

/// Other users could swap a file after it was verified.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn a_cache_that_others_can_change_is_refused() {
    type CacheChange = fn(&Path);
    let refusals: [(&str, CacheChange); 3] = [
        ("others can write to it", |cache| set_mode(cache, 0o777)),
        ("others can write to it", |cache| set_mode(cache, 0o770)),
        ("another user", |cache| {
            if std::os::unix::fs::chown(cache, Some(65_534), None).is_err() {
                // Only root can give it away.
                set_mode(cache, 0o777);
            }
        }),
    ];
    for (why, change) in refusals {
        for forged in [true, false] {
            let world = CodeWorld::new("");
            if forged {
                forge_cache(&world);
            }
            let cache = world.at("cache");
            change(&cache);
            let is_given_away =
                fs::metadata(&cache).unwrap().permissions().mode() & 0o002 == 0 || why.contains("others");
            let link = world.at("link");
            std::os::unix::fs::symlink(&cache, &link).unwrap();
            let output = world.command(&["setup"]).output().unwrap();
            let said = said(&output);
            assert!(!world.mark().exists() && output.status.code() == Some(5), "{said}");
            assert!(!is_given_away || said.contains(why), "{why}: {said}");
            assert!(said.contains("chmod -R go-w") && said.contains("--cache"), "the way out: {said}");
        }
    }
}
