/** Pushes folders of parameter files by the API. */

import type { Client, Reply } from './client.ts';

const PATH = '/api/v1/configurations/parameter-folder';

export const withPort = (port: number) => `parameters:\n  port: ${port}\n`;

/** @param files path to content */
export function pushFolder(
  client: Client,
  files: Record<string, string>,
  { publish, message }: { publish?: boolean | string; message?: string } = {},
): Promise<Reply> {
  const fields = message === undefined ? {} : { message };
  return client.upload(publish === undefined ? PATH : `${PATH}?publish=${publish}`, { fields, files });
}

interface Pushed {
  scopeTypeName: string;
  scopeValue: string | null;
  version: string;
  status: string;
  isPassthrough: boolean;
}

/** Files as lines, such as `Environment/prod 1.0.1 Draft`. */
export function named(files: readonly Pushed[]): string[] {
  return files.map(({ scopeTypeName, scopeValue, version, status, isPassthrough }) => {
    const scope = scopeValue === null ? scopeTypeName : `${scopeTypeName}/${scopeValue}`;
    return `${scope} ${version} ${status}${isPassthrough ? ' passthrough' : ''}`;
  });
}
