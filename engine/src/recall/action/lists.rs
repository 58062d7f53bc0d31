//! Words by which files, commands and errors are told apart.

/// Names that many folders have: a text that has one without a folder may mean another file.
pub const ORDINARY_FILES: &str = "admin.py agents.md chart.yaml claude.md forms.py serializers.py values.yaml webpack.config.js .dockerignore .env .env.example .eslintrc.js .eslintrc.json .gitattributes .gitignore .gitlab-ci.yml .npmrc \
     .prettierrc app.js app.py app.ts app.tsx build.gradle build.rs cargo.lock cargo.toml changelog.md composer.json conf.py \
     config.js config.json config.py config.toml config.ts config.yaml config.yml conftest.py constants.py constants.ts \
     docker-compose.yml errors.rs gemfile.lock go.mod go.sum helpers.js helpers.py helpers.ts index.css index.html index.js \
     index.jsx index.md index.mjs index.ts index.tsx layout.tsx lib.rs main.c main.cpp main.go main.js main.py main.rs main.tf \
     main.ts manage.py mod.rs models.py package-lock.json package.json page.tsx pnpm-lock.yaml pom.xml pyproject.toml \
     readme.md requirements.txt route.ts routes.py schema.sql server.js server.ts settings.json settings.py setup.cfg setup.py \
     style.css styles.css test.js test.py test.ts tests.py tsconfig.json types.go types.py types.rs types.ts urls.py util.go \
     util.py util.ts utils.go utils.js utils.py utils.rs utils.ts variables.tf version.py views.py vite.config.ts __init__.py \
     __main__.py";

/// Programs that run the program that follows.
pub const WRAPPERS: &str = "sudo doas env time nice nohup timeout command exec stdbuf ionice xargs caffeinate npx bunx pnpx uvx if elif while until then do else !";

/// Programs whose next word runs the program that follows.
pub const WRAPPING: &[&str] = &[
    "uv run", "poetry run", "pipenv run", "hatch run", "rye run", "bundle exec", "pnpm exec", "npm exec", "yarn exec",
    "mise exec",
];

/// Scripts that are programs with commands of their own.
pub const SCRIPT_PROGRAMS: &str = "manage.py idf.py setup.py x.py esptool.py";

/// Programs that run another by its name: `yarn cypress run`, `cargo sqlx prepare`.
pub const RUNNERS: &str = "pnpm yarn bun cargo";

/// Programs that run a file.
pub const INTERPRETERS: &str = "bash sh zsh python python3 node ruby perl php deno bun tsx ts-node";

/// Commands that have commands of their own.
pub const GROUPS: &[&str] = &[
    "npm run", "pnpm run", "yarn run", "bun run", "composer run", "turbo run", "deno task", "npm config",
    "docker compose", "docker context", "docker builder", "docker manifest", "podman machine", "podman volume",
    "podman network", "podman image", "podman container", "podman system", "helm plugin", "helm dependency",
    "nix flake", "nix profile", "nix store", "consul kv", "minikube addons", "dvc remote", "dvc exp", "npm cache",
    "pnpm store", "composer global", "flutter pub", "pulumi stack", "pulumi config", "wrangler d1", "wrangler kv",
    "wrangler r2", "wrangler secret", "brew services", "uv cache", "uv python", "docker container", "docker image",
    "docker buildx", "docker volume", "docker network", "docker system", "kubectl rollout", "kubectl config",
    "helm repo", "git remote", "git stash", "git submodule", "git bisect", "git worktree", "go mod", "go tool",
    "cargo xtask", "cargo nextest", "cargo sqlx", "cargo make", "rustup target", "rustup toolchain",
    "rustup component", "terraform state", "terraform workspace", "prisma migrate", "prisma db", "uv pip", "uv tool",
    "poetry env", "conda env", "dotnet ef", "dotnet tool", "vault kv", "vault lease", "vault token", "vault secrets",
    "php artisan", "rails generate",
];

/// Programs all of whose commands have commands of their own.
pub const GROUPED: &str =
    "gcloud aws az gh glab doctl flyctl supabase eksctl oci ibmcloud argocd nomad openstack hcloud scw";

/// Programs whose words are goals, each a command of its own: `mvn clean deploy`.
pub const MANY_GOALS: &str = "mvn gradle make gmake rake just ant sbt nox invoke task";

/// Programs that only look.
pub const LOOKING: &str = "ls cat cd pwd echo printf which head tail less more stat find tree grep egrep rg ag fd wc diff cmp date ps top du df \
     file sort uniq cut tr awk jq true false test [ type whoami id uname hostname history man sleep wait tee xxd strings realpath \
     dirname basename read for done fi set export \
     bat batcat eza exa delta dust duf htop btop ncdu lsof netstat ss ping dig nslookup host whereis locate sha256sum md5sum tldr";

/// Commands that only look.
pub const LOOKING_COMMANDS: &[&str] = &[
    "git status", "git diff", "git log", "git show", "git branch", "git blame", "git rev-parse", "git ls-files",
    "docker ps", "docker logs", "docker images", "docker inspect", "kubectl get", "kubectl describe", "kubectl logs",
    "cargo tree", "cargo metadata", "npm ls", "npm view", "npm outdated", "pip list", "pip show", "gh pr view",
    "gh pr list", "gh run view", "gh run list",
];

/// Programs whose name alone says too little.
pub const ORDINARY_PROGRAMS: &str = "make python python3 node git bash zsh npm pnpm yarn bun deno cargo ruby perl php java javac gcc clang \
     docker kubectl pip pip3 poetry brew apt apt-get mkdir rmdir touch chmod chown tar zip unzip gzip curl wget ssh \
     scp rsync kill pkill killall source unset alias eval open code vim nano emacs watch just task run build start stop sed";

