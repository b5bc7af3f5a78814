/** The hot path: what a node polls and pulls. In the steady state a poll is two map look-ups and a 304. */

import { z } from 'zod';
import type { Bundle } from '../bundles/bundle-cache.ts';
import { type BundleDownloads, ZIP_HEADERS, zipDownload } from '../bundles/downloads.ts';
import type { Database } from '../db/database.ts';
import type { KnownNode } from '../db/node-lookup.ts';
import { revealBundle } from '../deeds/reveal-secret.ts';
import { takesParametersPlace } from '../domain/bundle-paths.ts';
import { REVEAL } from '../domain/permissions.ts';
import { type Answer, download, json, namesValidator, notModified } from '../http/answer.ts';
import { mediaTypeOf } from '../http/media-types.ts';
import { READING_REPOSITORIES } from '../http/problem-codes.ts';
import { type Route, route } from '../http/route.ts';
import { Checksum } from '../http/schemas.ts';
import { andThen, thenOrElse } from '../lib/awaitable.ts';
import { forbidden, internal } from '../lib/errors.ts';
import { hasSecrets, type Manifest } from '../resolve/manifest.ts';
import type { Resolver } from '../resolve/resolver.ts';
import type { UserPrincipal } from '../security/principal.ts';
import type { GitStore } from '../versions/store.ts';
import type { EvidenceNotes } from './evidence.ts';
import { signatureRoute } from './signature-route.ts';

/** The path that every node polls. */
export const POLL_PATH = '/api/v1/nodes/{nodeId}/configuration/checksum';

const ConfigurationChecksum = z
  .object({
    checksum: Checksum.meta({ description: 'SHA-256, hex, of everything that the node gets; also the ETag' }),
    entryPoint: z.string().meta({ description: 'The file in the bundle that DSC is to run' }),
    parametersFile: z.string().nullable().meta({
      description: 'The file in the bundle with its parameters; null for none, and for a composite',
    }),
    configurationName: z.string(),
    version: z.string(),
  })
  .meta({
    id: 'ConfigurationChecksum',
    examples: [
      {
        checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        entryPoint: 'main.dsc.yaml',
        parametersFile: 'parameters.yaml',
        configurationName: 'web-server',
        version: '1.2.0',
      },
    ],
  });

const PULL = {
  method: 'GET',
  description:
    'Which version it is, is decided at each call, so what is published reaches nodes at their next poll.',
  tags: ['Pull'],
  problems: [
    'no_configuration_assigned',
    [404, 'no_eligible_version'],
    'parameter_merge_failed',
    [409, 'secret_unreadable'],
    'secret_key_missing',
    ...READING_REPOSITORIES,
  ],
} as const;

export interface PullTools {
  database: Database;
  resolver: Resolver;
  bundles: BundleDownloads;
  evidence: EvidenceNotes;
  store: GitStore;
}

export function pullRoutes(tools: PullTools): Route[] {
  return [checksumRoute(tools), bundleRoute(tools), configurationRoute(tools), signatureRoute(tools, PULL)];
}

function accessTo(resolver: Resolver) {
  return { kind: 'node:self-or-reader', contentOf: (node: KnownNode) => resolver.manifest(node) } as const;
}

function checksumRoute({ resolver, evidence }: PullTools): Route {
  const answers = new WeakMap<Manifest, Answer>();
  const manifests = new WeakMap<Answer, Manifest>();
  const manifestBehind = (answer: Answer) => manifests.get(answer);
  return route({
    ...PULL,
    access: accessTo(resolver),
    id: 'getNodeConfigurationChecksum',
    path: POLL_PATH,
    summary: 'Poll the checksum of what the node gets',
    answers: {
      200: { description: 'The checksum, also as ETag', schema: ConfigurationChecksum },
      304: { description: 'The checksum in If-None-Match still holds' },
    },
    handle({ node, content, principal }) {
      const polled = () =>
        thenOrElse(
          () => resolver.polled(node),
          (manifest) => manifest,
          (error) => {
            if (principal.kind === 'node') evidence.refused(principal.node, error);
            throw error;
          },
        );
      return andThen(content ?? polled(), (manifest) => {
        // One manifest serves many nodes and polls, so its answer is written out once.
        const known = answers.get(manifest);
        if (known !== undefined) return known;
        const answer = checksumAnswer(manifest);
        answers.set(manifest, answer);
        manifests.set(answer, manifest);
        return answer;
      });
    },
    answered: (call, answer) => evidence.polled(call, answer, manifestBehind),
  });
}

function checksumAnswer({
  checksum,
  entryPoint,
  parametersFile,
  configurationName,
  version,
}: Manifest): Answer {
  return json({ checksum, entryPoint, parametersFile, configurationName, version }, checksum);
}

