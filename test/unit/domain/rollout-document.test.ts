import { expect } from 'chai';
import fc from 'fast-check';
import type { RolloutRecord } from '../../../src/domain/rollout.ts';
import { MAX_ROLLOUT_LENGTH, parseRollout, printRollout } from '../../../src/domain/rollout-document.ts';
import { MAX_STEPS } from '../../../src/domain/rollout-plan.ts';
import { begun, counts, gate } from '../../support/rollout-record.ts';

type Json = { [name: string]: Json } & Json[] & (string | number | boolean | null);

/** The printed record after a change of what its text says. */
function changed(change: (record: Json) => unknown): string {
  const content = JSON.parse(printRollout(begun()));
  change(content);
  return JSON.stringify(content);
}

/** Every path to a member or an item, such as `['steps', '0', 'ring']`. */
function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]));
  return path.length === 0 ? inner : [path, ...inner];
}

function holderOf(content: Json, path: readonly string[]): Json {
  return path.slice(0, -1).reduce((holder, key) => holder[key] as Json, content);
}

describe('rollout document', () => {
  it('comes back as it was printed', () => {
    const name = fc.constantFrom('Ring', 'constructor', 'a-b_C', 'x'.repeat(64));
    const number = fc.nat();
    const ofStep = fc.record({
      share: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
      ...{ percent: fc.integer({ min: 1, max: 100 }), maxSilent: fc.option(number), number },
    });
    const record = fc
      .record({
        version: fc.constantFrom('1.4.0', '1.0.0-rc.1+x', '2026_spring'),
        tag: fc.constantFrom('0'.repeat(40), 'f'.repeat(64)),
        person: fc.constantFrom('anna', 'Ängström, the 2nd', '__proto__', '"\\'),
        ...{ name, approvedBy: fc.option(name), steps: fc.array(ofStep, { minLength: 1, maxLength: 4 }) },
      })
      .map(
        ({ name: scope, person, approvedBy, steps, ...rest }): RolloutRecord => ({
          ...begun({
            ...{ ...rest, createdBy: person },
            scopeType: { id: '10000000-0000-4000-8000-000000000000', name: scope },
            steps: steps.map(({ share: successShare, percent, maxSilent, number: minNodes }, at) => ({
              ...{ ring: at === steps.length - 1 ? null : `ring${at}`, percent },
              gate: gate({ successShare, maxSilent, minNodes }),
            })),
          }),
          approvedBy,
        }),
      );
    fc.assert(
      fc.property(record, (one) => {
        expect(parseRollout(printRollout(one))).to.deep.equal(one);
      }),
    );
  });

  it('has these bytes, whatever the order of members', () => {
    const record = begun({ steps: [{ ring: 'canary', percent: 5, gate: gate({ bakeTime: '1.00:00:00' }) }] });
    const reversed = Object.fromEntries(Object.entries(record).reverse()) as unknown as RolloutRecord;
    expect(printRollout(reversed)).to.equal(printRollout(record));
    expect(printRollout(record)).to.equal(`{
  "version": "1.4.0",
  "tag": "${'a'.repeat(40)}",
  "scopeType": {
    "id": "10000000-0000-4000-8000-000000000000",
    "name": "Ring"
  },
  "state": "Running",
  "step": 0,
  "steps": [
    {
      "ring": "canary",
      "percent": 5,
      "gate": {
        "minNodes": 1,
        "successShare": 0.95,
        "maxRegressions": 0,
        "maxSilent": null,
        "maxAbsent": null,
        "bakeTime": "1.00:00:00",
        "deadline": "1.00:00:00",
        "approval": false
      },
      "state": "Open",
      "counts": {
        "offered": 0,
        "taken": 0,
        "success": 0,
        "regression": 0,
        "alreadyBad": 0,
        "silent": 0,
        "absent": 0
      },
      "startedAt": "2026-03-01T10:00:00.000Z",
      "endedAt": null
    }
  ],
  "onHalt": "Keep",
  "isReverted": false,
  "approvedBy": null,
  "createdBy": "olga",
  "publishedBy": "petra",
  "createdAt": "2026-03-01T10:00:00.000Z",
  "since": "2026-03-01T10:00:00.000Z"
}
`);
  });

  it('is none without any one of its members, with one more, or with one of another type', () => {
    const whole = JSON.parse(printRollout(begun()));
    const isNull = (path: string[]) => holderOf(whole, path)[path.at(-1) ?? ''] === null;
    for (const path of pathsOf(whole)) {
      const key = path.at(-1) ?? '';
      const told = path.join('.');
      const put = (value: unknown) =>
        changed((content) => Object.assign(holderOf(content, path), { [key]: value }));
      // Records of earlier releases lack it.
      if (!/^\d+$/.test(key) && key !== 'maxAbsent')
        expect(parseRollout(changed((content) => delete holderOf(content, path)[key])), told).to.equal(null);
      for (const value of [[], { a: 1 }, 'no\nsuch', -1, 0.5, 2 ** 53])
        if (!(value === 0.5 && key === 'successShare'))
          expect(parseRollout(put(value)), `${told} ${JSON.stringify(value)}`).to.equal(null);
      if (!isNull(path) && key !== 'maxSilent' && told !== 'steps.0.ring')
        expect(parseRollout(put(null)), told).to.equal(null);
      const extra = changed((content) => Object.assign(holderOf(content, path), { more: 1 }));
      if (!/^\d+$/.test(key)) expect(parseRollout(extra), `${told} more`).to.equal(null);
    }
  });

  it('is none when something in it is not as it must be', () => {
    const bad: [what: string, change: (record: Json) => unknown][] = [
      ['a version that is none', (record) => Object.assign(record, { version: '../1' })],
      ['a tag that is short', (record) => Object.assign(record, { tag: 'abc' })],
      ['a tag in capitals', (record) => Object.assign(record, { tag: 'A'.repeat(40) })],
      ['an id that is none', (record) => Object.assign(record['scopeType'] as Json, { id: 'x' })],
      ['a state that is none', (record) => Object.assign(record, { state: 'running' })],
      ['a member of all objects', (record) => Object.assign(record, { state: 'constructor' })],
      ['a step that is not there', (record) => Object.assign(record, { step: 2 })],
      ['a step that is not the open one', (record) => Object.assign(record, { step: 1 })],
      ['no steps', (record) => Object.assign(record, { steps: [] })],
      ['a time that is none', (record) => Object.assign(record, { since: '2026-02-30T10:00:00.000Z' })],
      ['a time of a zone', (record) => Object.assign(record, { since: '2026-02-01T10:00:00.000+01:00' })],
      ['a time without milliseconds', (record) => Object.assign(record, { since: '2026-02-01T10:00:00Z' })],
      ['a name with a line', (record) => Object.assign(record, { createdBy: 'a\nb' })],
      ['a name without an end', (record) => Object.assign(record, { createdBy: 'a'.repeat(201) })],
      ['an empty name', (record) => Object.assign(record, { approvedBy: '' })],
      ['reverted and running', (record) => Object.assign(record, { isReverted: true })],
      ['completed with an open step', (record) => Object.assign(record, { state: 'Completed' })],
    ];
    for (const [what, change] of bad) expect(parseRollout(changed(change)), what).to.equal(null);
    const steps: [what: string, at: number, change: object][] = [
      ['two open steps', 1, { state: 'Open', startedAt: '2026-03-01T10:00:00.000Z' }],
      ['no open step', 0, { state: 'Waiting', startedAt: null }],
      ['an open step that says it waits', 0, { state: 'Waiting' }],
      ['a waiting step that says it is open', 1, { state: 'Open' }],
      ['open since no time', 0, { startedAt: null }],
      ['open and ended', 0, { endedAt: '2026-03-01T10:00:00.000Z' }],
      ['waiting since a time', 1, { startedAt: '2026-03-01T10:00:00.000Z' }],
      ['no percent', 0, { percent: 0 }],
      ['too much percent', 0, { percent: 101 }],
      ['a ring twice', 1, { ring: 'canary' }],
      ['a ring that cannot be a value', 0, { ring: 'a/b' }],
    ];
    for (const [what, at, change] of steps) {
      const text = changed((record) => {
        Object.assign(record['steps']?.[at] as Json, change);
      });
      expect(parseRollout(text), what).to.equal(null);
    }
    const time = '2026-03-01T10:00:00.000Z';
    const [open, done] = [
      { state: 'Open', startedAt: time },
      { state: 'Done', startedAt: time, endedAt: time },
    ];
    const courses: [what: string, step: number, states: object[]][] = [
      ['two open steps, of which the later counts', 1, [open, open]],
      ['a step beyond the last', 2, [done, done]],
      ['a step that was left out', 1, [{}, open]],
      ['done before its time', 0, [open, done]],
    ];
    const course = (step: number, states: object[]) =>
      changed((record) => {
        Object.assign(record, { step });
        states.forEach((state, at) => {
          Object.assign(record['steps']?.[at] as Json, { state: 'Waiting', startedAt: null }, state);
        });
      });
    expect(parseRollout(course(1, [done, open]))?.step).to.equal(1);
    for (const [what, step, states] of courses)
      expect(parseRollout(course(step, states)), what).to.equal(null);
    const gates: object[] = [
      ...[{ successShare: 1.01 }, { bakeTime: '00:00:00' }, { bakeTime: 'PT1H' }, { bakeTime: '1.0:00:00' }],
      ...[{ deadline: 'x' }, { deadline: '0.01:00:00' }, { maxSilent: -1 }, { minNodes: 1.5 }],
    ];
    for (const change of gates) {
      const text = changed((record) => Object.assign(record['steps']?.[0]?.['gate'] as Json, change));
      expect(parseRollout(text), JSON.stringify(change)).to.equal(null);
    }
  });

  it('is none when it is no JSON, or JSON that says a thing twice or reaches for prototypes', () => {
    const text = printRollout(begun());
    expect(parseRollout(text)).to.deep.equal(begun());
    const texts = ['', '{', 'null', '[]', '"x"', '{}', `${text}{}`, text.slice(0, -3), '['.repeat(100_000)];
    for (const one of texts) expect(parseRollout(one), one.slice(0, 20)).to.equal(null);
    for (const more of ['"state": "Completed"', '"__proto__": {}', '"constructor": null', '"toString": 1'])
      expect(parseRollout(text.replace('{', `{${more}, `)), more).to.equal(null);
    for (const more of ['"approval": true', '"__proto__": {"approval": false}'])
      expect(parseRollout(text.replace('"gate": {', `"gate": {${more}, `)), more).to.equal(null);
    const inherited = text.replace('"approval": false', '"__proto__": {"approval": false}');
    expect(parseRollout(inherited)).to.equal(null);
    expect(({} as { approval?: boolean }).approval).to.equal(undefined);
  });

  it('is never a reason to throw, whatever somebody pushes', () => {
    const printed = printRollout(begun());
    const place = fc.nat({ max: printed.length });
    const cut = fc
      .tuple(place, place, fc.string({ maxLength: 5 }))
      .map(([from, to, put]) => printed.slice(0, from) + put + printed.slice(to));
    fc.assert(
      fc.property(fc.oneof(cut, fc.string(), fc.json()), (text) => {
        const record = parseRollout(text);
        // What is read at all is a record that can be written.
        if (record !== null) expect(parseRollout(printRollout(record))).to.deep.equal(record);
      }),
      { numRuns: 500 },
    );
  });

  it('may have the longest plan, and is not read when it is longer than any', () => {
    const steps = Array.from({ length: MAX_STEPS }, (_, at) => ({
      ...{ ring: `${at}`.padEnd(64, 'x'), percent: 100 },
      gate: gate({ minNodes: 2 ** 53 - 1, successShare: 1 / 3, maxSilent: 2 ** 53 - 1 }),
    }));
    const most = 2 ** 53 - 1;
    const full = counts({ offered: most, taken: most, success: most, regression: most, silent: most });
    const names = { createdBy: '"'.repeat(200), publishedBy: '"'.repeat(200) };
    const record = begun({ steps, ...names });
    const longest = { ...record, steps: record.steps.map((step) => ({ ...step, counts: full })) };
    const text = printRollout(longest);
    expect(parseRollout(text)).to.deep.equal(longest);
    expect(text.length).to.be.below(MAX_ROLLOUT_LENGTH / 2);
    expect(parseRollout(text + ' '.repeat(MAX_ROLLOUT_LENGTH - text.length))).to.deep.equal(longest);
    expect(parseRollout(text + ' '.repeat(MAX_ROLLOUT_LENGTH - text.length + 1))).to.equal(null);
  });

  it('is not printed when it could not be read', () => {
    expect(() => printRollout({ ...begun(), step: 1 })).to.throw();
    expect(() => printRollout({ ...begun(), more: 1 } as RolloutRecord)).to.throw();
  });
});
