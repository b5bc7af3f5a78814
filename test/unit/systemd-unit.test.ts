import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { EXIT_CONFIG } from '../../src/config.ts';
import { EXIT_USAGE } from '../../src/operations/command-line.ts';
import { describeWith } from '../support/optional-tools.ts';
import { temporaryFolder } from '../support/temporary.ts';

const UNIT = join(PROJECT, 'scripts/systemd/hawser.service');
/** Of 100, in tenths of what systemd shows; it calls this OK. */
const MOST_EXPOSED = 20;

describe('the systemd unit', () => {
  const unit = readFileSync(UNIT, 'utf8');

  it('does not start again what would end for the same reason', () => {
    expect(unit).to.match(new RegExp(`^RestartPreventExitStatus=${EXIT_USAGE} ${EXIT_CONFIG}$`, 'm'));
  });

  describeWith(['systemd-analyze'], 'read by systemd', () => {
    const folder = temporaryFolder('all tests');
    let path: string;

    before(() => {
      path = folder('hawser.service');
      // The program must be there, and is not installed on this machine.
      writeFileSync(path, unit.replaceAll('/opt/hawser/bin/hawser', process.execPath));
    });

    const analyze = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, path], { encoding: 'utf8' });
      return { status, said: `${stdout}${stderr}` };
    };

    it('has nothing that it does not know or that does not fit together', () => {
      expect(analyze('verify', '--man=no')).to.deep.equal({ status: 0, said: '' });
    });

    it('knows the units and timers of backup and doctor', () => {
      const names = ['backup.service', 'backup.timer', 'doctor.service', 'doctor.timer'];
      const paths = names.map((name) => {
        const text = readFileSync(join(UNIT, '..', `hawser-${name}`), 'utf8');
        const copy = folder(`hawser-${name}`);
        writeFileSync(copy, text.replace('/usr/local/sbin/hawser-run', process.execPath));
        return copy;
      });
      const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], {
        encoding: 'utf8',
      });
      expect(`${stdout}${stderr}`).to.equal('');
    });

    it('leaves the server little of the machine to do harm with', () => {
      const { status, said } = analyze('security', '--offline=true', `--threshold=${MOST_EXPOSED}`);
      expect(status, said).to.equal(0);
    });
  });
});
