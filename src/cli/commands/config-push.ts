/** `hawserctl config push`: makes a draft of what a folder has. */

import type { Api } from '../../client/api.ts';
import { type Context, command } from '../declaration.ts';
import { Failure } from '../errors.ts';
import { readArchive } from '../folder/archive.ts';
import { type Contents, digestOf, NOTHING, withBitsOf } from '../folder/contents.ts';
import { type Comparison, compareContents } from '../folder/differences.ts';
import { KnownContents } from '../folder/known-contents.ts';
import { likelyEntryPoints, type PushPlan, planPush, type Version } from '../folder/push-plan.ts';
import { counted } from '../values.ts';
import { showComparison } from './config-compared.ts';
import { explainRefusal, showPublished } from './config-deeds.ts';
import { linesOfFindings } from './config-findings.ts';
import { archiveOf, NAME, takeFolder } from './config-folder.ts';
import { CONFIGURATION, checkVersion, MESSAGE, messageOf, noSuch, unlessMissing } from './config-kinds.ts';
import { REPLACE, requireOwn } from './draft-owner.ts';

const OPTIONS = {
  ...NAME,
  version: { value: 'VERSION', summary: 'without it, the open draft, else the next patch' },
  'entry-point': { value: 'PATH', summary: 'the file that nodes run; without it, the one as before' },
  ...MESSAGE,
  ...REPLACE,
  publish: { summary: 'publish the draft' },
  create: { summary: 'make the configuration where there is none' },
  'dry-run': { summary: 'show what would change, and change nothing' },
} as const;

const VERSION_PATH = '/api/v1/configurations/{name}/versions/{version}';

const ARGUMENTS = [{ name: 'folder', summary: 'the folder with the files' }] as const;

type PushContext = Context<typeof ARGUMENTS, typeof OPTIONS>;

/** What was done, or would be. */
type Result = 'Unchanged' | 'Created' | 'Replaced' | 'Published';

/** Everything about one push. */
interface Push {
  context: PushContext;
  name: string;
  /** Whether the configuration is made first. */
  isNew: boolean;
  plan: PushPlan;
  contents: Contents;
  known: KnownContents;
}

export const push = command({
  path: 'config push',
  summary: 'make a draft of what a folder has',
  description:
    'Uploads the folder as a draft, in place of a draft of the same version, and shows what differs from the ' +
    'published version below, and what is wrong with its document. What is the same as that version makes nothing. .git ' +
    'stays out, and so do .hawserignore at the top of the folder and what it names, in the patterns of .gitignore, and ' +
    'what macOS and Windows put there: __MACOSX, .DS_Store, Thumbs.db, desktop.ini. Executable bits are kept.',
  arguments: ARGUMENTS,
  options: OPTIONS,
  examples: [
    'hawserctl config push ./web --dry-run',
    'hawserctl config push ./web --version 1.2.0 -m "Port 8443 everywhere"',
    'hawserctl config push . --name web --create --publish',
  ],
  run: async (context) => {
    const { api, env, options } = context;
    if (options.version !== undefined) checkVersion(options.version);
    const { name, contents } = await takeFolder(context, context.arguments.folder);
    const versions = await unlessMissing(
      api.all('/api/v1/configurations/{name}/versions', { path: { name } }),
    );
    if (versions === null && !options.create)
      throw new Failure(`${noSuch('configuration', name)} Say --create to make it, or its name by --name.`);
    const plan = planPush(versions ?? [], { version: options.version, entryPoint: options['entry-point'] });
    const known = new KnownContents(env, api.url);
    await carryOut({ context, name, isNew: versions === null, plan, contents, known });
  },
});

