import { chmodSync, chownSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { tightenOwnFolder } from '../../../src/lib/folders.ts';
import { createLog } from '../../../src/lib/log.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('the folder of the server', () => {
  const temporary = temporaryFolder();
  let folder: string;
  let lines: { level: string; path: string; mode: string; reason?: string }[];
  const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);
  const tighten = (path: string) =>
    tightenOwnFolder(path, createLog('debug', { write: (line) => lines.push(JSON.parse(line)) }));

  beforeEach(() => {
    folder = temporary();
    lines = [];
  });

  for (const mode of [0o755, 0o770, 0o2750]) {
    it(`is closed to others, with a line in the log: ${mode.toString(8)}`, async () => {
      chmodSync(folder, mode);
      await tighten(folder);
      expect(statSync(folder).mode & 0o777).to.equal(0o700);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ level: 'warn', path: folder, mode: (mode & 0o777).toString(8) });
    });
  }

  it('stays as it is where it is closed already', async () => {
    chmodSync(folder, 0o500);
    await tighten(folder);
    expect([modeOf(folder), lines]).to.deep.equal(['500', []]);
  });

  it('stays as it is where all users make files in it, with a warning', async () => {
    chmodSync(folder, 0o1777);
    await tighten(folder);
    expect(modeOf(folder)).to.equal('1777');
    expect(lines[0]).to.include({ level: 'warn', reason: 'it is one in which all users make files' });
  });

  it('stays as it is where it belongs to another user, with a warning', async () => {
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) {
      chmodSync(folder, 0o755);
      chownSync(folder, 12_345, 12_345);
    }
    // Only root can give a folder away. For all others there are folders of root.
    const foreign = isRoot ? folder : '/usr';
    const before = modeOf(foreign);
    await tighten(foreign);
    expect(modeOf(foreign)).to.equal(before);
    expect(lines[0]).to.include({ level: 'warn', reason: `it belongs to user ${isRoot ? 12_345 : 0}` });
  });
});
