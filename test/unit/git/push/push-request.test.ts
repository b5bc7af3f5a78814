import { randomBytes } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { type PushRequest, readPushRequest } from '../../../../src/git/push/push-request.ts';
import { tooLarge } from '../../../../src/lib/errors.ts';
import { failureOf, refusalOf } from '../../../support/failures.ts';
import { A, B, inputOf, packet, packets, Reset, ZERO } from './support.ts';

const CAPABILITIES = '\0 report-status-v2 side-band-64k push-options object-format=sha1 agent=git/2.39.5';
const CREATE = `${ZERO} ${A} refs/heads/draft/1.0.0${CAPABILITIES}`;

async function readAll(...parts: (string | Buffer | null)[]): Promise<PushRequest> {
  const request = await readPushRequest(inputOf(packets(...parts)));
  if (request === null) throw new Error('was taken for a probe');
  return request;
}

async function refusalFor(input: Readable | Buffer): Promise<string> {
  const refusal = await refusalOf(readPushRequest(Buffer.isBuffer(input) ? inputOf(input) : input));
  expect(refusal.kind).to.equal(refusal.code === 'malformed_body' ? 'invalid' : 'too_large');
  return refusal.code;
}

const refusalOfLines = (...parts: (string | Buffer | null)[]) => refusalFor(packets(...parts));

/** Lines that create as many refs, of which the first has capabilities. */
function creations(count: number, length = 0): string[] {
  const filling = 'x'.repeat(length);
  return Array.from(
    { length: count },
    (_, n) => `${ZERO} ${A} refs/heads/${n}${filling}${n === 0 ? '\0' : ''}`,
  );
}

