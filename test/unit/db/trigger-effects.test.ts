import { expect } from 'chai';
import { type BothEngines, type EngineHandle, openBoth } from '../../support/engines/both.ts';
import { contentsOf, type Effects, effectsOf, tableNames } from '../../support/engines/contents.ts';
import { countFaults } from '../../support/engines/counts.ts';
import { DEEDS } from '../../support/engines/deeds.ts';
import { BEFORE_REFUSALS, REFUSED } from '../../support/engines/refusals.ts';

/** The codes of constraints and of triggers that refuse, of SQLite and of PostgreSQL. */
const BROKEN_RULE = /^(?:SQLITE_CONSTRAINT|23|P0001)/;

const codeOf = (work: Promise<void>) =>
  work.then(
    () => 'done',
    ({ code }) => code,
  );

/** Each deed is done on both engines, one after the other, in databases that stay the same for all of them. */
describe('what triggers do', () => {
  let both: BothEngines;
  let tables: readonly string[];

  before(async () => {
    both = await openBoth();
    tables = await tableNames(both.sqlite);
  });
  after(() => both.close());

  async function effects(engine: EngineHandle, statement: string): Promise<Effects> {
    const before = await contentsOf(engine, tables);
    await engine.run(statement);
    return effectsOf(engine, before, await contentsOf(engine, tables));
  }

  for (const [subject, deeds] of Object.entries(DEEDS)) {
    it(`is the same on both engines: ${subject}`, async () => {
      for (const [deed, statement] of Object.entries(deeds)) {
        const expected = await effects(both.sqlite, statement);
        expect(expected.tables, deed).to.not.deep.equal({});
        expect(await effects(both.postgres, statement), deed).to.deep.equal(expected);
        for (const engine of [both.sqlite, both.postgres])
          expect(await countFaults(engine), deed).to.deep.equal({});
      }
    });
  }

  it('refuses the same on both engines', async () => {
    const fresh = await openBoth();
    try {
      for (const engine of [fresh.sqlite, fresh.postgres]) {
        for (const statement of BEFORE_REFUSALS) await engine.run(statement);
        const before = await contentsOf(engine, tables);
        for (const [deed, statement] of Object.entries(REFUSED))
          expect(await codeOf(engine.run(statement)), deed).to.match(BROKEN_RULE);
        expect(await contentsOf(engine, tables)).to.deep.equal(before);
      }
    } finally {
      await fresh.close();
    }
  });

  it('keeps the last 10,000 changes on both engines', async () => {
    for (const engine of [both.sqlite, both.postgres]) {
      await engine.run(`insert into changes (kind, key) with recursive numbers (n) as (
        select 1 union all select n + 1 from numbers where n < 10050) select 'scopes', 'many' from numbers`);
      await engine.run(`insert into changes (kind, key) values ('scopes', 'last')`);
      const rows = await engine.all(`select count(*) as kept, max(seq) - min(seq) as span from changes`);
      expect(rows).to.deep.equal([{ kept: 10_000, span: 9999 }]);
    }
  });
});
