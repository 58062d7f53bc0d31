//! A connection to a server over HTTP, byte by byte: what browsers and libraries would not send, too.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than any response takes, however busy the machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A persistent connection.
pub struct Connection {
    stream: BufReader<TcpStream>,
    /// The header lines of the last response, in lower case.
    pub head: Vec<String>,
}

impl Connection {
    pub fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(TIMEOUT)).unwrap();
        Connection { stream: BufReader::new(stream), head: Vec::new() }
    }

    pub fn send(&mut self, text: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.stream.get_mut().write_all(text.as_ref())
    }

    /// The status and the body of the next response.
    pub fn answer(&mut self) -> std::io::Result<(u16, String)> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(ErrorKind::UnexpectedEof)?;
        let mut length = Some(0);
        self.head.clear();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let line = line.trim_end().to_lowercase();
            match line.split_once(": ") {
                Some(("content-length", value)) => length = Some(value.parse().unwrap()),
                Some(("transfer-encoding", _)) => length = None,
                Some(_) => {}
                None => break,
            }
            self.head.push(line);
        }
        let body = match length {
            Some(length) => self.bytes(length)?,
            None => self.chunks()?,
        };
        Ok((status, String::from_utf8(body).unwrap()))
    }

    /// The next line that arrives, of a response that goes on.
    pub fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        Ok(line)
    }

    pub fn bytes(&mut self, length: usize) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The body of a response that is a stream of events.
    fn chunks(&mut self) -> std::io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim(), 16).map_err(|_| ErrorKind::UnexpectedEof)?;
            body.extend(self.bytes(length)?);
            self.bytes(2)?;
            if length == 0 {
                return Ok(body);
            }
        }
    }

    /// Whether the server has closed the connection. Only tests of Linux ask.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    pub fn is_closed(&mut self, timeout: Duration) -> bool {
        self.stream.get_ref().set_read_timeout(Some(timeout)).unwrap();
        match self.stream.read(&mut [0; 1024]) {
            Ok(bytes) => bytes == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}
