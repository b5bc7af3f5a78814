// full: SQLite
/** Which values of a parameter file are secrets, where its schema is unknown, absent, or that of a draft. */

import { expect } from 'chai';
import { addVersion, MAIN } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const entryPoint = (pw: string, note: string) => {
  const types = `pw: {type: ${pw}}, note: {type: ${note}}, port: {type: int}`;
  return { files: { [MAIN]: `$schema: x\nparameters: {${types}}\nresources: []\n` } };
};
const CONTENT = 'parameters:\n  pw: open-words\n  note: open-words\n  port: 80\n';

describe('a value of a parameter file is a secret', () => {
  const hawser = started(startHawser);

  /** The names whose values are encrypted in a file of this version, as they are stored. */
  async function sealedIn(configuration: string, version: string): Promise<string[]> {
    const series = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, configuration)}`;
    await ok(201, hawser.admin.put(series, { version, content: CONTENT }));
    const { content } = await ok(200, hawser.admin.get(`${series}/versions/${version}`));
    return (content as string).split('\n').flatMap((line) => /^ {2}(\w+): "ENC\[/.exec(line)?.[1] ?? []);
  }
  const make = (name: string) =>
    publishConfiguration(hawser.admin, name, { '1.0.0': entryPoint('secureString', 'string').files });
  const draft = (name: string, version: string, pw: string, note: string) =>
    ok(201, addVersion(hawser.admin, name, { version }, entryPoint(pw, note)));

  it('whatever its name, where nobody knows what the schema says, or that of some version where there is none', async () => {
    await make('unknown');
    expect(await sealedIn('unknown', '1.0.0')).to.deep.equal(['pw']);
    expect(await sealedIn('unknown', '3.0.0'), 'as any version declares it').to.deep.equal(['pw']);
    const configuration = '/api/v1/configurations/unknown';
    await ok(200, hawser.admin.put(`${configuration}/settings`, { documentChecks: 'Warn' }));
    const broken = { files: { [MAIN]: 'parameters: [\n' } };
    await ok(201, addVersion(hawser.admin, 'unknown', { version: '2.0.0' }, broken));
    await ok(200, hawser.admin.put(`${configuration}/versions/2.0.0/publish`));
    expect(await sealedIn('unknown', '2.0.0')).to.deep.equal(['pw', 'note', 'port']);
    expect(await sealedIn('unknown', '4.0.0')).to.deep.equal(['pw', 'note', 'port']);
    expect(await sealedIn('unknown', '1.0.1'), 'its own schema is known').to.deep.equal(['pw']);
  });

  it('although a draft of the configuration calls it something else', async () => {
    await make('draft');
    await draft('draft', '1.1.0', 'string', 'string');
    expect(await sealedIn('draft', '1.1.0')).to.deep.equal(['pw']);
    await draft('draft', '2.0.0', 'string', 'string');
    expect(await sealedIn('draft', '2.0.0'), 'no version of its major is published').to.deep.equal(['pw']);
  });

  it('because a draft of the configuration calls it one', async () => {
    await make('stricter');
    await draft('stricter', '1.1.0', 'secureString', 'secureString');
    expect(await sealedIn('stricter', '1.1.0')).to.deep.equal(['pw', 'note']);
  });
});
