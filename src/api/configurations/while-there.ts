/** Reading and changing a configuration that somebody may be deleting at the same time. */

import type { Database } from '../../db/open.ts';
import { HawserError, notFound } from '../../lib/errors.ts';
import { findConfiguration } from './queries.ts';

export const noConfiguration = () => notFound('No configuration of this name');

/**
 * What `work` gives. A repository that is missing because its configuration was deleted since the caller was let
 * to it is no fault of the server's.
 * @throws HawserError not_found in that case, or what `work` throws
 */
export async function whileThere<T>(
  database: Database,
  configurationId: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isMissing = error instanceof HawserError && error.code === 'repository_missing';
    if (isMissing && !(await findConfiguration(database.read, configurationId))) throw noConfiguration();
    throw error;
  }
}
