import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { FLUSH, PktReader, pktLine } from '../../../../src/git/push/pkt-lines.ts';
import { failureOf, refusalOf } from '../../../support/failures.ts';
import { inputOf, packet, packets, Reset } from './support.ts';

describe('pkt-lines', () => {
  describe('written', () => {
    it('open with their length in bytes, not in characters', () => {
      expect(pktLine('ok\n').toString()).to.equal('0007ok\n');
      expect(pktLine('é').toString()).to.equal('0006é');
      expect(pktLine('').toString()).to.equal('0004');
      expect(pktLine(Buffer.from([0, 255]))).to.deep.equal(Buffer.from([48, 48, 48, 54, 0, 255]));
      expect(FLUSH.toString()).to.equal('0000');
    });

    it('hold 65516 bytes and no more', () => {
      expect(pktLine('x'.repeat(65_516)).toString('latin1', 0, 5)).to.equal('fff0x');
      expect(() => pktLine('x'.repeat(65_517))).to.throw('65517');
    });
  });

  describe('read', () => {
    it('are the same in chunks of any size', async () => {
      for (const size of [1, 2, 3, 7, 5_000, 1_000_000]) {
        const long = randomBytes(size < 10 ? 1_000 : 65_516);
        const reader = new PktReader(inputOf(packets('one\n', '', null, long), size));
        expect((await reader.next()).toString()).to.equal('one\n');
        expect(await reader.next()).to.deep.equal(Buffer.alloc(0));
        expect(await reader.next()).to.equal('flush');
        expect(await reader.isAtEnd()).to.equal(false);
        expect(Buffer.compare((await reader.next()) as Buffer, long)).to.equal(0);
        expect(await reader.isAtEnd()).to.equal(true);
        expect(await reader.isAtEnd()).to.equal(true);
      }
    });

    it('come out of a stream of objects as well', async () => {
      const reader = new PktReader(
        Readable.from([Buffer.from('00'), Buffer.alloc(0), Buffer.from('06ab0000')]),
      );
      expect((await reader.next()).toString()).to.equal('ab');
      expect(await reader.next()).to.equal('flush');
      expect(await reader.isAtEnd()).to.equal(true);
    });

    it('may spell their length in capitals', async () => {
      const reader = new PktReader(inputOf(`000A${'x'.repeat(6)}`));
      expect((await reader.next()).toString()).to.equal('xxxxxx');
    });

    for (const [what, bytes] of [
      ['nothing', ''],
      ['half a length', '00'],
      ['a length that is no number', 'fffg'],
      ['a length with a sign', '-005x'],
      ['a length with blanks', '  05x'],
      ['a delimiter of version 2', '0001'],
      ['a response end of version 2', '0002'],
      ['a length that is shorter than itself', '0003'],
      ['more than a line can hold', `fff1${'x'.repeat(70_000)}`],
      ['the largest length', `ffff${'x'.repeat(70_000)}`],
      ['a line that is cut off', '0009abc'],
      ['a line of which nothing comes', '0009'],
    ] as const) {
      it(`refuse ${what}`, async () => {
        for (const size of [1, 100_000]) {
          const refusal = await refusalOf(new PktReader(inputOf(bytes, size)).next());
          expect(refusal).to.include({ kind: 'invalid', code: 'malformed_body' });
        }
      });
    }

    it('do not wait for the data of a line that is too long', async () => {
      const input = new PassThrough();
      input.write('ffff');
      expect((await refusalOf(new PktReader(input).next())).code).to.equal('malformed_body');
    });

    it('hand an error of the stream on as it is, whenever it comes', async () => {
      const reset = new Reset();
      expect(await failureOf(new PktReader(inputOf('0009ab', 1, reset)).next())).to.equal(reset);
      expect(await failureOf(new PktReader(inputOf('', 1, reset)).isAtEnd())).to.equal(reset);
      const input = new PassThrough();
      const reader = new PktReader(input);
      input.destroy(reset);
      await turn();
      expect(await failureOf(reader.next())).to.equal(reset);
    });

    it('say that the client has gone when the stream is destroyed', async () => {
      const input = new PassThrough();
      const work = refusalOf(new PktReader(input).next());
      await turn();
      input.destroy();
      expect((await work).code).to.equal('client_gone');
    });

    it('leave the stream to be drained after a refusal', async () => {
      const input = inputOf(Buffer.concat([Buffer.from('0003'), randomBytes(300_000)]), 1_000);
      await refusalOf(new PktReader(input).next());
      input.resume();
      await new Promise((resolve) => input.on('end', resolve));
    });
  });

  describe('followed by something else', () => {
    it('hand it on byte for byte, whether it has been taken in or not', async () => {
      for (const [size, length] of [
        [1, 2_000],
        [3, 5_000],
        [16_384, 3_000_000],
        [4_000_000, 3_000_000],
      ] as const) {
        const pack = randomBytes(length);
        const reader = new PktReader(inputOf(Buffer.concat([packets('a', null), pack]), size));
        await reader.next();
        await reader.next();
        expect(Buffer.compare(await buffer(reader.rest()), pack)).to.equal(0);
      }
    });

    it('end with the stream when nothing follows', async () => {
      for (const looksFirst of [true, false]) {
        const reader = new PktReader(inputOf('0000'));
        await reader.next();
        if (looksFirst) expect(await reader.isAtEnd()).to.equal(true);
        expect(await buffer(reader.rest())).to.have.length(0);
      }
    });

    it('take no more of the stream than is read', async () => {
      let taken = 0;
      const input = new Readable({
        read() {
          taken += 1;
          this.push(taken === 1 ? packet('a') : Buffer.alloc(16_384));
        },
      });
      const reader = new PktReader(input);
      await reader.next();
      const rest = reader.rest();
      rest.read(1);
      for (let turns = 0; turns < 100; turns += 1) await turn();
      expect(taken).to.be.lessThan(12);
      rest.destroy();
    });

    it('fail with the error of the stream, before and after it is handed on', async () => {
      const reset = new Reset();
      const reader = new PktReader(inputOf(Buffer.concat([packet('a'), randomBytes(5_000)]), 100, reset));
      await reader.next();
      expect(await failureOf(buffer(reader.rest()))).to.equal(reset);

      const input = new PassThrough();
      const early = new PktReader(input);
      input.destroy(reset);
      await turn();
      const rest = early.rest();
      // Nobody listens yet, and that must not end the process.
      for (let turns = 0; turns < 5; turns += 1) await turn();
      expect(rest.errored).to.equal(reset);
    });

    it('are destroyed together with the stream, even while it stands still', async () => {
      for (const first of ['input', 'rest'] as const) {
        const input = new PassThrough();
        input.write('0005a');
        const reader = new PktReader(input);
        await reader.next();
        const rest = reader.rest();
        const streams = { input, rest };
        rest.on('error', () => undefined);
        streams[first].destroy();
        for (let turns = 0; turns < 5; turns += 1) await turn();
        expect([input.destroyed, rest.destroyed]).to.deep.equal([true, true]);
      }
    });
  });
});