async function carryOut(push: Push): Promise<void> {
  const { plan, known } = push;
  const isPublished = plan.present?.status === 'Published';
  // A published version can only be what is pushed already.
  const [first, second] = isPublished ? [plan.present, null] : [plan.below, plan.present];
  for (const version of [first, second])
    if (version && known.find(version.commit) === digestOf(push.contents) && hasEntryPoint(push, version))
      return reportSame(push, version);
  const before = first ? await download(push, first.version) : NOTHING;
  const contents = process.platform === 'win32' ? withBitsOf(push.contents, before) : push.contents;
  const pushed = { ...push, contents };
  if (first && (await isSame(pushed, first, before))) return reportSame(pushed, first);
  if (isPublished)
    throw new Failure(
      `published_version: ${push.name} ${plan.version} is published, and has other files. Say another --version.`,
    );
  if (second && (await isSame(pushed, second, await download(push, second.version))))
    return reportSame(pushed, second);
  const { api, options } = push.context;
  if (second && !options.replace) await requireOwn(api, second, `The draft ${push.name} ${second.version}`);
  checkEntryPoint(pushed);
  await upload(pushed, compareContents(before, contents));
}

async function isSame({ contents, plan, known }: Push, version: Version, found: Contents): Promise<boolean> {
  await known.keep(version.commit, digestOf(found));
  return digestOf(found) === digestOf(contents) && hasEntryPoint({ plan }, version);
}

function hasEntryPoint({ plan }: Pick<Push, 'plan'>, { entryPoint }: Version): boolean {
  return entryPoint === plan.entryPoint;
}

async function download({ context, name }: Push, version: string): Promise<Contents> {
  context.out.progress(`Reading ${name} ${version}`);
  return downloadContents(context.api, name, version);
}

export async function downloadContents(api: Api, name: string, version: string): Promise<Contents> {
  const path = { name, version };
  const { body } = await api.download('/api/v1/configurations/{name}/versions/{version}/archive', { path });
  return readArchive(body);
}

/** @throws Failure where the folder lacks it */
function checkEntryPoint({ plan, contents }: Push): void {
  const paths = contents.map(({ path }) => path);
  if (paths.includes(plan.entryPoint)) return;
  const likely = likelyEntryPoints(paths);
  const advice = likely.length > 0 ? `, such as ${likely.join(' or ')}` : '';
  throw new Failure(
    `entry_point_missing: The folder has no file "${plan.entryPoint}", the entry point. Say another one by --entry-point${advice}.`,
  );
}

async function reportSame(push: Push, same: Version): Promise<void> {
  const { context, name, plan } = push;
  const { out, options } = context;
  if (same.status === 'Draft' && options.publish && !options['dry-run']) {
    out.note(`The draft ${name} ${same.version} has these files already.`);
    return publish(push, same, null);
  }
  const answer = { result: 'Unchanged' as Result, isDryRun: options['dry-run'], configurationName: name };
  out.answer({ ...answer, version: same, comparedWith: same.version, comparison: null }, () => {
    const what = same.status === 'Draft' ? 'the draft ' : '';
    out.text(`The folder has the same files as ${what}${name} ${same.version}. Nothing was made.`);
    if (same.status === 'Draft') showNext(name, same.version, out);
    else if (plan.present?.status === 'Draft')
      out.note(`The draft ${name} ${plan.version} has other files, and stays as it is.`);
  });
}

async function upload(push: Push, comparison: Comparison): Promise<void> {
  const { context, name, plan, isNew, contents } = push;
  const { out, options } = context;
  const isDryRun = options['dry-run'];
  if (!out.isJson) announce(push, comparison);
  if (isDryRun) {
    const result: Result = plan.present ? 'Replaced' : 'Created';
    const answer = { result, isDryRun, configurationName: name, version: plan.version };
    out.answer({ ...answer, comparedWith: plan.below?.version ?? null, comparison }, () =>
      out.text(`Nothing was changed, because of --dry-run.`),
    );
    return;
  }
  await requireUnchanged(push);
  out.progress(`Sending ${counted(contents.length, 'file')}`);
  const made = await send(push);
  await push.known.keep(made.commit, digestOf(contents));
  if (options.publish) return publish(push, made, comparison);
  const result: Result = plan.present ? 'Replaced' : 'Created';
  const answer = { result, isDryRun, configurationName: name, version: made };
  out.answer({ ...answer, comparedWith: plan.below?.version ?? null, comparison }, () => {
    if (isNew) out.text(`The configuration ${name} is made.`);
    out.text(`The draft ${name} ${made.version} is ${plan.present ? 'replaced' : 'made'}.`);
    for (const line of linesOfFindings(CONFIGURATION, name, made)) out.note(line);
    showNext(name, made.version, out);
  });
}

