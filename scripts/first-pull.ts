/**
 * Makes one pull from a Hawser that has just been started for the first time:
 * `node scripts/run.js scripts/first-pull.ts <port> <data folder>`. Exits with 0 only if every check held.
 */

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Administrator } from './support/hawser-client.ts';

const [port, dataDir = ''] = process.argv.slice(2);
const FILES = { 'main.dsc.yaml': '$schema: x\nresources: []\n', 'docs/notes.md': 'From the first pull.\n' };

const target = { port: Number(port), ca: readFileSync(join(dataDir, 'tls/ca.crt'), 'utf8') };
const firstPassword = readFileSync(join(dataDir, 'initial-admin-password'), 'utf8').trim();
const newPassword = randomBytes(24).toString('base64');
const admin = await Administrator.signIn(target, firstPassword, newPassword);
await admin.createConfiguration('web', '1.0.0', FILES);
await admin.publish('web', '1.0.0');
const node = await admin.registerNode('web-01.example.org');
await admin.assign(node, 'web');

const poll = await node.poll();
const files = await node.pull();
const again = await node.poll(poll.checksum);
admin.close();
node.close();

const same = Object.entries(FILES).every(([path, content]) => files[path] === content);
if (poll.version !== '1.0.0' || !same || Object.keys(files).length !== 2 || again.isNew) {
  throw new Error(`the node did not get what was published: ${JSON.stringify({ poll, files, again })}`);
}
console.log(`pulled web 1.0.0 over mTLS: 2 files, checksum ${poll.checksum}, and 304 at the next poll`);
