// full: SQLite
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { addVersion, MAIN, publish } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId } from '../support/parameter-files.ts';
import { askFor, preview, publishing, setting } from '../support/previews.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { createScopeType, DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const LONG = 900_000;
const SCHEMA = `$schema: x
parameters:
  port: {type: int, minValue: 1, maxValue: 65535}
  mode: {type: string, allowedValues: [fast, safe]}
  secret: {type: secureString, minLength: 8, defaultValue: password}
resources: []
`;
const OPEN = '$schema: x\nresources: []\n';

describe('the content of parameter files', () => {
  const hawser = started(startHawser);
  let environment: string;
  let serial = 0;
  const ids: Record<string, string> = {};

  before(async () => {
    environment = await createScopeType(hawser, 'Environment');
    await publishConfiguration(hawser.admin, 'open', { '1.0.0': { [MAIN]: OPEN } });
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: SCHEMA } });
    for (const name of ['open', 'web']) ids[name] = await configurationId(hawser.admin, name);
  });

  const pathOf = (configuration: string, type = DEFAULT_ID) =>
    `/api/v1/parameters/${type}/${ids[configuration]}`;
  const put = (configuration: string, version: string, content: string, contentType = 'yaml') =>
    hawser.admin.put(pathOf(configuration), { version, content, contentType });
  const upload = (configuration: string, version: string, content: string | Buffer, filename = 'p.yaml') =>
    hawser.admin.upload(`/api/v1/configurations/${configuration}/parameters/parameter-files`, {
      fields: { scopeTypeName: 'Default', version },
      part: { name: 'parametersFile', filename, content },
    });
  const publishFile = (configuration: string, version: string) =>
    hawser.admin.put(`${pathOf(configuration)}/versions/${version}/publish`);
  const list = (configuration: string) =>
    ok(200, hawser.admin.get(`${pathOf(configuration)}/versions?take=1000`));
  const majors = (configuration: string) => ok(200, hawser.admin.get(`${pathOf(configuration)}/majors`));
  const freshVersion = (major = 1) => {
    serial += 1;
    return `${major}.${serial}.0`;
  };
  const setMode = (configuration: string, parameterValidationMode: string) =>
    ok(
      200,
      hawser.admin.put(`/api/v1/configurations/${configuration}/settings`, { parameterValidationMode }),
    );

  describe('that cannot be read', () => {
    // What else cannot be read is in the tests of the reader.
    const CASES: [what: string, type: 'yaml' | 'json', text: string, place: RegExp][] = [
      ['lists 10,000 deep', 'yaml', `a: ${'['.repeat(10_000)}${']'.repeat(10_000)}`, /^Line 1, column \d+: /],
      ['a key that is there twice', 'yaml', 'a: 1\nb: 2\na: 3\n', /^Line 3, column 1: /],
      ['a list at the top', 'yaml', '- a\n- b\n', /^Line 1, column 1: /],
      ['YAML that is said to be JSON', 'json', 'a: 1\n', /^Line 1, column 1: /],
      ['half of a surrogate pair', 'json', '{"a": "\\ud800"}', /^Line 1, column \d+: /],
    ];

    const expectPlaced = async (answer: Promise<Reply>, path: string, place: RegExp, what: string) => {
      const reply = await expectProblem(answer, 400, 'validation_failed', what);
      expect(reply.json.errors, what).to.have.length(1);
      expect(reply.json.errors[0].path, what).to.equal(path);
      expect(reply.json.errors[0].message, what).to.match(place);
      expect(reply.json.detail, what).to.match(place);
    };

    afterEach(async () => {
      expect(await list('open')).to.deep.equal([]);
    });

    for (const [what, type, text, place] of CASES)
      it(`is refused: ${what} (${type})`, async () => {
        await expectPlaced(put('open', '1.0.0', text, type), '/content', place, what);
        await expectPlaced(upload('open', '1.0.0', text, `p.${type}`), '/parametersFile', place, what);
      });

    it('is refused: half of a surrogate pair that JSON itself has escaped', async () => {
      const body = '{"version": "1.0.0", "content": "a: 1\\nb: \\ud83d\\n"}';
      const answer = hawser.admin.call('PUT', pathOf('open'), {
        ...{ body, headers: { 'Content-Type': 'application/json' } },
      });
      await expectPlaced(answer, '/content', /^Line 2, column 4: /, 'surrogate');
    });

    it('is refused: what is not UTF-8', async () => {
      for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
        const content = Buffer.concat([Buffer.from('a: 1\nb: "'), Buffer.from(bytes), Buffer.from('"\n')]);
        await expectPlaced(
          upload('open', '1.0.0', content),
          '/parametersFile',
          /^Line 2, column 5: /,
          'UTF-8',
        );
      }
      const utf16 = Buffer.from('\ufeffa: 1\n', 'utf16le');
      await expectPlaced(upload('open', '1.0.0', utf16), '/parametersFile', /^Line 1, column 1: /, 'UTF-16');
    });

    it('is refused: more than a million characters', async () => {
      const content = `a: ${'x'.repeat(1_000_000)}\n`;
      await expectPlaced(upload('open', '1.0.0', content), '/parametersFile', /^Line 1, column /, 'long');
      await expectProblem(put('open', '1.0.0', `a: ${'x'.repeat(1_100_000)}`), 413, 'payload_too_large');
    });
  });

  describe('that can be read', () => {
    it('is kept byte for byte', async () => {
      const texts = [
        '\ufeffparameters:\n  a: 1\n',
        'parameters:\r\n  a: "0123"   # comment\r\n\r\n',
        'parameters: {big: 12345678901234567890, f: 1.0, t: ~, emoji: "🚀", __proto__: {x: 1}}',
        `parameters:\n  long: ${'x'.repeat(LONG)}`,
        'anything: at all\n',
        '{}',
      ];
      for (const content of texts) {
        const version = `2.${texts.indexOf(content)}.0`;
        await ok(201, put('open', version, content));
        await ok(200, publishFile('open', version));
        const read = await ok(200, hawser.admin.get(`${pathOf('open')}/majors/2`));
        expect(read.version).to.equal(version);
        expect(read.content === content, content.slice(0, 40)).to.equal(true);
        expect(hawser.git('parameters/open.git', 'cat-file', 'blob', 'Default:parameters.yaml')).to.equal(
          content,
        );
      }
    });
  });

  describe('against the schema of its configuration', () => {
    const GOOD = 'parameters: {port: 80}';
    const BAD = 'parameters: {port: 0, mode: wild, other: 1, secret: hunter2}';
    const ERRORS = [
      { path: '/parameters/port', code: 'minimum' },
      { path: '/parameters/mode', code: 'not_allowed' },
      { path: '/parameters/other', code: 'unknown_parameter' },
      { path: '/parameters/secret', code: 'min_length' },
    ];
    const expectErrors = (reply: Reply) => {
      const told = reply.json.errors.map(({ path, code }: (typeof ERRORS)[0]) => ({ path, code }));
      expect(told).to.deep.equal(ERRORS);
      expect(reply.text).to.not.include('hunter2');
    };

    it('is checked in mode Strict, where nothing is required of a single scope', async () => {
      await setMode('web', 'Strict');
      const version = freshVersion();
      expectErrors(await expectInvalid(put('web', version, BAD)));
      expectErrors(await expectInvalid(upload('web', version, BAD)));
      const json = JSON.stringify({ parameters: { port: 0, mode: 'wild', other: 1, secret: 'hunter2' } });
      expectErrors(await expectInvalid(put('web', version, json, 'json')));
      expect(await list('web')).to.deep.equal([]);
      expect((await ok(201, put('web', version, GOOD))).needsMigration).to.equal(false);
      const passthrough = { version: freshVersion(), isPassthrough: true };
      expect((await ok(201, hawser.admin.put(pathOf('web'), passthrough))).needsMigration).to.equal(false);
      await expectInvalid(put('web', version, 'port: 80'), '/parameters');
    });

    it('is not even kept as a draft where it was to be published', async () => {
      await setMode('web', 'Strict');
      const version = freshVersion();
      const path = '/api/v1/configurations/web/parameters/parameter-files';
      const form = (content: string) => ({
        fields: { scopeTypeName: 'Environment', scopeValue: 'never', version, publish: 'true' },
        part: { name: 'parametersFile', filename: 'p.yaml', content },
      });
      expectErrors(await expectInvalid(hawser.admin.upload(path, form(BAD))));
      expect(hawser.git('parameters/web.git', 'for-each-ref')).to.not.include('never');
      expect((await hawser.admin.get(`/api/v1/scope-types/${environment}/values`)).json).to.deep.equal([]);
      expect((await ok(201, hawser.admin.upload(path, form(GOOD)))).status).to.equal('Published');
    });

    it('is kept in mode Warn and says that it needs migration; the mode of now counts', async () => {
      await setMode('web', 'Warn');
      const version = freshVersion(3);
      const draft = await ok(201, put('web', version, BAD));
      expect(draft.needsMigration).to.equal(true);
      const needs = async () =>
        (await list('web')).find((file: { version: string }) => file.version === version).needsMigration;
      const majorNeeds = async () =>
        (await majors('web')).find((each: { majorVersion: number }) => each.majorVersion === 3)
          .hasMigrationNeeded;
      expect([await needs(), await majorNeeds()]).to.deep.equal([true, true]);
      await setMode('web', 'Strict');
      expect([await needs(), await majorNeeds()]).to.deep.equal([true, true]);
      const before = hawser.git('parameters/web.git', 'for-each-ref');
      expectErrors(await expectProblem(publishFile('web', version), 409, 'validation_failed'));
      expect(hawser.git('parameters/web.git', 'for-each-ref')).to.equal(before);
      await setMode('web', 'None');
      expect([await needs(), await majorNeeds()]).to.deep.equal([false, false]);
      await setMode('web', 'Warn');
      expect((await ok(200, publishFile('web', version))).needsMigration).to.equal(true);
      const active = await ok(200, hawser.admin.get(`${pathOf('web')}/majors/3`));
      expect(active.needsMigration).to.equal(true);
      expect(active.content.replace(/"ENC\[[^"]*"/, 'hunter2')).to.equal(BAD);
    });

    it('is not checked in mode None, but must still be a document', async () => {
      await setMode('web', 'None');
      const version = freshVersion(4);
      expect((await ok(201, put('web', version, BAD))).needsMigration).to.equal(false);
      expect((await ok(200, publishFile('web', version))).needsMigration).to.equal(false);
      await expectInvalid(put('web', freshVersion(4), 'a: ['));
    });

    it('follows the mode of the server where the configuration sets none', async () => {
      await ok(204, hawser.admin.delete('/api/v1/configurations/web/settings'));
      const version = freshVersion();
      await expectInvalid(put('web', version, BAD));
      const settings = '/api/v1/settings/validation';
      await ok(200, hawser.admin.put(settings, { defaultParameterValidationMode: 'Warn' }));
      expect((await ok(201, put('web', version, BAD))).needsMigration).to.equal(true);
      await ok(200, hawser.admin.put(settings, { defaultParameterValidationMode: 'Strict' }));
    });

    it('goes by the schema of its major, and of the one below where there is none', async () => {
      await setMode('web', 'Strict');
      const renamed = SCHEMA.replace('port:', 'listen:');
      await ok(201, addVersion(hawser.admin, 'web', { version: '2.0.0' }, { files: { [MAIN]: renamed } }));
      await ok(200, publish(hawser.admin, 'web', '2.0.0'));
      await ok(201, put('web', freshVersion(1), GOOD));
      await expectInvalid(put('web', freshVersion(2), GOOD));
      await expectInvalid(put('web', freshVersion(5), GOOD));
      await ok(201, put('web', freshVersion(2), 'parameters: {listen: 80}'));
      await ok(201, put('web', freshVersion(5), 'parameters: {listen: 80}'));
      expect((await ok(201, put('web', freshVersion(0), BAD))).needsMigration, 'nothing below').to.equal(
        false,
      );
    });

    it('may set what only a draft of the configuration declares, as long as it is a draft itself', async () => {
      await setMode('web', 'Strict');
      const files = { [MAIN]: SCHEMA.replace('port:', 'host: {type: string, defaultValue: a}\n  port:') };
      const draft = { version: '1.9.0' };
      const version = freshVersion(1);
      const file = 'parameters: {port: 80, host: b}';
      await expectInvalid(put('web', version, file), '/parameters/host');
      await ok(201, addVersion(hawser.admin, 'web', draft, { files }));
      expect((await ok(201, put('web', version, file))).needsMigration).to.equal(false);
      expectErrors(await expectInvalid(put('web', version, BAD)));
      const needs = async () =>
        (await list('web')).find((each: { version: string }) => each.version === version).needsMigration;
      expect(await needs()).to.equal(false);

      const path = '/api/v1/configurations/web/parameters/parameter-files';
      const form = {
        fields: { scopeTypeName: 'Default', version: freshVersion(1), publish: 'true' },
        part: { name: 'parametersFile', filename: 'p.yaml', content: file },
      };
      await expectInvalid(hawser.admin.upload(path, form), '/parameters/host');
      const refused = await publishFile('web', version);
      await expectProblem(refused, 409, 'validation_failed');
      expect(refused.json.errors).to.have.length(1);
      expect(refused.json.errors[0]).to.include({ path: '/parameters/host', code: 'unknown_parameter' });
      const set = setting('web', version, file);
      await expectProblem(askFor(hawser.admin, [set]), 409, 'validation_failed');
      expect((await preview(hawser.admin, [publishing('web', '1.9.0'), set])).state).to.equal('Done');
      await ok(200, publish(hawser.admin, 'web', '1.9.0'));
      expect((await ok(200, publishFile('web', version))).needsMigration).to.equal(false);
      expect(await needs()).to.equal(false);
    });

    it('may come to break it when the schema changes, which its publishing finds', async () => {
      await setMode('open', 'Strict');
      const version = freshVersion(7);
      expect((await ok(201, put('open', version, BAD))).needsMigration).to.equal(false);
      await ok(201, addVersion(hawser.admin, 'open', { version: '7.0.0' }, { files: { [MAIN]: SCHEMA } }));
      // The new schema calls a value secret that stands in the clear, which is told first.
      await expectProblem(publishFile('open', version), 409, 'secret_in_clear');
      await setMode('open', 'Warn');
      await ok(200, put('open', version, BAD));
      await setMode('open', 'Strict');
      expectErrors(await expectProblem(publishFile('open', version), 409, 'validation_failed'));
      expect((await list('open'))[0]).to.include({ version, status: 'Draft', needsMigration: true });
    });
  });
});
