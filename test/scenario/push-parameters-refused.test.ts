// full: SQLite
/** What a push of parameter files is refused for, as its author reads it. It changes nothing then, whatever else it holds. */

import { expect } from 'chai';
import { NODE_SCOPE_TYPE_ID } from '../../src/domain/scopes.ts';
import { gitClient } from '../support/git-client.ts';
import { quarantinesOf } from '../support/hand-made-push.ts';
import { createToken, publishConfiguration, startHawser } from '../support/hawser.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { authorOfFiles, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const port = (value: number | string) => `parameters:\n  port: ${value}\n`;
const GOOD = `HEAD:${DRAFT}/Environment/dev/1.0.0`;
const GRANTS = ['configurations.grants', 'parameters.grants'];
/** Makes what is pushed beside a draft of dev, which is good. */
type Make = (author: PushAuthor) => Promise<string[]>;

const draftOf = (scope: string, files: Record<string, string>, message?: string): Make => {
  return async (author) => {
    await author.commit(files, message);
    return [`HEAD:${DRAFT}/${scope}/1.0.0`];
  };
};
const tagged =
  (name: string, files: Record<string, string>, as = name): Make =>
  async (author) => {
    await author.commit(files);
    await author.ok('tag', '-a', name, '-m', name);
    return [`+refs/tags/${name}:refs/tags/${as}`];
  };

const REFUSALS: readonly [what: string, code: string, make: Make][] = [
  [
    'a value that is not defined',
    'unknown_scope_value',
    draftOf('Environment/mars', { 'mars/parameters.yaml': port(1) }),
  ],
  [
    'a value in another spelling',
    'unknown_scope_value',
    draftOf('Environment/Prod', { 'Prod/parameters.yaml': port(1) }),
  ],
  [
    'two spellings of a new value',
    'unknown_scope_value',
    async (author) => {
      await author.commit({ 'new/parameters.yaml': port(1), 'New/parameters.yaml': port(1) });
      return ['new', 'New'].map((value) => `HEAD:${DRAFT}/Free/${value}/1.0.0`);
    },
  ],
  [
    'a node that is not registered',
    'unknown_node',
    draftOf('Node/no.example.org', { 'no.example.org/parameters.yaml': port(1) }),
  ],
  [
    'a scope type that is not there',
    'unknown_ref',
    draftOf('Nowhere/dev', { 'dev/parameters.yaml': port(1) }),
  ],
  ['a value of Default', 'unknown_ref', draftOf('Default/dev', { 'dev/parameters.yaml': port(1) })],
  ['the branch of a scope type', 'unknown_ref', async () => ['HEAD:refs/heads/Environment']],
  ['a schema', 'unknown_ref', tagged('schema/v1.0.0', {})],
  ['a withdrawal', 'unknown_ref', tagged('withdrawn/Default/v1.0.0', {})],
  ['a version that is no SemVer', 'unknown_ref', async () => [`HEAD:${DRAFT}/Default/spring`]],
  [
    'two versions that are the same',
    'version_exists',
    async (author) => {
      await author.commit({ 'prod/parameters.yaml': port(1) });
      return ['1.0.0+a', '1.0.0+b'].map((version) => `HEAD:${DRAFT}/Environment/prod/${version}`);
    },
  ],
  [
    'content that the schema refuses',
    'type',
    tagged('Environment/prod/v1.0.0', { 'prod/parameters.yaml': port('text') }),
  ],
  [
    'content that is no YAML',
    'invalid_yaml',
    draftOf('Environment/prod', { 'prod/parameters.yaml': 'a: [1\n' }),
  ],
  ['no file where it should be', 'file_missing', draftOf('Environment/stage', {})],
  [
    'a file and the trailer of a passthrough',
    'validation_failed',
    draftOf('Environment/prod', { 'prod/parameters.yaml': port(1) }, 'x\n\nPassthrough: true'),
  ],
  [
    'both YAML and JSON',
    'validation_failed',
    draftOf('Environment/prod', { 'prod/parameters.yaml': port(1), 'prod/parameters.json': '{}' }),
  ],
  [
    'a lightweight tag',
    'lightweight_tag',
    async (author) => {
      await author.commit({ 'prod/parameters.yaml': port(1) });
      return ['HEAD:refs/tags/Environment/prod/v1.0.0'];
    },
  ],
  [
    'a tag that names another version',
    'tag_name_mismatch',
    tagged('Environment/prod/v1.0.9', { 'prod/parameters.yaml': port(1) }, 'Environment/prod/v1.1.0'),
  ],
  [
    'a tag that is published already',
    'published_version',
    tagged('Default/v1.0.0', { 'parameters.yaml': port(2) }),
  ],
  ['a draft of a published version', 'version_exists', draftOf('Default', { 'parameters.yaml': port(2) })],
  [
    'the option publish with a tag',
    'invalid_option',
    async (author) => [
      '-o',
      'publish',
      ...(await tagged('Environment/prod/v1.0.0', { 'prod/parameters.yaml': port(1) })(author)),
    ],
  ],
  [
    'the option entry-point',
    'invalid_option',
    async () => ['-o', 'publish', '-o', 'entry-point=parameters.yaml'],
  ],
  [
    'a secret in the clear',
    'secret_in_clear',
    draftOf('Environment/prod', { 'prod/parameters.yaml': 'parameters: {password: hunter-two}\n' }),
  ],
  [
    'a secret in the clear in an earlier commit',
    'secret_in_clear',
    async (author) => {
      await author.commit({ 'stage/parameters.yaml': 'parameters: {password: hunter-two}\n' });
      return draftOf('Environment/prod', {
        'stage/parameters.yaml': port(1),
        'prod/parameters.yaml': port(1),
      })(author);
    },
  ],
];

