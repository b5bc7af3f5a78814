import { expect } from 'chai';
import { sql } from 'kysely';
import { keepManifests, type ManifestTag } from '../../../src/db/manifests.ts';
import type { Evidence } from '../../../src/db/node-tables.ts';
import { insertNode } from '../../../src/db/nodes.ts';
import { holds, readHeld, readingHolders } from '../../../src/db/read-holders.ts';
import type { Reading } from '../../../src/db/reading.ts';
import { writeRunning } from '../../../src/db/running.ts';
import { newId } from '../../../src/lib/ids.ts';
import { ENGINES, temporaryEngine } from '../../support/engines/open.ts';

const TAG: ManifestTag = {
  ...{ objectId: 'a', commit: 'b', tagger: 'alice' },
  taggedAt: '2026-03-01T10:00:00.000Z',
};

/** What each checksum stands for: the name and the version, then those of the children of a composite. */
const MANIFESTS: Record<string, [name: string, version: string][]> = {
  old: [['web', '1.0.0']],
  new: [['web', '1.4.0']],
  // Nothing names it but the last bundle of one node.
  alone: [['web', '1.4.0']],
  other: [['web_', '1.4.0']],
  farm: [
    ['farm', '1.4.0'],
    ['db', '1.0.0'],
    ['web', '1.4.0'],
  ],
  mixed: [
    ['farm', '2.0.0'],
    ['db', '1.4.0'],
    ['web', '1.0.0'],
  ],
};

const VERSIONS = [
  ...(['1.0.0', '1.4.0'] as const).map((version) => ({ kind: 'configurations', name: 'web', version })),
  ...[{ kind: 'composites', name: 'farm', version: '1.4.0' }],
  ...[{ kind: 'composites', name: 'web', version: '1.4.0' }],
];

for (const engine of ENGINES)
  describe(`what nodes have taken on ${engine}`, () => {
    const opened = temporaryEngine(engine, 'all tests');
    const database = () => opened().database;

    async function addNode(...told: [checksum: string, evidence: Evidence][]): Promise<string> {
      const id = newId();
      await insertNode(database().write, { id, fqdn: `${id}.example.org`, now: 1, settings: {} });
      for (const [at, [checksum, evidence]] of told.entries()) {
        const served = evidence === 'Served' ? { checksum, digest: '', at } : null;
        const running = { checksum, evidence, since: at, last: at };
        await database()
          .write.transaction()
          .execute((trx) => writeRunning(trx, [[id, { running, answered: null, served }]]));
        const [[configurationName, version], ...children] = MANIFESTS[checksum] as [[string, string]];
        const parts = (children.length > 0 ? children : [[configurationName, version]]) as [string, string][];
        const content = {
          ...{ tag: TAG, entryPoint: 'main.dsc.yaml' },
          parts: parts.map(([name, each]) => ({
            ...{ configurationName: name, version: each, tag: TAG, parameters: [] },
          })),
        };
        const record = { checksum, configurationName, version, isComposite: children.length > 0, content };
        await keepManifests(database().write, [record]);
      }
      return id;
    }

    /** Carries a reading out as a thread does. */
    async function read<T>(reading: Reading<T>): Promise<T> {
      for (;;) {
        const { done, value } = reading.next();
        if (done) return value as T;
        const values = [...(value.values ?? [])];
        const text = value.sql.replaceAll('?', () => `'${values.shift()}'`);
        const { rows } = await sql.raw<Record<string, unknown>>(text).execute(database().read);
        for (const row of rows) value.take(Object.values(row));
      }
    }

    it('is what they were sent or declare, in composites too, and not what they were told', async () => {
      const nodes = {
        nothing: await addNode(),
        told: await addNode(['old', 'Served'], ['new', 'Told']),
        served: await addNode(['old', 'Declared'], ['new', 'Served']),
        declares: await addNode(['new', 'Declared']),
        back: await addNode(['new', 'Served'], ['old', 'Declared']),
        kept: await addNode(['alone', 'Served'], ['new', 'Told']),
        offered: await addNode(['new', 'Served'], ['other', 'Told']),
        similar: await addNode(['other', 'Served']),
        child: await addNode(['farm', 'Served']),
        mixed: await addNode(['mixed', 'Declared']),
      };
      const expected = [
        ['told', 'back', 'mixed'],
        ['served', 'declares', 'kept', 'offered', 'child'],
        ['child'],
        [],
      ];
      const held = await readHeld(database().read, Object.values(nodes));
      for (const [at, { kind, name, version }] of VERSIONS.entries()) {
        const holders = await read(readingHolders({ kind, name }, version));
        const those = (isHolder: (id: string) => boolean) =>
          Object.entries(nodes).flatMap(([key, id]) => (isHolder(id) ? key : []));
        expect(
          those((id) => holders.has(id)),
          `${kind} ${name} ${version}`,
        ).to.deep.equal(expected[at]);
        expect(
          those((id) => holds(held.get(id), { kind, name }, { version, parameters: [] }, [])),
        ).to.deep.equal(expected[at]);
      }
    });
  });
