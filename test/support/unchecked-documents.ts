/**
 * Most tests publish a word or two in place of a document, because they are about something else. Their servers are set up to
 * take that, as an operator may set them up. Tests about documents set `defaultDocumentChecks` back to what it is at first.
 */

import type { Db } from '../../src/db/database.ts';

export async function letAnythingBePublished(db: Db): Promise<void> {
  const row = { name: 'defaultDocumentChecks', value: JSON.stringify('None') };
  await db
    .insertInto('server_settings')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
