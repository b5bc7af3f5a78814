// full: SQLite
import { expect } from 'chai';
import {
  addChild,
  addCompositeDraft,
  compositeVersionsOf,
  createComposite,
  publishComposite,
} from '../support/composites.ts';
import { addVersion, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { save, versionOf } from '../support/draft-files.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { grant, makeUser, type Person } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const ADMIN = { name: 'admin', email: 'admin@localhost' };
const ADA = { name: 'ada', email: 'ada@example.org' };
const BEN = { name: 'ben', email: 'ben@example.org' };
const SIGNATURE = '-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ==\n-----END SSH SIGNATURE-----';

describe('the author of a version in git', () => {
  const hawser = started(startHawser);
  let ada: Person;
  let ben: Person;
  before(async () => {
    ada = await makeUser(hawser, { username: 'ada', roles: ['Author'] });
    ben = await makeUser(hawser, { username: 'ben', roles: ['Author'] });
    await ok(201, create(hawser.admin, 'web'));
    for (const person of [ada, ben]) await grant(hawser, person, 'web', 'Modify');
  });

  /** What each version must say, by the path of its list. */
  const told: [list: string, version: string, expected: object][] = [];

  /** What a read and the list say. */
  async function expectTold(list: string, version: string, expected: object): Promise<void> {
    expect(await ok(200, hawser.admin.get(`${list}/${version}`))).to.deep.include(expected);
    const all: { version: string }[] = await ok(200, hawser.admin.get(list));
    expect(all.find((each) => each.version === version)).to.deep.include(expected);
    told.push([list, version, expected]);
  }

  it('is who made it by the API, and there is no signature', async () => {
    const draft = await ok(201, addVersion(ada.client, 'web', { version: '1.1.0' }));
    const expected = { author: ADA, signature: null, createdBy: 'ada' };
    expect(draft).to.deep.include(expected);
    const published = await ok(200, publish(hawser.admin, 'web', '1.1.0'));
    const all = { ...expected, publishedBy: 'admin' };
    expect(published).to.deep.include(all);
    await expectTold(versionsOf('web'), '1.1.0', all);
  });

  it('is who edited it last, while the draft stays that of its maker', async () => {
    await ok(201, addVersion(ada.client, 'web', { version: '1.2.0' }));
    const saved = await ok(200, save(ben.client, ['web', '1.2.0', MAIN], '$schema: x\nresources: [] # b\n'));
    const expected = { author: BEN, signature: null, createdBy: 'ada' };
    expect(saved).to.deep.include(expected);
    await ok(200, publish(hawser.admin, 'web', '1.2.0'));
    await expectTold(versionsOf('web'), '1.2.0', expected);
  });

  it('is told of composites alike', async () => {
    await ok(201, createComposite(hawser.admin, 'site'));
    const expected = { author: ADMIN, signature: null, createdBy: 'admin' };
    expect(await ok(201, addCompositeDraft(hawser.admin, 'site', '1.0.0'))).to.deep.include(expected);
    await ok(201, addChild(hawser.admin, 'site', '1.0.0', 'web'));
    expect(await ok(200, publishComposite(hawser.admin, 'site', '1.0.0'))).to.deep.include(expected);
    await expectTold(compositeVersionsOf('site'), '1.0.0', expected);
  });

  itOnSqlite('is whom a commit of stock git names, and a signed tag has a signature', async () => {
    const outside = new Outside(hawser, 'web');
    const tag =
      `object ${outside.commit()}\ntype commit\ntag v2.0.0\ntagger Dan <dan@example.org> 1790000000 +0200\n\n` +
      `Why it was made.\n\nEntry-Point: ${MAIN}\n${SIGNATURE}\n`;
    outside.git(
      'update-ref',
      'refs/tags/v2.0.0',
      outside.pipe(tag, 'hash-object', '-w', '-t', 'tag', '--stdin'),
    );
    await eventually(async () => ok(200, hawser.admin.get(versionOf('web', '2.0.0'))));
    const people = { createdBy: 'Carol', publishedBy: 'Dan' };
    const author = { name: 'Carol', email: 'carol@example.org' };
    const expected = { ...people, author, signature: 'Ssh', message: 'Why it was made.', entryPoint: MAIN };
    await expectTold(versionsOf('web'), '2.0.0', expected);
  });

  it('and all of them say the same after a restart', async () => {
    await hawser.restart();
    expect(told).to.have.length.of.at.least(3);
    for (const each of [...told]) await expectTold(...each);
  });
});
