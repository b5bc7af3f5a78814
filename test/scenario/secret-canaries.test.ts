// full: SQLite, PostgreSQL
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Route } from '../../src/http/route.ts';
import { newKeyLine } from '../../src/lib/sealed-text.ts';
import { type AccessWorld, startAccessWorld } from '../support/access-world.ts';
import { SETS, setOf } from '../support/change-sets.ts';
import type { Client } from '../support/client.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { storedBytes } from '../support/database.ts';
import { ENGINE, itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { publishConfiguration } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { poll, pullBundle, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { groupsOf, preview, setting } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { addressOf, declaredRoutes, isPlainGet, neededQuery } from '../support/routes.ts';
import { DEFAULT_ID } from '../support/scopes.ts';

/** They stand in each secret, whatever form it is written in. */
const WORD = 'Kanarienvogel';
const NUMBER = '7711223344556677';
const NAMES = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
const TYPES = [...NAMES.map((name) => `${name}: {type: secureString, defaultValue: ''}`)];
const SCHEMA = `$schema: x\nparameters: {${TYPES.join(', ')}, creds: {type: secureObject, defaultValue: {}}, port: {type: int, defaultValue: 1}}\nresources: []\n`;

const YAML = `# top
parameters:
  p0: ${WORD}-0 # note
  p1: |
    ${WORD}-1
      second ${WORD}

  p2: >-
    ${WORD}-2
    folded ${WORD}
  p3: "${WORD} \\"3\\"\\
    \\x41${WORD}"
  p4: "[concat('${WORD}', secret('x'))]"
  "p5": ${WORD} five
    more ${WORD}
  ? p6
  : '${WORD} it''s'
  creds:
    user: ${WORD}
    number: ${NUMBER}
    list:
    - ${WORD}
    - a: |
        ${WORD}
      ${WORD}: [${NUMBER}]
    nested: {"deep": {deeper: ${WORD}}, flow: [${WORD}, {x: ${NUMBER}}]}
  port: 80
`;
const JSON_FILE = JSON.stringify({
  parameters: { p0: `${WORD}-json`, creds: { a: [WORD, { b: WORD }], n: Number(NUMBER) }, port: 81 },
});

describe('a secret, wherever one may look', () => {
  let world: AccessWorld;
  let routes: Route[];
  let reader: Client;
  let previewId: string;
  let groups: string[];
  const series = () => world.valuesOf({ path: '/api/v1/parameters/{scopeTypeId}' } as Route);

  before(async () => {
    routes = await declaredRoutes();
    world = await startAccessWorld();
    const { hawser, node } = world;
    await ok(201, addVersion(hawser.admin, 'web', { version: '1.1.0' }, { files: { [MAIN]: SCHEMA } }));
    await ok(200, hawser.admin.put('/api/v1/configurations/web/versions/1.1.0/publish'));
    await ok(
      204,
      hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, {
        configurationName: 'web',
        version: '1.1.0',
      }),
    );
    await saveParameters(hawser, { configuration: 'web', version: '1.1.0', content: YAML });
    await ok(200, poll(node));
    await saveParameters(hawser, {
      ...{ configuration: 'web', version: '1.2.0', content: JSON_FILE, contentType: 'application/json' },
    });
    await ok(200, poll(node));
    reader = await makeUser(hawser, {
      username: 'canary-reader',
      permissions: ['nodes.read', 'reports.read', 'reports.read-all', 'audit.read', 'webhooks.manage'],
      grants: [
        { on: 'configuration', name: 'web', level: 'Read' },
        { on: 'parameters', name: 'web', level: 'Read' },
      ],
    });
    const changes = [setting('web', '1.3.0', YAML.replace('port: 80', 'port: 82'))];
    const made = await preview(hawser.admin, changes, [node.nodeId]);
    previewId = made.id;
    groups = (await groupsOf(hawser.admin, made)).map(({ id }: { id: string }) => id);
    expect(groups).to.not.deep.equal([]);
  });
  after(() => world.close());

  const expectNone = (text: string, where: string) => {
    const at = Math.max(text.indexOf(WORD), text.indexOf(NUMBER));
    expect(at, `${where}: ${text.slice(Math.max(0, at - 200), at + 40)}`).to.equal(-1);
  };

  it('is in the bundle of its node', async () => {
    const bundle = await pullBundle(world.node);
    expect(bundle['parameters.yaml']).to.include(`${WORD}-json`).and.to.include(NUMBER);
  });

  it('is in no answer to a GET, in whatever form it is asked for', async () => {
    const { hawser, node } = world;
    const { checksum } = await ok(200, poll(node));
    let answers = 0;
    for (const route of routes.filter(isPlainGet)) {
      const base = world.valuesOf(route);
      const wanted: Record<string, string>[] = [base];
      if (/^\/api\/v1\/(parameters|configurations)\//.test(route.path))
        for (const version of ['1.1.0', '1.2.0']) wanted.push({ ...base, version });
      if (route.path.startsWith('/api/v1/previews/'))
        for (const groupId of groups)
          for (const filePath of ['parameters.yaml', MAIN])
            wanted.push({ ...base, '/api/v1/previews/{id}': previewId, groupId, filePath });
      if (route.path.startsWith('/api/v1/manifests/')) wanted.push({ ...base, checksum });
      const queries = [neededQuery(route)];
      if (route.path.includes('/compare'))
        queries.push('?from=1.1.0&to=1.2.0', '?to=1.2.0', '?from=1.0.0&to=1.1.0');
      if (route.path.endsWith('/search')) queries.push(`?q=${WORD.slice(0, 6)}`);
      for (const values of wanted)
        for (const query of queries)
          for (const client of [hawser.admin, reader])
            for (const [method, headers] of [
              ['GET', {}],
              ['GET', { Accept: 'text/csv' }],
              ['GET', { Range: 'bytes=0-100000' }],
              ['GET', { 'If-None-Match': '*' }],
              ['HEAD', {}],
            ] as const) {
              const address = addressOf(route, values) + query;
              const reply = await client.call(method, address, { headers });
              answers += reply.status < 300 ? 1 : 0;
              expect(reply.status, `${method} ${address} ${reply.text}`).to.be.below(500);
              if (route.path.endsWith('/search') && query.includes(WORD.slice(0, 6))) continue;
              expectNone(JSON.stringify(reply.headers) + reply.text + reply.bytes, `${method} ${address}`);
            }
    }
    expect(answers).to.be.greaterThan(300);
  });

  it('is in no answer to a file that is refused, or is judged', async () => {
    const { hawser } = world;
    const { configurationId } = series();
    const path = `/api/v1/parameters/${DEFAULT_ID}/${configurationId}`;
    const json = { 'Content-Type': 'application/json' };
    const bad = [
      `parameters:\n  p0: "${WORD}\n`,
      `parameters:\n  p0: *${WORD}\n`,
      `parameters:\n  p0: !${WORD} x\n`,
      `parameters:\n  p0: x\n  p0: ${WORD}\n`,
      `parameters:\n  p0: ${NUMBER}\n  port: x\n`,
      `parameters:\n  p0: [${WORD}]\n`,
      `parameters:\n  p0: {a: ${WORD}}\n`,
      `parameters:\n  creds: ${WORD}\n`,
      `parameters:\n  creds: {a: &${WORD} b}\n`,
      `parameters:\n  creds: {a: .inf, b: ${WORD}}\n`,
      `parameters:\n  p0: ${WORD}: x\n`,
      `parameters:\n\tp0: ${WORD}\n`,
      `parameters: {p0: "ENC[${'0'.repeat(16)},${WORD}]"}\n`,
      `parameters: {p0: ${WORD}`,
      `%${WORD}\n---\nparameters: {}\n`,
      `parameters: {}\n---\n${WORD}: 1\n`,
      `${WORD}`,
      `- ${WORD}`,
      `parameters: {p0: ${WORD}\u0000}`,
    ];
    for (const content of bad) {
      for (const contentType of ['application/yaml', 'application/json']) {
        const body = { version: '3.0.0', content, contentType };
        const raw = { headers: { 'Content-Type': contentType }, body: content };
        const validate = '/api/v1/configurations/web/parameters/validate?version=1.1.0';
        for (const reply of [
          await hawser.admin.put(path, body),
          await hawser.admin.post('/api/v1/previews', {
            changes: [{ ...setting('web', '3.0.0', content), contentType }],
          }),
          await hawser.admin.call('POST', validate, raw),
          await hawser.admin.call('POST', `${validate}&anyText=true`, raw),
        ]) {
          expect(reply.status, reply.text).to.be.below(500);
          expectNone(reply.text, `${contentType} ${content}`);
        }
      }
      const upload = await hawser.admin.upload('/api/v1/configurations/web/parameters/parameter-files', {
        fields: { version: '3.0.0', scopeTypeName: 'Default' },
        part: { name: 'parametersFile', filename: 'p.yaml', content },
      });
      expectNone(upload.text, `upload ${content}`);
    }
    for (const body of [
      `{"version": "3.0.0", "content": ${WORD}`,
      `{"version": "3.0.0", "content": "${WORD}", "content": "${WORD}"}`,
      `{"version": "3.0.0", "content": ["${WORD}"]}`,
      `"${WORD}"`,
      `{"value": "${WORD}", "path": "/parameters/p0", "scopeValue": ["${WORD}"]}`,
      `{"value": {"a": "${WORD}"}, "path": "/parameters/p0"}`,
      `{"value": "${WORD}", "path": "/p"}`,
    ])
      for (const [method, address] of [
        ['PUT', path],
        ['POST', `${path}/encrypt`],
        ['POST', `${path}/versions/1.1.0/reveal`],
        ['POST', '/api/v1/previews'],
      ] as const) {
        const reply = await hawser.admin.call(method, address, { headers: json, body });
        expect(reply.status, reply.text).to.be.within(400, 499);
        expectNone(reply.text, `${address} ${body}`);
      }
  });

  it('lets nobody who only reads test a guess', async () => {
    for (const content of [YAML, `parameters: {p0: ${WORD}-json}\n`])
      await expectProblem(
        reader.post('/api/v1/previews', { changes: [setting('web', '1.3.0', content)] }),
        403,
        'forbidden',
      );
  });

  it('is in no change set that encrypts it by another key', async () => {
    const { hawser, node } = world;
    const file = join(hawser.dataDir, 'secrets.key');
    writeFileSync(file, `${newKeyLine()}\n${readFileSync(file, 'utf8')}`);
    expect(await hawser.server.reloadTls()).to.deep.equal([]);
    const { checksum } = await ok(200, poll(node));
    const made = await hawser.admin.post(`${SETS}/rekey`, { configurationName: 'web' });
    const { id, digest, deeds } = await ok(201, made);
    expect(deeds).to.have.length(1);
    expectNone(made.text, 'the set');
    expectNone((await hawser.admin.post(`${setOf({ id })}/preview`)).text, 'its preview');
    expectNone((await hawser.admin.post(`${setOf({ id })}/apply`, { digest })).text, 'the applied set');
    await ok(204, hawser.admin.post(`${SETS}/rekey`, { configurationName: 'web' }));
    expect((await ok(200, poll(node))).checksum).to.equal(checksum);
  });

  it('never stands in an entry point, as parameters are not managed where one is in their place', async () => {
    const { hawser } = world;
    const fields = {
      name: 'trap',
      version: '1.0.0',
      entryPoint: 'parameters.yaml',
      useServerManagedParameters: 'false',
    };
    const files = { 'parameters.yaml': '$schema: x\nresources: []\n' };
    await ok(201, hawser.admin.upload('/api/v1/configurations', { fields, files }));
    const next = { version: '2.0.0', entryPoint: MAIN };
    await ok(201, addVersion(hawser.admin, 'trap', next, { files: { [MAIN]: SCHEMA } }));
    const versions = '/api/v1/configurations/trap/versions';
    const manage = () =>
      hawser.admin.call('PATCH', '/api/v1/configurations/trap', {
        json: { useServerManagedParameters: true },
      });
    // A draft may be published later.
    await expectProblem(manage(), 409, 'reserved_path', 'version 1.0.0');
    for (const version of ['1.0.0', '2.0.0'])
      await ok(200, hawser.admin.put(`${versions}/${version}/publish`));
    await expectProblem(manage(), 409, 'reserved_path', 'version 1.0.0');
  });

  // Repositories are folders there, which stock git can write to.
  itOnSqlite('is not shown where stock git made such an entry point all the same', async () => {
    const { hawser, node } = world;
    await publishConfiguration(hawser.admin, 'trapped', { '2.0.0': { [MAIN]: SCHEMA } });
    await saveParameters(hawser, { configuration: 'trapped', content: `parameters: {p0: ${WORD}}\n` });
    const outside = new Outside(hawser, 'trapped');
    const entry = outside.file('parameters.yaml', '$schema: x\nresources: []\n');
    const commit = outside.commit([entry], 'Entry-Point: parameters.yaml');
    outside.git('tag', '-a', 'v1.0.0', '-m', 'Version 1.0.0', commit);
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await eventually(async () => {
      await ok(204, hawser.admin.put(path, { configurationName: 'trapped', version: '1.0.0' }));
    });
    await ok(200, poll(node));
    const reply = await hawser.admin.get(path);
    expectNone(reply.text, path);
    await expectProblem(reply, 403, 'secrets_in_bundle');
    const shown = await hawser.admin.get(`/api/v1/nodes/${node.nodeId}/parameters/provenance`);
    expectNone(shown.text, 'provenance');
  });

  it('is not in the log, in the database, in a file, or in an object of git', async () => {
    const { hawser } = world;
    const places = new Map(await storedBytes(hawser));
    for (const name of readdirSync(hawser.folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(hawser.folder, name);
      if (statSync(path).isFile()) places.set(path, readFileSync(path));
    }
    const repositories = [
      'parameters/web.git',
      'configurations/web.git',
      'composites/web.git',
      'changes/changes.git',
    ];
    for (const name of repositories)
      places.set(
        `objects of ${name}`,
        Buffer.from(hawser.git(name, 'cat-file', '--batch-all-objects', '--batch')),
      );
    expect(places.get('objects of parameters/web.git')?.includes('ENC[')).to.equal(true);
    places.set('the log', Buffer.from(hawser.log()));
    for (const [place, bytes] of places) expectNone(bytes.toString('latin1'), `${ENGINE} ${place}`);
  });
});
