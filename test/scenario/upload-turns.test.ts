// full: SQLite
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { encodeForm } from '../support/client.ts';
import { CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { makeUser, type Person } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { Wire } from '../support/wire.ts';

const BOUNDARY = 'turns';

describe('uploads take turns', () => {
  const hawser = started(startHawser);
  let ann: Person;
  let bob: Person;
  const wires: Wire[] = [];

  before(async () => {
    ann = await makeUser(hawser, { username: 'ann', roles: ['Administrator'] });
    bob = await makeUser(hawser, { username: 'bob', roles: ['Administrator'] });
  });

  afterEach(() => {
    for (const wire of wires.splice(0)) wire.destroy();
  });

  const bodyOf = (name: string) => encodeForm({ fields: { name }, files: { [MAIN]: 'x' } }, BOUNDARY);

  /** Sends the head and half of the body. */
  const begin = async (person: Person, name: string) => {
    const wire = await Wire.open(hawser.target());
    wires.push(wire);
    const body = bodyOf(name);
    const type = `multipart/form-data; boundary=${BOUNDARY}`;
    const headers = { Cookie: person.session, 'Content-Type': type };
    wire.head('POST', CONFIGURATIONS, headers, body.length);
    wire.write(body.subarray(0, body.length / 2));
    // So that they come to the server in this order.
    await sleep(50);
    return { wire, finish: () => wire.write(body.subarray(body.length / 2)) };
  };

  it("a user's four slow ones leave room for another's, and his third waits for his first", async () => {
    const slow = [];
    for (const name of ['ann-1', 'ann-2', 'ann-3', 'ann-4']) slow.push(await begin(ann, name));
    const answered: (number | undefined)[] = [];
    for (const [at, { wire }] of slow.entries()) void wire.reply().then(() => answered.push(at));
    // All four are known to the server once it has answered what came after them.
    await ok(201, create(bob.client, 'bob-1'));
    slow[2]?.finish();
    slow[3]?.finish();
    await ok(201, create(bob.client, 'bob-2'));
    await ok(201, create(bob.client, 'bob-3'));
    expect(answered).to.deep.equal([]);
    slow[1]?.finish();
    for (let round = 0; round < 500 && answered.length < 3; round += 1) await sleep(10);
    expect(answered).to.have.members([1, 2, 3]);
    slow[0]?.finish();
    for (let round = 0; round < 500 && answered.length < 4; round += 1) await sleep(10);
    expect(answered).to.have.length(4);
  });

  it('one that comes too slowly ends with 408, and its place is free', async () => {
    const { wire } = await begin(ann, 'slow-1');
    const other = await begin(ann, 'slow-2');
    const waiting = await begin(ann, 'waiting');
    waiting.finish();
    const beat = setInterval(() => {
      wire.write('x');
      other.wire.write('x');
    }, 500);
    try {
      const reply = await wire.reply();
      expect(reply?.status, reply?.text).to.equal(408);
      expect(JSON.parse(reply?.text ?? '')).to.include({ status: 408, code: 'upload_too_slow' });
      expect(reply?.headers).to.include({ connection: 'close' });
      expect((await other.wire.reply())?.status).to.equal(408);
      expect((await waiting.wire.reply())?.status).to.equal(201);
      // Nothing was made of the two.
      await ok(201, create(bob.client, 'slow-1'));
      await ok(201, create(ann.client, 'slow-2'));
    } finally {
      clearInterval(beat);
    }
  });
});
