// full: SQLite
import { expect } from 'chai';
import type { Client, Reply } from '../support/client.ts';
import { publishWithChildren } from '../support/composites.ts';
import { addVersion, create, MAIN, publish } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import {
  assign,
  configurationId,
  configurationPath,
  poll,
  pullParameters,
  saveParameters,
} from '../support/parameter-files.ts';
import { filesOf, schemaOf, uploadSchema } from '../support/parameter-schemas.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const MAX_LEAVES = 20_000;
const MAX_PROVENANCE_BYTES = 8 * 1024 * 1024;
const DOCUMENT = { configurationVersion: '1.0.0', prereleaseChannel: null };

const block = (count: number, prefix = 'key') =>
  `parameters:\n${Array.from({ length: count }, (_, at) => `  ${prefix}-${at}: ${at}\n`).join('')}`;
const flow = (count: number) =>
  `parameters: {${Array.from({ length: count }, (_, at) => `k${at}: ${at}`).join(', ')}}`;
const json = (count: number) =>
  JSON.stringify({
    parameters: Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at])),
  });

/** Leaves with pointers of 1,024 bytes each: "/parameters/", 1,000 of the group, a slash and 11 of the name. */
const longPointers = (count: number, group = 'g') => {
  const leaves = Array.from({ length: count }, (_, at) => [`${at}`.padStart(11, 'x'), at]);
  return JSON.stringify({ parameters: { [group.repeat(1_000)]: Object.fromEntries(leaves) } });
};