function bundleRoute({ database, resolver, bundles, evidence }: PullTools): Route {
  const answers = new BundleAnswers();
  return route({
    ...PULL,
    access: accessTo(resolver),
    bound: 'node',
    id: 'downloadNodeBundle',
    path: '/api/v1/nodes/{nodeId}/configuration/bundle',
    summary: 'Download what the node gets as a ZIP',
    problems: [...PULL.problems, 'secrets_in_bundle', 'rate_limited'],
    answers: {
      200: {
        description: 'The bundle',
        mediaType: 'application/zip',
        headers: ZIP_HEADERS,
      },
      // This answer needs no bundle, so it has none of its headers.
      304: { description: 'The checksum in If-None-Match still holds', headers: {} },
    },
    handle({ node, content, principal, facts }) {
      return andThen(content ?? resolver.polled(node), (manifest) => {
        // A caller that has the bundle already needs none, so it is neither made nor opened.
        const held = facts.header('if-none-match');
        const isSecret = principal.kind !== 'node' && hasSecrets(manifest);
        if (isSecret) requireReveal(principal);
        if (held !== undefined && namesValidator(held, `"${manifest.checksum}"`))
          return notModified(manifest.checksum);
        const source = {
          checksum: manifest.checksum,
          hasSecrets: hasSecrets(manifest),
          files: () => resolver.files(manifest),
        };
        const noted = isSecret ? revealBundle(database, facts.actor, node.nodeId, manifest) : undefined;
        return andThen(noted, () =>
          andThen(bundles.get(source, principal, facts), (bundle) => answers.of(manifest, bundle)),
        );
      });
    },
    answered(call, answer) {
      const manifest = answers.manifestOf(answer);
      // The digest of a bundle with secrets would let whoever sees it try passwords.
      if (manifest !== undefined)
        evidence.sending(call, manifest, hasSecrets(manifest) ? null : digestIn(answer));
    },
  });
}

/** @throws HawserError forbidden `secrets_in_bundle` */
function requireReveal({ permissions }: UserPrincipal): void {
  if (permissions.has(REVEAL)) return;
  const message = 'The bundle holds secrets; users need the permission secrets.reveal to get it';
  throw forbidden(message, 'secrets_in_bundle');
}

/** The SHA-256 of a ZIP in base64, as its `Repr-Digest` says it. */
function digestIn({ headers }: Answer): string {
  return /^sha-256=:(.*):$/.exec(headers['Repr-Digest'] ?? '')?.[1] ?? '';
}

/** The answers for bundles. Each is made once for all callers that get it. */
class BundleAnswers {
  private readonly answers = new WeakMap<Bundle, { manifest: Manifest; answer: Answer }>();
  private readonly manifests = new WeakMap<Answer, Manifest>();

  of(manifest: Manifest, bundle: Bundle): Answer {
    const known = this.answers.get(bundle);
    // Two configurations may have the same content, and so one bundle.
    if (known?.manifest === manifest) return known.answer;
    const answer = bundleAnswer(manifest, bundle);
    this.answers.set(bundle, { manifest, answer });
    this.manifests.set(answer, manifest);
    return answer;
  }

  /** The manifest of the bundle in an answer; undefined for an answer without a bundle. */
  manifestOf(answer: Answer): Manifest | undefined {
    return this.manifests.get(answer);
  }
}

function bundleAnswer({ configurationName, version, checksum }: Manifest, { body, digest }: Bundle): Answer {
  return zipDownload({ name: configurationName, version, validator: checksum }, { body, digest });
}

function configurationRoute({ database, resolver, evidence }: PullTools): Route {
  const manifests = new WeakMap<Answer, Manifest>();
  const manifestBehind = (answer: Answer) => manifests.get(answer);
  return route({
    ...PULL,
    access: accessTo(resolver),
    bound: 'node',
    id: 'getNodeConfiguration',
    path: '/api/v1/nodes/{nodeId}/configuration',
    summary: 'Read the entry-point document of what the node gets',
    problems: [...PULL.problems, 'secrets_in_bundle', 'rate_limited'],
    answers: {
      200: {
        description: 'The document, with the media type of its extension',
        mediaType: '*/*',
        headers: { 'Content-Disposition': '`attachment`' },
      },
      304: { description: 'The checksum in If-None-Match still holds' },
    },
    async handle({ node, content, principal, facts }) {
      const manifest = content ?? (await resolver.polled(node));
      // The merged parameters stand where a version has its entry point that is older than its configuration's parameters.
      if (principal.kind !== 'node' && hasSecrets(manifest) && takesParametersPlace(manifest.entryPoint)) {
        requireReveal(principal);
        await revealBundle(database, facts.actor, node.nodeId, manifest);
      }
      const file = (await resolver.files(manifest)).find(({ path }) => path === manifest.entryPoint);
      if (file === undefined) throw internal('repository_damaged', 'The version lacks its entry point');
      const answer = download(await file.read(), mediaTypeOf(file.path), manifest.checksum);
      manifests.set(answer, manifest);
      return answer;
    },
    answered: (call, answer) => evidence.polled(call, answer, manifestBehind),
  });
}
