/** `composite.json`, the one file of a composite's version: its entry point and its children. */

import { stringify } from 'yaml';
import { z } from 'zod';
import { isId } from '../lib/ids.ts';
import { isResourceName } from './names.ts';
import { foldPath, normalizePath } from './safe-path.ts';
import { isVersion, isVersionName } from './version-order.ts';

export const COMPOSITE_FILE = 'composite.json';

/** Each node's poll after a change walks through all of them. */
export const MAX_CHILDREN = 1_000;

const Child = z.object({
  /** The id names the child in the API. It stays the same as long as the child stays in the composite. */
  id: z.string().refine(isId),
  /** The name of the child's configuration. */
  configuration: z.string().refine(isResourceName),
  /** The pinned version; null follows the child's highest published one. */
  version: z
    .string()
    .refine((text) => isVersion(text) || isVersionName(text))
    .nullable(),
  order: z.int().min(0),
});

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

/** The document in its stored form: stable to the byte, so that equal content has one Git object. */
export function printComposite({ entryPoint, children }: CompositeDocument): string {
  const items = [...children].sort(byOrder).map(({ id, configuration, version, order }) => ({
    id,
    configuration,
    version,
    order,
  }));
  return `${JSON.stringify({ entryPoint, children: items }, null, 2)}\n`;
}

/** Reads what `printComposite` or an author's own hand has written; null where it is no such document. */
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

/** Whether a child's folder would stand where the generated entry point, or a folder above it, stands in any case. */
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
  /** Path of the child's entry point inside the bundle. */
  configurationFile: string;
  /** Path of the child's merged parameters inside the bundle, null without any. */
  parametersFile: string | null;
}

/** YAML 1.2, or JSON where the entry point says so. Strings are quoted throughout: a child may be named `1.0`. */
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
