import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type BundleEntry, buildBundle } from '../support/bundles.ts';
import { addChild, addCompositeDraft, createComposite, publishComposite } from '../support/composites.ts';
import { addVersion, MAIN, publish } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { describeWith } from '../support/optional-tools.ts';
import { assign, configurationPath, poll } from '../support/parameter-files.ts';
import { readMetrics, sumOf } from '../support/prometheus.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { mounting, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { spawnHawser } from '../support/spawned.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { askWithoutReading, type UnreadAnswer } from '../support/unread-answer.ts';

const MIB = 1024 * 1024;
const TOKEN = 'a-metrics-token-for-tests';
/** With this cache a bundle above 64 KiB becomes a file, and 4 MiB of files are kept. */
const SMALL_CACHE = { HAWSER_CACHE_BYTES: '1MiB', HAWSER_METRICS_TOKEN: TOKEN };

const bundleOf = (node: NodeUnderTest) => `${configurationPath(node)}/bundle`;
const filesOf = (bytes: number) => ({
  [MAIN]: '$schema: x\nresources: []\n',
  'a/random.bin': randomBytes(bytes),
  z: 'last',
});
const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

async function countBuilds(hawser: Hawser): Promise<number> {
  return sumOf(await readMetrics(hawser, TOKEN), 'hawser_bundle_build_duration_seconds_count');
}

describe('a bundle above the share of the cache', () => {
  let hawser: Hawser;
  let nodes: NodeUnderTest[];
  const [large, larger] = [filesOf(2 * MIB), filesOf(3 * MIB)];

  before(async () => {
    hawser = await startHawser(SMALL_CACHE);
    await publishConfiguration(hawser.admin, 'large', { '1.0.0': large });
    await publishConfiguration(hawser.admin, 'larger', { '1.0.0': larger });
    nodes = [];
    for (let at = 0; at < 5; at += 1) nodes.push(await hawser.registerNode(`n${at}.example.org`));
    for (const node of nodes) await assign(hawser, node, 'large');
  });
  after(() => hawser.close());

  const [first, second] = [() => nodes[0] as NodeUnderTest, () => nodes[1] as NodeUnderTest];
  const ask = (node: NodeUnderTest) => askWithoutReading(hawser.target(), node.identity, bundleOf(node));
  const entriesOf = (files: Record<string, string | Buffer>): BundleEntry[] =>
    ['a/random.bin', MAIN, 'z'].map((path) => ({ path, content: Buffer.from(files[path] ?? '') }));

  it('is built once for all who ask at once, and for those after them', async () => {
    const before = await countBuilds(hawser);
    const replies = await Promise.all(nodes.map((node) => node.client.get(bundleOf(node))));
    replies.push(await first().client.get(bundleOf(first())));
    const expected = await buildBundle(entriesOf(large));
    for (const reply of replies) {
      expect(reply.status).to.equal(200);
      expect(reply.bytes.equals(expected)).to.equal(true);
    }
    expect((await countBuilds(hawser)) - before).to.equal(1);
  });

  it('is the same as from memory: bytes, length, digest, validator', async () => {
    const fromFile = await first().client.get(bundleOf(first()));
    const digest = createHash('sha256').update(fromFile.bytes).digest('base64');
    expect(fromFile.headers).to.include({
      'repr-digest': `sha-256=:${digest}:`,
      'content-length': String(fromFile.bytes.length),
      'content-disposition': 'attachment; filename="large-v1.0.0.zip"',
    });
    const roomy = await startHawser();
    try {
      await publishConfiguration(roomy.admin, 'large', { '1.0.0': large });
      const node = await roomy.registerNode('roomy.example.org');
      await assign(roomy, node, 'large');
      const fromMemory = await node.client.get(bundleOf(node));
      expect(fromMemory.bytes.equals(fromFile.bytes)).to.equal(true);
      for (const name of ['repr-digest', 'etag', 'content-length'])
        expect(fromMemory.headers[name]).to.equal(fromFile.headers[name]);
      expect(namesIn(join(roomy.dataDir, 'bundles'))).to.deep.equal([]);
      expect(existsSync(join(roomy.dataDir, 'bundles'))).to.equal(false);
    } finally {
      await roomy.close();
    }
  });

  it('is not made for who has it already', async () => {
    await ok(201, addVersion(hawser.admin, 'large', { version: '2.0.0' }, { files: filesOf(MIB) }));
    await ok(200, publish(hawser.admin, 'large', '2.0.0'));
    const before = await countBuilds(hawser);
    const { checksum } = await ok(200, poll(first()));
    const known = { 'If-None-Match': `"${checksum}"` };
    expect((await first().client.get(bundleOf(first()), known)).status).to.equal(304);
    expect(await countBuilds(hawser)).to.equal(before);
  });

  it('has a head without a body', async () => {
    const head = await first().client.call('HEAD', bundleOf(first()));
    const reply = await first().client.get(bundleOf(first()));
    expect(head.bytes.length).to.equal(0);
    expect(head.headers['content-length']).to.equal(String(reply.bytes.length));
    expect(head.headers['repr-digest']).to.equal(reply.headers['repr-digest']);
  });

  it('stays for who reads it when there is no room for it any more', async () => {
    const reading = await ask(first());
    await assign(hawser, second(), 'larger');
    const reply = await second().client.get(bundleOf(second()));
    expect(reply.bytes.equals(await buildBundle(entriesOf(larger)))).to.equal(true);
    const digest = createHash('sha256')
      .update(await reading.read())
      .digest('base64');
    expect(reading.headers['repr-digest']).to.equal(`sha-256=:${digest}:`);
    await assign(hawser, second(), 'large');
  });

  it('leaves no file in its folder, not even while it is read', async () => {
    const reading = await ask(first());
    expect(namesIn(join(hawser.dataDir, 'bundles'))).to.deep.equal([]);
    reading.breakOff();
  });
});

