// full: SQLite
/** Large files that somebody asks for and does not read. */

import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, fileOf, MAIN } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { askWithoutReading, type UnreadAnswer } from '../support/unread-answer.ts';

const MIB = 1024 * 1024;
const PATCH = 'text/x-diff';
/** The bytes of the buffers that somebody holds in this process, the server among them. Some are counted twice. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { external, arrayBuffers } = process.memoryUsage();
  // The first knows what threads have handed over, and the second what they were given.
  return external + arrayBuffers;
}

const LARGE = fileOf('web', '1.1.0', 'large.bin');

describe('large files of versions', () => {
  const hawser = started(startHawser);
  const large = randomBytes(24 * MIB);
  let reader: Client;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const files = { [MAIN]: '$schema: x\nresources: []\n', 'large.bin': large, 'small.txt': 'small\n' };
    await ok(201, addVersion(hawser.admin, 'web', { version: '1.1.0' }, { files }));
    const scopes = ['configurations.admin-override'] as const;
    reader = await makeUser(hawser, { username: 'reader', permissions: [...scopes] });
  });

  const ask = (path = LARGE, headers = {}): Promise<UnreadAnswer> =>
    askWithoutReading(hawser.target(), {}, path, { Cookie: hawser.session, ...headers });

  it('arrive whole, from memory or from the disk', async () => {
    for (const _time of [1, 2])
      expect((await reader.get(LARGE)).bytes.equals(large), 'the same bytes').to.equal(true);
    const { headers } = await reader.call('HEAD', LARGE);
    expect(headers['content-length']).to.equal(String(large.length));
  });

  it('are open four times for a user who does not read them, and no more', async () => {
    const unread = await Promise.all([1, 2, 3, 4].map(() => ask()));
    expect(unread.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    const refused = await expectProblem(hawser.admin.get(LARGE), 503, 'overloaded');
    expect(refused.headers).to.have.property('retry-after');
    expect(refused.json.detail).to.include('read or end one');
    const patch = await ask(`${CONFIGURATIONS}/web/compare?from=1.0.0&to=1.1.0`, { Accept: PATCH });
    expect(patch.status).to.equal(503);
    // What is small is answered, and so are others.
    const small = await hawser.admin.get(fileOf('web', '1.1.0', 'small.txt'));
    expect(small.text).to.equal('small\n');
    await ok(200, hawser.admin.get(CONFIGURATIONS));
    expect((await reader.get(LARGE)).bytes.equals(large)).to.equal(true);
    expect((await (unread[0] as UnreadAnswer).read()).equals(large)).to.equal(true);
    await eventually(async () => expect((await hawser.admin.get(LARGE)).status).to.equal(200));
    for (const answer of unread.slice(1)) answer.breakOff();
  });

  it('are in patches that hold no memory while nobody reads them', async () => {
    // It is more than the system buffers of a connection, and little enough for four patches in a minute on a busy machine.
    const files = {
      [MAIN]: '$schema: x\nresources: []\n',
      'a.bin': randomBytes(12 * MIB),
      'large.bin': large,
    };
    await ok(201, addVersion(hawser.admin, 'web', { version: '1.2.0' }, { files }));
    const path = `${CONFIGURATIONS}/web/compare?from=1.1.0&to=1.2.0`;
    const before = heldBytes();
    const unread = await Promise.all([1, 2, 3, 4].map(() => ask(path, { Accept: PATCH })));
    expect(unread.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    const mayHold = 2 * unread.length * MIB;
    await eventually(async () => expect(heldBytes() - before).to.be.below(mayHold), 40_000);
    const refused = await ask(path, { Accept: PATCH });
    expect(refused.status).to.equal(503);
    const [first, ...others] = unread as [UnreadAnswer, ...UnreadAnswer[]];
    for (const answer of [...others, refused]) answer.breakOff();
    const outside = new Outside(hawser, 'web');
    outside.git('read-tree', 'draft/1.1.0');
    outside.pipe(await first.read(), 'apply', '--cached');
    expect(outside.git('write-tree')).to.equal(outside.git('rev-parse', 'draft/1.2.0^{tree}'));
  });
});
