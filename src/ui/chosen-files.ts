/** Files that a person has chosen or dropped, with the paths that they get in a version. */

export interface ChosenFile {
  /** Relative, with `/` between segments. */
  path: string;
  file: File;
}

/** What an input has: single files, or the files of a folder without the folder's own name. */
export function filesOfInput(list: FileList): ChosenFile[] {
  const chosen = [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const isFolder = [...list].some((file) => file.webkitRelativePath !== '');
  return tidy(isFolder ? withoutTop(chosen) : chosen);
}

/** What was dropped: files and whole folders. If it is a single folder, its own name is left out. */
export async function filesOfDrop({ items }: DataTransfer): Promise<ChosenFile[]> {
  // The list of items is emptied as soon as the event is over, so the entries are taken at once.
  const dropped = [...items].filter(({ kind }) => kind === 'file');
  const entries = dropped.map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  // What does not come from a disk, such as a picture of a page, has no entry.
  const others = dropped.flatMap((item) =>
    item.webkitGetAsEntry() === null ? (item.getAsFile() ?? []) : [],
  );
  const single = others.map((file) => ({ path: file.name, file }));
  const chosen = [...(await Promise.all(entries.map(filesOfEntry))).flat(), ...single];
  const isFolder = dropped.length === 1 && entries[0]?.isDirectory === true;
  return tidy(isFolder ? withoutTop(chosen) : chosen);
}

/** Those that were there and those that come in their place or beside them. */
export function merged(before: readonly ChosenFile[], added: readonly ChosenFile[]): ChosenFile[] {
  const byPath = new Map([...before, ...added].map((chosen) => [chosen.path, chosen]));
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

export interface UploadForm {
  body: Blob;
  /** The Content-Type, which names the boundary. */
  type: string;
}

/**
 * A form with the files as the API takes them: the name of each part is the relative path. The browser's own forms change
 * quotes in names, so this one is made here. The files themselves are read only when it is sent.
 */
export function formOf(fields: Readonly<Record<string, string>>, files: readonly ChosenFile[]): UploadForm {
  const boundary = `hawser-${crypto.randomUUID()}`;
  const parts: BlobPart[] = [];
  const add = (disposition: string, content: BlobPart) =>
    parts.push(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`, content, '\r\n');
  for (const [name, value] of Object.entries(fields)) if (value !== '') add(`name="${name}"\r\n`, value);
  for (const { path, file } of files) {
    const type = 'Content-Type: application/octet-stream\r\n';
    add(`name="files"; filename*=UTF-8''${extended(path)}\r\n${type}`, file);
  }
  parts.push(`--${boundary}--\r\n`);
  return { body: new Blob(parts), type: `multipart/form-data; boundary=${boundary}` };
}

/** As RFC 8187 has it. */
function extended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

async function filesOfEntry(entry: FileSystemEntry): Promise<ChosenFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    return [{ path: entry.fullPath.replace(/^\//, ''), file }];
  }
  // Nobody wants the history of a clone in a version, and the API refuses it.
  if (entry.name === '.git') return [];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const chosen: ChosenFile[] = [];
  // A reader gives its entries in pieces, and an empty piece at the end.
  for (;;) {
    const piece = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (piece.length === 0) return chosen;
    for (const files of await Promise.all(piece.map(filesOfEntry))) chosen.push(...files);
  }
}

function withoutTop(chosen: readonly ChosenFile[]): ChosenFile[] {
  return chosen.map(({ path, file }) => ({ path: path.slice(path.indexOf('/') + 1), file }));
}

function tidy(chosen: readonly ChosenFile[]): ChosenFile[] {
  return chosen.filter(({ path }) => !path.split('/').includes('.git'));
}
