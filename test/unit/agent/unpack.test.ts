import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { unpackBundle } from '../../../src/agent/bundles.ts';
import { failureOf } from '../../support/failures.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { makeZip, unixMode, type ZipEntry } from '../../support/zip.ts';

const MAIN = { name: 'main.dsc.yaml', content: '$schema: x\nresources: []\n' };
const LIMIT = 40_000;

describe('unpacking a bundle', () => {
  const folder = temporaryFolder();
  let target: string;
  beforeEach(() => {
    target = folder('a/b/target');
    mkdirSync(target, { recursive: true });
  });

  const unpack = (bytes: Buffer) => {
    const archive = folder('bundle.zip');
    writeFileSync(archive, bytes);
    return unpackBundle(archive, target, LIMIT);
  };

  it('writes files and folders that their owner alone may read or execute, stored or deflated', async () => {
    const entries = [
      MAIN,
      { name: 'checks/os.yaml', content: 'x', method: 0, attributes: unixMode(0o100666) },
      { name: 'checks/run.sh', content: '#!/bin/sh\n', attributes: unixMode(0o100755) },
    ];
    expect([...(await unpack(makeZip(entries))).paths]).to.deep.equal(entries.map(({ name }) => name));
    expect(readFileSync(join(target, 'main.dsc.yaml'), 'utf8')).to.equal(MAIN.content);
    const modes = ['checks', 'checks/os.yaml', 'checks/run.sh'].map(
      (name) => statSync(join(target, name)).mode & 0o777,
    );
    expect(modes).to.deep.equal([0o700, 0o600, 0o700]);
  });

  const REFUSED: [string, ZipEntry[]][] = [
    ['climbs out of its folder', [MAIN, { name: '../escaped', content: 'x' }]],
    ['has an absolute path', [MAIN, { name: '/tmp/escaped', content: 'x' }]],
    ['climbs out with backslashes', [MAIN, { name: '..\\escaped', content: 'x' }]],
    ['has a drive letter', [MAIN, { name: 'C:escaped', content: 'x' }]],
    ['has a path in another spelling', [MAIN, { name: 'a/./b', content: 'x' }]],
    ['has a link', [MAIN, { name: 'link', content: '/etc', attributes: unixMode(0o120777) }]],
    ['has a device', [MAIN, { name: 'null', content: '', attributes: unixMode(0o020666) }]],
    ['has a file twice', [MAIN, MAIN]],
    ['has two files that are one without regard to case', [MAIN, { ...MAIN, name: 'MAIN.dsc.yaml' }]],
    ['has a file where a folder is needed', [MAIN, { name: 'main.dsc.yaml/x', content: 'x' }]],
    ['is larger than allowed', [MAIN, { name: 'big', content: Buffer.alloc(LIMIT) }]],
  ];
  for (const [what, entries] of REFUSED) {
    it(`refuses one that ${what}, before anything is written`, async () => {
      await failureOf(unpack(makeZip(entries)));
      expect(readdirSync(target)).to.deep.equal([]);
      expect(readdirSync(folder()).sort()).to.deep.equal(['a', 'bundle.zip']);
      expect(readdirSync(folder('a/b'))).to.deep.equal(['target']);
    });
  }

  it('refuses one that inflates to more than it says, without writing more than that', async () => {
    const bomb = { name: 'bomb', content: Buffer.alloc(1_000_000), declaredSize: 10 };
    await failureOf(unpack(makeZip([bomb])));
    expect(statSync(join(target, 'bomb')).size).to.be.at.most(10);
  });

  it('refuses what is no ZIP, or half of one', async () => {
    const whole = makeZip([MAIN]);
    await failureOf(unpack(Buffer.from('no ZIP at all')));
    await failureOf(unpack(whole.subarray(0, whole.length / 2)));
  });
});