describe('a refused git push of parameters', function () {
  this.timeout(60_000);
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  let token: string;
  let type: string;
  let count = 0;

  before(async () => {
    const scopes = ['configurations.admin-override', 'parameters.admin-override'];
    token = await createToken(hawser.client(), hawser.session, scopes);
    type = await createScopeType(hawser, 'Environment', { valueMode: 'Restricted' });
    for (const value of ['dev', 'stage', 'prod']) await createScopeValue(hawser, type, value);
    await createScopeType(hawser, 'Free');
  });
  afterEach(() => expect(quarantinesOf(hawser), 'quarantines').to.deep.equal([]));

  async function begin(): Promise<PushAuthor> {
    count += 1;
    const name = `app-${count}`;
    await publishConfiguration(hawser.admin, name, {
      '1.0.0': {
        'main.dsc.yaml':
          '$schema: x\nparameters:\n  port:\n    type: int\n    defaultValue: 1\n' +
          '  password:\n    type: secureString\n    defaultValue: x\nresources: []\n',
      },
    });
    await saveParameters(hawser, { configuration: name, content: port(80) });
    const author = await authorOfFiles(client, name, token);
    await author.commit({ 'dev/parameters.yaml': port(5) });
    return author;
  }

  for (const [what, code, make] of REFUSALS)
    it(`with ${what} is refused with ${code}, all of it`, async () => {
      const author = await begin();
      const refs = await author.ok('ls-remote', 'origin');
      const { code: exit, output } = await author.push(GOOD, ...(await make(author)));
      expect(exit, output).to.not.equal(0);
      expect(output).to.include(`: ${code}: `).and.include('remote: hawser: Nothing was changed.');
      expect(output).to.include('! [remote rejected]').and.not.include('hunter-two');
      expect(await author.ok('ls-remote', 'origin')).to.equal(refs);
      expect(hawser.git(`parameters/${author.name}.git`, 'fsck', '--strict')).to.equal('');
    });

  it('with a secret that does not open at its place is refused with secret_unreadable, and taken at its own', async () => {
    const author = await begin();
    const { id } = await ok(200, hawser.admin.get(author.api));
    const path = '/parameters/password';
    const asked = { scopeValue: 'prod', path, value: 'hunter-two' };
    const { text } = await ok(200, hawser.admin.post(`/api/v1/parameters/${type}/${id}/encrypt`, asked));
    const refs = await author.ok('ls-remote', 'origin');
    const secret = `parameters:\n  password: "${text}"\n`;
    await author.commit({ 'stage/parameters.yaml': secret, 'prod/parameters.yaml': secret });
    const stage = `HEAD:${DRAFT}/Environment/stage/1.0.0`;
    const { code, output } = await author.push(GOOD, stage);
    expect(code, output).to.not.equal(0);
    expect(output).to.include('draft/Environment/stage/1.0.0: secret_unreadable: ').and.include(path);
    expect(await author.ok('ls-remote', 'origin')).to.equal(refs);
    const own = await author.push(GOOD, `HEAD:${DRAFT}/Environment/prod/1.0.0`);
    expect(own.code, own.output).to.equal(0);
  });

  it('of a scope type that is switched off is refused with scope_type_disabled, all of it', async () => {
    const author = await begin();
    const { fqdn } = await hawser.registerNode(`off-${count}.example.org`);
    const node = `HEAD:${DRAFT}/Node/${fqdn}/1.0.0`;
    await author.commit({ [`${fqdn}/parameters.yaml`]: port(1) });
    await ok(200, hawser.admin.call('PATCH', `/api/v1/scope-types/${NODE_SCOPE_TYPE_ID}/disable`));
    try {
      const refs = await author.ok('ls-remote', 'origin');
      const { code, output } = await author.push(GOOD, node);
      expect(code, output).to.not.equal(0);
      expect(output).to.include(`draft/Node/${fqdn}/1.0.0: scope_type_disabled: `);
      expect(await author.ok('ls-remote', 'origin')).to.equal(refs);
    } finally {
      await ok(200, hawser.admin.call('PATCH', `/api/v1/scope-types/${NODE_SCOPE_TYPE_ID}/enable`));
    }
    expect((await author.push(GOOD, node)).code).to.equal(0);
  });

  it('names the file that may not be changed, where one may modify another', async () => {
    const author = await begin();
    const username = `ann-${count}`;
    const grants = [{ on: 'configuration', name: author.name, level: 'Read' } as const];
    const ann = await makeUser(hawser, { username, grants });
    const reader = await createToken(hawser.client(), ann.session, GRANTS);
    await author.ok('remote', 'set-url', 'origin', client.url(`parameters/${author.name}`, reader));
    const refused = await author.push(GOOD);
    expect(refused.output).to.include('draft/Environment/dev/1.0.0: forbidden: ').and.include('Modify');
    const [dev] = await ok(200, hawser.admin.get(`/api/v1/scope-types/${type}/values?take=1`));
    const path = `/api/v1/configurations/${author.name}/parameters/permissions`;
    const to = { principalType: 'User', principalId: ann.userId, level: 'Modify' };
    await ok(204, hawser.admin.put(path, { ...to, scopeTypeId: type, scopeValueId: dev.id }));
    const both = await author.push(GOOD, `HEAD:${DRAFT}/Default/1.1.0`);
    expect(both.output).to.include('draft/Default/1.1.0: forbidden: ');
    const { code, output } = await author.push(GOOD);
    expect(code, output).to.equal(0);
    const deleted = await author.push(`:${DRAFT}/Environment/dev/1.0.0`);
    expect(deleted.output).to.include(': forbidden: ').and.include('Manage');
  });

  it('is told before it begins that a scope may not be read', async () => {
    const author = await begin();
    const username = `bob-${count}`;
    const grants = [{ on: 'configuration', name: author.name, level: 'Modify' } as const];
    const bob = await makeUser(hawser, { username, grants });
    await saveParameters(hawser, {
      configuration: author.name,
      scopeType: 'Environment',
      value: 'prod',
      content: port(1),
    });
    const values: { id: string; value: string }[] = await ok(
      200,
      hawser.admin.get(`/api/v1/scope-types/${type}/values?take=10`),
    );
    const path = `/api/v1/configurations/${author.name}/parameters/permissions`;
    const keeper = {
      principalType: 'User',
      principalId: (await ok(200, hawser.admin.get('/api/v1/auth/me'))).userId,
    };
    const prod = { scopeTypeId: type, scopeValueId: values.find(({ value }) => value === 'prod')?.id };
    await ok(204, hawser.admin.put(path, { ...keeper, level: 'Manage', ...prod, restricted: true }));
    const mine = await createToken(hawser.client(), bob.session, GRANTS);
    const caller = hawser.client().with({ Authorization: `Bearer ${mine}` });
    const url = `/git/parameters/${author.name}.git/info/refs?service=git-receive-pack`;
    const reply = await caller.get(url);
    expect([reply.status, reply.json.code]).to.deep.equal([403, 'partial_read']);
  });
});
