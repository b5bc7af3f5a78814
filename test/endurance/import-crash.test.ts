/**
 * `hawser import-opendsc` is killed at each of its failpoints, with and without a power cut, and run again. It comes to the
 * end of an import that nothing disturbed. `IMPORT_KILLS=1000` kills imports on SQLite more often.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import type { HawserError } from '../../src/lib/errors.ts';
import { checkEnd } from '../support/crash/import/checks.ts';
import { readEnding } from '../support/crash/import/ending.ts';
import { Importing } from '../support/crash/import/importing.ts';
import { makeSite } from '../support/crash/import/site.ts';
import { type Death, Trials } from '../support/crash/import/trials.ts';
import { buildProgram, removePrograms } from '../support/crash/programs.ts';
import { Random } from '../support/crash/random.ts';
import { FailingDisk } from '../support/failing-disk.ts';
import { itWith } from '../support/optional-tools.ts';
import { newDatabase } from '../support/postgres.ts';
import { mounting, mountSmallDisk } from '../support/small-disk.ts';
import { spawnHawser } from '../support/spawned.ts';

const KILLS = Number(process.env['IMPORT_KILLS'] ?? 0);
/** In addition to those at each failpoint. */
const AT_RANDOM = 10;
const KILLS_ON_POSTGRES = 6;

/** Users come after two kinds. The password of `admin` has been set, and the file with the first one is still there. */
const BETWEEN_PASSWORD_AND_FILE: Death = { point: 'between two deeds', passing: 2, later: 2 };
/**
 * Chance would seldom choose these: that moment, those before the database has its tables, and a power cut that brings back
 * the note of a change which was not made, and which the next run made in the very same way.
 */
const NARROW: Death[][] = [
  [BETWEEN_PASSWORD_AND_FILE],
  ...[1, 2, 3].map((passing) => [{ point: 'before commit', passing }]),
  ...[1, 3, 5].map((passing) => [
    { point: 'after append to note', passing, isCut: false },
    { point: 'after unlink note', passing: 2, isCut: true },
  ]),
];

/** The bytes that are left for each run: too few for the tables, enough for them, and then a little more each time. */
const ROOMS = [320, 704, ...Array.from({ length: 40 }, (_, at) => 128 + 16 * at)].map((kib) => kib * 1024);
/** Every how many steps the disk of the repositories is full, in turn for good and for one call. */
const STRIDE = 97;

describe('an import from OpenDSC', () => {
  before(() => buildProgram('importer'));
  after(() => removePrograms());

  it('comes to the same end when it is run again, wherever it was killed', async function () {
    this.timeout(600_000 + KILLS * 5_000);
    await withSeed(async (random) => {
      const trials = new Trials({ source: await makeSite().write(), random });
      await trials.begin();
      const points = [...trials.passings];
      const more = Math.max(AT_RANDOM, KILLS - points.length);
      const deaths: Death[] = [
        ...points.map(([point, times]) => ({ point, passing: 1 + random.below(times) })),
        ...Array.from({ length: more }, () => trials.chance()),
      ];
      await trials.play(NARROW, shuffled(deaths, random));
      expect(points.map(([point]) => point).filter((point) => !trials.points.has(point))).to.deep.equal([]);
      // Else the power cuts took nothing.
      expect(trials.atStake).to.be.greaterThan(trials.cuts);
      trials.remove();
    });
  });

  it('comes to the same end on PostgreSQL', async function () {
    this.timeout(300_000);
    await withSeed(async (random) => {
      const source = await makeSite().write({ engine: 'postgres' });
      const trials = new Trials({ source, random, newDatabase });
      await trials.begin();
      const moment = () => ({ after: random.below(trials.duration) });
      const deaths = Array.from({ length: KILLS_ON_POSTGRES }, (_, at) =>
        at % 3 === 0 ? moment() : trials.chance(),
      );
      await trials.play([[BETWEEN_PASSWORD_AND_FILE]], deaths);
      expect(trials.kills).to.be.greaterThan(KILLS_ON_POSTGRES / 3);
      trials.remove();
    });
  });

  it('comes to the same end once there is room, wherever the disk of the repositories was full', async function () {
    this.timeout(300_000);
    const trials = new Trials({ source: await makeSite().write(), random: new Random(0) });
    const reference = await trials.begin();
    const disk = new FailingDisk();
    let ended = 0;
    for (let after = 0; after === 0 || disk.failures > 0; after += STRIDE)
      await trials.withTarget(async (importing) => {
        disk.fail('ENOSPC', after, (after / STRIDE) % 2 === 0);
        const outcome = await importing.run(new AtomicFs(disk)).catch((error) => error);
        disk.heal();
        if (outcome instanceof Error) {
          ended += 1;
          expect((outcome as HawserError).code).to.equal('insufficient_storage');
        }
        await checkEnd(importing, reference, { report: await importing.finish(), cuts: 0 });
      });
    expect(ended).to.be.greaterThan(4);
    trials.remove();
  });

  itWith(
    [mounting()],
    'says in one sentence that a disk is full, and goes on once there is room',
    async function (this: Mocha.Context) {
      this.timeout(300_000);
      const source = await makeSite().write();
      const trials = new Trials({ source, random: new Random(0) });
      const reference = await trials.begin();
      const disk = mountSmallDisk();
      try {
        const importing = new Importing(join(disk.folder, 'target'), source);
        const ends: (number | null)[] = [];
        for (const room of ROOMS) {
          disk.fill(room);
          const { code, stdout, stderr } = await importing.command();
          disk.free();
          ends.push(code);
          if (code === 2) {
            await checkEnd(importing, reference, { report: JSON.parse(stdout), cuts: 0 });
            break;
          }
          expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
          expectSentence(stderr, /full/);
        }
        expect(ends.length).to.be.greaterThan(4);
        expect(ends.at(-1)).to.equal(2);
      } finally {
        disk.free();
        disk.remove();
      }
      trials.remove();
    },
  );

  for (const engine of ['sqlite', 'postgres'] as const)
    it(`ends at once and changes nothing while a server runs on ${engine}`, async function () {
      this.timeout(60_000);
      const source = await makeSite().write({ engine });
      const database = engine === 'postgres' ? await newDatabase('migrated') : null;
      const folder = mkdtempSync(join(tmpdir(), 'hawser-import-beside-'));
      const importing = new Importing(folder, source, database?.url ?? null);
      const server = await spawnHawser(folder, importing.settings);
      await server.listening();
      const before = await readEnding(importing.config, Date.now());
      const { code, stdout, stderr } = await importing.command();
      expect({ code, stdout }).to.deep.equal({ code: 78, stdout: '' });
      expectSentence(stderr, /stop (?:that one|them) first/i);
      expect(await readEnding(importing.config, Date.now())).to.deep.equal(before);
      server.child.kill('SIGTERM');
      await server.ended;
      for (const each of [folder, source.files]) rmSync(each, { recursive: true });
      await database?.drop();
    });
});

/** What users read, beside lines that say how far a slow import is. */
function expectSentence(stderr: string, words: RegExp): void {
  const lines = stderr.split('\n').filter((line) => !/^[\w ]+: \d+ of \d+$/.test(line));
  expect(lines, stderr).to.have.length(2);
  expect(lines[0]).to.match(/^hawser: /);
  expect(lines[0]).to.match(words);
}

/** Names the seed of a failure. */
async function withSeed(work: (random: Random) => Promise<void>): Promise<void> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  try {
    await work(new Random(seed));
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.below(left.length), 1));
}
