import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readSettings, settingsOf } from '../../../src/agent/settings.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { words } from '../../support/words.ts';

const SERVER = { HAWSER_AGENT_SERVER: 'https://hawser.example.org:8443' };

describe("the agent's settings", () => {
  const folder = temporaryFolder();
  const file = () => folder('agent.json');
  const readFile = () => readSettings({ ...SERVER, HAWSER_AGENT_CONFIG: file() });
  const write = (settings: unknown) => writeFileSync(file(), JSON.stringify(settings));

  it('need a server and nothing else', () => {
    const settings = readSettings({ ...SERVER, HAWSER_AGENT_NAME: 'Web-01' });
    const command = words('dsc config --parameters-file {parametersFile} {operation} --file {entryPoint}');
    expect(settings).to.deep.include({ name: 'web-01', mode: 'Monitor', command, csr: false, ca: null });
    expect(settings.interval.text).to.equal('00:15:00');
    expect(settings.bundleLimit).to.equal(256 * 1024 * 1024);
  });

  it('come from a file, with its paths beside it, and from the environment, which wins', () => {
    writeFileSync(folder('key'), 'rk_secret\n');
    const paths = { stateDir: 'state', registrationKeyFile: 'key' };
    write({ server: 'https://other.example.org', interval: 'PT5M', ...paths, csr: true });
    const settings = readFile();
    expect(settings.server.host).to.equal('hawser.example.org:8443');
    expect(settings.interval.text).to.equal('00:05:00');
    expect(settings).to.include({ stateDir: folder('state'), registrationKey: 'rk_secret', csr: true });
  });

  it('find the program of the command beside their file if it is a path, and leave its arguments', () => {
    write({ ...{ server: 'https://h' }, command: ['./bin/apply', './x', '{operation}'] });
    const command = (env = {}) => readSettings({ HAWSER_AGENT_CONFIG: file(), ...env }).command;
    expect(command()).to.deep.equal([folder('bin/apply'), './x', '{operation}']);
    expect(command({ HAWSER_AGENT_COMMAND: '["./apply"]' })).to.deep.equal(['./apply']);
    write({ ...{ server: 'https://h' }, command: ['apply'] });
    expect(command()).to.deep.equal(['apply']);
    write({ ...{ server: 'https://h' }, command: [] });
    expect(command()).to.deep.equal([]);
  });

  it('need no file of a key any more when the node is registered', () => {
    const env = { ...SERVER, HAWSER_AGENT_REGISTRATION_KEY_FILE: folder('gone') };
    const state = folder('state');
    const read = () => readSettings({ ...env, HAWSER_AGENT_STATE_DIR: state });
    expect(read).to.throw('HAWSER_AGENT_REGISTRATION_KEY_FILE: the file cannot be read');
    mkdirSync(state);
    writeFileSync(join(state, 'node.json'), '{}');
    expect(read().registrationKey).to.equal(null);
  });

  it('are those of the installed agent where nothing names a server, with the state that was made for it', () => {
    const installed = { settings: file(), state: folder('state') };
    write({ server: 'https://installed.example.org' });
    const read = (env = {}) => readSettings(env, {}, installed);
    expect(read().server.host).to.equal('installed.example.org');
    expect(read(SERVER).server.host).to.equal('hawser.example.org:8443');
    expect(read().stateDir).to.equal(join(process.cwd(), 'agent-state'));
    mkdirSync(installed.state);
    expect(read().stateDir).to.equal(installed.state);
    expect(read({ HAWSER_AGENT_STATE_DIR: '/srv' }).stateDir).to.equal('/srv');
  });

  it('of the environment make a settings file, without the key', () => {
    const env = {
      ...{ ...SERVER, HAWSER_AGENT_REGISTRATION_KEY: 'rk_secret', HAWSER_AGENT_CA_FILE: 'ca.pem' },
      ...{ HAWSER_AGENT_COMMAND: '["apply"]', PATH: '/bin' },
    };
    expect(settingsOf(env)).to.deep.equal({
      ...{ server: 'https://hawser.example.org:8443', command: ['apply'] },
      caFile: join(process.cwd(), 'ca.pem'),
    });
    expect(settingsOf({ HAWSER_AGENT_MODE: 'Monitor' })).to.equal(null);
  });

  it('hand the command an environment without themselves', () => {
    const settings = readSettings({ ...SERVER, HAWSER_AGENT_REGISTRATION_KEY: 'rk_secret', PATH: '/bin' });
    expect(settings.environment).to.deep.equal({ PATH: '/bin' });
  });

  const FAULTS: [what: string, setting: string, value: string, says: string][] = [
    ['no server', 'SERVER', '', 'missing; allowed: a URL such as'],
    ['plain HTTP', 'SERVER', 'http://hawser', 'not usable; allowed: a URL'],
    ['a server with a path', 'SERVER', 'https://hawser/x', 'not usable'],
    ['an interval of nothing', 'INTERVAL', '00:00:00', 'not usable; allowed: a duration'],
    ['an unknown mode', 'MODE', 'Set', 'not usable; allowed: Monitor, Remediate$'],
    ['a command as text', 'COMMAND', 'dsc config set', 'not a list; allowed: a list'],
    ['a command without a program', 'COMMAND', '[""]', 'no program; allowed: a list'],
    ['a short fingerprint', 'FINGERPRINT', 'abcd', 'not usable; allowed: the SHA-256'],
    ['no flag', 'CSR', 'maybe', 'neither true nor false; allowed: true, false$'],
    ['a CA that is not there', 'CA_FILE', '/nonexistent', 'the file cannot be read'],
    ['an unknown name', 'SERVR', 'x', 'no such setting; allowed: HAWSER_AGENT_SERVER, '],
    ['no size', 'OUTPUT_LIMIT', 'much', 'not usable; allowed: a size'],
  ];
  for (const [what, setting, value, says] of FAULTS) {
    it(`refuse ${what}, in one line that says what is allowed`, () => {
      const name = `HAWSER_AGENT_${setting}`;
      const read = () => readSettings({ ...SERVER, HAWSER_AGENT_NAME: 'web-01', [name]: value });
      expect(read).to.throw(new RegExp(`^${name}: ${says}`));
    });
  }

  it('refuse members of the wrong kind in words of their own', () => {
    for (const [settings, fault] of [
      [{ registrationKey: '' }, 'registrationKey: Must have at least 1 character; allowed: text'],
      [{ registrationKey: 1 }, 'registrationKey: Must be text; allowed: text'],
      [{ csr: 'yes' }, 'csr: neither true nor false; allowed: true, false'],
      [{ mode: 1 }, 'mode: not text; allowed: Monitor, Remediate'],
    ] as const) {
      write(settings);
      expect(readFile).to.throw(new RegExp(`agent\\.json, ${fault}$`));
    }
  });

  it('refuse an unknown member of the file, and a key that is given twice', () => {
    write({ servr: 'x' });
    expect(readFile).to.throw(/agent\.json, servr: no such setting/);
    const twice = { HAWSER_AGENT_REGISTRATION_KEY: 'rk_1', HAWSER_AGENT_REGISTRATION_KEY_FILE: file() };
    expect(() => readSettings({ ...SERVER, ...twice })).to.throw(
      /^HAWSER_AGENT_REGISTRATION_KEY: given twice, also as a file; allowed: one of the two$/,
    );
  });
});