describe('bundles that are not read', function () {
  this.timeout(240_000);
  let hawser: Hawser;
  let nodes: NodeUnderTest[];
  let length: number;

  before(async () => {
    hawser = await startHawser();
    const children = ['one', 'two', 'three'];
    for (const name of children)
      await publishConfiguration(hawser.admin, name, { '1.0.0': filesOf(16 * MIB) });
    await ok(201, createComposite(hawser.admin, 'all'));
    await ok(201, addCompositeDraft(hawser.admin, 'all', '1.0.0'));
    for (const name of children) await ok(201, addChild(hawser.admin, 'all', '1.0.0', name));
    await ok(200, publishComposite(hawser.admin, 'all', '1.0.0'));
    nodes = [];
    for (let at = 0; at < 5; at += 1) nodes.push(await hawser.registerNode(`n${at}.example.org`));
    for (const node of nodes) await assign(hawser, node, 'all', { isComposite: true });
    const [node] = nodes;
    if (node) length = (await node.client.get(bundleOf(node))).bytes.length;
  });
  after(() => hawser.close());

  const ask = (node: NodeUnderTest) => askWithoutReading(hawser.target(), node.identity, bundleOf(node));
  const askTwiceEach = async (): Promise<UnreadAnswer[]> => {
    const answers: UnreadAnswer[] = [];
    for (const node of nodes) answers.push(await ask(node), await ask(node));
    return answers;
  };
  const growthBy = async (work: () => Promise<UnreadAnswer[]>): Promise<number> => {
    const before = process.memoryUsage().rss;
    const answers = await work();
    const growth = process.memoryUsage().rss - before;
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
    for (const answer of answers) answer.breakOff();
    return growth;
  };

  it('take no memory: ten of a large one, from a file', async () => {
    expect(length).to.be.greaterThan(48 * MIB);
    expect(await growthBy(askTwiceEach)).to.be.lessThan(200 * MIB);
  });

  it('are two for each node, the third is 503, and other nodes get theirs', async () => {
    const [node, other] = nodes as [NodeUnderTest, NodeUnderTest];
    // Those of the test before may have to be noticed first.
    const answers = await eventually(async () => {
      const asked = [await ask(node), await ask(node)];
      if (asked.some(({ status }) => status !== 200)) {
        for (const answer of asked) answer.breakOff();
        throw new Error('the places are taken still');
      }
      return asked;
    });
    const refused = await expectProblem(node.client.get(bundleOf(node)), 503, 'overloaded');
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
    const { checksum } = await ok(200, poll(node));
    expect((await poll(node, checksum)).status).to.equal(304);
    const known = { 'If-None-Match': `"${checksum}"` };
    expect((await node.client.get(bundleOf(node), known)).status).to.equal(304);
    const otherReply = await eventually(async () => ok200(await other.client.get(bundleOf(other))));
    const bytes = await answers[0]?.read();
    expect(bytes?.equals(otherReply.bytes)).to.equal(true);
    await eventually(async () => ok200(await node.client.get(bundleOf(node))));
    answers[1]?.breakOff();
  });

  it('of a user who reads for nodes are two as well', async () => {
    const paths = nodes.map(bundleOf);
    const authorization = { Cookie: hawser.session };
    const target = hawser.target();
    const asked: UnreadAnswer[] = [];
    for (const path of paths.slice(0, 2))
      asked.push(await askWithoutReading(target, {}, path, authorization));
    expect(asked.map(({ status }) => status)).to.deep.equal([200, 200]);
    await expectProblem(hawser.admin.get(paths[2] ?? ''), 503, 'overloaded');
    for (const answer of asked) answer.breakOff();
    await eventually(async () => ok200(await hawser.admin.get(paths[2] ?? '')));
  });

  it('keep no other node from its poll while they are built', async () => {
    await publishConfiguration(hawser.admin, 'new', { '1.0.0': filesOf(32 * MIB) });
    const [node, other] = nodes.slice(-2) as [NodeUnderTest, NodeUnderTest];
    await assign(hawser, node, 'new');
    const { checksum } = await ok(200, poll(other));
    let isBuilt = false;
    const building = eventually(async () => ok200(await node.client.get(bundleOf(node)))).then(() => {
      isBuilt = true;
    });
    for (let polls = 0; polls < 5; polls += 1) expect((await poll(other, checksum)).status).to.equal(304);
    expect(isBuilt).to.equal(false);
    await building;
  });
});

