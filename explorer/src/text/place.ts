// Where a memory was read: a line of a file, or a page of a PDF.

const isPdf = (path: string) => /\.pdf$/i.test(path);

/** Its name, as the command line writes it. */
export function placeName(path: string, line: number): string {
  return isPdf(path) ? `${path}, page ${line}` : `${path}:${line}`;
}

/** The address of the line in an editor: a page may not open files itself. Nothing for a PDF, or if the path is not absolute. */
export function editorUrl(path: string, line: number): string | null {
  if (isPdf(path)) return null;
  const slashed = path.replace(/\\/g, "/");
  if (!/^(\/(?!\/)|[A-Za-z]:\/)/.test(slashed)) return null;
  const encoded = slashed.split("/").map((part, at) => (at === 0 && /^[A-Za-z]:$/.test(part) ? part : encodeURIComponent(part)));
  const rooted = slashed.startsWith("/") ? encoded.join("/") : `/${encoded.join("/")}`;
  return `vscode://file${rooted}:${Math.max(1, Math.floor(line))}`;
}
