import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import fc from 'fast-check';
import { fileNamed, makeBody, named, postBody, url, useUploadServer } from '../../support/upload-server.ts';

describe('readUpload: bodies that are no form', () => {
  useUploadServer();

  const multiparts = ['multipart/mixed; boundary=B', 'multipart/form-dataX; boundary=B'];
  for (const type of ['application/json', ...multiparts, '']) {
    it(`answers 415 to "${type}"`, async () => {
      const outcome = await postBody('{}', type);
      expect(outcome).to.include({ status: 415, code: 'unsupported_media_type' });
    });
  }

  it('answers 415 to a compressed body', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=B', 'content-encoding': 'gzip' };
    const answer = await fetch(url(), { method: 'POST', body: 'x', headers });
    expect(answer.status).to.equal(415);
  });

  const form = 'multipart/form-data';
  const types = [
    ...['', ';', '; boundary=', '; boundary=""', '; boundary="B', '; boundary=B; boundary=C'],
    `; boundary=${'x'.repeat(71)}`,
  ];
  for (const parameters of types) {
    it(`answers 400 to the parameters "${parameters.slice(0, 30)}"`, async () => {
      const outcome = await postBody('--B--', form + parameters);
      expect(outcome).to.include({ status: 400, fault: 'malformed_multipart' });
    });
  }

  const whole = makeBody([[fileNamed('a'), 'content']]);
  const bodies: Record<string, Buffer | string> = {
    'no bytes': '',
    'another boundary': '--C\r\n\r\n--C--',
    'no last boundary': whole.subarray(0, whole.indexOf('\r\n--B--')),
    'half a last boundary': whole.subarray(0, -3),
    'a cut off header': '--B\r\nContent-Dispo',
    'a header without content': '--B\r\nContent-Disposition: form-data; name="name"\r\n--B--\r\n',
    'a part without a header': '--B\r\n\r\nx\r\n--B--\r\n',
    'a boundary alone': '--B',
    'a first boundary alone': '--B\r\n',
  };
  for (const [what, body] of Object.entries(bodies)) {
    it(`answers 400 to ${what}`, async () => {
      expect(await postBody(body)).to.include({ status: 400, fault: 'malformed_multipart' });
    });
  }

  it('answers anything, in any pieces, and never hangs', async () => {
    const seeds = [
      ...['--B', '--', '-', 'x', ':', ';', '"', fileNamed('a'), named('name="name"')],
      ...['\r\n', '\r\n\r\n', '--B\r\n', '\r\n--B', '\r\n--B--'],
    ];
    const piece = fc.oneof(fc.constantFrom(...seeds), fc.string());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 15 }), fc.boolean(), async (pieces, wrap) => {
        const inner = wrap ? ['--B\r\n', fileNamed('first'), '\r\n\r\n', ...pieces, '\r\n--B--\r\n'] : pieces;
        const status = await new Promise((resolve, reject) => {
          const headers = { 'content-type': 'multipart/form-data; boundary=B' };
          const req = request(url(), { method: 'POST', agent, headers, timeout: 60_000 }, (res) => {
            res.resume().once('end', () => resolve(res.statusCode));
          });
          req.once('error', reject).once('timeout', () => req.destroy(new Error('it hangs')));
          for (const part of inner) req.write(part);
          req.end();
        });
        expect(status).to.be.oneOf([200, 400]);
      }),
      { numRuns: 500 },
    );
    agent.destroy();
  });

  it('reads a form the same in pieces of every size', async () => {
    const body = makeBody([
      [named('name="name"'), 'web'],
      [fileNamed('empty'), ''],
      [fileNamed('a\\b'), 'x\r\n--\r\n-'.repeat(10)],
      [fileNamed('c'), '\r\n'],
    ]);
    const expected = await postBody(body);
    expect(expected.status).to.equal(200);
    for (let size = 1; size < 70; size += size < 20 ? 1 : 7) {
      const outcome = await new Promise<string>((resolve, reject) => {
        const headers = { 'content-type': 'multipart/form-data; boundary=B' };
        const req = request(url(), { method: 'POST', headers }, (res) => resolve(text(res)));
        req.once('error', reject);
        for (let at = 0; at < body.length; at += size) req.write(body.subarray(at, at + size));
        req.end();
      });
      expect(JSON.parse(outcome), `pieces of ${size}`).to.deep.equal(expected);
    }
  });
});
