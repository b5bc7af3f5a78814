import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkDiskSpace } from '../../../src/operations/doctor/files.ts';
import { describeWith } from '../../support/optional-tools.ts';
import { mounting, mountSmallDisk } from '../../support/small-disk.ts';

describeWith([mounting()], 'room on the disk', () => {
  /** What is found on a disk of this size with so many files, as severity and text. */
  async function findingsOn(size: string, files: number): Promise<string[]> {
    const disk = mountSmallDisk(size);
    try {
      for (let file = 0; file < files; file += 1) writeFileSync(join(disk.folder, String(file)), '');
      const { summary, findings } = await checkDiskSpace([disk.folder]);
      expect(summary).to.match(/^[\d.]+ [MG]iB free for \S+$/);
      for (const { where } of findings) expect(where).to.equal(disk.folder);
      return findings.map(({ severity, what }) => `${severity}: ${what}`);
    } finally {
      disk.remove();
    }
  }

  it('is not worth a word while there is enough', async () => {
    expect(await findingsOn('size=2g,nr_inodes=100', 85)).to.deep.equal([]);
  });

  it('is a warning below a tenth', async () => {
    const [finding, ...others] = await findingsOn('size=2g,nr_inodes=1000', 910);
    expect(finding).to.match(/^warning: 8\d places for files are free, 8\.\d % of the disk$/);
    expect(others).to.deep.equal([]);
  });

  it('is an error below a fiftieth', async () => {
    const [finding, ...others] = await findingsOn('size=2g,nr_inodes=1000', 990);
    expect(finding).to.match(/^error: \d places for files are free, 0\.\d % of the disk$/);
    expect(others).to.deep.equal([]);
  });

  it('is an error below 100 MiB, however much of the disk they are', async () => {
    expect(await findingsOn('size=50m', 0)).to.deep.equal(['error: 50 MiB are free, 100.0 % of the disk']);
    expect(await findingsOn('size=128m', 0)).to.deep.equal([]);
  });

  it('that cannot be found out is a warning', async () => {
    const { summary, findings } = await checkDiskSpace(['/no/such/folder']);
    expect(summary).to.equal('not known');
    expect(findings.map(({ severity, what }) => `${severity}: ${what}`)).to.deep.equal([
      "warning: cannot be looked at: ENOENT: no such file or directory, statfs '/no/such/folder'",
    ]);
  });
});