describe('the folder of bundles', () => {
  const folder = temporaryFolder();

  it('is empty after a kill, and swept at the next start', async () => {
    const bundles = folder('data/bundles');
    const hawser = await startHawser({ ...SMALL_CACHE, ...foldersIn(folder()) });
    await publishConfiguration(hawser.admin, 'large', { '1.0.0': filesOf(2 * MIB) });
    const node = await hawser.registerNode('n.example.org');
    await assign(hawser, node, 'large');
    await hawser.close();
    const spawned = await spawnHawser(folder(), SMALL_CACHE);
    const target = await spawned.listening();
    const reading = await askWithoutReading(target, node.identity, bundleOf(node));
    expect(reading.status).to.equal(200);
    reading.breakOff();
    spawned.child.kill('SIGKILL');
    await spawned.ended;
    expect(readdirSync(bundles)).to.deep.equal([]);
    writeFileSync(join(bundles, 'left-over'), 'by one that was killed a moment earlier');
    const again = await spawnHawser(folder(), SMALL_CACHE);
    await again.listening();
    expect(namesIn(bundles)).to.deep.equal([]);
    again.child.kill('SIGTERM');
    await again.ended;
    expect(namesIn(bundles)).to.deep.equal([]);
  });
});

describeWith([mounting()], 'a large bundle on a full disk', () => {
  let disk: SmallDisk;
  let hawser: Hawser;

  before(async () => {
    disk = mountSmallDisk();
    hawser = await startHawser({ ...SMALL_CACHE, HAWSER_DATA_DIR: join(disk.folder, 'data') });
  });
  after(async () => {
    disk?.free();
    await hawser?.close();
    disk?.remove();
  });

  it('is 507 and leaves nothing; as soon as there is room it is there', async () => {
    await publishConfiguration(hawser.admin, 'large', { '1.0.0': filesOf(3 * MIB) });
    const node = await hawser.registerNode('n.example.org');
    await assign(hawser, node, 'large');
    const { checksum } = await ok(200, poll(node));
    disk.fill();
    const refused = await node.client.get(bundleOf(node));
    expect(refused.status).to.equal(507);
    await expectProblem(refused, 507, 'insufficient_storage');
    expect((await poll(node, checksum)).status).to.equal(304);
    disk.free();
    expect(namesIn(join(hawser.dataDir, 'bundles'))).to.deep.equal([]);
    expect((await node.client.get(bundleOf(node))).status).to.equal(200);
  });
});

function foldersIn(folder: string): Record<string, string> {
  return { HAWSER_DATA_DIR: join(folder, 'data'), HAWSER_REPOS_DIR: join(folder, 'repos') };
}

function ok200<T extends { status: number }>(reply: T): T {
  expect(reply.status).to.equal(200);
  return reply;
}
