/**
 * What somebody has typed and not saved yet. It is kept while the console is open, whichever page is shown: the way back
 * to the draft finds it again. The browser asks before it closes or reloads the console.
 */

import { type Signal, signal } from '@preact/signals';

export interface Unsaved {
  text: string;
  /** Of the file that was changed; null if there was none. Another one on the server means that somebody else saved it. */
  etag: string | null;
}

/** The files of one draft by path. */
export type UnsavedFiles = Signal<ReadonlyMap<string, Unsaved>>;

const drafts = new Map<string, UnsavedFiles>();

export function unsavedOf(name: string, version: string): UnsavedFiles {
  const key = JSON.stringify([name, version]);
  const files = drafts.get(key) ?? signal<ReadonlyMap<string, Unsaved>>(new Map());
  drafts.set(key, files);
  return files;
}

/** Keeps what was typed, or forgets it (null). */
export function keepUnsaved(files: UnsavedFiles, path: string, unsaved: Unsaved | null): void {
  const changed = new Map(files.value);
  if (unsaved === null) changed.delete(path);
  else changed.set(path, unsaved);
  files.value = changed;
}

window.addEventListener('beforeunload', (event) => {
  if ([...drafts.values()].some(({ value }) => value.size > 0)) event.preventDefault();
});
