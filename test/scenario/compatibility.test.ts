// full: SQLite
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { CONFIGURATIONS, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { filesOf, publishBlocks, tryPublish, uploadSchema } from '../support/parameter-schemas.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const text = { type: 'string', defaultValue: 'abcd' };
const int = { type: 'int', defaultValue: 5 };

/** One of each kind; unit tests of compareSchemas have the others. What a report says of the one parameter `it`, from the first definition to the second. */
const CHANGES: readonly {
  changeType: string;
  isBreaking: boolean;
  from: object | null;
  to: object | null;
  values: [string | null, string | null];
}[] = [
  { changeType: 'ParameterRemoved', isBreaking: true, from: text, to: null, values: ['string', null] },
  { changeType: 'ParameterAdded', isBreaking: false, from: null, to: int, values: [null, 'int'] },
];

/** Goes in the second version of every case, so that there is a report to look into. */
const goes = { type: 'bool', defaultValue: true };
const blockOf = (it: object | null, more: object = {}) => ({ ...(it === null ? {} : { it }), ...more });

describe('a version is published', () => {
  const hawser = started(startHawser);

  const refused = async (reply: Promise<Reply> | Reply, what = '') =>
    (await expectProblem(reply, 409, 'incompatible_parameters', what)).json.compatibilityReport;

  for (const [at, { changeType, isBreaking, from, to, values }] of CHANGES.entries()) {
    const how = isBreaking ? 'not without a new major' : 'freely';
    it(`${how} when of a parameter ${JSON.stringify(from)} becomes ${JSON.stringify(to)}`, async () => {
      const name = `change-${at}`;
      await publishBlocks(hawser.admin, name, { '1.0.0': blockOf(from, { goes }) });
      const report = await refused(tryPublish(hawser.admin, name, '1.0.1', blockOf(to)));
      expect(report).to.deep.include({ oldVersion: '1.0.0', newVersion: '1.0.1', hasBreakingChanges: true });
      expect(report.affectedParameterFiles).to.deep.equal([]);
      const removed = report.breakingChanges.filter(
        (it: { parameterName: string }) => it.parameterName === 'goes',
      );
      expect(removed.map((it: { changeType: string }) => it.changeType)).to.deep.equal(['ParameterRemoved']);
      const ofIt = (list: { parameterName: string }[]) =>
        list.filter(({ parameterName }) => parameterName === 'it');
      const [told, untold] = [report.breakingChanges, report.nonBreakingChanges];
      const [change, ...others] = ofIt(isBreaking ? told : untold);
      expect(others).to.deep.equal([]);
      expect(ofIt(isBreaking ? untold : told)).to.deep.equal([]);
      expect(change).to.have.all.keys('parameterName', 'changeType', 'oldValue', 'newValue', 'description');
      expect(change).to.include({ changeType, oldValue: values[0], newValue: values[1] });
      expect((change as unknown as { description: string }).description).to.contain('"it"');
      const alone = await tryPublish(hawser.admin, name, '1.1.0', blockOf(to, { goes }));
      if (isBreaking) expect(ofIt((await refused(alone)).breakingChanges)).to.deep.equal([change]);
      else await ok(200, alone);
      await ok(200, tryPublish(hawser.admin, name, '2.0.0', blockOf(to)));
    });
  }

  const published = async (name: string) => {
    const versions: { version: string; status: string }[] = await ok(
      200,
      hawser.admin.get(`${versionsOf(name)}?take=100`),
    );
    return versions.filter(({ status }) => status === 'Published').map(({ version }) => version);
  };

  it('after the highest published version below it, drafts and higher ones apart', async () => {
    const [none, one, two] = [{}, { a: text }, { a: text, b: text }];
    await publishBlocks(hawser.admin, 'below', { '1.0.0': one, '2.0.0': none, '1.5.0': two });
    // A draft between them, and 2.0.0 above, have no say.
    await ok(409, tryPublish(hawser.admin, 'below', '1.7.0', none));
    expect((await refused(tryPublish(hawser.admin, 'below', '1.9.0', one))).oldVersion).to.equal('1.5.0');
    await ok(200, tryPublish(hawser.admin, 'below', '1.2.0', one));
    await ok(200, tryPublish(hawser.admin, 'below', '0.9.0', { z: { type: 'int' } }));
    // It broke with none when it was published, and nothing stands below it still.
    await ok(200, tryPublish(hawser.admin, 'below', '2.0.1-rc.1', { a: int }));
  });

  it('by the same rule below 1.0.0, and among prereleases', async () => {
    const [one, none] = [{ a: text }, {}];
    await publishBlocks(hawser.admin, 'zero', { '0.1.0': one });
    expect((await refused(tryPublish(hawser.admin, 'zero', '0.2.0', none))).oldVersion).to.equal('0.1.0');
    await ok(200, tryPublish(hawser.admin, 'zero', '1.0.0-beta.1', none));
    await ok(200, tryPublish(hawser.admin, 'zero', '1.0.0-beta.2', one));
    expect((await refused(tryPublish(hawser.admin, 'zero', '1.0.0', none))).oldVersion).to.equal(
      '1.0.0-beta.2',
    );
    await ok(200, tryPublish(hawser.admin, 'zero', '1.0.1', one));
  });

  it('without any schema to keep to, or to lose', async () => {
    await publishBlocks(hawser.admin, 'plain', {
      '1.0.0': 'not: a block\n',
      '1.1.0': '# no document at all: [',
    });
    await ok(200, tryPublish(hawser.admin, 'plain', '1.2.0', { a: text }));
    const report = await refused(tryPublish(hawser.admin, 'plain', '1.3.0', '$schema: x\nresources: []\n'));
    expect(report.breakingChanges).to.have.length(1);
    expect(report.breakingChanges[0]).to.include({ changeType: 'ParameterRemoved', parameterName: 'a' });
    // Whoever runs such a document without parameters would be told that one is missing.
    const added = await refused(tryPublish(hawser.admin, 'plain', '1.1.1', { a: { type: 'int' } }));
    expect(added.breakingChanges[0]).to.include({ changeType: 'ParameterAdded' });
  });

  it('whatever its parameters, where the configuration brings its own', async () => {
    const fields = { version: '1.0.0', useServerManagedParameters: 'false' };
    await ok(201, create(hawser.admin, 'own', fields, filesOf({ a: text })));
    await ok(200, publish(hawser.admin, 'own', '1.0.0'));
    await ok(200, tryPublish(hawser.admin, 'own', '1.1.0', {}));
    await ok(200, tryPublish(hawser.admin, 'own', '1.2.0', { a: 'nonsense' }));
    expect(await published('own')).to.have.members(['1.0.0', '1.1.0', '1.2.0']);
  });

  it('under a name that is no SemVer without a look at any other', async () => {
    const fields = { version: '1.0.0' };
    await ok(201, create(hawser.admin, 'named', fields, filesOf({ a: text })));
    await ok(200, publish(hawser.admin, 'named', '1.0.0'));
    await ok(200, hawser.admin.put(`${CONFIGURATIONS}/named/settings`, { requireSemVer: false }));
    await ok(200, tryPublish(hawser.admin, 'named', 'winter', {}));
    await ok(200, tryPublish(hawser.admin, 'named', 'summer', { b: { type: 'int' } }));
    expect((await refused(tryPublish(hawser.admin, 'named', '1.1.0', {}))).oldVersion).to.equal('1.0.0');
  });

  it('in mode Strict only with a block that can be read', async () => {
    const broken = { port: { type: 'int', minValue: 9, maxValue: 1 }, 'a/b': { type: 'int', minLength: 1 } };
    await ok(201, create(hawser.admin, 'strict', {}, filesOf(broken)));
    const reply = await expectProblem(publish(hawser.admin, 'strict', '1.0.0'), 409, 'validation_failed');
    const errors: { path: string; code: string }[] = reply.json.errors;
    expect(errors.map(({ path, code }) => `${path} ${code}`)).to.deep.equal([
      '/parameters/port/minValue empty_range',
      '/parameters/a~1b/minLength not_applicable',
    ]);
    const version = await ok(200, hawser.admin.get(`${versionsOf('strict')}/1.0.0`));
    expect(version.status).to.equal('Draft');
    for (const mode of ['Warn', 'None']) {
      const name = `mode-${mode.toLowerCase()}`;
      await ok(201, create(hawser.admin, name, {}, filesOf(broken)));
      await ok(
        200,
        hawser.admin.put(`${CONFIGURATIONS}/${name}/settings`, { parameterValidationMode: mode }),
      );
      await ok(200, publish(hawser.admin, name, '1.0.0'));
      // Nobody can tell what it declared, so nothing breaks with it.
      await ok(200, tryPublish(hawser.admin, name, '1.1.0', { b: { type: 'int' } }));
      // In place of a schema that can be read it claims nothing, and the next is compared with the one below.
      await ok(200, tryPublish(hawser.admin, name, '1.2.0', broken));
      const { oldVersion } = await refused(tryPublish(hawser.admin, name, '1.3.0', {}), mode);
      expect(oldVersion).to.equal('1.1.0');
    }
  });

  it('by its uploaded schema, and against that of the version below', async () => {
    await publishBlocks(hawser.admin, 'uploaded', { '1.0.0': { a: text } });
    await ok(200, uploadSchema(hawser.admin, 'uploaded', '1.0.0', { a: text, b: text }));
    const report = await refused(tryPublish(hawser.admin, 'uploaded', '1.1.0', { a: text }));
    expect(report.breakingChanges.map((it: { parameterName: string }) => it.parameterName)).to.deep.equal([
      'b',
    ]);
    await ok(200, uploadSchema(hawser.admin, 'uploaded', '1.1.0', { a: text, b: text, c: text }));
    await ok(200, publish(hawser.admin, 'uploaded', '1.1.0'));
    // An upload that no published version stands for is no version below.
    await ok(200, uploadSchema(hawser.admin, 'uploaded', '1.5.0', { a: text, b: text, c: text, d: text }));
    await ok(200, tryPublish(hawser.admin, 'uploaded', '1.6.0', { a: text, b: text, c: text }));
  });

  it('with word of every parameter file of its major, really checked', async () => {
    const { admin } = hawser;
    const scopeType = 'Site';
    await createScopeType(hawser, scopeType);
    const old = { port: int, key: { type: 'secureString', defaultValue: 'default-secret' } };
    await publishBlocks(admin, 'files', { '1.0.0': old });
    const configuration = 'files';
    const save = (content: string | null, more: object) =>
      saveParameters(hawser, { configuration, content, ...more });
    await save('parameters: {port: 7, key: top-secret-value}', { version: '1.0.0' });
    await save('parameters: {port: 99}', { version: '1.1.0' });
    await save('parameters: {port: 1}', { version: '1.2.0-rc.1' });
    await save('parameters: {port: 8, key: top-secret-value}', { scopeType, value: 'berlin' });
    await save('parameters: {port: 1}', { scopeType, value: 'berlin', version: '1.1.0', publish: false });
    await save('parameters: {port: 900}', { scopeType, value: 'hamburg', version: '1.0.0-rc.1' });
    await save('parameters: {port: 9}', { scopeType, value: 'munich', version: '2.0.0' });
    await save(null, { scopeType, value: 'essen' });
    const narrowed = { port: { ...int, maxValue: 50 }, key: { type: 'string', allowedValues: ['new'] } };
    const reply = await expectProblem(
      tryPublish(admin, 'files', '1.1.0', narrowed),
      409,
      'incompatible_parameters',
    );
    const report = reply.json.compatibilityReport;
    const shown = report.affectedParameterFiles.map(
      (file: { scopeTypeName: string; errors: { path: string; code: string }[] }) => ({
        ...file,
        errors: file.errors.map(({ path, code }) => `${path} ${code}`),
      }),
    );
    const site = (scopeValue: string, version: string, ...errors: string[]) => {
      return { scopeTypeName: scopeType, scopeValue, version, needsMigration: errors.length > 0, errors };
    };
    expect(shown).to.deep.equal([
      { ...site('', '1.1.0', '/parameters/port maximum'), scopeTypeName: 'Default', scopeValue: null },
      site('berlin', '1.0.0', '/parameters/key not_allowed'),
      site('essen', '1.0.0'),
      site('hamburg', '1.0.0-rc.1', '/parameters/port maximum'),
    ]);
    expect(reply.text).to.not.match(/top-secret-value|default-secret/);
    expect(hawser.log()).to.not.match(/top-secret-value|default-secret/);
    expect(report.breakingChanges.map((it: { oldValue: string }) => it.oldValue)).to.include('<redacted>');
  });

  itOnSqlite('by stock git as ever, and what comes after keeps to its block', async () => {
    await publishBlocks(hawser.admin, 'outside', { '1.0.0': { a: text } });
    const outside = new Outside(hawser, 'outside');
    outside.tag('1.1.0', [
      outside.file(MAIN, '$schema: x\nresources: []\nparameters: {b: {type: int, defaultValue: 1}}\n'),
    ]);
    const report = await refused(tryPublish(hawser.admin, 'outside', '1.2.0', { a: text }));
    expect(report).to.include({ oldVersion: '1.1.0' });
    await ok(200, tryPublish(hawser.admin, 'outside', '1.3.0', { b: int }));
  });

  it('unchanged after a refusal, and again as soon as it fits', async () => {
    await publishBlocks(hawser.admin, 'mended', { '1.0.0': { a: text } });
    await refused(tryPublish(hawser.admin, 'mended', '1.1.0', {}));
    const before = hawser.git('configurations/mended.git', 'for-each-ref');
    await refused(publish(hawser.admin, 'mended', '1.1.0'));
    expect(hawser.git('configurations/mended.git', 'for-each-ref')).to.equal(before);
    const form = filesOf({ a: text });
    await ok(200, hawser.admin.call('PUT', `${versionsOf('mended')}/1.1.0`, { form }));
    await ok(200, publish(hawser.admin, 'mended', '1.1.0'));
    await expectProblem(publish(hawser.admin, 'mended', '1.1.0'), 409, 'already_published');
    await expectProblem(publish(hawser.admin, 'mended', '7.0.0'), 404, 'not_found');
  });
});
