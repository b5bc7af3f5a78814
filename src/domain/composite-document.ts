/** `composite.json`, the one file of a composite's version, and the entry point that is generated from it. */

import { stringify } from 'yaml';
import { z } from 'zod';
import { isId } from '../lib/ids.ts';
import { isResourceName } from './names.ts';
import { foldPath, normalizePath } from './safe-path.ts';
import { isVersion, isVersionName, majorOf } from './version-order.ts';

export const COMPOSITE_FILE = 'composite.json';

/** The number of children is bounded, because a node's poll after a change walks through all of them. */
export const MAX_CHILDREN = 1_000;

const PlainChild = z.object({
  /** The id names the child in the API. It stays the same as long as the child stays in the composite. */
  id: z.string().refine(isId),
  /** The name of the child's configuration. */
  configuration: z.string().refine(isResourceName),
  /** The pinned version; null follows the child's highest published one, of `majorVersion` where that is set. */
  version: z
    .string()
    .refine((text) => isVersion(text) || isVersionName(text))
    .nullable(),
  /** Null follows across majors. Documents without such a child do not have the member. */
  majorVersion: z.int().min(0).nullable().default(null),
  order: z.int().min(0),
});

const Child = PlainChild.refine(({ version, majorVersion }) => version === null || majorVersion === null);

const Document = z.object({
  entryPoint: z.string().refine(isNormalPath),
  children: z.array(Child).max(MAX_CHILDREN),
});

export type CompositeChild = z.infer<typeof Child>;

export interface CompositeDocument {
  entryPoint: string;
  /** The children by their order, and by name if their orders are equal. */
  children: readonly CompositeChild[];
}

/** The document in its stored form. Equal content has equal bytes, so that it is one Git object. */
export function printComposite({ entryPoint, children }: CompositeDocument): string {
  const items = [...children].sort(byOrder).map(({ id, configuration, version, majorVersion, order }) => ({
    ...{ id, configuration, version },
    ...(majorVersion !== null && { majorVersion }),
    order,
  }));
  return `${JSON.stringify({ entryPoint, children: items }, null, 2)}\n`;
}

/** Reads a document that `printComposite` or an author has written; null if it is not valid. */
export function parseComposite(text: string): CompositeDocument | null {
  try {
    const { entryPoint, children } = Document.parse(JSON.parse(text));
    const names = new Set(children.map((child) => child.configuration.toLowerCase()));
    const ids = new Set(children.map((child) => child.id));
    if (names.size < children.length || ids.size < children.length) return null;
    if (children.some((child) => takesEntryPoint(entryPoint, child.configuration))) return null;
    return { entryPoint, children: children.sort(byOrder) };
  } catch {
    return null;
  }
}

/** Whether a child that is not pinned may give this version, by its major. */
export function isFollowed({ majorVersion }: CompositeChild, { version }: { version: string }): boolean {
  return majorVersion === null || majorOf(version) === majorVersion;
}

/** Whether a child's folder clashes with the generated entry point or a folder above it, without regard to case. */
export function takesEntryPoint(entryPoint: string, childName: string): boolean {
  return foldPath(entryPoint.split('/', 1)[0] ?? '') === foldPath(childName);
}

function byOrder(a: CompositeChild, b: CompositeChild): number {
  return a.order - b.order || (a.configuration < b.configuration ? -1 : 1);
}

function isNormalPath(path: string): boolean {
  try {
    return normalizePath(path) === path;
  } catch {
    return false;
  }
}

const SCHEMA = 'https://aka.ms/dsc/schemas/v3/bundled/config/document.json';
const INCLUDE = 'Microsoft.DSC/Include';

export interface IncludedChild {
  name: string;
  /** The path of the child's entry point inside the bundle. */
  configurationFile: string;
  /** The path of the child's merged parameters inside the bundle, or null. */
  parametersFile: string | null;
}

/**
 * The generated entry point of a composite's bundle: a DSC v3 document that includes each child in order. It is YAML 1.2,
 * or JSON if the name of the entry point says so. All strings are quoted, because a child may be named `1.0`.
 */
export function printIncludeDocument(entryPoint: string, children: readonly IncludedChild[]): string {
  const resources = children.map(({ name, configurationFile, parametersFile }) => ({
    name,
    type: INCLUDE,
    properties: parametersFile === null ? { configurationFile } : { configurationFile, parametersFile },
  }));
  const document = { $schema: SCHEMA, resources };
  if (/\.json$/i.test(entryPoint)) return `${JSON.stringify(document, null, 2)}\n`;
  return stringify(document, {
    version: '1.2',
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
    lineWidth: 0,
  });
}
