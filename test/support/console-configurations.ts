/** What the tests of configurations in the console share. */

import type { Locator, Page } from 'playwright-core';
import { addVersion, create, publish } from './configurations.ts';
import type { ConsoleUnderTest } from './console.ts';
import { ok } from './replies.ts';

export const findTable = (page: Page, name: string): Locator =>
  page.getByRole('table', { name, exact: true });

export const headingOf = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();

/** What the API answers the user of the page. */
export function get<T>(page: Page, path: string): Promise<T> {
  return page.evaluate<T>(`fetch('/api/v1${path}').then((answer) => answer.json())`);
}

/** Publishes two versions with everything that could break a page. Gives the name of their configuration. */
export async function hostileSite({ hawser }: ConsoleUnderTest): Promise<string> {
  const { admin } = hawser;
  const name = 'hostile';
  const files = {
    'main.dsc.yaml': 'resources: []\n# <script>alert(1)</script>\n',
    "a/<b>it's&lt;.txt": '<script>alert(1)</script>\n\u202Etxt\n',
    'tool.exe': Buffer.from([0, 1, 2, 3]),
    'empty.txt': '',
    'long.txt': Array.from({ length: 2_500 }, (_, line) => `line ${line + 1}\n`).join(''),
    'huge.txt': 'x'.repeat(1024 * 1024 + 1),
  };
  const message = '<img src=x onerror=alert(1)>';
  await ok(201, create(admin, name, { description: '<b>bold</b>', message }, { files }));
  await ok(200, publish(admin, name, '1.0.0'));
  const changed = { ...files, 'huge.txt': `${files['huge.txt']}y` };
  await ok(201, addVersion(admin, name, { version: '1.1.0' }, { files: changed }));
  await ok(200, publish(admin, name, '1.1.0'));
  return name;
}
