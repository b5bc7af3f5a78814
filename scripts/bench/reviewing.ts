/**
 * Measures an author's day over HTTP: comparing versions, compared with `git diff`; and asking whether a draft can be
 * published, editing one file and withdrawing a version, with few and with many versions in the repository.
 */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Reply } from '../../test/support/client.ts';
import { VERSIONS } from './fleet.ts';
import { manyRounds, SCALE_TARGET } from './list-timing.ts';
import { expect } from './probe.ts';
import type { Processes } from './processes.ts';
import { formatScale, inTurn, type ScaleRow, type Side, scaleRow } from './scale.ts';
import { type Effort, GROWTH_TARGET } from './scenarios.ts';
import { MANY, makeSite, type Site, timed } from './versions.ts';

const run = promisify(execFile);

/** The most time allowed for a comparison, as a multiple of what a run of `git diff` takes. */
const DIFF_TARGET = 1;
const CONFIGURATIONS = '/api/v1/configurations';
const FILES = 10;
const LINES = 200;
/** One line of so many differs between two rounds. */
const CHANGED = 10;
const COMPARED = `${VERSIONS} : ${MANY} versions`;

/** What is measured with few and with many versions, on a draft of each round. */
const ACTS: readonly { what: string; target: number; act(site: Site, draft: string): Promise<Reply> }[] = [
  { what: 'publish-check', target: SCALE_TARGET, act: check },
  { what: 'edit of one file', target: GROWTH_TARGET, act: edit },
  { what: 'dry run of a withdrawal', target: SCALE_TARGET, act: dryRun },
  { what: 'withdraw', target: GROWTH_TARGET, act: withdraw },
  { what: 'offer again', target: GROWTH_TARGET, act: offerAgain },
];

export interface ReviewResults {
  growth: ScaleRow[];
  compare: ScaleRow[];
}

/** @param progress is called with what begins */
export async function measureReviewing(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<ReviewResults> {
  const sites = {
    few: await makeSite(join(folder, 'few-reviewed'), template, VERSIONS, processes),
    many: await makeSite(join(folder, 'many-reviewed'), template, MANY, processes),
  };
  progress('measuring: comparing, editing and withdrawing');
  const times = ACTS.map(() => ({ few: [] as number[], many: [] as number[] }));
  const compared = { few: [] as number[], many: [] as number[] };
  let round = 0;
  await inTurn(manyRounds(effort), async (side, counts) => {
    round += 1;
    const site = sites[side];
    const draft = await makeDraft(site, round);
    for (const [at, { act }] of ACTS.entries()) {
      const { ms } = await timed(() => act(site, draft));
      if (counts) times[at]?.[side].push(ms);
    }
    if (side === 'few') {
      const both = await compareBoth(join(folder, 'few-reviewed'), site, draft, round);
      if (counts) for (const each of ['few', 'many'] as const) compared[each].push(both[each]);
    }
    const reply = await site.client.delete(`${pathOf(site, draft)}`);
    expect(reply.status === 204, 'the deletion of a draft', reply);
  });
  for (const { client } of Object.values(sites)) client.close();
  return {
    growth: ACTS.map(({ what, target }, at) =>
      scaleRow(what, COMPARED, times[at] ?? { few: [], many: [] }, target),
    ),
    compare: [scaleRow('compare', `git diff : ${FILES} files of ${LINES} lines`, compared, DIFF_TARGET)],
  };
}

/** Makes a draft whose files differ from those of every other round. @returns its version */
async function makeDraft(site: Site, round: number): Promise<string> {
  const form = { fields: { version: `9.${round}.0`, entryPoint: pathAt(0) }, files: contentOf(round) };
  const reply = await site.client.upload(`${CONFIGURATIONS}/${site.name}/versions`, form);
  expect(reply.status === 201, 'a new draft', reply);
  return form.fields.version;
}

/** Makes another draft of the round, and compares both: with stock git, and over HTTP. */
async function compareBoth(
  folder: string,
  site: Site,
  from: string,
  round: number,
): Promise<Record<Side, number>> {
  const to = await makeDraft(site, round + 1_000_000);
  const repository = join(folder, 'repos/configurations', `${site.name}.git`);
  const start = performance.now();
  const { stdout } = await run('git', ['-C', repository, 'diff', `draft/${from}`, `draft/${to}`]);
  const few = performance.now() - start;
  expectDiff(stdout);
  const path = `${CONFIGURATIONS}/${site.name}/compare?from=${from}&to=${to}`;
  const { ms: many, reply } = await timed(() => site.client.get(path));
  const isRight = reply.status === 200 && reply.json.totals.modified === FILES;
  expect(isRight, 'a comparison', reply);
  const deleted = await site.client.delete(pathOf(site, to));
  expect(deleted.status === 204, 'the deletion of a draft', deleted);
  return { few, many };
}

function expectDiff(text: string): void {
  const files = text.match(/^diff --git /gm)?.length;
  if (files !== FILES) throw new Error(`git diff shows ${files} files and not ${FILES}`);
}

async function check(site: Site, draft: string): Promise<Reply> {
  const reply = await site.client.get(`${pathOf(site, draft)}/publish-check`);
  expect(reply.status === 200 && reply.json.canPublish === true, 'a publish-check', reply);
  return reply;
}

async function edit(site: Site, draft: string): Promise<Reply> {
  const body = Buffer.from(`edited\n${linesOf(7)}`);
  const reply = await site.client.call('PUT', `${pathOf(site, draft)}/files/${pathAt(1)}`, { body });
  expect(reply.status === 200, 'an edit', reply);
  return reply;
}

async function dryRun(site: Site): Promise<Reply> {
  const reply = await site.client.put(`${pathOf(site, highestOf(site))}/withdraw?dryRun=true`, {});
  expect(reply.status === 200 && reply.json.nodes === 1, 'a dry run', reply);
  return reply;
}

async function withdraw(site: Site): Promise<Reply> {
  const reply = await site.client.put(`${pathOf(site, highestOf(site))}/withdraw`, { reason: 'It breaks.' });
  expect(reply.status === 200 && reply.json.withdrawn !== null, 'a withdrawal', reply);
  return reply;
}

async function offerAgain(site: Site): Promise<Reply> {
  const reply = await site.client.delete(`${pathOf(site, highestOf(site))}/withdraw`);
  expect(reply.status === 204, 'the end of a withdrawal', reply);
  return reply;
}

/** The highest published version, which the node gets. */
const highestOf = ({ highest }: Site) => highest;
const pathOf = ({ name }: Site, version: string) => `${CONFIGURATIONS}/${name}/versions/${version}`;
const pathAt = (at: number) => `part-${at}.dsc.yaml`;

function contentOf(round: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: FILES }, (_, at) => [pathAt(at), linesOf(round + at)]));
}

function linesOf(seed: number): string {
  const lines = Array.from({ length: LINES }, (_, at) =>
    at % CHANGED === 0 ? `# line ${at} of ${seed}\n` : `# line ${at}\n`,
  );
  return lines.join('');
}

export function formatReviewing({ growth, compare }: ReviewResults): string {
  return [
    ...[formatScale('reviewing, as versions grow', growth), ''],
    formatScale('comparing, beside stock git', compare, ['git', 'Hawser']),
  ].join('\n');
}
