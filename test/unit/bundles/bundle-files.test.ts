import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { type BundleFile, BundleFiles } from '../../../src/bundles/bundle-files.ts';
import { OpenBundles } from '../../../src/bundles/downloads.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import { failureOf, refusalOf } from '../../support/failures.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('bundles in files', () => {
  const parent = temporaryFolder();
  let folder: string;
  let files: BundleFiles;

  beforeEach(() => {
    folder = parent('bundles');
    files = new BundleFiles({ folder, maxBytes: 10 });
  });
  afterEach(() => files.close());

  const make = async (text: string): Promise<BundleFile> => {
    const file = await files.create();
    await file.append(Buffer.from(text));
    return file;
  };
  const textOf = async (file: BundleFile) => (await buffer(file.open())).toString();

  it('can be read by many at once, and have no name in their folder', async () => {
    const file = await make('content');
    await file.append(Buffer.from(' and more'));
    const texts = await Promise.all([textOf(file), textOf(file)]);
    expect(texts).to.deep.equal(['content and more', 'content and more']);
    expect(readdirSync(folder)).to.deep.equal([]);
    expect(statSync(folder).mode & 0o777).to.equal(0o700);
  });

  it('make room for later ones, but stay for those who read them', async () => {
    const over = new AbortController();
    const first = await make('12345678');
    first.holdUntil(over.signal);
    files.keep('first', first);
    const reading = first.open();
    files.keep('second', await make('abcdefgh'));
    expect(files.get('first')).to.equal(undefined);
    expect((await buffer(reading)).toString()).to.equal('12345678');
    expect(await textOf(first)).to.equal('12345678');
    over.abort();
    await failureOf(textOf(first));
    expect(await textOf(files.get('second') as BundleFile)).to.equal('abcdefgh');
  });

  it('are read on by others when one of their readers breaks off', async () => {
    const file = await make('x'.repeat(1_000_000));
    const brokenOff = file.open();
    await once(brokenOff, 'readable');
    brokenOff.destroy();
    await once(brokenOff, 'close');
    expect((await textOf(file)).length).to.equal(1_000_000);
  });

  it('are not kept when they alone are more than may be', async () => {
    files.keep('large', await make('more than ten bytes'));
    expect(files.facts.entries).to.equal(0);
  });

  it('are encrypted on the disk where they hold secrets, and read as they were from any byte on', async () => {
    const onDisk: Buffer[] = [];
    const openWatched: typeof open = async (...args) => {
      const handle = await open(...args);
      const { appendFile } = handle;
      handle.appendFile = (data, ...more) => {
        onDisk.push(Buffer.from(data as Buffer));
        return appendFile.call(handle, data, ...more);
      };
      return handle;
    };
    files = new BundleFiles({ folder, maxBytes: 10, openFile: openWatched });
    const file = await files.create(true);
    const text = 'hunter2 '.repeat(20_000);
    await file.append(Buffer.from(text.slice(0, 100_000)));
    await file.append(Buffer.from(text.slice(100_000)));
    expect(Buffer.concat(onDisk).includes('hunter2')).to.equal(false);
    expect(Buffer.concat(onDisk).length).to.be.above(text.length);
    for (const from of [0, 1, 65_536, 100_000, 100_001, text.length - 1, text.length])
      expect((await buffer(file.open(from))).toString() === text.slice(from), `from ${from}`).to.equal(true);
  });

  it('leave nothing on a full disk, and tell of it as 507', async () => {
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
    const openFull: typeof open = async (...args) => {
      const handle = await open(...args);
      handle.appendFile = () => Promise.reject(full);
      return handle;
    };
    files = new BundleFiles({ folder, maxBytes: 10, openFile: openFull });
    expect(await refusalOf(make('x'))).to.include({ kind: 'storage_full', code: 'insufficient_storage' });
    expect(existsSync(folder) && readdirSync(folder)).to.deep.equal([]);
  });
});

describe('places for bundles', () => {
  it('are two for each caller, and free again when an answer is over', () => {
    const places = new OpenBundles();
    const answers = [new AbortController(), new AbortController()];
    for (const { signal } of answers) places.add('node a', signal);
    expect(() => places.add('node a', new AbortController().signal)).to.throw(HawserError, /on their way/);
    places.add('node b', new AbortController().signal);
    answers[0]?.abort();
    places.add('node a', new AbortController().signal);
  });
});