describe('readPushRequest', () => {
  it('reads commands, capabilities, options and the pack', async () => {
    const pack = randomBytes(3 * 1024 * 1024);
    const commands = [CREATE, `${A} ${B} refs/heads/draft/2.0.0\n`, `${B} ${ZERO} refs/heads/draft/3.0.0`];
    const head = packets(...commands, null, 'publish', 'entry-point=a b.yaml', null);
    for (const size of [1_000, 64 * 1024, 4 * 1024 * 1024]) {
      const request = await readPushRequest(inputOf(Buffer.concat([head, pack]), size));
      expect(request?.commands).to.deep.equal([
        { name: 'refs/heads/draft/1.0.0', from: null, to: A },
        { name: 'refs/heads/draft/2.0.0', from: A, to: B },
        { name: 'refs/heads/draft/3.0.0', from: B, to: null },
      ]);
      expect(request?.options).to.deep.equal(['publish', 'entry-point=a b.yaml']);
      expect([...(request?.capabilities ?? [])]).to.deep.equal(CAPABILITIES.slice(2).split(' '));
      expect(Buffer.compare(await buffer(request?.pack as Readable), pack)).to.equal(0);
    }
  });

  it('reads a request that comes one byte at a time', async () => {
    const pack = randomBytes(1_000);
    const bytes = Buffer.concat([packets(`shallow ${B}`, CREATE, null, 'publish', null), pack]);
    const request = await readPushRequest(inputOf(bytes, 1));
    expect(request?.commands).to.have.length(1);
    expect(request?.options).to.deep.equal(['publish']);
    expect(await buffer(request?.pack as Readable)).to.deep.equal(pack);
  });

  it('tells the probe of a client by its lone flush', async () => {
    expect(await readPushRequest(inputOf('0000', 1))).to.equal(null);
    const more = await readPushRequest(inputOf('0000PACK'));
    expect(more).to.deep.include({ commands: [], options: [], pack: null });
  });

  it('reads no options unless the client says that it sends them', async () => {
    const head = packets(`${ZERO} ${A} refs/heads/a\0report-status`, null);
    const request = await readPushRequest(inputOf(Buffer.concat([head, Buffer.from('0004')])));
    expect(request?.options).to.deep.equal([]);
    expect((await buffer(request?.pack as Readable)).toString()).to.equal('0004');
  });

  it('wants no pack for deletions, but their options', async () => {
    const deletion = `${A} ${ZERO} refs/heads/a${CAPABILITIES}`;
    const request = await readAll(deletion, null, 'publish', null, 'ignored');
    expect(request).to.deep.include({ options: ['publish'], pack: null });
    expect(request.commands).to.deep.equal([{ name: 'refs/heads/a', from: A, to: null }]);
  });

  it('passes over what a shallow clone says, also if that is all', async () => {
    const shallow = [`shallow ${A}\n`, `shallow ${B}`];
    expect((await readAll(...shallow, CREATE, null, null)).commands).to.have.length(1);
    expect(await readAll(...shallow, null)).to.deep.include({ commands: [], options: [], pack: null });
  });

  it('keeps names and options as they came, whatever they hold', async () => {
    const name = '\ufeffrefs/heads/é \r\t\u2028\u{1f600}../;$(x)';
    const options = ['', 'a\nb', 'a\n\n', '\ufeff', 'x\0y', 'é'];
    const request = await readAll(`${ZERO} ${A} ${name}\0push-options\n`, null, ...options, null);
    expect(request.commands[0]?.name).to.equal(name);
    // As with git's own server, one LF at the end of a line is not part of it.
    expect(request.options).to.deep.equal(['', 'a\nb', 'a\n', '\ufeff', 'x\0y', 'é']);
  });

  it('takes a client that names no capabilities', async () => {
    const request = await readAll(`${ZERO} ${A} refs/heads/a`, null);
    expect([...request.capabilities]).to.deep.equal([]);
    expect(request.commands).to.have.length(1);
  });

  describe('refuses as malformed', () => {
    const NO_COMMAND = /is not two object ids/;
    const NO_UTF8 = /not in UTF-8/;
    const ENDS = /ends in the middle/;
    const again = `${ZERO} ${A} refs/heads/a`;
    const bytes = (text: string, ...more: number[]) => Buffer.concat([Buffer.from(text), Buffer.from(more)]);
    const cases: [what: string, why: RegExp, ...parts: (string | Buffer | null)[]][] = [
      ['no flush behind the commands', ENDS, CREATE],
      ['no flush behind the options', ENDS, CREATE, null, 'publish'],
      ['a command without a name', NO_COMMAND, `${ZERO} ${A}\0`, null],
      ['a command with an empty name', NO_COMMAND, `${ZERO} ${A} \0`, null],
      ['an empty line', NO_COMMAND, '', null],
      ['an id that is too short', NO_COMMAND, `${ZERO} ${A.slice(1)} refs/heads/a\0`, null],
      ['an id that is too long', NO_COMMAND, `${ZERO} ${A}a refs/heads/a\0`, null],
      ['an id of SHA-256', NO_COMMAND, `${'0'.repeat(64)} ${'a'.repeat(64)} refs/heads/a\0`, null],
      ['an id that is no number', NO_COMMAND, `${ZERO} ${'g'.repeat(40)} refs/heads/a\0`, null],
      ['an id in capitals', NO_COMMAND, `${ZERO} ${'A'.repeat(40)} refs/heads/a\0`, null],
      ['two blanks between ids', NO_COMMAND, `${ZERO}  ${A} refs/heads/a\0`, null],
      ['a command from nothing to nothing', /neither sets nor/, `${ZERO} ${ZERO} refs/heads/a\0`, null],
      ['the same ref twice', /same ref/, CREATE, `${A} ${B} refs/heads/draft/1.0.0`, null, null],
      ['the same ref with and without LF', /same ref/, CREATE, again, `${again}\n`, null, null],
      ['a NUL in the name of a later ref', NO_COMMAND, CREATE, `${again}\0b`, null, null],
      ['capabilities on a later command', NO_COMMAND, CREATE, `${again}\0push-options`, null, null],
      ['a NUL in the capabilities', /hold a NUL/, `${again}\0report-status\0quiet`, null],
      ['a line break in the capabilities', /line break/, `${again}\0quiet\nx`, null],
      ['a line break in a name', NO_COMMAND, `${again}\nok refs/heads/b\0`, null],
      ['two line breaks behind a name', NO_COMMAND, CREATE, `${again}\n\n`, null, null],
      ['a name that is not in UTF-8', NO_UTF8, bytes(again, 0xff), null],
      ['a name in overlong UTF-8', NO_UTF8, bytes(again, 0xc0, 0xaf), null],
      ['a later name that is not in UTF-8', NO_UTF8, CREATE, bytes(again, 0xc3), null, null],
      ['capabilities not in UTF-8', NO_UTF8, bytes(CREATE, 0xff), null, null],
      ['an option that is not in UTF-8', NO_UTF8, CREATE, null, bytes('', 0xed, 0xa0, 0x80), null],
      ['objects named by SHA-256', /SHA-1/, `${again}\0 object-format=sha256`, null],
      ['objects named in two ways', /SHA-1/, `${again}\0object-format=sha1 object-format=sha256`, null],
      ['a signed push', /Signed/, 'push-cert\0 report-status\n', 'certificate version 0.1\n', null],
      ['a shallow line without an id', /shallow line/, 'shallow ', CREATE, null, null],
      ['a shallow line with a name', /shallow line/, 'shallow main', CREATE, null, null],
      ['a shallow line behind a command', NO_COMMAND, CREATE, `shallow ${A}`, null, null],
    ];
    for (const [what, why, ...parts] of cases) {
      it(what, async () => {
        const refusal = await refusalOf(readPushRequest(inputOf(packets(...parts))));
        expect(refusal).to.include({ kind: 'invalid', code: 'malformed_body' });
        expect(refusal.message).to.match(why);
      });
    }

    it('lines that are no lines, wherever they come', async () => {
      for (const garbage of ['', '0', '0001', '0002', '0003', 'ffff', 'fffff', 'GET ', '0009abc']) {
        for (const before of [packets(), packets(CREATE), packets(`shallow ${A}`), packets(CREATE, null)]) {
          const bytes = Buffer.concat([before, Buffer.from(garbage)]);
          const where = `${garbage} after ${before.length} bytes`;
          expect(await refusalFor(bytes), where).to.equal('malformed_body');
        }
      }
    });
  });

  describe('has limits', () => {
    it('for the commands', async () => {
      expect((await readAll(...creations(1_000), null)).commands).to.have.length(1_000);
      expect(await refusalOfLines(...creations(1_001), null)).to.equal('payload_too_large');
    });

    it('for what a shallow clone says', async () => {
      const lines = Array.from({ length: 10_000 }, () => `shallow ${A}`);
      expect((await readAll(...lines, CREATE, null, null)).commands).to.have.length(1);
      const refusal = await refusalOfLines(...lines, `shallow ${B}`, CREATE, null, null);
      expect(refusal).to.equal('payload_too_large');
    });

    it('for the options', async () => {
      const options = Array.from({ length: 100 }, () => '');
      expect((await readAll(CREATE, null, ...options, null)).options).to.have.length(100);
      expect(await refusalOfLines(CREATE, null, ...options, '', null)).to.equal('payload_too_large');
    });

    it('for the bytes of all of them together', async () => {
      const MIB = 1024 * 1024;
      const lengthOf = (lines: string[]) => lines.reduce((sum, line) => sum + line.length, 0);
      const commands = [CREATE, ...creations(500, 900).slice(1)];
      const options = Array.from({ length: 8 }, () => 'x'.repeat(65_000));
      const filling = 'y'.repeat(MIB - lengthOf(commands) - lengthOf(options));
      expect(filling.length).to.be.lessThan(65_000);
      expect((await readAll(...commands, null, ...options, filling, null)).options).to.have.length(9);
      const refusal = await refusalOfLines(...commands, null, ...options, `${filling}y`, null);
      expect(refusal).to.equal('payload_too_large');
    });

    it('which are looked at while the request comes', async () => {
      const endless = new PassThrough();
      const feed = () => {
        while (!endless.destroyed && endless.write(packet(`shallow ${A}`)));
      };
      endless.on('drain', feed);
      feed();
      expect(await refusalFor(endless)).to.equal('payload_too_large');
      endless.destroy();
    });
  });

  it('hands errors of the input on as they are, in the lines and in the pack', async () => {
    for (const failure of [new Reset(), tooLarge('The body is too large')]) {
      expect(await failureOf(readPushRequest(inputOf(packets(CREATE), 10, failure)))).to.equal(failure);
      expect(await failureOf(readPushRequest(inputOf('0000', 10, failure)))).to.equal(failure);
      const bytes = Buffer.concat([packets(CREATE, null, null), randomBytes(200_000)]);
      const request = await readPushRequest(inputOf(bytes, 1_000, failure));
      expect(await failureOf(buffer(request?.pack as Readable))).to.equal(failure);
    }
  });

  it('leaves the input to be drained when it wants no pack', async () => {
    const bytes = Buffer.concat([packets(`${A} ${ZERO} refs/heads/a\0`, null), randomBytes(300_000)]);
    const input = inputOf(bytes, 1_000);
    expect((await readPushRequest(input))?.pack).to.equal(null);
    input.resume();
    await new Promise((resolve) => input.on('end', resolve));
  });
});
