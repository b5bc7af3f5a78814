import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import { loosePath, readLooseObject } from '../../../src/git/loose-objects.ts';
import { failureOf } from '../../support/failures.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const FS = new AtomicFs();

describe('a loose object', () => {
  const folder = temporaryFolder();
  const wrap = (content: Buffer, size = content.length) =>
    Buffer.concat([Buffer.from(`blob ${size}\0`), content]);
  const idOf = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex');
  const read = (oid: string) => readLooseObject(FS, folder(), oid);
  const put = (oid: string, bytes: Buffer) => {
    const path = loosePath(folder(), oid);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  };

  for (const [name, content] of [
    ['is empty', Buffer.alloc(0)],
    ['is small', Buffer.from('text')],
    ['is large and cannot be packed smaller', randomBytes(1_000_000)],
    ['is large and is packed very small', Buffer.alloc(5_000_000, 'a')],
  ] as const) {
    it(`that ${name} is read as it is`, async () => {
      const bytes = wrap(content);
      put(idOf(bytes), deflateSync(bytes));
      const object = await read(idOf(bytes));
      expect(object?.type).to.equal('blob');
      expect(object?.content.equals(content)).to.equal(true);
    });
  }

  it('that is not there is null', async () => {
    expect(await read(idOf(Buffer.alloc(0)))).to.equal(null);
  });

  for (const size of [10, 1_000_000]) {
    const content = randomBytes(size);
    const whole = deflateSync(wrap(content));
    const flipped = Buffer.from(wrap(content));
    flipped.writeUInt8(flipped.readUInt8(flipped.length - 1) ^ 1, flipped.length - 1);
    const broken: [string, Buffer][] = [
      ['is cut off', whole.subarray(0, -8)],
      ['is empty on the disk', Buffer.alloc(0)],
      ['is another one', deflateSync(flipped)],
      ['says that it is longer', deflateSync(wrap(content, size + 1))],
      ['says that it is shorter', deflateSync(wrap(content, size - 1))],
      ['has no header', deflateSync(content)],
      ['is not packed', wrap(content)],
    ];
    for (const [name, bytes] of broken) {
      it(`of ${size} bytes that ${name} is refused`, async () => {
        const oid = idOf(wrap(content));
        put(oid, bytes);
        expect(await failureOf(read(oid))).not.to.have.property('syscall');
      });
    }
  }
});
