import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { expect } from 'chai';
import { BundleFiles } from '../../../src/bundles/bundle-files.ts';
import { LargeFiles } from '../../../src/bundles/large-files.ts';
import { eventually } from '../../support/eventually.ts';
import { failureOf } from '../../support/failures.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('bytes that are kept until they are read', () => {
  const parent = temporaryFolder();
  let folder: string;
  let files: BundleFiles;
  let large: LargeFiles;

  beforeEach(() => {
    folder = parent('bundles');
    files = new BundleFiles({ folder, maxBytes: 10 });
    large = new LargeFiles(files);
  });
  afterEach(() => files.close());

  /** Writes so many pieces of 100 KB, each of another letter. */
  const pieces = (count: number) => async (write: (piece: Buffer) => Promise<void>) => {
    for (let at = 0; at < count; at += 1) await write(Buffer.alloc(100_000, 97 + at));
  };
  const textOf = (count: number) => Array.from('abcdefgh'.slice(0, count), (one) => one.repeat(100_000));
  /** The files of the folder that this process has open. They have no names in it. */
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((one) => {
      try {
        return readlinkSync(`/proc/self/fd/${one}`).startsWith(folder);
      } catch {
        // It was the one by which this folder was read.
        return false;
      }
    });

  const all = async (reading: AsyncIterable<Buffer>) => {
    let text = '';
    for await (const piece of reading) text += String(piece);
    return text;
  };

  it('are read before all are made, and not made any more when the reader has left', async () => {
    let refusal: Promise<Error> | null = null;
    const reading = large.keepUntilRead(async (write) => {
      await write(Buffer.from('first'));
      await new Promise((resolve) => void left.signal.addEventListener('abort', resolve));
      refusal = failureOf(write(Buffer.from('second')));
      await refusal;
    });
    const left = new AbortController();
    expect(String((await reading.next()).value)).to.equal('first');
    const leaving = reading.return(undefined);
    left.abort();
    await leaving;
    expect(await refusal).to.include({ code: 'client_gone' });
  });

  it('wait in memory while they are few', async () => {
    const read: string[] = [];
    for await (const piece of large.keepUntilRead(pieces(2))) read.push(String(piece));
    expect(read).to.deep.equal(textOf(2));
    expect(existsSync(folder)).to.equal(false);
  });

  it('wait in a file otherwise, which ends with its reader', async () => {
    const reading = large.keepUntilRead(pieces(8));
    let text = String((await reading.next()).value);
    await eventually(async () => expect(openFiles()).to.have.length(1));
    for await (const piece of reading) text += String(piece);
    expect(text).to.equal(textOf(8).join(''));
    expect(openFiles()).to.deep.equal([]);
  });

  it('are let go of when the reader breaks off, or when they cannot be made', async () => {
    const reading = large.keepUntilRead(pieces(8));
    await reading.next();
    await eventually(async () => expect(openFiles()).to.have.length(1));
    await reading.return(undefined);
    expect(openFiles()).to.deep.equal([]);
    const failing = large.keepUntilRead(async (write) => {
      await pieces(8)(write);
      throw new Error('not to be made');
    });
    expect(await failureOf(all(failing))).to.include({ message: 'not to be made' });
    expect(openFiles()).to.deep.equal([]);
  });
});

describe('files of versions for answers', () => {
  const folder = temporaryFolder();

  it('are read two at once for one caller, and not at all for who has left meanwhile', async () => {
    const files = new BundleFiles({ folder: folder('bundles'), maxBytes: 10 });
    const large = new LargeFiles(files);
    const left = new AbortController();
    let [begun, now, most] = [0, 0, 0];
    const read = async () => {
      begun += 1;
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return Buffer.alloc(10);
    };
    const ask = (oid: string, over = new AbortController().signal) =>
      large.bodyOf(oid, read, { id: 'a user', over });
    const asked = ['a', 'b', 'c', 'd', 'e'].map((oid) => ask(oid));
    const late = failureOf(ask('f', left.signal));
    left.abort();
    expect(await late).to.include({ code: 'client_gone' });
    await Promise.all(asked);
    expect([begun, most]).to.deep.equal([5, 2]);
    await files.close();
  });
});
