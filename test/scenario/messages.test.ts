// full: SQLite
/** The mistakes that new users make: each answer says what was wanted, and how to come by it. */

import { once } from 'node:events';
import { chmodSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { expect } from 'chai';
import { PERMISSION_NAMES } from '../../src/domain/permissions.ts';
import type { Client, Form } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, publish } from '../support/configurations.ts';
import { ALL_SCOPES, createToken, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { makeZip } from '../support/zip.ts';

const COMPOSITES = '/api/v1/composite-configurations';
const DEFAULT_SCOPE = '00000000-0000-0000-0000-000000000001';

const zipOf = (files: Record<string, string>) =>
  makeZip(Object.entries(files).map(([name, content]) => ({ name, content })));

describe('messages', () => {
  const hawser = started(() =>
    startHawser({
      HAWSER_UPLOAD_LIMIT: '8KiB',
      HAWSER_UPLOAD_FILES: '3',
    }),
  );
  let admin: Client;
  let configurationId: string;

  before(async () => {
    admin = hawser.admin;
    configurationId = (await ok(201, create(admin, 'web', { version: '1.1.0' }))).id;
    await ok(200, publish(admin, 'web', '1.1.0'));
    await ok(201, admin.post(COMPOSITES, { name: 'all' }));
    await ok(201, admin.post(`${COMPOSITES}/all/versions`, { version: '1.1.0' }));
  });

  describe('for an upload without a file at the entry point', () => {
    const document = '$schema: x\nresources: []\n';
    const uploads: [what: string, form: Form, detail: string][] = [
      [
        'a ZIP with a folder on top',
        { archive: zipOf({ 'web/main.dsc.yaml': document, 'web/a.txt': '' }) },
        'No file main.dsc.yaml; found web/main.dsc.yaml; set entryPoint',
      ],
      [
        'files in a folder',
        { files: { 'web/main.dsc.yaml': document } },
        'No file main.dsc.yaml; found web/main.dsc.yaml; set entryPoint',
      ],
      [
        'a document of another name',
        { files: { 'site.dsc.yaml': document, 'a.yaml': '' } },
        'No file main.dsc.yaml; found site.dsc.yaml; set entryPoint',
      ],
      [
        'no document',
        { files: { 'a.txt': '' } },
        'No file main.dsc.yaml; set entryPoint to the path of the DSC document',
      ],
    ];
    for (const [what, form, detail] of uploads) {
      it(`names what it has: ${what}`, async () => {
        for (const reply of [create(admin, 'other', {}, form), addVersion(admin, 'web', {}, form)]) {
          const { json } = await expectProblem(reply, 400, 'validation_failed: entry_point_missing');
          expect(json.detail).to.equal(detail);
        }
      });
    }

    it('takes the path that it has named', async () => {
      const form = { archive: zipOf({ 'web/main.dsc.yaml': document }) };
      await ok(201, create(admin, 'in-a-folder', { entryPoint: 'web/main.dsc.yaml' }, form));
    });
  });

  describe('for a body that is no JSON', () => {
    const bodies: [body: string, detail: RegExp][] = [
      ['{"name": "Deployer",\n "permissions": ["hunter2"\n}', /Line 3, column 1: Expected "," or "]"\.$/],
      ['{"name": "hunter2",}', /Line 1, column 20: Expected a key in double quotes\.$/],
      ['{"name": hunter2}', /Line 1, column 10: Expected a value\.$/],
      ['{"name": "hunter2', /Line 1, column 10: This text has no closing quote\.$/],
      ['', /empty/],
    ];
    for (const [body, detail] of bodies) {
      it(`names the place, and repeats nothing: ${JSON.stringify(body)}`, async () => {
        const headers = { 'Content-Type': 'application/json' };
        const reply = await admin.call('POST', '/api/v1/roles', { headers, body });
        await expectProblem(reply, 400, 'validation_failed: malformed_json');
        expect(reply.json.detail).to.match(detail);
        expect(reply.text + hawser.log()).to.not.contain('hunter2');
      });
    }
  });

  describe('for a version with a v in front', () => {
    const drop = /drop the v: 1\.1\.0$/;
    const calls: [what: string, status: number, call: () => Promise<unknown>][] = [
      ['of a new configuration', 400, () => create(admin, 'v', { version: 'v1.1.0' })],
      ['of a new draft', 400, () => addVersion(admin, 'web', { version: 'v1.1.0' })],
      ['to publish', 404, () => publish(admin, 'web', 'v1.1.0')],
      ['to read', 404, () => admin.get(`${CONFIGURATIONS}/web/versions/v1.1.0`)],
      ['of a file', 404, () => admin.get(`${CONFIGURATIONS}/web/versions/v1.1.0/files/main.dsc.yaml`)],
      ['to delete', 404, () => admin.delete(`${CONFIGURATIONS}/web/versions/v1.1.0`)],
      ['of a composite', 400, () => admin.post(`${COMPOSITES}/all/versions`, { version: 'v1.1.0' })],
      ['of a composite in a path', 404, () => admin.get(`${COMPOSITES}/all/versions/v1.1.0`)],
      [
        'of a child',
        400,
        () =>
          admin.post(`${COMPOSITES}/all/versions/1.1.0/children`, {
            childConfigurationName: 'web',
            activeVersion: 'v1.1.0',
          }),
      ],
      [
        'of a parameter file',
        400,
        () => admin.put(`/api/v1/parameters/${DEFAULT_SCOPE}/${configurationId}`, { version: 'v1.1.0' }),
      ],
      ['of a schema', 404, () => admin.get(`${CONFIGURATIONS}/web/parameters?version=v1.1.0`)],
    ];
    for (const [what, status, call] of calls) {
      it(`says to drop it: the version ${what}`, async () => {
        const reply = await expectProblem(
          call() as ReturnType<Client['get']>,
          status,
          status === 404 ? 'not_found' : 'validation_failed',
        );
        expect(reply.json.errors?.[0].message ?? reply.json.detail).to.match(drop);
      });
    }
  });

  describe('for a name where a path has an id', () => {
    const addresses: [path: string, list: string][] = [
      ['/api/v1/users/admin', 'GET /api/v1/users '],
      ['/api/v1/groups/Operators/members', 'GET /api/v1/groups '],
      ['/api/v1/roles/Viewer', 'GET /api/v1/roles '],
      ['/api/v1/scope-types/Environment/values', 'GET /api/v1/scope-types '],
      [`/api/v1/parameters/Default/${DEFAULT_SCOPE}/versions`, 'GET /api/v1/scope-types '],
      [`/api/v1/parameters/${DEFAULT_SCOPE}/web/versions`, 'GET /api/v1/configurations/{name} '],
    ];
    for (const [path, list] of addresses) {
      it(`says that an id is wanted, and which list has it: ${path}`, async () => {
        const { json } = await expectProblem(admin.get(path), 404, 'not_found');
        expect(`${json.detail} `).to.contain('in this path is an id').and.to.contain(list);
      });
    }

    it('says the same whether the name exists or not, and nothing to callers without the right', async () => {
      const textOf = async (client: Client, name: string) =>
        (await client.get(`/api/v1/users/${name}`, { 'X-Request-Id': 'same' })).text;
      expect(await textOf(admin, 'admin')).to.equal(await textOf(admin, 'nobody'));
      await expectProblem(hawser.client().get('/api/v1/users/admin'), 401, 'unauthenticated');
      const token = await createToken(hawser.client(), hawser.session, ['nodes.read']);
      const other = hawser.client().with({ Authorization: `Bearer ${token}` });
      const refused = await expectProblem(other.get('/api/v1/users/admin'), 403, 'forbidden');
      expect(refused.json.detail).to.not.contain('in this path');
    });

    it('says that a configuration has a name in the path', async () => {
      const { json } = await expectProblem(
        admin.get(`${CONFIGURATIONS}/${configurationId}`),
        404,
        'not_found',
      );
      expect(json.detail).to.contain('{name} in this path is the name, not the id');
    });
  });

  it('lists the permissions where one is unknown', async () => {
    const role = { name: 'x', permissions: ['nodes.read', 'nodes.reed'] };
    const { json } = await expectProblem(admin.post('/api/v1/roles', role), 400, 'validation_failed');
    for (const name of PERMISSION_NAMES) expect(json.errors[0].message).to.contain(name);
    expect(json.detail).to.not.contain('nodes.reed');
  });

  it('lists the scopes where one is unknown', async () => {
    const call = { json: { name: 'x', scopes: ['nodes.reed'] }, headers: { Cookie: hawser.session } };
    const reply = hawser.client().call('POST', '/api/v1/auth/tokens', call);
    const { json } = await expectProblem(reply, 400, 'validation_failed');
    for (const name of ALL_SCOPES) expect(json.errors[0].message).to.contain(name);
  });

  it('names the limit of what is too large, and the setting that raises it', async () => {
    const large = 'x'.repeat(9 * 1024);
    const many = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, name]));
    const refusals: [reply: ReturnType<Client['get']>, detail: RegExp][] = [
      [admin.post('/api/v1/roles', { name: 'x'.repeat(1024 ** 2) }), /1048576 bytes, the limit$/],
      [create(admin, 'l', {}, { files: { 'main.dsc.yaml': large } }), /8192 bytes.* HAWSER_UPLOAD_LIMIT/],
      [create(admin, 'l', {}, { archive: zipOf({ a: large }) }), /8192 bytes.* HAWSER_UPLOAD_LIMIT/],
      [create(admin, 'l', {}, { files: many }), /3 files.* HAWSER_UPLOAD_FILES/],
      [create(admin, 'l', {}, { archive: zipOf(many) }), /3 files.* HAWSER_UPLOAD_FILES/],
    ];
    for (const [reply, detail] of refusals) {
      const { json } = await expectProblem(reply, 413, 'payload_too_large');
      expect(json.detail).to.match(detail);
    }
  });

  it('tells a token which scope it lacks', async () => {
    const token = await createToken(hawser.client(), hawser.session, ['nodes.read']);
    const reader = hawser.client().with({ Authorization: `Bearer ${token}` });
    const users = await expectProblem(reader.get('/api/v1/users'), 403, 'forbidden');
    expect(users.json.detail).to.match(/users\.manage, which is not among the scopes of this token/);
    const details = [];
    for (const name of ['web', 'missing']) {
      const { json } = await expectProblem(reader.get(`${CONFIGURATIONS}/${name}`), 404, 'not_found');
      details.push(json.detail);
    }
    expect(details[0]).to.match(/scopes of this token do not include configurations\.grants/);
    expect(details[1]).to.equal(details[0]);
  });

  it('says of a form which parts there are, and of an address where the API begins', async () => {
    const form = { part: { name: 'file', filename: 'main.dsc.yaml', content: '' } };
    const part = await expectProblem(create(admin, 'p', {}, form), 400, 'validation_failed');
    expect(part.json.detail).to.match(/no part "file"; there are name, .*files, archive$/);
    const lost = await expectProblem(admin.get('/nodes'), 404, 'not_found');
    expect(lost.json.detail).to.contain('begin with /api/v1/');
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const call = { headers, body: '{}' };
    const type = await expectProblem(
      admin.call('POST', '/api/v1/roles', call),
      415,
      'unsupported_media_type',
    );
    expect(type.json.detail).to.equal('The Content-Type must be application/json');
  });

  describe('for plain HTTP on the port of TLS', () => {
    /** Sends bytes without TLS, and returns what comes until the server closes. */
    async function sendPlain(bytes: string): Promise<string> {
      const socket = connect(hawser.server.port, '127.0.0.1');
      let received = '';
      socket.on('data', (chunk) => (received += chunk)).on('error', () => undefined);
      socket.write(bytes);
      await once(socket, 'close');
      return received;
    }

    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'CONNECT']) {
      it(`says https once and closes: ${method}`, async () => {
        const received = await sendPlain(`${method} / HTTP/1.1\r\nHost: <script>x.example\r\n\r\n`);
        const [head = '', body = ''] = received.split('\r\n\r\n');
        expect(head)
          .to.match(/^HTTP\/1\.1 400 Bad Request\r\n/)
          .and.to.match(/^Connection: close$/m);
        expect(JSON.parse(body)).to.include({ status: 400, code: 'https_required' });
        expect(JSON.parse(body).detail).to.contain('https://');
        expect(received).to.not.contain('script');
      });
    }

    it('is read no further, however much is sent, and says nothing to what is neither HTTP nor TLS', async () => {
      const endless = `POST / HTTP/1.1\r\nHost: x\r\n\r\n${'GET / HTTP/1.1\r\n'.repeat(100_000)}`;
      expect((await sendPlain(endless)).match(/HTTP\/1\.1 400/g)).to.have.length(1);
      expect(await sendPlain('\0'.repeat(8))).to.not.contain('HTTP');
    });
  });

  describe('at the next start', () => {
    it('says that it has closed its folders to other users', async () => {
      chmodSync(hawser.dataDir, 0o755);
      chmodSync(hawser.reposDir, 0o755);
      await hawser.restart();
      for (const path of [hawser.dataDir, hawser.reposDir]) {
        expect(statSync(path).mode & 0o777).to.equal(0o700);
        expect(hawser.log()).to.contain(`"path":"${path}","mode":"755"`);
      }
    });
  });
});
