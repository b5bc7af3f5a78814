// everyday: SQLite; full: PostgreSQL
/** Many nodes that are expected, by one call. */

import { expect } from 'chai';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN } from '../support/configurations.ts';
import { createKey, publishConfiguration, startHawser } from '../support/hawser.ts';
import { belongings, type JoiningValues, makeScopes, newName, registerBy } from '../support/joining.ts';
import { poll } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const NODES = '/api/v1/nodes';
const BULK = `${NODES}/bulk`;
const NOBODY = '00000000-0000-4000-8000-000000000000';
const HEADER = 'fqdn,configuration,isComposite,majorVersion,tags';

describe('many expected nodes', () => {
  const hawser = started(startHawser);
  const web = { configurationName: 'web', isComposite: false };
  let values: JoiningValues;
  let count = 0;
  /** Names with a part that no others have. */
  const family = () => `family${++count}x`;

  before(async () => {
    const files = { [MAIN]: '$schema: x\nresources: []\n' };
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': files, '2.0.0': files });
    await publishWithChildren(hawser.admin, 'site', '1.0.0', ['web']);
    ({ values } = await makeScopes(hawser));
  });

  const expectAll = (rows: unknown) => hawser.admin.post(BULK, { action: 'Expect', rows });
  const expectCsv = (text: string | Buffer) =>
    hawser.admin.call('POST', BULK, { body: text, headers: { 'Content-Type': 'text/csv' } });
  const csvOf = (rows: string[][], end = '\n') =>
    [HEADER, ...rows.map((row) => row.join(','))].join(end) + end;
  const nodesOf = async (name: string): Promise<{ id: string; fqdn: string }[]> =>
    ok(200, hawser.admin.get(`${NODES}?fqdn=${name}`));
  const namesOf = async (name: string) => (await nodesOf(name)).map(({ fqdn }) => fqdn);
  const codes = ({
    failed,
  }: {
    failed: { fqdn: string; code: string; nodeId: unknown; message: string }[];
  }) => {
    for (const { nodeId, message } of failed) {
      expect(nodeId).to.equal(null);
      expect(message).to.not.equal('');
    }
    return failed.map(({ fqdn, code }) => [fqdn, code]);
  };

  it('are made where they are right; a row that is not is in `failed`, and nothing of it is there', async () => {
    const name = family();
    const lcmConfig = { configurationMode: 'Remediate' };
    const result = await ok(
      200,
      expectAll([
        { fqdn: `${name}-1.Example.org`, assignment: web, scopeValueIds: [values.prod], lcmConfig },
        {
          fqdn: `${name}-2.example.org`,
          assignment: { configurationName: 'nothing' },
          scopeValueIds: [values.prod],
        },
        { fqdn: `${name}-3.example.org`, assignment: web, scopeValueIds: [values.prod, NOBODY] },
        { fqdn: `${name} 4` },
        { fqdn: `${name}-1.example.org` },
        { fqdn: `${name}-5.example.org` },
        { fqdn: `${name}-6.example.org`, assignment: { ...web, majorVersion: 7 } },
        { fqdn: `${name}-7.example.org`, scopeValueIds: [values.prod, values.test] },
        { fqdn: `${name}-8.example.org`, colour: 'red' },
      ]),
    );
    expect(result).to.include({ done: 2, unchanged: 0 });
    expect(codes(result)).to.deep.equal([
      [`${name}-2.example.org`, 'not_found'],
      [`${name}-3.example.org`, 'not_found'],
      [`${name} 4`, 'validation_failed'],
      [`${name}-1.example.org`, 'node_exists'],
      [`${name}-6.example.org`, 'no_eligible_version'],
      [`${name}-7.example.org`, 'validation_failed'],
      [`${name}-8.example.org`, 'validation_failed'],
    ]);
    const made = await nodesOf(name);
    expect(made.map(({ fqdn }) => fqdn)).to.deep.equal([`${name}-1.example.org`, `${name}-5.example.org`]);
    expect(made[0]).to.include({ desiredConfigurationMode: 'Remediate' });
    expect(await belongings(hawser, made[0]?.id ?? '')).to.deep.equal({
      assigned: 'web',
      tags: [values.prod],
    });
    for (const rows of [[7], ['x'], [null], [{}], [[]]]) {
      const { failed } = await ok(200, expectAll(rows));
      expect(codes({ failed })).to.deep.equal([[null, 'validation_failed']]);
    }
  });

  it('stay as they are when the same is said again, and are refused when something else is', async () => {
    const name = family();
    const row = { fqdn: `${name}-1.example.org`, assignment: web, scopeValueIds: [values.prod, values.eu] };
    expect(await ok(200, expectAll([row, row]))).to.deep.equal({ done: 1, unchanged: 1, failed: [] });
    const others = [
      { ...row, assignment: null },
      { ...row, assignment: { ...web, majorVersion: 1 } },
      { ...row, scopeValueIds: [values.prod] },
      { ...row, lcmConfig: { reportCompliance: false } },
    ];
    const result = await ok(200, expectAll([...others, { ...row, scopeValueIds: [values.eu, values.prod] }]));
    expect(result).to.include({ done: 0, unchanged: 1 });
    expect(codes(result)).to.deep.equal(others.map(({ fqdn }) => [fqdn, 'node_exists']));
    await registerBy(hawser, await createKey(hawser.admin), row.fqdn);
    expect(codes(await ok(200, expectAll([row])))).to.deep.equal([[row.fqdn, 'node_exists']]);
  });

  it('come as CSV too, with tags by name, and have it when their machines join', async () => {
    const name = family();
    const rows = [
      [`${name}-1.example.org`, 'web', 'false', '1', 'Environment=prod;region=EU'],
      [`"${name}-2.example.org"`, 'site', 'TRUE', '', ''],
      [`${name}-3.example.org`, '', '', '', 'Region=eu'],
      [`${name}-4.example.org`, 'web', 'false', '', 'Environment=nothing'],
      [`${name}-5.example.org`, 'web', 'maybe', '', ''],
      [`${name}-6.example.org`, 'web', '', 'x', ''],
      [`${name}-7.example.org`, '', 'true', '', ''],
      [`${name}-8.example.org`, '', '', '', 'Environment'],
      [`${name}-9.example.org`, '', '', '', 'Colour=red'],
    ];
    const result = await ok(200, expectCsv(csvOf(rows, '\r\n')));
    expect(result).to.include({ done: 3, unchanged: 0 });
    expect(codes(result)).to.deep.equal(
      ['not_found', ...Array(4).fill('validation_failed'), 'not_found'].map((code, at) => [
        `${name}-${at + 4}.example.org`,
        code,
      ]),
    );
    const key = await createKey(hawser.admin);
    const first = await registerBy(hawser, key, `${name}-1.example.org`);
    expect((await ok(200, poll(first))).version).to.equal('1.0.0');
    const tags = [values.prod, values.eu].sort();
    expect(await belongings(hawser, first.nodeId)).to.deep.equal({ assigned: 'web', tags });
    const second = await registerBy(hawser, key, `${name}-2.example.org`);
    expect(await belongings(hawser, second.nodeId)).to.deep.equal({ assigned: 'site', tags: [] });
    expect(await ok(200, expectCsv(csvOf(rows.slice(2, 3))))).to.include({ done: 0, unchanged: 1 });
  });

  it('are not made by what is no such file or list', async () => {
    const name = family();
    const row = [`${name}.example.org`, '', '', '', ''];
    const faulty = [
      ...[
        '',
        'name;host\nx;y\n',
        `fqdn,colour\n${name}.example.org,red\n`,
        `${HEADER},more\n`,
        `${HEADER}\n`,
      ],
      ...[
        `${HEADER}\n${name}.example.org,,,\n`,
        `${HEADER}\n"${name}.example.org,,,,\n`,
        csvOf([row], '\n').replace('fqdn', 'x'),
      ],
    ];
    for (const text of faulty) await expectProblem(expectCsv(text), 400, 'validation_failed', text);
    await expectProblem(
      expectCsv(Buffer.from([...Buffer.from(csvOf([row])), 0xff])),
      400,
      'validation_failed',
    );
    await expectInvalid(expectAll(undefined), '/rows');
    await expectInvalid(expectAll([]), '/rows');
    await expectInvalid(
      hawser.admin.post(BULK, { action: 'Expect', rows: [{ fqdn: row[0] }], nodeIds: [] }),
      '/nodeIds',
    );
    await expectProblem(expectCsv(csvOf(Array(10_001).fill(row))), 400, 'validation_failed');
    expect(await namesOf(name)).to.deep.equal([]);
  });

  it('need nodes.write, and each what its members need', async () => {
    const name = family();
    const writer = await makeUser(hawser, { username: 'writer', permissions: ['nodes.write'] });
    const reader = await makeUser(hawser, { username: 'reader', permissions: ['nodes.read'] });
    const rows = [{ fqdn: `${name}-1.example.org`, assignment: web }, { fqdn: `${name}-2.example.org` }];
    await expectProblem(reader.post(BULK, { action: 'Expect', rows }), 403, 'forbidden');
    const result = await ok(200, writer.post(BULK, { action: 'Expect', rows }));
    expect(codes(result)).to.deep.equal([[`${name}-1.example.org`, 'forbidden']]);
    expect(await namesOf(name)).to.deep.equal([`${name}-2.example.org`]);
  });

  it('are made during a freeze, which stops every other bulk deed', async () => {
    const until = new Date(hawser.clock.now() + 3_600_000).toISOString();
    await ok(200, hawser.admin.put('/api/v1/settings/freeze', { reason: 'sales', until }));
    const fqdn = newName();
    expect(await ok(200, expectAll([{ fqdn, assignment: web, scopeValueIds: [values.prod] }]))).to.include({
      done: 1,
    });
    const other = { action: 'Unassign', filter: { fqdn }, expectedCount: 1 };
    await expectProblem(hawser.admin.post(BULK, other), 423, 'frozen');
    await ok(204, hawser.admin.delete('/api/v1/settings/freeze'));
  });

  it('may hold a row with whatever, which is at fault by itself', async () => {
    const name = family();
    const [good, other] = [{ fqdn: `${name}-1.example.org` }, `${name}-2.example.org`];
    const faulty = [
      { fqdn: other, scopeValueIds: Array(300_000).fill(0) },
      { fqdn: other, assignment: { configurationName: 'a\0' } },
      { fqdn: 'a\0' },
      Array(300_000).fill(0),
    ];
    const { done, failed } = await ok(200, expectAll([...faulty, good]));
    expect(done).to.equal(1);
    expect(failed.map(({ code }: { code: string }) => code)).to.deep.equal(
      faulty.map(() => 'validation_failed'),
    );
    const cells = ['Environment=\0', '\0=prod', 'x=y;'.repeat(200), ';'.repeat(9_000)];
    const rows = cells.map((tags, at) => [`${name}-${at + 3}.example.org`, '', '', '', tags]);
    const result = await ok(200, expectCsv(csvOf([...rows, [`${name}-9.example.org`, '', '', '', '']])));
    expect(result.done).to.equal(1);
    expect(codes(result).map(([, code]) => code)).to.deep.equal(cells.map(() => 'validation_failed'));
    expect(await namesOf(name)).to.deep.equal([`${name}-1.example.org`, `${name}-9.example.org`]);
  });

  it('may be 2 MiB in one call, whatever all other JSON may be', async () => {
    const name = family();
    const rows = Array.from({ length: 200 }, (_, at) => ({
      fqdn: `${name}-${at}.example.org`,
      scopeValueIds: [values.prod],
      assignment: null,
      ...(at === 0 && { padding: 'x'.repeat(2 * 1024 * 1024) }),
    }));
    const result = await ok(200, expectAll(rows));
    expect(result).to.include({ done: 199 });
    expect(codes(result)).to.deep.equal([[`${name}-0.example.org`, 'validation_failed']]);
  });
});
