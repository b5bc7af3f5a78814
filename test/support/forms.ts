/** Posts a form as programs and plain pages do. */

import type { Client, Reply } from './client.ts';

/** @param form a text is sent as it is */
export function postForm(
  client: Client,
  path: string,
  form: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return client.call('POST', path, {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: Buffer.from(typeof form === 'string' ? form : new URLSearchParams(form).toString()),
  });
}
