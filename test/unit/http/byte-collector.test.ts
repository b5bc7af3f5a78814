import { expect } from 'chai';
import fc from 'fast-check';
import { ByteCollector } from '../../../src/http/byte-collector.ts';

describe('a byte collector', () => {
  it('gives back what came, in whatever pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5_000 })), (pieces) => {
        const bytes = new ByteCollector();
        for (const piece of pieces) bytes.append(Buffer.from(piece));
        const all = Buffer.concat(pieces);
        expect(bytes.length).to.equal(all.length);
        expect(bytes.takeAll().equals(all)).to.equal(true);
        expect(bytes.length, 'it is empty then').to.equal(0);
      }),
    );
  });

  it('gives back what came where a length was announced, right or wrong', () => {
    const mib = 1024 * 1024;
    for (const announced of [1, mib, 3 * mib, 3 * mib + 1, 5 * mib, 100 * mib]) {
      const bytes = new ByteCollector(undefined, announced);
      const all = Buffer.alloc(3 * mib, 'abcdefg');
      for (let at = 0; at < all.length; at += 65_521) bytes.append(all.subarray(at, at + 65_521));
      expect(bytes.takeAll().equals(all), String(announced)).to.equal(true);
    }
  });

  it('does not join what has an announced length, and asks for no memory before an eighth has come', () => {
    const mib = 1024 * 1024;
    const memoryOf = (announced: number) => {
      const bytes = new ByteCollector(undefined, announced);
      for (let count = 0; count < 48; count += 1) bytes.append(Buffer.alloc(mib / 16, 'x'));
      return bytes.takeAll().buffer.byteLength;
    };
    expect(memoryOf(5 * mib), 'the memory that was asked for at first').to.equal(5 * mib);
    expect(memoryOf(100 * mib), 'what came, joined').to.equal(3 * mib);
  });

  it('holds at most twice what has come, also when it comes byte by byte', () => {
    let held = 0;
    const bytes = new ByteCollector((block) => (held += block));
    let excess = 0;
    const piece = Buffer.from('x');
    for (let count = 1; count <= 1_000_000; count += 1) {
      bytes.append(piece);
      // The first block is there from the first byte on.
      if (count > 1_024) excess = Math.max(excess, held - 2 * count);
    }
    expect(excess).to.equal(0);
    expect(bytes.takeAll().equals(Buffer.alloc(1_000_000, 'x'))).to.equal(true);
  });

  it('keeps nothing of the piece itself', () => {
    const piece = Buffer.from('before');
    const bytes = new ByteCollector();
    bytes.append(piece);
    piece.write('after!');
    expect(bytes.takeAll().toString()).to.equal('before');
  });
});
