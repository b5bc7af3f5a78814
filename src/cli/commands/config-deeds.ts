/** What is done with a version of a configuration or composite: publish, withdraw, restore, delete. */

import { ApiProblem } from '../../client/errors.ts';
import { type Finding, lineOfFinding } from '../../domain/findings.ts';
import { type Command, type Context, command, YES } from '../declaration.ts';
import { type Found, linesOfFindings } from './config-findings.ts';
import {
  CONFIGURATION,
  checkVersion,
  type Kind,
  MESSAGE,
  messageOf,
  nameAndVersion,
} from './config-kinds.ts';

import { publishingOf } from './config-preview.ts';
import { lookAtEffect, PUBLISH_OPTIONS } from './publish-effect.ts';
import { type Effect, WITHDRAW_OPTIONS, withdrawVersion } from './withdrawing.ts';

type Out = Context['out'];

/** The commands on versions that both kinds have. */
export function versionDeeds(kind: Kind): Command[] {
  return [publishCommand(kind), withdrawCommand(kind), restoreCommand(kind), deleteCommand(kind)];
}

function publishCommand(kind: Kind): Command {
  return command({
    path: `${kind.group} publish`,
    summary: 'publish a draft, which nodes get at their next poll',
    description:
      'Looks first at what nodes would get, and asks where some would get new parameter problems, lose what they have or ' +
      'move to another major version. A draft that somebody changes meanwhile is not published.',
    arguments: nameAndVersion(kind),
    options: { ...MESSAGE, ...PUBLISH_OPTIONS },
    examples: [`hawserctl ${kind.group} publish web 1.2.0 -m "Port 8443 everywhere"`],
    async run(context) {
      const { api, out, options, arguments: path } = context;
      const { name, version } = path;
      checkVersion(version);
      // Its ETag guards what is published.
      await api.get(`${kind.base}/{name}/versions/{version}` as const, { path });
      const publish = async () => {
        if (!options['no-preview'])
          await lookAtEffect(context, [publishingOf(kind, name, version)], `${name} ${version}`);
        const json = messageOf(options.message);
        return api.put(`${kind.base}/{name}/versions/{version}/publish` as const, { path, json });
      };
      const done = await explainRefusal(publish(), out);
      out.answer(done, () => showPublished(kind, name, done, out));
    },
  });
}

interface PublishedVersion extends Found {
  affectedParameterFiles?: { scopeTypeName: string; scopeValue: string | null; version: string }[] | null;
}

/** @param shown lines that were printed before, which are not said again */
export function showPublished(
  kind: Kind,
  name: string,
  published: PublishedVersion,
  out: Out,
  shown: readonly string[] = [],
): void {
  const { version, affectedParameterFiles: affected } = published;
  for (const line of linesOfFindings(kind, name, published)) if (!shown.includes(line)) out.note(line);
  out.text(`${name} ${version} is published. Nodes that it is for get it at their next poll.`);
  for (const { scopeTypeName, scopeValue, version: each } of affected ?? [])
    out.text(
      `The parameters of ${[scopeTypeName, scopeValue].filter(Boolean).join('/')}, version ${each}, do not fit it.`,
    );
  const more = kind.group === 'composite' ? ' --composite' : '';
  out.note(`Next: "hawserctl proof ${name} ${version}${more}" tells who runs it.`);
}

/**
 * Says what breaks before the refusal is told.
 * @param shown findings that were printed before, which the refusal does not say again
 */
export async function explainRefusal<T>(
  deed: Promise<T>,
  out: Out,
  shown: readonly string[] = [],
): Promise<T> {
  try {
    return await deed;
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const { code, status, members } = error;
    for (const { description } of breakingChangesOf(members['compatibilityReport']))
      out.note(`Breaking: ${description}`);
    if (code !== 'document_unreadable') throw error;
    const isNew = (finding: Finding) => !shown.includes(lineOfFinding(finding));
    throw new ApiProblem(status, { ...members, errors: (members['errors'] as Finding[]).filter(isNew) });
  }
}

function breakingChangesOf(report: unknown): { description: string }[] {
  const { breakingChanges = [] } = (report ?? {}) as { breakingChanges?: { description: string }[] };
  return Array.isArray(breakingChanges) ? breakingChanges : [];
}

function withdrawCommand(kind: Kind): Command {
  return command({
    path: `${kind.group} withdraw`,
    summary: 'take a published version back, so that it is offered to nobody any more',
    description:
      'Its files and its history stay, and nodes get the next version that fits at their next poll. Nodes and ' +
      'composites that are pinned to exactly this version keep it. Tells how many nodes are offered it, and asks.',
    arguments: nameAndVersion(kind),
    options: WITHDRAW_OPTIONS,
    examples: [
      `hawserctl ${kind.group} withdraw web 1.2.0 --dry-run`,
      `hawserctl ${kind.group} withdraw web 1.2.0 -m "It closes port 22"`,
    ],
    async run(context) {
      const { api, arguments: path } = context;
      const { name, version } = path;
      checkVersion(version);
      const at = `${kind.base}/{name}/versions/{version}` as const;
      const withdraw = (given: { json: { reason: string } } | { query: { dryRun: true } }) =>
        api.put(`${at}/withdraw`, { path, ...given });
      // Its ETag guards what is withdrawn.
      await api.get(at, { path });
      return withdrawVersion(context, {
        label: `${name} ${version}`,
        restore: `hawserctl ${kind.group} restore ${name} ${version}`,
        look: async () => (await withdraw({ query: { dryRun: true } })) as Effect,
        withdraw: (reason) => withdraw({ json: { reason } }),
      });
    },
  });
}

function restoreCommand(kind: Kind): Command {
  return command({
    path: `${kind.group} restore`,
    summary: 'offer a withdrawn version again',
    arguments: nameAndVersion(kind),
    examples: [`hawserctl ${kind.group} restore web 1.2.0`],
    async run({ api, out, arguments: { name, version } }) {
      checkVersion(version);
      const path = { name, version };
      await api.get(`${kind.base}/{name}/versions/{version}` as const, { path });
      await api.delete(`${kind.base}/{name}/versions/{version}/withdraw` as const, { path });
      out.answer({ name, version, restored: true }, () =>
        out.text(`${name} ${version} is offered again. Nodes that it is for get it at their next poll.`),
      );
    },
  });
}

function deleteCommand(kind: Kind): Command {
  return command({
    path: `${kind.group} delete`,
    summary: `delete a draft, or a ${kind.noun} with all its versions`,
    arguments: [
      { name: 'name', summary: `the ${kind.noun}` },
      { name: 'version', summary: 'the draft; without it all is deleted', isOptional: true },
    ],
    options: YES,
    examples: [`hawserctl ${kind.group} delete web 1.2.0`, `hawserctl ${kind.group} delete web --yes`],
    async run({ api, ask, out, arguments: { name, version } }) {
      if (version !== undefined) {
        checkVersion(version);
        await ask.confirm(`Delete the draft ${version} of ${name}?`);
        await api.delete(`${kind.base}/{name}/versions/{version}` as const, { path: { name, version } });
      } else {
        const more = kind.base === CONFIGURATION.base ? ', its parameters' : '';
        await ask.confirm(`Delete the ${kind.noun} ${name} with all its versions${more} and its history?`);
        await api.delete(`${kind.base}/{name}` as const, { path: { name } });
      }
      out.answer({ name, version: version ?? null, deleted: true }, () =>
        out.text(version === undefined ? `${name} is deleted.` : `The draft ${name} ${version} is deleted.`),
      );
    },
  });
}
