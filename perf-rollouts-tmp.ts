import { sql } from '/work/rollouts/node_modules/kysely/dist/esm/index.js';
import { startHawser, publishConfiguration } from '/work/rollouts/test/support/hawser.ts';
import { prepareRings, rollOut, step } from '/work/rollouts/test/support/rollouts.ts';
import { addVersion, MAIN } from '/work/rollouts/test/support/configurations.ts';
import { ok } from '/work/rollouts/test/support/replies.ts';
import { withDatabase } from '/work/rollouts/test/support/database.ts';
import { assign, poll } from '/work/rollouts/test/support/parameter-files.ts';
import { download } from '/work/rollouts/test/support/running.ts';
import { fleetTasks } from '/work/rollouts/src/resolve/fleet-tasks.ts';
import { noteTakers, saveRolloutCounts } from '/work/rollouts/src/db/rollouts.ts';
import { NO_COUNTS } from '/work/rollouts/src/domain/rollout.ts';
const N = Number(process.env.N ?? 100000);
const hawser = await startHawser();
await prepareRings(hawser);
await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: 'resources: []\n' } });
await ok(201, await addVersion(hawser.admin, 'web', { version: '1.1.0' }, { files: { [MAIN]: '# 1\n' } }));
const made = await ok(201, rollOut(hawser.admin, 'web', '1.1.0', { steps: [step(null, { minNodes: 10 ** 7 })] }));
const node = await hawser.registerNode('first.example.org');
await assign(hawser, node, 'web');
const { checksum } = await ok(200, poll(node));
await download(node);
const { id } = await ok(200, hawser.admin.get('/api/v1/configurations/web'));
await new Promise((r) => setTimeout(r, 3000));
await hawser.server.close();
const pg = hawser.databaseUrl !== null;
const key = { kind: 'configurations' as const, id, name: 'web', version: '1.1.0' };
await withDatabase(hawser, async (db) => {
  const { write, read } = db;
  const series = pg ? sql`(select x from generate_series(1, ${sql.lit(N)}) as t(x))` : sql`(with recursive c(x) as (select 1 union all select x+1 from c where x < ${sql.lit(N)}) select x from c)`;
  const uid = pg ? sql`'00000000-0000-4000-8000-' || lpad(x::text, 12, '0')` : sql`printf('00000000-0000-4000-8000-%012d', x)`;
  const t0 = Date.now();
  await sql`insert into nodes (id, fqdn, status, lcm_status, created_at, configuration_mode) select ${uid}, 'n' || x || '.example.org', 'Compliant', 'Idle', 1, 'Remediate' from ${series} s`.execute(write);
  await sql`insert into assignments (node_id, configuration_id, major_version, assigned_at) select id, ${id}, null, 1 from nodes where fqdn like 'n%'`.execute(write);
  await sql`insert into node_check_ins (node_id, last_check_in) select id, ${sql.lit(Date.now())} from nodes where fqdn like 'n%'`.execute(write);
  await sql`insert into node_running (node_id, checksum, evidence, since, answered_checksum, served_checksum) select id, ${checksum}, 'Served', ${sql.lit(Date.now())}, ${checksum}, ${checksum} from nodes where fqdn like 'n%'`.execute(write);
  for (const at of [Date.now() - 1e7, Date.now() - 9e6, Date.now() - 8e6, Date.now() + 10])
    await sql`insert into reports (id, node_id, timestamp, operation, in_desired_state, had_errors, result) select id || ${String(at)}, id, ${sql.lit(at)}, 'Test', 1, 0, '{}' from nodes where fqdn like 'n%'`.execute(write);
  await sql`insert into report_checksums (report_seq, checksum, source) select seq, ${checksum}, 'Served' from reports where timestamp > ${sql.lit(Date.now() - 7e6)} and node_id like '00000000%'`.execute(write);
  if (pg) await sql`analyze`.execute(write);
  console.log('made', Date.now() - t0); if (process.env.EXPLAIN) { const { isSql } = {} as never; }
  await saveRolloutCounts(write, key, { evaluatedAt: 1, counts: NO_COUNTS });
});
const store = await import('/work/rollouts/src/versions/inspection.ts');
const { openForReading } = await import('/work/rollouts/src/db/open-reading.ts');
const reading = openForReading(hawser);
const git = store.readOnlyStore(hawser.reposDir, reading.repositories, 2 ** 24);
const record = (await git.versions({ kind: 'configurations', name: 'web' })).get('1.1.0')?.rollout?.record as never;
await withDatabase(hawser, async (db) => {
  const { readingRollout } = await import('/work/rollouts/src/db/read-rollouts.ts');
  for (const at of [1,2]) { const gen = readingRollout(key, null); let q = performance.now(); const orig = gen.next.bind(gen);
    const wrapped = { next() { const t = performance.now(); if (at === 2) console.log('  since last', Math.round(t - q)); q = t; const r = orig(); if (at===2 && !r.done) console.log(r.value.sql.slice(0, 50)); return r; } };
    const cpu = process.cpuUsage(); const t = performance.now(); await reading.read(wrapped as never); const c = process.cpuUsage(cpu); console.log('reading', Math.round(performance.now() - t), 'cpu', Math.round((c.user + c.system) / 1000)); }
  {
    const { Fleet } = await import('/work/rollouts/src/resolve/fleet.ts'); const { CurrentOffers } = await import('/work/rollouts/src/resolve/current-offers.ts');
    const fleet = new Fleet({ dataDir: hawser.dataDir, databaseUrl: hawser.databaseUrl, reposDir: hawser.reposDir, cacheBytes: 2 ** 26 });
    const offers = new CurrentOffers(fleet);
    for (const i of [1,2,3]) { const cpu = process.cpuUsage(); const o = await offers.read(); const c = process.cpuUsage(cpu); console.log('offers cpu', Math.round((c.user + c.system) / 1000), o.snapshot.size); }
  }
  const tasks = fleetTasks({ dataDir: hawser.dataDir, databaseUrl: hawser.databaseUrl, reposDir: hawser.reposDir, cacheBytes: 2 ** 26 });
  let worst = 0; let total = 0; let pieces = 0; let clone = 0;
  const send = async (piece: unknown) => {
    const t = performance.now(); structuredClone(piece); clone = Math.max(clone, performance.now() - t);
    const t1 = performance.now();
    await db.writeUnflushed.transaction().execute((trx) => noteTakers(trx, key, piece as never, { began: Date.parse(made.createdAt), now: Date.now() }));
    const took = performance.now() - t1; worst = Math.max(worst, took); total += took; pieces += 1;
  };
  for (const after of [null, 'last', 'last'] as const) {
    const t = performance.now(); const before = total; const cpu = process.cpuUsage();
    const answer = await tasks.rolloutCounts({ rolledOut: key, record, after: after === null ? null : last }, send);
    var last = answer.lastReport;
    const c = process.cpuUsage(cpu); console.log('cpu', Math.round((c.user + c.system) / 1000), after, 'look ms', Math.round(performance.now() - t - (total - before)), JSON.stringify(answer), 'pieces', pieces, 'total ms', Math.round(total), 'worst', worst.toFixed(1));
  }
});
process.exit(0);
