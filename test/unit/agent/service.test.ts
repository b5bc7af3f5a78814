import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { install, uninstall } from '../../../src/agent/install.ts';
import { type Service, unitOf, windowsCommands, windowsRemoval } from '../../../src/agent/service.ts';
import { describeWith } from '../../support/optional-tools.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** Of 100, in tenths of what systemd shows. Below 50 it calls it medium, below 20 OK. */
const MOST_EXPOSED = 50;

const SERVICE: Service = {
  node: process.execPath,
  program: import.meta.filename,
  settings: '/etc/hawser-agent/settings.json',
  state: '/var/lib/hawser-agent',
  isReadOnly: false,
};

describe('the service of the agent', () => {
  it('quotes what systemd would replace', () => {
    const unit = unitOf({ ...SERVICE, settings: '/etc/a "b" $c 100%.json', state: '/srv/50%' });
    expect(unit).to.include('"--config" "/etc/a \\"b\\" $$c 100%%.json"\n');
    expect(unit).to.include('ReadWritePaths="/srv/50%%"\nWorkingDirectory=/srv/50%%\n');
  });

  it('may change the machine, whatever the settings say, unless it was made to read only', () => {
    expect(unitOf({ ...SERVICE, isReadOnly: true }))
      .to.include('ProtectSystem=strict')
      .and.to.include('RestartPreventExitStatus=2 78');
    expect(unitOf(SERVICE))
      .to.include('RestartPreventExitStatus=2 78')
      .and.to.not.match(/^(Protect|System|Capability|NoNew|ReadWritePaths)/m);
  });

  it('is made with sc.exe on Windows', () => {
    const made = windowsCommands({
      node: 'C:\\Program Files\\nodejs\\node.exe',
      program: 'C:\\agent\\hawser-agent.mjs',
      settings: 'C:\\agent\\settings.json',
    });
    expect(made).to.include(
      'sc.exe create hawser-agent binPath= "\\"C:\\Program Files\\nodejs\\node.exe\\" \\"C:\\agent\\hawser-agent.mjs\\" ',
    );
    expect(windowsRemoval()).to.equal('sc.exe stop hawser-agent\nsc.exe delete hawser-agent\n');
  });

  describeWith(['systemd-analyze'], 'read by systemd', () => {
    const folder = temporaryFolder();
    const analyze = (service: Service, ...args: string[]) => {
      const path = folder('hawser-agent.service');
      writeFileSync(path, unitOf(service));
      const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, path], { encoding: 'utf8' });
      return { status, said: `${stdout}${stderr}` };
    };

    for (const isReadOnly of [true, false]) {
      it(`has nothing that it does not know, ${isReadOnly ? 'to read only' : 'to change the machine'}`, () => {
        expect(analyze({ ...SERVICE, isReadOnly }, 'verify', '--man=no')).to.deep.equal({
          status: 0,
          said: '',
        });
      });
    }

    it('leaves the agent that only tests little of the machine to do harm with', () => {
      const { status, said } = analyze(
        { ...SERVICE, isReadOnly: true },
        'security',
        '--offline=true',
        `--threshold=${MOST_EXPOSED}`,
      );
      expect(status, said).to.equal(0);
    });
  });

  describe('its installation', () => {
    const root = temporaryFolder();
    const calls: string[] = [];
    const systemctl = async (...words: string[]) => {
      calls.push(words.join(' '));
    };
    const options = () => ({
      ...{ root: root(), config: null, given: { server: 'https://hawser.example.org' } },
      ...{ program: import.meta.filename, isReadOnly: false, systemctl },
    });

    it('can be repeated, and leaves systemd alone below a root', async () => {
      const first = await install(options());
      const unit = readFileSync(root(first.unit), 'utf8');
      expect(await install({ ...options(), given: { server: 'https://other.example.org' } })).to.deep.equal(
        first,
      );
      expect(readFileSync(root(first.unit), 'utf8')).to.equal(unit);
      expect(readFileSync(root(first.settings), 'utf8')).to.include('hawser.example.org');
      expect(await uninstall({ root: root(), systemctl })).to.deep.equal([first.unit]);
      expect(existsSync(root(first.state))).to.equal(true);
      expect(calls).to.deep.equal([]);
    });
  });
});
