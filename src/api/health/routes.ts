/** `/health`: whether the process is alive and can do its work. The answers need no authentication and are not cached. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { readFreeze } from '../../db/freeze.ts';
import { holdsVersions } from '../../git/types.ts';
import { type Answer, json } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { Timestamp } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { GitStore } from '../../versions/store.ts';
import { isDamage } from '../../versions/types.ts';

const Readiness = z
  .object({
    status: z.enum(['Ready', 'Unready']),
    timestamp: Timestamp,
    checks: z.object({
      database: z.string().meta({ description: 'Ok, Failed, or "Degraded: " while it can only be read' }),
      repositories: z.string().meta({
        description:
          'Ok, Failed, or "Degraded: " and what is wrong with which repositories, or that none can be written; ' +
          'all others are served',
      }),
    }),
    frozenUntil: Timestamp.nullable().meta({
      description:
        'Until when nobody may change what nodes get; null without a freeze, and where it cannot be read',
    }),
  })
  .meta({
    id: 'Readiness',
    examples: [
      {
        status: 'Ready',
        timestamp: '2026-11-20T09:08:00.000Z',
        checks: { database: 'Ok', repositories: 'Ok' },
        frozenUntil: null,
      },
    ],
  });
const Health = z
  .object({ status: z.literal('Healthy'), timestamp: Timestamp })
  .meta({ id: 'Health', examples: [{ status: 'Healthy', timestamp: '2026-11-20T09:08:00.000Z' }] });

const NEVER_CACHED = { 'Cache-Control': '`no-store`' };

/** Problems that an answer names at most. The log names them all. */
const SHOWN_PROBLEMS = 20;

const PUBLIC = { tags: ['Health'], access: { kind: 'public' } } as const;

export function healthRoutes(database: Database, store: GitStore, log: Log): Route[] {
  return [
    route({
      ...PUBLIC,
      id: 'getHealth',
      method: 'GET',
      path: '/health',
      summary: 'The process answers',
      answers: { 200: { description: 'Alive', schema: Health, headers: NEVER_CACHED } },
      handle: ({ facts: { now } }) => uncached(json({ status: 'Healthy', timestamp: toTimestamp(now) })),
    }),
    route({
      ...PUBLIC,
      id: 'getReadiness',
      method: 'GET',
      path: '/health/ready',
      summary: 'Database and repositories can be used',
      description:
        'Single repositories that are damaged or missing are named under `repositories`, with 200 all the same: one of ' +
        'a thousand must not take the server out of its balancer.',
      answers: {
        200: { description: 'Ready', schema: Readiness, headers: NEVER_CACHED },
        503: { description: 'Not ready, and which check failed', schema: Readiness, headers: NEVER_CACHED },
      },
      async handle({ facts: { now } }) {
        const checks = {
          database: await checkDatabase(database, log),
          repositories: await checkRepositories(store, log),
        };
        const ready = Object.values(checks).every((result) => result !== 'Failed');
        const status = ready ? 'Ready' : 'Unready';
        // Anybody may ask, so the reason is not told here. A freeze is no fault, and neither is what cannot be told of it.
        const isReadable = checks.database !== 'Failed';
        const freeze = isReadable ? await readFreeze(database.read, now).catch(() => null) : null;
        const frozenUntil = toOptionalTimestamp(freeze?.until ?? null);
        const answer = uncached(json({ status, timestamp: toTimestamp(now), checks, frozenUntil }));
        return { ...answer, status: ready ? 200 : 503 };
      },
    }),
  ];
}

async function check(log: Log, name: string, probe: () => Promise<unknown>): Promise<'Ok' | 'Failed'> {
  try {
    await probe();
    return 'Ok';
  } catch (error) {
    log.error({ check: name, err: error }, 'readiness check failed');
    return 'Failed';
  }
}

/** A server whose database can only be read still serves polls, so its balancer must not take it out. */
async function checkDatabase(database: Database, log: Log): Promise<string> {
  const readable = await check(log, 'database', () =>
    database.read.selectFrom('generation').select('value').executeTakeFirstOrThrow(),
  );
  const fault = readable === 'Ok' ? await database.writeFault() : null;
  return fault === null ? readable : `Degraded: ${unwritable(fault)}`;
}

const unwritable = (fault: string) => `nothing can be written (${fault})`;

async function checkRepositories(store: GitStore, log: Log): Promise<string> {
  const listed = await check(log, 'repositories', () => store.list('configurations'));
  if (listed !== 'Ok') return listed;
  // The store watches existing repositories only. One that was put back is noticed when it is asked for.
  const missing = store.problems().filter(({ reason }) => reason === 'repository_missing');
  for (const { repository } of missing.slice(0, SHOWN_PROBLEMS)) {
    if (holdsVersions(repository)) await store.versions(repository).catch(() => undefined);
  }
  // Damage comes first: where somebody has made a wrong tag, the repository is whole.
  const problems = [...store.problems()].sort(
    (one, other) => Number(isDamage(other)) - Number(isDamage(one)),
  );
  const fault = await store.writeFault();
  if (problems.length === 0 && fault === null) return listed;
  const shown = problems.slice(0, SHOWN_PROBLEMS).map((problem) => {
    const { repository, ref, reason } = problem;
    return [
      `${repository.kind}/${repository.name}`,
      ref,
      `(${isDamage(problem) ? '' : 'no version: '}${reason})`,
    ]
      .filter((part) => part !== '')
      .join(' ');
  });
  const more = problems.length > SHOWN_PROBLEMS ? [`${problems.length - SHOWN_PROBLEMS} more`] : [];
  const first = fault === null ? [] : [unwritable(fault)];
  return `Degraded: ${[...first, ...shown, ...more].join(', ')}`;
}

function uncached(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
}
