/** What the tests of configurations in the console share. */

import type { Locator, Page } from 'playwright-core';
import { addVersion, create, publish } from './configurations.ts';
import type { ConsoleUnderTest } from './console.ts';
import { eventually } from './eventually.ts';
import { Outside } from './outside.ts';
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
    'main.dsc.yaml': '$schema: x\nresources: []\n# <script>alert(1)</script>\n',
    "a/&lt;b&gt;it's.txt": '<script>alert(1)</script>\n\u202Etxt\n',
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

/** Makes a version whose commit names an author of its own, and whose tag is signed. Gives its page. */
export async function signedVersion({ hawser }: ConsoleUnderTest): Promise<string> {
  const { admin } = hawser;
  await ok(201, create(admin, 'signed'));
  const outside = new Outside(hawser, 'signed');
  const from = `tree ${outside.tree(outside.file('main.dsc.yaml', '$schema: x\nresources: []\n'))}\n`;
  const [dan, at] = ['Dan <dan@example.org>', '1790000000 +0200'];
  // Who made it is told by trailers, as of a draft that was edited.
  const trailers =
    'Entry-Point: main.dsc.yaml\nCreated-At: 2026-09-21T14:13:20.000Z\nCreated-By: ada <ada@example.org>';
  const text = `${from}author ${dan} ${at}\ncommitter ${dan} ${at}\n\nsigned 2.0.0\n\n${trailers}\n`;
  const commit = outside.pipe(text, 'hash-object', '-w', '-t', 'commit', '--stdin');
  const signature = '-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ==\n-----END SSH SIGNATURE-----\n';
  const head = `object ${commit}\ntype commit\ntag v2.0.0\ntagger ${dan} ${at}\n`;
  const tag = outside.pipe(`${head}\nBy hand\n${signature}`, 'hash-object', '-w', '-t', 'tag', '--stdin');
  outside.git('update-ref', 'refs/tags/v2.0.0', tag);
  await eventually(async () => ok(200, admin.get('/api/v1/configurations/signed/versions/2.0.0')));
  return '/ui/configurations/signed/versions/2.0.0';
}
