/**
 * What each file of tests declares in its first line: in which runs it belongs, and on which engines of the database.
 *
 * - `// everyday: SQLite, PostgreSQL` is run by `npm test` on both;
 * - `// everyday: SQLite; full: PostgreSQL` is run by `npm test` on SQLite, and by `npm run test:full` on both;
 * - `// full: SQLite` is run by `npm run test:full` alone.
 *
 * Unit tests that declare nothing are run every day, and each once. Those that take seconds of processor time, because they
 * run git, PostgreSQL or a model for long, declare `// full: SQLite`. Tests of endurance are a run of their own.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../support/project.ts';

export type Engine = 'sqlite' | 'postgres';

/** `rest` is what `full` has beyond `everyday`. */
export type Tier = 'everyday' | 'rest' | 'full' | 'endurance';

export interface TestFile {
  /** The path in the project. */
  path: string;
  /** The engines on which it is run every day. */
  everyday: readonly Engine[];
  /** The other engines on which it is run too. */
  full: readonly Engine[];
}

/** The files of one engine that a run has. */
export interface Selection {
  engine: Engine;
  paths: string[];
}

const ENGINES: Record<string, Engine> = { SQLite: 'sqlite', PostgreSQL: 'postgres' };
const NAMES = '(?:SQLite|PostgreSQL|SQLite, PostgreSQL)';
const DECLARATION = new RegExp(`^// (?:everyday: (${NAMES}))?(?:; )?(?:full: (${NAMES}))?$`);

/**
 * Reads what a scenario declares.
 * @throws Error that says what the first line must look like
 */
export function readDeclaration(path: string, text: string): TestFile {
  const [, everyday, full] = DECLARATION.exec(text.split('\n', 1)[0] ?? '') ?? [];
  if (everyday === undefined && full === undefined)
    throw new Error(`${path}: the first line is not such as "// everyday: SQLite; full: PostgreSQL"`);
  return { path, everyday: enginesIn(everyday), full: enginesIn(full) };
}

/** @throws Error for a scenario that declares nothing */
export function selectTests(tier: Tier): Selection[] {
  if (tier === 'endurance') return [{ engine: 'sqlite', paths: testsBelow('test/endurance') }];
  const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');
  const units = testsBelow('test/unit').map((path): TestFile => {
    const text = read(path);
    return text.startsWith('// full:')
      ? readDeclaration(path, text)
      : { path, everyday: ['sqlite'], full: [] };
  });
  const scenarios = testsBelow('test/scenario').map((path) => readDeclaration(path, read(path)));
  const selections = (['sqlite', 'postgres'] as const).map((engine) => ({
    engine,
    paths: [...scenarios, ...units].filter((file) => isRun(file, engine, tier)).map(({ path }) => path),
  }));
  return selections.filter(({ paths }) => paths.length > 0);
}

export function testsBelow(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `${folder}/${path}`)
    .sort();
}

function isRun({ everyday, full }: TestFile, engine: Engine, tier: Exclude<Tier, 'endurance'>): boolean {
  if (tier !== 'rest' && everyday.includes(engine)) return true;
  return tier !== 'everyday' && full.includes(engine);
}

function enginesIn(names: string | undefined): Engine[] {
  return (names?.split(', ') ?? []).flatMap((name) => ENGINES[name] ?? []);
}
