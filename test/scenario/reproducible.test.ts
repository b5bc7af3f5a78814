// full: SQLite
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { addVersion, create, MAIN, publish } from '../support/configurations.ts';
import { type Hawser, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { type UnzippedEntry, unzip } from '../support/unzip.ts';

const filesOf = (entries: UnzippedEntry[]) => new Map(entries.map(({ path, content }) => [path, content]));

/** In an order that is neither that of bytes nor that of an alphabet. */
const FILES: Record<string, string | Buffer> = {
  'z.yaml': 'z',
  [MAIN]: '$schema: x\nresources: []\n',
  'ä/ö.yaml': 'ö',
  'a/b.yaml': 'b',
  'a.yaml': 'a',
  'B.yaml': 'B',
  'run.sh': '#!/bin/sh\n',
  'ﬀ/🚀.bin': Buffer.from([0, 1, 2, 255]),
  '🚀.txt': '',
};

interface Pulled {
  checksum: string;
  bytes: Buffer;
  digest: unknown;
}

describe('equal content is equal everywhere', () => {
  const servers: Hawser[] = [];

  after(() => Promise.all(servers.map((hawser) => hawser.close())));

  const pull = async (node: NodeUnderTest): Promise<Pulled> => {
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    const { checksum } = await ok(200, node.client.get(`${path}/checksum`));
    const bundle = await node.client.get(`${path}/bundle`);
    expect(bundle.headers['etag']).to.equal(`"${checksum}"`);
    return { checksum, bytes: bundle.bytes, digest: bundle.headers['repr-digest'] };
  };

  const deliver = async (hawser: Hawser, name: string, files: typeof FILES, version = '1.0.0') => {
    await ok(201, create(hawser.admin, name, { version, entryPoint: MAIN }, { files }));
    await ok(200, publish(hawser.admin, name, version));
    const node = await hawser.registerNode(`${name}.example.org`);
    const assignment = { configurationName: name };
    await ok(204, hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, assignment));
    return node;
  };

  let one: Hawser;
  let first: Pulled;

  before(async () => {
    one = await startHawser();
    servers.push(one);
    first = await pull(await deliver(one, 'web', FILES));
  });

  it('on two servers, whoever uploaded it when and in which order', async () => {
    const two = await startHawser();
    servers.push(two);
    two.clock.advance(40 * 24 * 3_600_000);
    const ada = await makeUser(two, { username: 'ada', roles: ['Author'] });
    const reversed = Object.fromEntries(Object.entries(FILES).reverse());
    // Another history before it, and other people.
    const old = { files: { [MAIN]: 'old' } };
    await ok(201, create(ada.client, 'web', { version: '0.5.0', description: 'Other' }, old));
    await ok(200, publish(ada.client, 'web', '0.5.0'));
    await ok(201, addVersion(ada.client, 'web', { version: '1.0.0' }, { files: reversed }));
    await ok(200, publish(ada.client, 'web', '1.0.0'));
    const node = await two.registerNode('other.example.org');
    const assignment = { configurationName: 'web' };
    await ok(204, two.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, assignment));
    const second = await pull(node);
    expect(second.checksum).to.equal(first.checksum);
    expect(second.bytes.equals(first.bytes)).to.equal(true);
    expect(second.digest).to.equal(first.digest);
  });

  it('after a restart, and after git has packed everything', async () => {
    one.git('configurations/web.git', 'gc', '--quiet');
    await one.restart();
    const node = await one.registerNode('again.example.org');
    const assignment = { configurationName: 'web' };
    await ok(204, one.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, assignment));
    expect(await pull(node)).to.deep.equal(first);
  });

  it('and the digest is that of the bytes, the order that of the paths', async () => {
    const digest = createHash('sha256').update(first.bytes).digest('base64');
    expect(first.digest).to.equal(`sha-256=:${digest}:`);
    const files = filesOf(await unzip(first.bytes));
    const sorted = Object.keys(FILES).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect([...files.keys()]).to.deep.equal(sorted);
    for (const [path, content] of Object.entries(FILES)) {
      expect(files.get(path)?.equals(Buffer.from(content as string)), path).to.equal(true);
    }
  });

  it('whereas another name, version, path or byte makes another checksum', async () => {
    const moved: typeof FILES = { ...FILES, 'moved.yaml': 'z' };
    delete moved['z.yaml'];
    const others = [
      await pull(await deliver(one, 'web2', FILES)),
      await pull(await deliver(one, 'web3', moved)),
      await pull(await deliver(one, 'web4', { ...FILES, 'z.yaml': 'Z' })),
      await pull(await deliver(one, 'web5', FILES, '1.0.1')),
    ];
    expect(new Set([first, ...others].map(({ checksum }) => checksum)).size).to.equal(5);
  });

  it('in every time zone', () => {
    const script = `
      import { createHash } from 'node:crypto';
      import { buildBundle } from './test/support/bundles.js';
      const bytes = await buildBundle([{ path: 'a/b.yaml', content: Buffer.from('x') }]);
      console.log(new Date(0).getTimezoneOffset(), createHash('sha256').update(bytes).digest('hex'));`;
    const zones = ['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Kiritimati'];
    const outputs = zones.map((TZ) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        cwd: new URL('../..', import.meta.url),
        env: { ...process.env, TZ },
        encoding: 'utf8',
      }).trim(),
    );
    expect(new Set(outputs.map((output) => output.split(' ')[0])).size).to.equal(4);
    expect(new Set(outputs.map((output) => output.split(' ')[1])).size).to.equal(1);
  });
});
