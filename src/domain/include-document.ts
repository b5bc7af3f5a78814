/** The generated entry point of a composite's bundle: a DSC v3 document that includes each child in order. */

import { stringify } from 'yaml';

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
