// full: SQLite, PostgreSQL
import { readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import {
  assign,
  configurationPath,
  poll,
  pullBundle,
  pullParameters,
  saveParameters,
} from '../support/parameter-files.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, generation, SCOPE_TYPES, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };

/** Scope types Environment and Site in this order, and the configuration `web`. */
async function prepare(hawser: Hawser) {
  await publishConfiguration(hawser.admin, 'web', { '1.0.0': FILES });
  const environment = await createScopeType(hawser, 'Environment');
  const site = await createScopeType(hawser, 'Site');
  return {
    ...{ environment, site },
    prod: await createScopeValue(hawser, environment, 'prod'),
    test: await createScopeValue(hawser, environment, 'test'),
    berlin: await createScopeValue(hawser, site, 'berlin'),
  };
}

async function addNode(hawser: Hawser, name: string, ...scopeValueIds: string[]): Promise<NodeUnderTest> {
  const node = await hawser.registerNode(`${name}.example.org`);
  for (const id of scopeValueIds) await tagNode(hawser, node.nodeId, id);
  await assign(hawser, node, 'web');
  return node;
}

const ENVIRONMENT = { configuration: 'web', scopeType: 'Environment' };
const SITE = { configuration: 'web', scopeType: 'Site', value: 'berlin' };

describe('a change reaches exactly the nodes that it concerns, at their next poll', () => {
  const hawser = started(startHawser);
  let scopes: Awaited<ReturnType<typeof prepare>>;
  const nodes: Record<string, NodeUnderTest> = {};

  before(async () => {
    scopes = await prepare(hawser);
    nodes['plain'] = await addNode(hawser, 'plain');
    nodes['prod'] = await addNode(hawser, 'prod', scopes.prod);
    nodes['test'] = await addNode(hawser, 'test', scopes.test);
    nodes['both'] = await addNode(hawser, 'both', scopes.prod, scopes.berlin);
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {from: default, a: 1}' });
    await saveParameters(hawser, { ...ENVIRONMENT, value: 'prod', content: 'parameters: {from: prod}' });
    await saveParameters(hawser, { ...SITE, content: 'parameters: {from: berlin}' });
  });

  /** The names of the nodes that the change concerns; for every other it is 304 and the same bundle to the byte. */
  async function concerned(change: () => Promise<unknown>): Promise<string[]> {
    const before = new Map<string, { checksum: string; bundle: Buffer }>();
    for (const [name, node] of Object.entries(nodes)) {
      const { checksum } = await ok(200, poll(node));
      const bundle = await node.client.get(`${configurationPath(node)}/bundle`);
      before.set(name, { checksum, bundle: bundle.bytes });
    }
    await change();
    const changed: string[] = [];
    for (const [name, node] of Object.entries(nodes)) {
      const known = before.get(name);
      const reply = await poll(node, known?.checksum);
      if (reply.status === 200) {
        expect(reply.json.checksum).to.not.equal(known?.checksum);
        changed.push(name);
        continue;
      }
      expect(reply.status).to.equal(304);
      expect(reply.headers['etag']).to.equal(`"${known?.checksum}"`);
      const bundle = await node.client.get(`${configurationPath(node)}/bundle`);
      expect(bundle.bytes.equals(known?.bundle ?? Buffer.alloc(0)), name).to.equal(true);
    }
    return changed;
  }

  const nodePath = (name: string) => `/api/v1/nodes/${nodes[name]?.nodeId}`;
  const reorder = (...scopeTypeIds: string[]) => {
    const ends = ['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'];
    return ok(
      200,
      hawser.admin.put(`${SCOPE_TYPES}/reorder`, { scopeTypeIds: [ends[0], ...scopeTypeIds, ends[1]] }),
    );
  };
  const text = (from: string) => `parameters:\n  from: ${from}\n  a: 1\n`;

  it('a publish for one value: the nodes tagged with it that see something of it', async () => {
    const save = { ...ENVIRONMENT, value: 'test', content: 'parameters: {from: test}' };
    expect(await concerned(() => saveParameters(hawser, { ...save, publish: false }))).to.deep.equal([]);
    expect(await concerned(() => saveParameters(hawser, save))).to.deep.equal(['test']);
    expect(await pullParameters(nodes['test'] as NodeUnderTest)).to.equal(text('test'));
    const hidden = { ...ENVIRONMENT, value: 'prod', version: '1.0.1', content: 'parameters: {from: PROD}' };
    expect(await concerned(() => saveParameters(hawser, hidden)), 'hidden by its site').to.deep.equal([
      'prod',
    ]);
    const same = { ...ENVIRONMENT, value: 'prod', version: '1.0.2', content: '{parameters: {"from": PROD}}' };
    expect(await concerned(() => saveParameters(hawser, same)), 'the same values').to.deep.equal([]);
  });

  it('a publish of the lower major, or of another configuration: none', async () => {
    await publishConfiguration(hawser.admin, 'other', { '1.0.0': FILES });
    const change = async () => {
      await saveParameters(hawser, { configuration: 'web', version: '0.9.0', content: 'parameters: {b: 1}' });
      await saveParameters(hawser, { configuration: 'other', content: 'parameters: {b: 1}' });
    };
    expect(await concerned(change)).to.deep.equal([]);
  });

  it('the order of scope types: those whose values that exchanges', async () => {
    expect(await concerned(() => reorder(scopes.site, scopes.environment))).to.deep.equal(['both']);
    expect(await pullParameters(nodes['both'] as NodeUnderTest)).to.equal(text('PROD'));
    expect(await concerned(() => reorder(scopes.environment, scopes.site))).to.deep.equal(['both']);
    expect(await pullParameters(nodes['both'] as NodeUnderTest)).to.equal(text('berlin'));
  });

  it('a tag that is added or removed: its node', async () => {
    const tags = `${nodePath('prod')}/tags`;
    const add = () => ok(201, hawser.admin.post(tags, { scopeValueId: scopes.berlin }));
    expect(await concerned(add)).to.deep.equal(['prod']);
    expect((await ok(200, poll(nodes['prod'] as NodeUnderTest))).checksum).to.equal(
      (await ok(200, poll(nodes['both'] as NodeUnderTest))).checksum,
    );
    const remove = () => ok(204, hawser.admin.delete(`${tags}/${scopes.berlin}`));
    expect(await concerned(remove)).to.deep.equal(['prod']);
  });

  it('a publish for Default: all; for one node: that one', async () => {
    const content = 'parameters: {from: default, a: 2}';
    const all = () => saveParameters(hawser, { configuration: 'web', version: '1.1.0', content });
    expect(await concerned(all)).to.deep.equal(['plain', 'prod', 'test', 'both']);
    const own = { scopeType: 'Node', value: 'plain.example.org', content: 'parameters: {from: itself}' };
    expect(await concerned(() => saveParameters(hawser, { configuration: 'web', ...own }))).to.deep.equal([
      'plain',
    ]);
  });
});

describe('polls of nodes with parameters', () => {
  const hawser = started(startHawser);
  let scopes: Awaited<ReturnType<typeof prepare>>;
  let node: NodeUnderTest;

  before(async () => {
    scopes = await prepare(hawser);
    node = await addNode(hawser, 'web-01', scopes.prod);
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {from: default}' });
  });

  const repository = (kind: string) => join(hawser.reposDir, kind, 'web.git');
  /** With a connection of its own, as the server may have been started anew. */
  const pull = async (what: string): Promise<Reply> => {
    const client = hawser.client(node.identity);
    try {
      return await client.get(`${configurationPath(node)}/${what}`);
    } finally {
      client.close();
    }
  };

  it('need no Git object and write nothing while they know what they get, also after a change for others', async () => {
    const other = await addNode(hawser, 'web-02');
    const { checksum } = await ok(200, poll(node));
    const before = await generation(hawser);
    const folders = ['configurations', 'parameters'].map((kind) => join(repository(kind), 'objects'));
    for (const folder of folders) renameSync(folder, `${folder}-away`);
    try {
      for (let times = 0; times < 3; times += 1) expect((await poll(node, checksum)).status).to.equal(304);
      expect(await generation(hawser)).to.equal(before);
      await tagNode(hawser, other.nodeId, scopes.test);
      expect((await poll(node, checksum)).status).to.equal(304);
    } finally {
      for (const folder of folders) renameSync(`${folder}-away`, folder);
    }
  });

  itOnSqlite('follow a tag that stock git makes', async () => {
    const outside = new Outside(hawser, 'web', 'parameters');
    const commit = outside.commit([
      outside.folderOf('prod', outside.file('parameters.yaml', 'parameters: {from: outside}\n')),
    ]);
    outside.git('tag', '-a', 'Environment/prod/v1.0.0', '-m', 'By hand', commit);
    await eventually(async () => {
      expect(await pullParameters(node)).to.equal('parameters:\n  from: outside\n');
    });
    outside.git('tag', '-d', 'Environment/prod/v1.0.0');
    await eventually(async () => {
      expect(await pullParameters(node)).to.equal('parameters:\n  from: default\n');
    });
  });

  itOnSqlite('follow the entry point that a tag of stock git has from the version below it', async () => {
    const fields = { name: 'inherited', entryPoint: 'other.dsc.yaml' };
    const files = { ...FILES, 'other.dsc.yaml': '$schema: x\nresources: []\n' };
    await ok(201, hawser.admin.upload('/api/v1/configurations', { fields, files }));
    await ok(200, hawser.admin.put('/api/v1/configurations/inherited/versions/1.0.0/publish'));
    const reader = await hawser.registerNode('web-03.example.org');
    await assign(hawser, reader, 'inherited');
    const outside = new Outside(hawser, 'inherited');
    outside.tag(
      '1.1.0',
      Object.keys(files).map((name) => outside.file(name)),
    );
    await eventually(async () => {
      const answer = await ok(200, poll(reader));
      expect(answer).to.include({ version: '1.1.0', entryPoint: 'other.dsc.yaml' });
    });
    const { checksum } = await ok(200, poll(reader));
    outside.git('tag', '-d', 'v1.0.0');
    await eventually(async () => {
      const answer = await ok(200, poll(reader, checksum));
      expect(answer).to.include({ version: '1.1.0', entryPoint: MAIN });
    });
  });

  itOnSqlite('fail, and never get less, where what they should get cannot be read', async () => {
    await saveParameters(hawser, { ...ENVIRONMENT, value: 'prod', content: 'parameters: {from: prod}' });
    await hawser.restart();
    const oid = new Outside(hawser, 'web', 'parameters').git(
      'rev-parse',
      'Environment/prod/v1.0.0:prod/parameters.yaml',
    );
    const object = join(repository('parameters'), 'objects', oid.slice(0, 2), oid.slice(2));
    const whole = readFileSync(object);
    truncateSync(object, 9);
    for (const what of ['checksum', 'bundle', ''])
      await expectProblem(pull(what), 500, 'repository_damaged', what);
    writeFileSync(object, whole);
    const { parametersFile } = await ok(200, pull('checksum'));
    expect(parametersFile).to.equal('parameters.yaml');
    const connected = { ...node, client: hawser.client(node.identity) };
    expect((await pullBundle(connected))['parameters.yaml']).to.equal('parameters:\n  from: prod\n');
  });

  itOnSqlite(
    'fail, and never get less, where the whole repository is gone from the disk, after a start too',
    async () => {
      await ok(200, pull('bundle'));
      const away = `${repository('parameters')}-away`;
      renameSync(repository('parameters'), away);
      await eventually(() => expectProblem(pull('bundle'), 500, 'repository_missing'));
      const write = { ...ENVIRONMENT, value: 'test', content: 'parameters: {from: test}' };
      const refused = await saveParameters(hawser, write).then(() => 'written', String);
      expect(refused).to.include('repository_missing');
      await hawser.restart();
      const again = { ...node, client: hawser.client(node.identity) };
      await expectProblem(
        again.client.get(`/api/v1/nodes/${node.nodeId}/configuration/bundle`),
        500,
        'repository_missing',
      );
      renameSync(away, repository('parameters'));
      await eventually(async () => {
        expect((await pullBundle(again))['parameters.yaml']).to.equal('parameters:\n  from: prod\n');
      });
    },
  );

  itOnSqlite('fail where stock git has tagged what is no parameter document', async () => {
    const outside = new Outside(hawser, 'web', 'parameters');
    const commit = outside.commit([outside.file('parameters.yaml', 'a: s3cret: [\n')]);
    outside.git('tag', '-a', 'Default/v1.5.0', '-m', 'By hand', commit);
    await eventually(async () => {
      await expectProblem(pull('bundle'), 500, 'repository_damaged');
    });
    outside.git('tag', '-d', 'Default/v1.5.0');
    await eventually(() => ok(200, pull('bundle')));
    expect(hawser.log()).to.not.include('s3cret');
  });
});

describe('many nodes with parameters', () => {
  it('get all the old or all the new ones while they poll and somebody publishes', async () => {
    const hawser = await startHawser();
    try {
      const scopes = await prepare(hawser);
      await saveParameters(hawser, { configuration: 'web', content: 'parameters: {a: old, b: old}' });
      for (const value of ['prod', 'test'])
        await saveParameters(hawser, { ...ENVIRONMENT, value, content: `parameters: {env: ${value}}` });
      const tags = [[], [scopes.prod], [scopes.test], [scopes.prod, scopes.berlin], [scopes.berlin]];
      const nodes: { node: NodeUnderTest; env: string }[] = [];
      for (let number = 0; number < 50; number += 1) {
        const kind = number % tags.length;
        const node = await addNode(hawser, `n${number}`, ...(tags[kind] ?? []));
        nodes.push({ node, env: ['', '  env: prod\n', '  env: test\n', '  env: prod\n', ''][kind] ?? '' });
      }
      const old = new Map<NodeUnderTest, string>();
      for (const { node } of nodes) old.set(node, (await ok(200, poll(node))).checksum);
      let isPublished = false;
      const follow = async ({ node, env }: (typeof nodes)[number]): Promise<Set<string>> => {
        const seen = new Set<string>();
        for (let isLast = false; !isLast; ) {
          isLast = isPublished;
          const reply = await poll(node, old.get(node));
          expect(reply.status).to.be.oneOf([200, 304]);
          if (isLast) expect(reply.status, 'after the publish').to.equal(200);
          if (reply.status === 200) seen.add(reply.json.checksum);
          const text = (await pullBundle(node))['parameters.yaml'] ?? '';
          const [before, after] = ['old', 'new'].map(
            (word) => `parameters:\n  a: ${word}\n  b: ${word}\n${env}`,
          );
          expect(text).to.be.oneOf(reply.status === 200 ? [after] : [before, after]);
        }
        return seen;
      };
      const following = nodes.map(follow);
      const content = 'parameters: {a: new, b: new}';
      await saveParameters(hawser, { configuration: 'web', version: '1.1.0', content });
      isPublished = true;
      const seen = await Promise.all(following);
      for (const checksums of seen) expect(checksums.size).to.equal(1);
      expect(new Set(seen.flatMap((checksums) => [...checksums])).size).to.equal(3);
    } finally {
      await hawser.close();
    }
  });
});

describe('nodes with the same parameters', () => {
  it('have the same checksum and bundle on another server that holds the same', async () => {
    const results: [checksum: string, bundle: string][] = [];
    for (const name of ['one', 'two']) {
      const hawser = await startHawser();
      try {
        const scopes = await prepare(hawser);
        hawser.clock.advance(name === 'two' ? 3_600_000 : 0);
        const node = await addNode(hawser, name, scopes.prod);
        await saveParameters(hawser, { configuration: 'web', content: 'parameters: {a: 1, b: 1.0}' });
        // What differs in nothing but its form is the same.
        const content = name === 'one' ? 'parameters: {c: x}' : '# c\nparameters:\n    "c": "x"\n';
        await saveParameters(hawser, { ...ENVIRONMENT, value: 'prod', content });
        const { checksum } = await ok(200, poll(node));
        const bundle = await node.client.get(`${configurationPath(node)}/bundle`);
        results.push([checksum, String(bundle.headers['repr-digest'])]);
      } finally {
        await hawser.close();
      }
    }
    expect(results[0]).to.deep.equal(results[1]);
  });
});

describe('a scope type that is disabled', () => {
  itOnSqlite('takes no part in what nodes get', async () => {
    const hawser = await startHawser();
    try {
      const { prod } = await prepare(hawser);
      const node = await addNode(hawser, 'web-01', prod);
      await saveParameters(hawser, { ...ENVIRONMENT, value: 'prod', content: 'parameters: {env: prod}' });
      const [first, last] = ['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'];
      const turn = (id: string, how: string) =>
        ok(200, hawser.admin.call('PATCH', `${SCOPE_TYPES}/${id}/${how}`));
      await turn(first, 'disable');
      await turn(last, 'disable');
      expect(await pullParameters(node)).to.equal('parameters:\n  env: prod\n');
      const before = await generation(hawser);
      // Only stock git can publish for a scope type that is disabled.
      const outside = new Outside(hawser, 'web', 'parameters');
      const tag = (name: string, entry: string) =>
        outside.git('tag', '-a', `${name}/v1.0.0`, '-m', 'By hand', outside.commit([entry]));
      tag('Default', outside.file('parameters.yaml', 'parameters: {from: default}\n'));
      tag(
        `Node/${node.fqdn}`,
        outside.folderOf(node.fqdn, outside.file('parameters.yaml', 'parameters: {from: node}\n')),
      );
      await eventually(async () => expect(await generation(hawser)).to.be.greaterThan(before));
      expect(await pullParameters(node)).to.equal('parameters:\n  env: prod\n');
      await turn(first, 'enable');
      expect(await pullParameters(node)).to.equal('parameters:\n  from: default\n  env: prod\n');
      await turn(last, 'enable');
      expect(await pullParameters(node)).to.equal('parameters:\n  from: node\n  env: prod\n');
    } finally {
      await hawser.close();
    }
  });
});
