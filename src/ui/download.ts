/** Files that the browser saves: from the API, or made in the page. */

import { API, get } from './client.ts';

/** Lets the browser save what the API answers at the path. It goes straight to the disk, however large it is. */
export function download(path: string): void {
  follow(API + path, '');
}

/**
 * Saves what the API answers for this media type, such as a patch or a list as CSV.
 * @throws ApiProblem
 */
export async function save(path: string, accept: string, fileName: string): Promise<void> {
  const reply = await get<Blob>(path, { accept, isRaw: true });
  if (reply !== null) saveBlob(reply.data, fileName);
}

/** Saves what was read or made in the page. */
export function saveBlob(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  follow(url, fileName);
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function follow(href: string, fileName: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = fileName;
  document.body.append(link);
  link.click();
  link.remove();
}
