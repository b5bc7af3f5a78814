// full: SQLite
import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { makeSelfSigned } from '../../src/agent/certificates.ts';
import { DAY } from '../../src/lib/clock.ts';
import { type AgentUnderTest, dscResult, makeAgent, makeAgentOf } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { startFakeServer } from '../support/fake-server.ts';
import { createKey, publishConfiguration, startHawser } from '../support/hawser.ts';
import { describeWith } from '../support/optional-tools.ts';
import { programArguments } from '../support/program.ts';
import { started } from '../support/started.ts';

const { version: VERSION } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));

describe('the commands of hawser-agent', () => {
  const hawser = started(startHawser);
  let agent: AgentUnderTest;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
  });

  beforeEach(() => {
    agent = makeAgentOf(hawser, {
      NAME: `commands-${Math.random().toString(36).slice(2)}.example.org`,
    });
  });
  afterEach(() => agent.remove());

  const run = async (code: number, ...words: string[]) => {
    const ended = await agent.start(...words).ended;
    expect(ended.code, ended.stdout + ended.stderr).to.equal(code);
    return ended;
  };
  const newKey = async () => {
    agent.settings['REGISTRATION_KEY'] = await createKey(hawser.admin, { maxUses: 1 });
  };
  const server = () => hawser.server.port;
  const digestOf = (file: string) =>
    new X509Certificate(readFileSync(join(hawser.dataDir, 'tls', file))).fingerprint256;

  describe('the command line', () => {
    it('tells what it can do, and its version', async () => {
      for (const words of [['--help'], ['-h'], ['status', '-h'], ['run', '--once', '--help']]) {
        const { stdout, stderr } = await run(0, ...words);
        expect(stdout, words.join(' ')).to.match(/^usage: hawser-agent \[<command>\]/);
        expect(stderr).to.equal('');
      }
      expect((await run(0, '--version')).stdout).to.equal(`hawser-agent ${VERSION}\n`);
      expect(JSON.parse((await run(0, '--version', '--json')).stdout)).to.deep.equal({
        name: 'hawser-agent',
        version: VERSION,
      });
    });

    const WRONG: [string[], RegExp][] = [
      [['fly'], /unknown command "fly"/],
      [['status', '--once'], /status: there is no option --once/],
      [['run', '--config'], /Option '--config <value>' argument missing/],
      [['install', '--root', ''], /install: --root is empty/],
    ];
    for (const [words, fault] of WRONG) {
      it(`refuses "${words.join(' ')}" with 2, and tells the usage`, async () => {
        const { stderr, stdout } = await run(2, ...words);
        expect(stderr).to.match(fault).and.to.include('usage: hawser-agent');
        expect(stdout).to.equal('');
        expect(existsSync(agent.stateDir)).to.equal(false);
      });
    }

    it('refuses faulty settings with 78, in one line, for each command', async () => {
      agent.settings['INTERVAL'] = 'soon';
      for (const command of ['run', 'register', 'status']) {
        expect((await run(78, command)).stderr).to.match(
          /^hawser-agent: HAWSER_AGENT_INTERVAL: not usable; .*\n$/,
        );
      }
    });
  });

  describe('register', () => {
    it('registers the node, and says so again without another key', async () => {
      await newKey();
      const { stdout } = await run(0, 'register');
      const { NAME: name } = agent.settings;
      const [first, ...next] = stdout.split('\n');
      expect(first).to.equal(`${name} is registered at https://localhost:${server()} as ${agent.nodeId()}`);
      expect(next[1]).to.match(/hawser-agent\.mjs run$/);
      expect(next[2]).to.include(`hawserctl node assign ${name} --configuration NAME`);
      delete agent.settings['REGISTRATION_KEY'];
      const again = JSON.parse((await run(0, 'register', '--json')).stdout);
      expect(again).to.deep.include({ nodeId: agent.nodeId(), wasRegistered: true });
      expect(again.command).to.deep.equal({ program: process.execPath, isFound: true });
      const { certificate } = (await hawser.admin.get(`/api/v1/nodes/${agent.nodeId()}`)).json;
      expect(again.thumbprint).to.equal(certificate.thumbprint);
    });

    it('takes the key from a file or from stdin', async () => {
      const file = join(agent.folder, 'key');
      writeFileSync(file, `${await createKey(hawser.admin)}\n`);
      await run(0, 'register', '--key-file', file);
      const other = makeAgent({
        ...agent.settings,
        NAME: 'stdin.example.org',
        STATE_DIR: `${agent.stateDir}-2`,
      });
      const running = other.start('register', '--key-file', '-');
      running.child.stdin?.end(`${await createKey(hawser.admin)}\n`);
      expect((await running.ended).code).to.equal(0);
      other.remove();
    });

    it('says that dsc is missing, and where to get it', async () => {
      await newKey();
      delete agent.settings['COMMAND'];
      expect((await run(0, 'register')).stdout).to.include(
        '\ndsc is not on this machine; get it from https://github.com/PowerShell/DSC/releases, or name another',
      );
    });

    it('ends with 78 where there is neither a key nor somebody to ask', async () => {
      const running = agent.start('register');
      running.child.stdin?.end();
      const { code, stderr } = await running.ended;
      expect(code).to.equal(78);
      expect(stderr).to.include('there is no key').and.to.include('--key-file');
      expect((await run(78, 'run')).stderr).to.equal(stderr);
    });

    it('ends with 1 when it is refused, and says why', async () => {
      agent.settings['REGISTRATION_KEY'] = 'rk_wrong';
      const { stderr } = await run(1, 'register');
      expect(stderr).to.match(/^hawser-agent: registration_key_rejected: .+\n$/);
      expect(stderr).not.to.include('rk_wrong');
    });

    it('ends with 3 when the server cannot be reached', async () => {
      await newKey();
      agent.settings['SERVER'] = 'https://localhost:1';
      expect((await run(3, 'register')).stderr).to.match(
        /^hawser-agent: The server cannot be reached: .+\n$/,
      );
    });

    it('says what to do when the authority of the server is not known, and ends with 3', async () => {
      await newKey();
      delete agent.settings['CA_FILE'];
      const { stderr } = await run(3, 'register');
      expect(stderr).to.include('caFile').and.to.include('fingerprint').and.to.include('nothing was sent');
      const other = await startFakeServer();
      agent.settings['CA_FILE'] = join(agent.folder, 'other.crt');
      writeFileSync(agent.settings['CA_FILE'], other.ca);
      expect((await run(3, 'register')).stderr).to.include('caFile');
      await other.close();
      agent.variables['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
      await run(3, 'register');
      expect(hawser.log()).not.to.include(agent.settings['NAME']);
    });

    it('says so when the server is of another kind', async () => {
      await newKey();
      agent.settings['REGISTRATION_KEY'] = 'x';
      const other = await startFakeServer();
      other.intercept = () => ({ status: 404, body: '<h1>Not found</h1>' });
      const ca = join(agent.folder, 'other.crt');
      writeFileSync(ca, other.ca);
      Object.assign(agent.settings, { SERVER: other.url, CA_FILE: ca });
      expect((await run(1, 'register')).stderr).to.equal(
        'hawser-agent: the server does not speak version 1 of the API of Hawser\n',
      );
      const notFound = { code: 'not_found', detail: 'There is no such path' };
      for (const answer of [
        { status: 404, body: JSON.stringify(notFound) },
        { status: 200, body: '<h1>Welcome</h1>' },
      ]) {
        other.intercept = () => answer;
        expect((await run(1, 'register')).stderr).to.equal(
          'hawser-agent: the server does not speak version 1 of the API of Hawser\n',
        );
      }
      await other.close();
    });

    it('refuses a state folder in which other users can change files', async () => {
      await newKey();
      mkdirSync(agent.stateDir);
      chmodSync(agent.stateDir, 0o775);
      expect((await run(78, 'register')).stderr).to.equal(
        `hawser-agent: stateDir: other users can change ${agent.stateDir}; allowed: a folder with mode 0700\n`,
      );
      chmodSync(agent.stateDir, 0o755);
      await run(0, 'register');
    });

    it('takes a new certificate where the old one was made while the clock was ahead', async () => {
      await newKey();
      const identity = await makeSelfSigned('ahead.example.org', Date.now() + DAY);
      mkdirSync(agent.stateDir, { mode: 0o700 });
      const path = join(agent.stateDir, 'identity.pem');
      writeFileSync(path, identity.certificate + identity.key, { mode: 0o600 });
      await run(0, 'register');
      expect(readFileSync(path, 'utf8')).not.to.include(identity.certificate);
    });

    describeWith(['script'], 'at a terminal', () => {
      it('asks for the key, and does not show it', async () => {
        const key = await createKey(hawser.admin, { maxUses: 1 });
        const command = [process.execPath, ...programArguments('agent/main'), 'register'].join(' ');
        const variables = Object.entries(agent.settings).map(([name, value]) => [
          `HAWSER_AGENT_${name}`,
          value,
        ]);
        const child = spawn('script', ['-qefc', command, '/dev/null'], {
          cwd: PROJECT,
          env: { PATH: agent.path, ...Object.fromEntries(variables) },
        });
        let shown = '';
        child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString('utf8')));
        await eventually(async () => expect(shown).to.include('Registration key for'));
        child.stdin.write(`wrong\u007f\u007f\u007f\u007f\u007f${key}\r`);
        await new Promise((resolve) => child.once('close', resolve));
        expect(shown).to.include('is registered at').and.not.to.include(key);
      });
    });
  });

  describe('the fingerprint', () => {
    const FITTING: [string, string, boolean][] = [
      ["of the server's certificate", 'server.crt', false],
      ['of its authority', 'ca.crt', false],
      ["of the server's certificate, beside its authority", 'server.crt', true],
      ['of its authority, beside the authority itself', 'ca.crt', true],
    ];
    for (const [what, file, hasAuthority] of FITTING) {
      it(`${what} is enough to trust the server`, async () => {
        await newKey();
        if (!hasAuthority) delete agent.settings['CA_FILE'];
        agent.settings['FINGERPRINT'] = digestOf(file);
        await run(0, 'register');
      });
    }

    it('of another certificate is not, with an authority or without one', async () => {
      await newKey();
      agent.settings['FINGERPRINT'] = 'ab'.repeat(32);
      expect((await run(3, 'register')).stderr).to.include('the pinned one (fingerprint)');
      delete agent.settings['CA_FILE'];
      expect((await run(3, 'register')).stderr)
        .to.include('fingerprint')
        .and.to.include('not trusted');
      expect(hawser.log()).not.to.include(agent.settings['NAME']);
    });

    it('of an authority does not let another server show that authority', async () => {
      await newKey();
      delete agent.settings['CA_FILE'];
      // It hands out the certificate of an authority that has not issued its own.
      const liar = await startFakeServer();
      const pem = readFileSync(join(hawser.dataDir, 'tls/ca.crt'), 'utf8');
      liar.intercept = () => ({ status: 200, body: pem });
      Object.assign(agent.settings, { SERVER: liar.url, FINGERPRINT: digestOf('ca.crt') });
      await run(3, 'register');
      expect(liar.seen.map(({ call }) => call)).to.deep.equal(['GET /api/v1/ca.pem']);
      await liar.close();
    });
  });

  describe('status', () => {
    it('tells what there is before the node is registered', async () => {
      const { stdout } = await run(0, 'status');
      expect(stdout).to.include('not registered').and.to.include('does not run');
      expect(JSON.parse((await run(0, 'status', '--json')).stdout)).to.deep.include({
        nodeId: null,
        configuration: null,
        lastReport: null,
        certificate: null,
        keptReports: { count: 0, oldestAt: null },
      });
      expect(existsSync(agent.stateDir), 'it only reads').to.equal(false);
    });

    it('tells what the node runs, while the agent runs and after', async () => {
      await newKey();
      await run(0, 'register');
      const path = `/api/v1/nodes/${agent.nodeId()}/configuration`;
      await hawser.admin.put(path, { configurationName: 'web' });
      agent.answer(dscResult(false));
      const start = Date.now();
      // The first cycle comes within a tenth of this.
      agent.settings['INTERVAL'] = '00:00:20';
      const running = agent.start();
      await eventually(async () => expect(agent.runs()).to.have.length(1));
      await eventually(async () => {
        const reports = await hawser.admin.get(`/api/v1/nodes/${agent.nodeId()}/reports`);
        expect(reports.json).to.have.length(1);
      });
      const status = JSON.parse((await run(0, 'status', '--json')).stdout);
      const { checksum } = (await hawser.admin.get(`/api/v1/nodes/${agent.nodeId()}`)).json.running;
      expect(status).to.deep.include({
        agentVersion: VERSION,
        server: agent.settings['SERVER'],
        name: agent.settings['NAME'],
        nodeId: agent.nodeId(),
        isRunning: true,
        mode: 'Monitor',
        command: { program: process.execPath, isFound: true },
      });
      expect(status.configuration).to.include({ name: 'web', version: '1.0.0', checksum, isAssigned: true });
      expect(Date.parse(status.configuration.since)).to.be.within(start - 1_000, Date.now());
      expect(status.lastReport).to.include({
        operation: 'Test',
        inDesiredState: false,
        hadErrors: false,
        configurationChecksum: checksum,
      });
      const days = (Date.parse(status.certificate.notAfter) - Date.now()) / 86_400_000;
      expect(days).to.be.within(89, 90);
      running.child.kill('SIGTERM');
      await running.ended;
      agent.settings['SERVER'] = 'https://localhost:1';
      await run(3, 'run', '--once');
      const { stdout } = await run(0, 'status');
      expect(stdout).to.match(/^configuration {2}web 1\.0\.0$/m);
      expect(stdout).to.match(new RegExp(`^checksum {7}${checksum}$`, 'm'));
      expect(stdout).to.match(/^agent {10}\S+, does not run$/m);
      expect(stdout).to.match(/^last report {4}\S+Z, Test: not in the desired state$/m);
      expect(stdout).to.match(/^kept reports {3}1, the oldest of \S+Z$/m);
      expect(stdout).to.match(/^certificate {4}ends at \S+Z$/m);
    });
  });

  it('takes paths in a settings file from the folder of the file, and the rest from PATH', async () => {
    const folder = join(agent.folder, 'etc');
    mkdirSync(folder);
    writeFileSync(join(folder, 'key'), await createKey(hawser.admin, { maxUses: 1 }));
    writeFileSync(join(folder, 'ca.pem'), readFileSync(join(hawser.dataDir, 'tls/ca.crt')));
    writeFileSync(join(folder, 'apply'), `#!/bin/sh\necho '${dscResult(true)}'\n`, { mode: 0o755 });
    const settings = {
      ...{ server: agent.settings['SERVER'], name: agent.settings['NAME'], caFile: 'ca.pem' },
      ...{ registrationKeyFile: './key', stateDir: 'state', command: ['./apply', '{operation}'] },
    };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    agent.settings = {};
    const registered = await run(0, 'register', '--config', join(folder, 'settings.json'), '--json');
    expect(JSON.parse(registered.stdout).command).to.deep.equal({
      program: join(folder, 'apply'),
      isFound: true,
    });
    expect(existsSync(join(folder, 'state/node.json'))).to.equal(true);
    const { nodeId } = JSON.parse(registered.stdout);
    await hawser.admin.put(`/api/v1/nodes/${nodeId}/configuration`, { configurationName: 'web' });
    await run(0, '--config', join(folder, 'settings.json'), 'run', '--once');
    expect((await hawser.admin.get(`/api/v1/nodes/${nodeId}`)).json.status).to.equal('Compliant');
  });

  describe('install', () => {
    let root: string;
    const UNIT = 'etc/systemd/system/hawser-agent.service';
    const at = (path: string) => join(root, path);
    beforeEach(() => {
      root = join(agent.folder, 'image');
    });

    it('makes the service in an image, and uninstall removes it without its settings and state', async () => {
      agent.settings = {
        SERVER: 'https://hawser.example.org',
        REGISTRATION_KEY: 'rk_secret',
        MODE: 'Monitor',
      };
      const made = JSON.parse((await run(0, 'install', '--root', root, '--json')).stdout);
      expect(made).to.deep.equal({
        root,
        unit: `/${UNIT}`,
        program: '/usr/local/lib/hawser-agent/hawser-agent.mjs',
        settings: '/etc/hawser-agent/settings.json',
        hasSettings: true,
        state: '/var/lib/hawser-agent',
      });
      const unit = readFileSync(at(UNIT), 'utf8');
      expect(unit).to.include(
        `ExecStart="${process.execPath}" "${made.program}" "run" "--config" "${made.settings}"\n`,
      );
      expect(statSync(at('var/lib/hawser-agent')).mode & 0o777).to.equal(0o700);
      expect(statSync(at(made.settings)).mode & 0o777).to.equal(0o600);
      expect(statSync(at(UNIT)).mode & 0o777).to.equal(0o644);
      expect(JSON.parse(readFileSync(at(made.settings), 'utf8'))).to.deep.equal({
        server: 'https://hawser.example.org',
        mode: 'Monitor',
      });
      const copy = spawnSync(process.execPath, [at(made.program), '--version'], { encoding: 'utf8' });
      expect(copy.stdout).to.equal(`hawser-agent ${VERSION}\n`);
      writeFileSync(at('var/lib/hawser-agent/node.json'), '{}');
      const { stdout } = await run(0, 'uninstall', '--root', root);
      expect(stdout).to.include(`removed   /${UNIT}`);
      for (const path of [UNIT, 'usr/local/lib/hawser-agent'])
        expect(existsSync(at(path)), path).to.equal(false);
      for (const path of [made.settings, 'var/lib/hawser-agent/node.json']) {
        expect(existsSync(at(path)), path).to.equal(true);
      }
      expect((await run(0, 'uninstall', '--root', root)).stdout).to.equal('nothing is installed\n');
    });

    it('keeps settings that are there, and makes the unit for them', async () => {
      mkdirSync(at('etc/hawser-agent'), { recursive: true });
      const text =
        '{"server": "https://one.example.org", "mode": "Remediate", "stateDir": "../../srv/agent"}';
      writeFileSync(at('etc/hawser-agent/settings.json'), text);
      agent.settings = { SERVER: 'https://two.example.org' };
      const { stdout } = await run(0, 'install', '--root', root);
      expect(stdout).to.include('state     /srv/agent\n').and.to.include(`systemctl --root ${root} enable`);
      expect(readFileSync(at('etc/hawser-agent/settings.json'), 'utf8')).to.equal(text);
      const unit = readFileSync(at(UNIT), 'utf8');
      expect(unit).to.include('ReadWritePaths="/srv/agent"').and.not.to.include('ProtectSystem');
      await run(0, 'install', '--root', root, '--read-only');
      expect(readFileSync(at(UNIT), 'utf8')).to.include('ProtectSystem=strict');
      expect(existsSync(at('srv/agent'))).to.equal(true);
    });

    it('refuses settings that would not work, and says where they are missing', async () => {
      agent.settings = {};
      expect((await run(0, 'install', '--root', root)).stdout).to.include('which is not there yet');
      mkdirSync(at('etc/hawser-agent'), { recursive: true });
      writeFileSync(
        at('etc/hawser-agent/settings.json'),
        '{"server": "https://one.example.org", "mode": "x"}',
      );
      expect((await run(78, 'install', '--root', root)).stderr).to.include('settings.json, mode');
    });

    it('only shows the unit with --print', async () => {
      agent.settings = {};
      const { stdout } = await run(0, 'install', '--root', root, '--print');
      expect(stdout).to.include('[Service]').and.not.to.include('ProtectSystem');
      expect(existsSync(root)).to.equal(false);
    });
  });
});