/// Programs whose name is a word of prose, also before another: "make sure", "just deploy", "go live".
pub const PROSE: &str = "make just go task time watch run play rush next nice at act air dot fly stack mix vault pod swift kind service node \
     convert screen rake";

/// Words of commands that act on the word after them.
pub const ACTING: &str = "install add remove uninstall restart start stop reload enable disable checkout switch exec";

/// Ends of names of files.
pub const FILE_ENDS: &str = "bak c cc cfg conf cpp cs css csv dart db env ex exs go gz h html ini ipynb jar java js json jsx kt lock log md mjs out \
     php pl png py rb rs scss sh sql sqlite svg swift tar tf tfvars tgz toml ts tsx txt vue whl xml yaml yml zig zip";

/// Words before a command in prose.
pub const RUNNING: &str = "run runs running rerun ran call calls calling invoke";

/// Words of lines that say nothing but that something failed.
pub const NOISE: &[&str] = &[
    "aborting due to", "could not compile", "elifecycle", "test result:", "to rerun pass", "for more information",
    "some errors have", "a complete log of this run", "*** [", "build failed with", "failures:", "note: run with",
    "traceback (most recent", "[running]:",
];

/// Words of such lines, unless the line has a code.
pub const NOISE_WITHOUT_CODE: &[&str] = &["command failed", "exit code", "exit status", "exited with", "exited ("];

/// Words of lines that say what failed.
pub const TELLING_FAILURES: &[&str] = &[
    "failed", "denied", "refused", "not found", "not be found", "no such", "cannot", "can't", "could not", "unable",
    "timed out", "does not", "doesn't", "already", "missing", "unknown", "unsupported", "conflict", "mismatch",
    "not permitted", "not allowed", "invalid", "undefined", "duplicate", "expired", "exceeded", "is not", "are not",
    "was not", "not expected", "disabled", "rejected", "overwritten",
];

/// Endings of forms of a word.
pub const ENDINGS: &str = "s es d ed r er e ing ion ions ation ations al ment y ied ies ication en able";

/// Words that errors of all kinds have.
pub const GENERIC: &str = "error errors err failed failure fail fatal exception panicked panic exit code status command thread main cannot could \
     unable unexpected invalid not found find expected type value line file module column name return returned call called \
     argument arguments object property exist exists does use used using number numbers stat directory npm pnpm yarn pip cargo psql curl git docker kubectl such got trying process running during while read missing \
     warning note help test tests localhost port unwrap result worker none undefined unknown duplicate key entry field import \
     imported version versions undeclared declared defined required request response server client operation wrong kind \
     against bad malformed illegal unsupported already occurred calling info debug warn retrying path include included includes localhost";

/// Types and values that many errors have in quotes.
pub const GENERIC_NAMES: &str = "string number boolean bool undefined null none void any object never unknown int float str char i32 i64 u8 u32 u64 \
     usize f64 mysql postgresql graphql openssl github gitlab javascript typescript commonjs sqlalchemy macos ios nodejs mongodb dynamodb clickhouse \
     rabbitmq youtube linkedin powershell webpack opentelemetry self option result vec some main true false default localhost unwrap expect err nonetype nilclass nil";

/// Schemes of addresses whose host is nothing that fails.
pub const SCHEMES: &str = "http https git ssh";

/// Messages of the system: errors of all kinds have them.
pub const SYSTEM_MESSAGES: &[&str] = &[
    "no such file or directory", "permission denied", "connection refused", "connection reset by peer",
    "address already in use", "operation not permitted", "no space left on device", "is a directory", "broken pipe",
];

/// Beginnings of words with a hyphen that are no names: "read-only".
pub const BEFORE_HYPHENS: &str = "self read write re non pre post co multi single double well long short two three one half full low high hand left \
     right on off in out up down add built old new sub cross client server user end run first last third auto open clean dry \
     sign follow time day week back front side top";

/// Words that paths and addresses of all kinds have.
pub const IN_PATHS: &str = "src lib libs app apps test tests spec config build index node modules dist target bin usr var opt etc tmp home root \
     users core api web client server common utils util internal package packages site python java com org net dev prod github http \
     https local cache data docs";

/// Names of errors of the system.
pub const ERRNOS: &str = "EACCES EADDRINUSE EAGAIN EBADF EBUSY ECONNABORTED ECONNREFUSED ECONNRESET EEXIST EHOSTUNREACH EINVAL EIO EISDIR \
     ELOOP EMFILE ENAMETOOLONG ENETUNREACH ENFILE ENOENT ENOMEM ENOSPC ENOTDIR ENOTEMPTY ENOTFOUND ENOTSUP EPERM EPIPE EROFS \
     ERESOLVE ETIMEDOUT EXDEV SIGABRT SIGBUS SIGFPE SIGILL SIGKILL SIGSEGV SIGTERM OOMKilled";

/// Words in capitals that are no code.
pub const CAPITALS: &str = "CONFLICT WARNING WARNINGS FAILED FAILURE FAILURES EXCEPTION ERRORS PRIMARY DEFAULT SECURITY INTERNAL UNKNOWN DETAILS SELECT INSERT UPDATE DELETE";

/// After these, a number is a code.
pub const BEFORE_NUMBERS: &str = "error errno code status http sqlstate";

/// After these, a word is the name of a lint: `#[warn(unused_mut)]`.
pub const BEFORE_LINTS: &str = "allow warn deny";

/// After these, a word with a hump is the reason of a failure.
pub const BEFORE_REASONS: &str = "error: reason: reason err: code: code exception:";

/// Letters before a number that are no code.
pub const STANDARDS: &str = "UTF SHA ISO RFC HTTP TLS IPV MD AES RSA BASE INT UINT FLOAT COVID MP H X V Q Y";
