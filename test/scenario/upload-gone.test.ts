// full: SQLite
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import { DISK, type Disk } from '../../src/git/disk.ts';
import { encodeForm, type Form } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, versionsOf } from '../support/configurations.ts';
import { everythingOf, ownTemporaryFolder } from '../support/disk.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { Wire } from '../support/wire.ts';

const BOUNDARY = 'gone';

/** A disk that stops at the next flush of an object's folder until it is told to go on. */
class StoppingDisk {
  private stop: { reached(): void; goOn: Promise<void> } | null = null;
  readonly disk: Disk = {
    ...DISK,
    rename: async (from, to) => {
      const { stop } = this;
      if (stop && /objects\/..\//.test(to)) {
        stop.reached();
        await stop.goOn;
      }
      await DISK.rename(from, to);
    },
  };

  /** @returns once the next object is about to be there: how to go on */
  async atNextObject(work: () => void): Promise<() => void> {
    let goOn = (): void => undefined;
    const going = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await new Promise<void>((resolve) => {
      this.stop = { reached: resolve, goOn: going };
      work();
    });
    return () => {
      this.stop = null;
      goOn();
    };
  }
}

describe('an upload whose client goes away while it is being written', () => {
  const stopping = new StoppingDisk();
  let hawser: Hawser;
  let temporary: ReturnType<typeof ownTemporaryFolder>;

  before(async () => {
    temporary = ownTemporaryFolder();
    hawser = await startHawser({}, { fs: new AtomicFs(stopping.disk) });
    await ok(201, create(hawser.admin, 'there'));
  });

  after(async () => {
    await hawser.close();
    temporary.remove();
  });

  /** Sends all of it, and goes when the first object is being written. */
  const vanish = async (id: string, method: string, path: string, form: Form) => {
    const wire = await Wire.open(hawser.target());
    const body = encodeForm(form, BOUNDARY);
    const type = `multipart/form-data; boundary=${BOUNDARY}`;
    const headers = { Cookie: hawser.session, 'Content-Type': type, 'X-Request-Id': id };
    const goOn = await stopping.atNextObject(() => {
      wire.head(method, path, headers, body.length);
      wire.write(body);
    });
    wire.destroy();
    // The server has heard of it when it has answered what came later.
    for (let round = 0; round < 5; round += 1) {
      await hawser.client().get('/health/live');
      await sleep(20);
    }
    goOn();
    const line = new RegExp(`"requestId":"${id}".*"code":"client_gone"`);
    for (let round = 0; round < 500 && !line.test(hawser.log()); round += 1) await sleep(10);
    expect(hawser.log()).to.match(line);
    expect(hawser.log()).to.not.match(/"level":"error"/);
  };

  const auditEntries = async () => (await ok(200, hawser.admin.get('/api/v1/audit?take=100'))).length;

  it('leaves no new configuration: no row, no repository, no entry of the audit trail', async () => {
    const before = await everythingOf(hawser);
    const entries = await auditEntries();
    await vanish('gone-new', 'POST', CONFIGURATIONS, { fields: { name: 'new' }, files: { [MAIN]: 'new' } });
    expect(await everythingOf(hawser)).to.deep.equal(before);
    expect(await auditEntries()).to.equal(entries);
    await expectProblem(hawser.admin.get(`${CONFIGURATIONS}/new`), 404, 'not_found');
    await ok(201, create(hawser.admin, 'new'));
  });

  it('leaves no new version, and a draft as it was', async () => {
    const path = versionsOf('there');
    const refs = hawser.git('configurations/there.git', 'for-each-ref');
    const versions = await ok(200, hawser.admin.get(path));
    const entries = await auditEntries();
    await vanish('gone-version', 'POST', path, { fields: { version: '2.0.0' }, files: { [MAIN]: 'second' } });
    await vanish('gone-draft', 'PUT', `${path}/1.0.0`, { files: { [MAIN]: 'other' } });
    expect(hawser.git('configurations/there.git', 'for-each-ref')).to.equal(refs);
    expect(await ok(200, hawser.admin.get(path))).to.deep.equal(versions);
    expect(await auditEntries()).to.equal(entries);
    await ok(201, addVersion(hawser.admin, 'there', { version: '2.0.0' }));
  });
});