/** Long keys nested this deep, with a leaf at each level: 64 KB that took 15 s and 98 MB to explain. */
const nested = (levels: number, key: string, leaves: number) => {
  const own = Array.from({ length: leaves }, (_, at) => `"l${at}":1,`).join('');
  return `{"parameters":${`{${own}"${key}":`.repeat(levels)}1${'}'.repeat(levels + 1)}`;
};

describe('the leaves of parameters', function () {
  this.timeout(180_000);
  const hawser = started(startHawser);
  let admin: Client;
  let node: NodeUnderTest;

  before(async () => {
    admin = hawser.admin;
    node = await hawser.registerNode('web-01.example.org');
    for (const [scopeType, value] of [
      ['Environment', 'prod'],
      ['Site', 'berlin'],
    ] as const) {
      const id = await createScopeType(hawser, scopeType);
      await tagNode(hawser, node.nodeId, await createScopeValue(hawser, id, value));
    }
  });

  const start = async (name: string) => {
    await publishConfiguration(admin, name, { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await assign(hawser, node, name);
    return (wish: Omit<Parameters<typeof saveParameters>[1], 'configuration'>) =>
      saveParameters(hawser, { configuration: name, ...wish });
  };
  const PROD = { scopeType: 'Environment', value: 'prod' };
  const BERLIN = { scopeType: 'Site', value: 'berlin' };
  const of = ({ nodeId }: NodeUnderTest) => `/api/v1/nodes/${nodeId}`;
  const provenance = () => admin.get(`${of(node)}/parameters/provenance`);
  const resolution = () => admin.get(`${of(node)}/parameters/resolution`);

  describe('of one document', () => {
    let path: string;

    before(async () => {
      await publishConfiguration(admin, 'alone', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
      path = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(admin, 'alone')}`;
    });

    /** The document by each of the ways that look at it. */
    const ways: [name: string, path: string, send: (content: string, type: string) => Promise<Reply>][] = [
      [
        'a draft',
        '/content',
        (content, type) => admin.put(path, { version: '1.0.0', content, contentType: `application/${type}` }),
      ],
      [
        'a file',
        '/parametersFile',
        (content, type) =>
          admin.call('POST', `${schemaOf('alone')}/parameter-files`, {
            form: {
              fields: { scopeTypeName: 'Default', version: '2.0.0' },
              part: { name: 'parametersFile', filename: `a.${type}`, content },
            },
          }),
      ],
      [
        'a question',
        '',
        (body, type) =>
          admin.call('POST', `${schemaOf('alone')}/validate`, {
            headers: { 'Content-Type': `application/${type}` },
            body,
          }),
      ],
    ];
    const documents: [name: string, type: string, fits: string, breaks: string][] = [
      ['20,000 leaves in block style', 'yaml', block(MAX_LEAVES), block(MAX_LEAVES + 1)],
      ['20,000 leaves in flow style', 'yaml', flow(MAX_LEAVES), flow(MAX_LEAVES + 1)],
      ['20,000 leaves in JSON', 'json', json(MAX_LEAVES), json(MAX_LEAVES + 1)],
      ['2 MiB of pointers', 'json', longPointers(2_048), longPointers(2_049)],
    ];
    for (const [way, place, send] of ways)
      for (const [name, type, fits, breaks] of documents)
        it(`are refused above ${name}: ${way}`, async () => {
          const taken = await send(fits, type);
          expect(taken.status, taken.text.slice(0, 200)).to.be.oneOf([200, 201]);
          const refused = await expectProblem(send(breaks, type), 400, 'too_complex: too_complex');
          expect(refused.json.errors[0].path).to.equal(place);
        });

    it('count a list as one, however long, and an empty mapping too', async () => {
      const [, , send] = ways[0] as (typeof ways)[0];
      const content = `{"parameters":{"list":[${'1,'.repeat(30_000)}1],"none":{}}}`;
      const kept = await ok(200, send(content, 'json'));
      expect(kept).to.include({ version: '1.0.0', scopeTypeName: 'Default' });
    });

    it('nested so deep that their pointers repeat long keys are refused at once', async () => {
      const [, , send] = ways[0] as (typeof ways)[0];
      await expectProblem(send(nested(97, 'k'.repeat(200), 60), 'json'), 400, 'too_complex: too_complex');
    });

    it('are bounded in schemas too, where a block of more is one that cannot be read', async () => {
      const definitions = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, { type: 'int' }]));
      const uploaded = await uploadSchema(admin, 'alone', '3.0.0', definitions(MAX_LEAVES));
      expect(uploaded.status, uploaded.text.slice(0, 200)).to.equal(200);
      expect(uploaded.json.schema.properties.parameters.required).to.have.length(MAX_LEAVES);
      const more = definitions(MAX_LEAVES + 1);
      await expectProblem(uploadSchema(admin, 'alone', '4.0.0', more), 400, 'too_complex: too_complex');
      await ok(201, create(admin, 'blocks', {}, filesOf(more)));
      await expectProblem(publish(admin, 'blocks', '1.0.0'), 409, 'validation_failed: too_complex');
      await ok(201, addVersion(admin, 'blocks', { version: '2.0.0' }, filesOf(definitions(MAX_LEAVES))));
      await ok(200, publish(admin, 'blocks', '2.0.0'));
    });
  });

  describe('of all files together', () => {
    const WAYS: [name: string, path: string][] = [
      ['configuration', '/configuration'],
      ['checksum', '/configuration/checksum'],
      ['bundle', '/configuration/bundle'],
    ];

    /** What everybody is told who asks what the node gets. */
    async function expectFailure(): Promise<void> {
      for (const [name, path] of WAYS) {
        await expectProblem(node.client.get(of(node) + path), 409, 'parameter_merge_failed', name);
        await expectProblem(admin.get(of(node) + path), 409, 'parameter_merge_failed', name);
      }
      await expectProblem(provenance(), 409, 'parameter_merge_failed');
      await expectProblem(resolution(), 409, 'parameter_merge_failed');
      expect((await ok(200, admin.get(of(node)))).parameterProblems).to.equal(1);
      const [listed] = await ok(200, admin.get('/api/v1/nodes?hasParameterProblems=true'));
      expect(listed).to.include({ id: node.nodeId, parameterProblems: 1 });
    }

    async function expectParameters(leaves: number): Promise<void> {
      expect((await pullParameters(node))?.trim().split('\n')).to.have.length(leaves + 1);
      expect((await node.client.get(configurationPath(node))).status).to.equal(200);
      expect((await ok(200, resolution())).problems).to.deep.equal([]);
      const told = await provenance();
      expect(told.status).to.equal(200);
      expect(Object.keys(told.json.provenance)).to.have.length(leaves);
      expect((await ok(200, admin.get(of(node)))).parameterProblems).to.equal(0);
    }

    it('are refused to whoever asks, until files are published that fit', async () => {
      const save = await start('web');
      await save({ content: block(12_000, 'a') });
      await save({ ...PROD, content: block(8_000, 'b') });
      await expectParameters(MAX_LEAVES);
      const before = (await poll(node)).json.checksum;
      await save({ ...PROD, version: '1.1.0', content: block(8_001, 'b') });
      await expectFailure();
      await expectProblem(poll(node, before), 409, 'parameter_merge_failed');
      await expectFailure();
      await save({ ...PROD, version: '1.2.0', content: block(8_000, 'b') });
      await expectParameters(MAX_LEAVES);
      expect((await poll(node, before)).status).to.equal(304);
    });

    it('have pointers of 2 MiB together, and not more', async () => {
      const save = await start('deep');
      await save({ content: longPointers(1_024, 'g'), contentType: 'application/json' });
      await save({ ...PROD, content: longPointers(1_024, 'h'), contentType: 'application/json' });
      expect(Object.keys((await ok(200, provenance())).provenance)).to.have.length(2_048);
      await save({ ...BERLIN, content: 'parameters: {one: more}' });
      await expectFailure();
      await save({ ...BERLIN, version: '1.1.0', content: null });
      expect((await poll(node)).status).to.equal(200);
    });

    it('do not count what the files have in common', async () => {
      const save = await start('common');
      await save({ content: block(MAX_LEAVES) });
      await save({ ...PROD, content: block(100) });
      await expectParameters(MAX_LEAVES);
    });

    it('fail a composite with the one child that has too many', async () => {
      await publishWithChildren(admin, 'suite', '1.0.0', ['web', 'common']);
      await assign(hawser, node, 'suite', { isComposite: true });
      expect((await poll(node)).status).to.equal(200);
      const wish = { configuration: 'web', ...PROD, version: '1.3.0', content: block(8_001, 'b') };
      await saveParameters(hawser, wish);
      await expectProblem(poll(node), 409, 'parameter_merge_failed');
      expect((await ok(200, admin.get(of(node)))).parameterProblems).to.equal(1);
      const ask = async (name: string) =>
        admin.get(`${of(node)}/parameters/resolution?configurationId=${await configurationId(admin, name)}`);
      expect(await ok(200, ask('common'))).to.deep.include(DOCUMENT);
      await expectProblem(ask('web'), 409, 'parameter_merge_failed');
      await saveParameters(hawser, { ...wish, version: '1.4.0', content: null });
      expect((await poll(node)).status).to.equal(200);
    });

    itOnSqlite('count where stock git has published what the interface refuses', async () => {
      const save = await start('outside');
      await save({ content: block(10) });
      const first = (await ok(200, poll(node))).checksum;
      const outside = new Outside(hawser, 'outside', 'parameters');
      const commit = outside.commit([outside.file('parameters.yaml', block(MAX_LEAVES + 1))]);
      outside.git('tag', '-a', 'Default/v1.1.0', '-m', 'Version 1.1.0', commit);
      await hawser.restart();
      node = { ...node, client: hawser.client(node.identity) };
      admin = hawser.admin;
      await expectFailure();
      await save({ version: '1.2.0', content: block(10) });
      expect((await ok(200, poll(node))).checksum).to.equal(first);
    });
  });

  describe('of which somebody asks who set them', () => {
    it('are told for the longest pointers that there may be, in 8 MiB at most', async () => {
      const save = await start('long');
      const content = nested(97, 'k'.repeat(100), 4);
      await save({ content, contentType: 'application/json' });
      await save({ ...PROD, content, contentType: 'application/json' });
      const told = await provenance();
      expect(told.status).to.equal(200);
      expect(told.bytes.length).to.be.lessThan(MAX_PROVENANCE_BYTES);
      const leaves = Object.values(told.json.provenance) as { overriddenValues: unknown[] }[];
      expect(leaves).to.have.length(97 * 4 + 1);
      for (const { overriddenValues } of leaves) expect(overriddenValues).to.have.length(1);
    });

    it('are told for as many as there may be', async () => {
      const save = await start('many');
      await save({ content: block(MAX_LEAVES) });
      const told = await provenance();
      expect(told.status).to.equal(200);
      expect(told.bytes.length).to.be.lessThan(MAX_PROVENANCE_BYTES);
      expect(told.json.provenance[`/parameters/key-${MAX_LEAVES - 1}`]).to.include({
        value: MAX_LEAVES - 1,
      });
    });

    it('are refused beyond 8 MiB, though the node gets them', async () => {
      const save = await start('wide');
      // Control characters take three times as much in JSON as in the document, and are told of each scope.
      const content = `parameters: {text: "${'\\a'.repeat(320_000)}"}`;
      const scopes = [{}, PROD, BERLIN, { scopeType: 'Node', value: node.fqdn }];
      for (const scope of scopes.slice(0, 2)) await save({ ...scope, content });
      const told = await provenance();
      expect(told.status).to.equal(200);
      expect(told.bytes.length).to.be.within(MAX_PROVENANCE_BYTES / 2, MAX_PROVENANCE_BYTES);
      for (const scope of scopes.slice(2)) await save({ ...scope, content });
      await expectProblem(provenance(), 409, 'parameter_merge_failed');
      await ok(200, resolution());
      expect((await poll(node)).status).to.equal(200);
      expect((await node.client.get(configurationPath(node))).status).to.equal(200);
    });
  });
});