/** Says what will be done, before it is done. */
function announce({ context, name, plan, isNew, contents }: Push, comparison: Comparison): void {
  const { out, options } = context;
  const { version, present, below, entryPoint } = plan;
  out.text(
    `${name} ${version}, compared with ${below ? below.version : 'nothing, as no version below is published'}:`,
  );
  showComparison(comparison, out);
  if (below && below.entryPoint !== entryPoint)
    out.text(`The entry point is ${entryPoint}; it was ${below.entryPoint}.`);
  const files = counted(contents.length, 'file');
  const deed = present
    ? `This replaces the draft ${present.version} that ${present.createdBy} made`
    : `This makes ${isNew ? `the configuration ${name} with ` : ''}the draft ${version}`;
  const more = options.publish ? ', and publishes it' : '';
  out.text(`${deed}, with ${files} and the entry point ${entryPoint}${more}.`);
}

/** Reads the draft that is replaced, so that its ETag guards it. @throws Failure where it is another one by now */
async function requireUnchanged({ context, name, plan: { present } }: Push): Promise<void> {
  if (present === null) return;
  const path = { name, version: present.version };
  const found = await context.api.get(VERSION_PATH, { path });
  if (found.commit === present.commit && found.status === 'Draft') return;
  throw new Failure(
    `Somebody has changed the draft ${name} ${present.version} meanwhile. It stays as it is.`,
  );
}

async function send({ context, name, plan, isNew, contents }: Push): Promise<Version> {
  const { api, options } = context;
  const { version, present, entryPoint } = plan;
  const more = { version, entryPoint, ...messageOf(options.message) };
  const files = [await archiveOf(name, contents)];
  const path = { name, version: present?.version ?? version };
  if (present)
    return api.put(VERSION_PATH, {
      path,
      form: { fields: { ...more, version: present.version }, files },
    });
  if (!isNew)
    return api.post('/api/v1/configurations/{name}/versions', { path, form: { fields: more, files } });
  await api.post('/api/v1/configurations', { form: { fields: { name, ...more }, files } });
  return api.get(VERSION_PATH, { path });
}

/** Publishes exactly what was pushed: not what somebody else has put in its place meanwhile. */
async function publish(
  { context, name, plan, contents, known }: Push,
  draft: Version,
  comparison: Comparison | null,
): Promise<void> {
  const { api, out, options } = context;
  const path = { name, version: draft.version };
  const found = await api.get(VERSION_PATH, { path });
  if (found.commit !== draft.commit)
    throw new Failure(
      `Somebody has changed the draft ${name} ${draft.version} meanwhile. It was not published.`,
    );
  const shown = out.isJson ? [] : linesOfFindings(CONFIGURATION, name, found);
  for (const line of shown) out.note(line);
  const deed = api.put(`${VERSION_PATH}/publish`, { path, json: messageOf(options.message) });
  const version = await explainRefusal(deed, out, shown);
  await known.keep(version.commit, digestOf(contents));
  const answer = { result: 'Published' as Result, isDryRun: false, configurationName: name, version };
  out.answer({ ...answer, comparedWith: plan.below?.version ?? null, comparison }, () =>
    showPublished(CONFIGURATION, name, version, out, shown),
  );
}

function showNext(name: string, version: string, out: PushContext['out']): void {
  out.note(
    `Next: "hawserctl config preview ${name} ${version}" tells which nodes change, ` +
      `and "hawserctl config publish ${name} ${version}" publishes it.`,
  );
}
