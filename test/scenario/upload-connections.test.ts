// full: SQLite
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { encodeForm, type Form } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, versionsOf } from '../support/configurations.ts';
import { everythingOf, type Kept, ownTemporaryFolder } from '../support/disk.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { Wire, type WireReply } from '../support/wire.ts';
import { makeZip } from '../support/zip.ts';

const BOUNDARY = 'wire';
/** Beyond all that a form may hold under these limits, and within what is still taken off the wire. */
const FAR_TOO_MUCH = 2 * 1024 * 1024;

describe('after a bad upload the connection, and the server, go on', () => {
  let hawser: Hawser;
  let headers: Record<string, string>;
  let kept: Kept;
  let temporary: ReturnType<typeof ownTemporaryFolder>;
  const wires: Wire[] = [];

  before(async () => {
    temporary = ownTemporaryFolder();
    hawser = await startHawser({ HAWSER_UPLOAD_LIMIT: '100KiB', HAWSER_UPLOAD_FILES: '5' });
    headers = { Cookie: hawser.session, 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };
    await ok(201, create(hawser.admin, 'there'));
    kept = await everythingOf(hawser);
  });

  after(async () => {
    for (const wire of wires) wire.destroy();
    await hawser.close();
    temporary.remove();
  });

  const open = async () => {
    const wire = await Wire.open(hawser.target());
    wires.push(wire);
    return wire;
  };

  const formOf = (form: Form) => encodeForm(form, BOUNDARY);
  const good = () => formOf({ fields: { name: 'new' }, files: { [MAIN]: 'x'.repeat(10_000) } });

  /** A next request on this connection, and one on another, find everything as it was. */
  const servesOn = async (wire: Wire, what: string) => {
    wire.head('GET', versionsOf('there'), headers, 0);
    const next = await wire.reply();
    expect(next?.status, `${what}, the same connection`).to.equal(200);
    expect(JSON.parse(next?.text ?? '')).to.have.length(1);
    await changedNothing(what);
  };

  const changedNothing = async (what: string) => {
    expect(await everythingOf(hawser), what).to.deep.equal(kept);
    expect((await hawser.client().get('/health/ready')).status, what).to.equal(200);
  };

  /** Status and code; where the body as a whole is at fault, or its archive, the code of that fault behind a colon. */
  const codeOf = (reply: WireReply | null) => {
    if (!reply) return 'cut';
    const { code, errors = [] } = JSON.parse(reply.text);
    const fault = errors.find(({ path }: { path: string }) => path === '' || path === '/archive');
    return `${reply.status} ${fault ? `${code}: ${fault.code}` : code}`;
  };

  it('for each kind of refusal, with the length declared or in chunks', async () => {
    const files = { [MAIN]: 'x' };
    const big = { [MAIN]: 'x', big: Buffer.alloc(FAR_TOO_MUCH) };
    const bad: [what: string, code: string, body: Buffer][] = [
      ['path', '400 invalid_path', formOf({ fields: { name: 'new' }, files: { ...files, '../x': 'y' } })],
      [
        'archive',
        '400 validation_failed: invalid_archive',
        formOf({ fields: { name: 'new' }, archive: Buffer.from('x') }),
      ],
      ['slip', '400 invalid_path', formOf({ fields: { name: 'new' }, archive: makeZip([{ name: '../x' }]) })],
      ['form', '400 validation_failed: malformed_multipart', good().subarray(0, 5_000)],
      ['field', '400 validation_failed', formOf({ fields: { name: 'new', what: 'x' }, files })],
      ['no file', '400 validation_failed', formOf({ fields: { name: 'new' } })],
      ['taken', '409 name_taken', formOf({ fields: { name: 'there' }, files })],
      ['bytes', '413 payload_too_large', formOf({ fields: { name: 'new' }, files: big })],
    ];
    for (const [what, code, body] of bad) {
      const declared = await open();
      declared.head('POST', CONFIGURATIONS, headers, body.length);
      declared.write(body);
      expect(codeOf(await declared.reply()), what).to.equal(code);
      await servesOn(declared, what);
      const chunked = await open();
      chunked.head('POST', CONFIGURATIONS, headers, null);
      for (let at = 0; at < body.length; at += 64 * 1024) chunked.chunk(body.subarray(at, at + 64 * 1024));
      chunked.chunk(Buffer.alloc(0));
      expect(codeOf(await chunked.reply()), `${what} in chunks`).to.equal(code);
      await servesOn(chunked, `${what} in chunks`);
    }
  });

  it('when the caller may not upload at all, and sends megabytes', async () => {
    const eve = await makeUser(hawser, { username: 'eve', roles: ['Viewer'] });
    const form = { fields: { name: 'new' }, files: { [MAIN]: Buffer.alloc(FAR_TOO_MUCH) } };
    await expectProblem(eve.client.upload(CONFIGURATIONS, form), 403, 'forbidden');
    await expectProblem(eve.client.upload(versionsOf('there'), form), 404, 'not_found');
    await expectProblem(hawser.client().upload(CONFIGURATIONS, form), 401, 'unauthenticated');
    const body = formOf(form);
    const wire = await open();
    wire.head('POST', versionsOf('nowhere'), headers, body.length);
    wire.write(body);
    expect(codeOf(await wire.reply())).to.equal('404 not_found');
    await servesOn(wire, 'unread body');
  });

  it('when senders vanish in mid-upload, more of them than are served at once', async () => {
    const body = good();
    const ids = Array.from({ length: 9 }, (_, at) => `vanishing-${at}`);
    const vanishing = ids.map(async (id, at) => {
      const wire = await open();
      wire.head('POST', CONFIGURATIONS, { ...headers, 'X-Request-Id': id }, at % 2 ? body.length : null);
      if (at % 2) wire.write(body.subarray(0, 5_000));
      else wire.chunk(body.subarray(0, 5_000));
      return wire;
    });
    const senders = await Promise.all(vanishing);
    await sleep(50);
    for (const [at, wire] of senders.entries())
      if (at % 3 === 0) wire.end();
      else wire.destroy();
    // Each is noted in the log once its request is over.
    for (let round = 0; round < 300 && !ids.every((id) => hawser.log().includes(id)); round += 1)
      await sleep(10);
    for (const id of ids) expect(hawser.log(), id).to.include(id);
    expect(hawser.log()).to.not.match(/"level":"error"/);
    await changedNothing('vanished');
    await expectProblem(hawser.admin.get(`${CONFIGURATIONS}/new`), 404, 'not_found');
  });

  it('and a good upload is taken as ever', async () => {
    await ok(201, addVersion(hawser.admin, 'there'));
    const wire = await open();
    wire.head('POST', CONFIGURATIONS, headers, null);
    const body = good();
    for (let at = 0; at < body.length; at += 97) wire.chunk(body.subarray(at, at + 97));
    wire.chunk(Buffer.alloc(0));
    const reply = await wire.reply();
    expect(reply?.status, reply?.text).to.equal(201);
    kept = await everythingOf(hawser);
    expect(kept.temporary.filter((name) => !name.startsWith('hawser-test-'))).to.deep.equal([]);
    expect(kept.repositories.filter((name) => /\.tmp\/.|\.lock|tmp_obj/.test(name))).to.deep.equal([]);
  });
});
