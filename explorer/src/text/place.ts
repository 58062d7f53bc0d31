// The address of a line of a file, in an editor: a page may not open files itself.

/** Nothing if the path is not absolute. */
export function editorUrl(path: string, line: number): string | null {
  const slashed = path.replace(/\\/g, "/");
  if (!/^(\/(?!\/)|[A-Za-z]:\/)/.test(slashed)) return null;
  const encoded = slashed.split("/").map((part, at) => (at === 0 && /^[A-Za-z]:$/.test(part) ? part : encodeURIComponent(part)));
  const rooted = slashed.startsWith("/") ? encoded.join("/") : `/${encoded.join("/")}`;
  return `vscode://file${rooted}:${Math.max(1, Math.floor(line))}`;
}
