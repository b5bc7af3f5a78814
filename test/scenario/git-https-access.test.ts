// full: SQLite
/** Who may read over `/git`, and what everybody else is told. */

import { rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { itOnSqlite } from '../support/engine.ts';
import { fetchRequest, type GitClient, gitClient, packet } from '../support/git-client.ts';
import { createToken, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';

const REFS = '/git/configurations/web.git/info/refs?service=git-upload-pack';
const FETCH = '/git/configurations/web.git/git-upload-pack';
const REQUEST = { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' };
const LIST = `${packet('command=ls-refs')}00010000`;
const BASIC_CHALLENGE = 'Basic realm="hawser", charset="UTF-8"';

const basic = (password: string, user = 'git') =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('access to /git', () => {
  let hawser: Hawser;
  let git: GitClient;
  let token: string;
  let admin: Client;

  before(async () => {
    hawser = await startHawser();
    git = gitClient(hawser);
    token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
    admin = hawser.client().with({ Authorization: basic(token) });
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
  });

  after(async () => {
    git.close();
    await hawser.close();
  });

  const tokenOf = async (user: Client, scopes: string[]) => {
    const reply = await user.post('/api/v1/auth/tokens', { name: 'git', scopes });
    expect(reply.status, reply.text).to.equal(201);
    return reply.json as { tokenId: string; token: string };
  };
  const refsWith = (authorization: string, path = REFS) =>
    hawser.client().get(path, { Authorization: authorization });

  describe('credentials', () => {
    it('asks for Basic where none are sent, and keeps the connection', async () => {
      for (const path of [REFS, REFS.replace('web', 'nothing')]) {
        const reply = await expectProblem(hawser.client().get(path), 401, 'unauthenticated');
        expect(reply.headers['www-authenticate']).to.equal(BASIC_CHALLENGE);
        expect(reply.headers['connection']).to.not.equal('close');
      }
      const post = hawser.client().call('POST', FETCH, { headers: REQUEST, body: LIST });
      expect((await post).headers['www-authenticate']).to.equal(BASIC_CHALLENGE);
    });

    it('takes a token as password with any user name, or as Bearer', async () => {
      for (const user of ['git', '', 'x@example.org', 'ü', 'pat_x']) {
        expect((await refsWith(basic(token, user))).status, user).to.equal(200);
      }
      await ok(200, refsWith(`Bearer ${token}`));
      await ok(200, refsWith(`basic  ${basic(token).slice(6)}`));
    });

    const BAD: Record<string, string> = {
      'a wrong token': basic('pat_wrong'),
      'an empty password': basic(''),
      'no colon': `Basic ${Buffer.from('pat_wrong').toString('base64')}`,
      'no base64': 'Basic ***',
      'the first password of the administrator': basic('a-password-for-tests', 'admin'),
      'another scheme': 'Digest abc',
      'a colon in the password': basic('a:b'),
    };
    for (const [what, authorization] of Object.entries(BAD)) {
      it(`answers 401 to ${what}`, async () => {
        const reply = await expectProblem(refsWith(authorization), 401, 'unauthenticated');
        expect(reply.headers['www-authenticate']).to.equal(BASIC_CHALLENGE);
      });
    }

    it('takes Basic nowhere else', async () => {
      const reply = await expectProblem(admin.get('/api/v1/configurations/web'), 401, 'unauthenticated');
      expect(reply.headers['www-authenticate']).to.equal('Bearer realm="hawser"');
    });

    it('answers 401 to a token that was revoked', async () => {
      const user = hawser.client().with({ Cookie: hawser.session });
      const { tokenId, token: revoked } = await tokenOf(user, ['configurations.admin-override']);
      await ok(200, refsWith(basic(revoked)));
      await ok(204, user.delete(`/api/v1/auth/tokens/${tokenId}`));
      await expectProblem(refsWith(basic(revoked)), 401, 'unauthenticated');
      const { code, output } = await git.run('ls-remote', git.url('configurations/web', revoked));
      expect(code).to.equal(128);
      expect(output).to.include('remote: The session or token is not valid');
      expect(output).to.include('Authentication failed');
    });

    it('answers 403 to a node, unless Basic comes along', async () => {
      const node = await hawser.registerNode('web-01.example.org');
      await expectProblem(node.client.get(REFS), 403, 'forbidden');
      await ok(200, node.client.get(REFS, { Authorization: basic(token) }));
    });
  });

  describe('grants', () => {
    it('lets those read who hold Read', async () => {
      const grants = [{ on: 'configuration', name: 'web', level: 'Read' }] as const;
      const user = await makeUser(hawser, { username: 'reader', permissions: [], grants });
      const { token: reading } = await tokenOf(user, ['configurations.grants']);
      await ok(200, refsWith(basic(reading)));
      const { token: blind } = await tokenOf(user, ['nodes.read', 'parameters.grants']);
      await expectProblem(refsWith(basic(blind)), 404, 'not_found');
      const { token: nothing } = await tokenOf(user, []);
      await expectProblem(refsWith(basic(nothing)), 403, 'forbidden');
    });

    it('answers 404 to those without a grant, whatever they ask', async () => {
      const user = await makeUser(hawser, { username: 'stranger', permissions: ['nodes.read'] });
      const { token: strange } = await tokenOf(user, ['configurations.grants', 'nodes.read']);
      const headers = { Authorization: basic(strange) };
      for (const service of ['git-upload-pack', 'git-receive-pack', 'other', ''])
        await expectProblem(
          refsWith(basic(strange), REFS.replace('git-upload-pack', service)),
          404,
          'not_found',
        );
      const client = hawser.client().with(headers);
      await expectProblem(client.call('POST', FETCH, { headers: REQUEST, body: LIST }), 404, 'not_found');
      const push = FETCH.replace('upload', 'receive');
      await expectProblem(client.call('POST', push, { body: '0000' }), 404, 'not_found');
    });

    it('lets parameters fall back to the configuration, and asks for a grant of their own on composites', async () => {
      await saveParameters(hawser, { configuration: 'web', content: 'parameters: {}' });
      const grants = [{ on: 'configuration', name: 'web', level: 'Read' }] as const;
      const user = await makeUser(hawser, { username: 'fallback', permissions: [], grants });
      const { token: both } = await tokenOf(user, ['configurations.grants']);
      const parameters = REFS.replace('configurations', 'parameters');
      await ok(200, refsWith(basic(both), parameters));
      await expectProblem(
        refsWith(basic(both), REFS.replace('configurations', 'composites')),
        404,
        'not_found',
      );
    });
  });

  describe('names', () => {
    const NAMES = [
      '%2e%2e',
      '..%2f',
      '..%2fconfigurations%2fweb',
      '..%5cweb',
      'web.git',
      'WEB',
      '%00',
      'web%00',
      'web%2f',
      '.',
      '--upload-pack=x',
      '.tmp',
    ];
    for (const name of NAMES) {
      it(`answers 404 to ${name}`, async () => {
        for (const kind of ['configurations', 'composites', 'parameters']) {
          const path = `/git/${kind}/${name}.git/info/refs?service=git-upload-pack`;
          await expectProblem(admin.get(path), 404, 'not_found', path);
        }
      });
    }

    it('answers 404 to other files of a repository', async () => {
      for (const file of ['HEAD', 'config', 'objects/info/packs', 'info/refs/x', '../web.git/config', '']) {
        await expectProblem(admin.get(`/git/configurations/web.git/${file}`), 404, 'not_found', file);
      }
      await expectProblem(admin.get('/git/.tmp/web.git/info/refs?service=git-upload-pack'), 404, 'not_found');
    });

    itOnSqlite('answers 500 where the repository of a row is not there', async () => {
      await publishConfiguration(hawser.admin, 'lost', {
        '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
      });
      rmSync(`${hawser.reposDir}/configurations/lost.git`, { recursive: true });
      await expectProblem(admin.get(REFS.replace('web', 'lost')), 500, 'repository_missing');
    });
  });

  describe('the protocol', () => {
    const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
      admin.call('POST', FETCH, { headers: { ...REQUEST, ...headers }, body });

    it('advertises as git itself does, never to be stored', async () => {
      const reply = await admin.get(REFS);
      expect(reply.headers['content-type']).to.equal('application/x-git-upload-pack-advertisement');
      expect(reply.headers['cache-control']).to.equal('no-cache, max-age=0, must-revalidate');
      expect(reply.headers['etag']).to.equal(undefined);
      expect(reply.text).to.match(/^001e# service=git-upload-pack\n0000[0-9a-f]{4}[0-9a-f]{40} HEAD\0/);
      const second = await admin.get(REFS, { 'Git-Protocol': 'version=2' });
      expect(second.text).to.match(/^000eversion 2\n/);
      const head = await admin.call('HEAD', REFS);
      expect(`${head.status} ${head.text}`).to.equal('200 ');
    });

    it('hands no other Git-Protocol on than a version', async () => {
      for (const value of ['version=2;x', 'version=22', '--version=2', 'x', 'version=2 ', ''])
        expect((await admin.get(REFS, { 'Git-Protocol': value })).text, value).to.match(
          value === 'version=2 ' ? /^000eversion 2/ : /^001e# service/,
        );
      const mixed = await admin.get(REFS, { 'Git-Protocol': 'version=1:other:version=2' });
      expect(mixed.text).to.match(/^000eversion 2/);
    });

    it('answers a request, plain or as gzip, ended or not', async () => {
      for (const [body, headers] of [
        [LIST, {}],
        [gzipSync(LIST), { 'Content-Encoding': 'gzip' }],
        [gzipSync(LIST), { 'Content-Encoding': 'x-gzip' }],
      ] as const) {
        const reply = await post(body, headers);
        expect(reply.status, reply.text).to.equal(200);
        expect(reply.headers['content-type']).to.equal('application/x-git-upload-pack-result');
        expect(reply.text).to.include('refs/tags/v1.0.0');
      }
      expect((await post('0000')).text).to.equal('');
    });

    it('says what git says about an object that is not there', async () => {
      const reply = await post(fetchRequest('1'.padStart(40, '0')));
      expect(reply.status).to.equal(200);
      expect(reply.text).to.match(/ERR upload-pack: not our ref 0+1$/);
    });

    it('answers 400 to what git does not understand', async () => {
      for (const body of [
        'garbage',
        packet('command=nope'),
        `${packet('command=ls-refs')}0001`,
        '0009xxxx\n0000',
      ])
        await expectProblem(post(body), 400, 'malformed_body', body);
      await expectProblem(post('', { 'Git-Protocol': 'version=0' }), 400, 'malformed_body');
      await expectProblem(post('not gzip', { 'Content-Encoding': 'gzip' }), 400, 'malformed_body');
      await expectProblem(
        post(gzipSync(LIST).subarray(0, 20), { 'Content-Encoding': 'gzip' }),
        400,
        'malformed_body',
      );
      await ok(200, admin.get(REFS));
    });

    it('answers 415 to another type or encoding', async () => {
      const code = 'unsupported_media_type';
      await expectProblem(post(LIST, { 'Content-Type': 'text/plain' }), 415, code);
      await expectProblem(post(LIST, { 'Content-Encoding': 'br' }), 415, code);
      await expectProblem(admin.call('POST', FETCH, { body: LIST }), 415, code);
    });

    it('answers 413 to a request that is too large, also when only unpacked', async () => {
      const oid = hawser.git('configurations/web.git', 'rev-parse', 'main').trim();
      const wants = packet(`want ${oid}\n`).repeat(230_000);
      const version0 = { 'Git-Protocol': 'version=0' };
      await expectProblem(post(wants, version0), 413, 'payload_too_large');
      const bomb = gzipSync(wants);
      expect(bomb.length).to.be.lessThan(100_000);
      await expectProblem(post(bomb, { ...version0, 'Content-Encoding': 'gzip' }), 413, 'payload_too_large');
      await ok(200, admin.get(REFS));
    });

    it('refuses pushes by a session, and the dumb protocol', async () => {
      const refs = '/git/configurations/web.git/info/refs';
      const session = hawser.client().with({ Cookie: hawser.session });
      await expectProblem(session.get(`${refs}?service=git-receive-pack`), 403, 'forbidden');
      const headers = { 'Content-Type': 'application/x-git-receive-pack-request' };
      const push = session.call('POST', FETCH.replace('upload', 'receive'), { headers, body: '0000' });
      await expectProblem(push, 403, 'forbidden');
      await expectProblem(admin.get(refs), 403, 'smart_protocol_only');
      await expectProblem(admin.get(`${refs}?service=git-upload-archive`), 400, 'unknown_service');
      await expectProblem(admin.get(`${REFS}&service=git-upload-pack`), 400, 'validation_failed');
    });

    it('answers 405 to other methods', async () => {
      expect((await admin.delete(REFS)).headers['allow']).to.equal('GET, HEAD, OPTIONS');
      expect((await admin.get(FETCH)).status).to.equal(405);
    });
  });

  it('writes no secret into the log, and a line for each answer', async () => {
    await git.run('clone', '-q', git.url('configurations/web', token), 'logged');
    expect(hawser.log()).to.not.include(token);
    expect(hawser.log()).to.not.include(basic(token).slice(6));
    const lines = hawser.log().trim().split('\n');
    const fetches = lines
      .map((line) => JSON.parse(line))
      .filter(({ path, bytes }) => path === FETCH && bytes > 0);
    expect(fetches.at(-1)).to.include({ level: 'info', method: 'POST', status: 200 });
    expect(fetches.at(-1).userId).to.be.a('string');
  });
});
