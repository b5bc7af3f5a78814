/** Exports: all that a filter meets, as the API streams it, saved as a file. */

import { API, ApiProblem } from './client.ts';

/**
 * Reads a list as CSV and saves it. It comes in one piece from the server and is kept by the browser, not by the page.
 * @param path the list with its filters, below /api/v1
 * @throws ApiProblem
 */
export async function saveCsv(path: string, fileName: string): Promise<void> {
  await saveAs(path, 'text/csv', fileName);
}

/** Reads what the API answers in a media type, and saves it as a file. */
export async function saveAs(path: string, accept: string, fileName: string): Promise<void> {
  const response = await fetch(API + path, { headers: { Accept: accept } }).catch(() => null);
  if (response === null)
    throw new ApiProblem(0, { code: 'unreachable', detail: 'The server does not answer.' });
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => ({}));
    throw new ApiProblem(response.status, (body ?? {}) as Record<string, unknown>);
  }
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName;
  link.click();
  // The browser has taken the file by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
