//! A certificate for a server, signed by an authority that nobody else trusts.

use crate::keeper::Keeper;
use crate::programs;

/// The certificate of the authority, in the folder of the server.
pub(crate) const ROOTS: &str = "authority.pem";

/// The arguments of a new key.
const KEY: [&str; 6] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-batch"];

/// Where PostgreSQL looks for key and certificate: `server.key` and `server.crt` in the folder of its data. They are of
/// `localhost` only.
pub(crate) fn create(keeper: &Keeper) -> Result<(), String> {
    let extensions = keeper.write("extensions", "subjectAltName = DNS:localhost\nbasicConstraints = CA:FALSE\n")?;
    let openssl = |arguments: &[&str], more: &[&str]| {
        programs::run(programs::command("openssl", keeper.folder()).args(arguments).args(more))
    };
    let authority = ["-keyout", "authority.key", "-out", ROOTS, "-days", "2", "-subj", "/CN=authority of a test"];
    openssl(&["req", "-x509"], &[&KEY[..], &authority].concat())?;
    let server = ["-keyout", "data/server.key", "-out", "server.csr", "-subj", "/CN=localhost"];
    openssl(&["req"], &[&KEY[..], &server].concat())?;
    let sign = ["x509", "-req", "-in", "server.csr", "-CA", ROOTS, "-CAkey", "authority.key", "-CAcreateserial"];
    let extensions = extensions.to_str().ok_or("the temporary folder has a name that is not UTF-8")?;
    openssl(&sign, &["-days", "2", "-extfile", extensions, "-out", "data/server.crt"])
}
