/** Whether people can sign in by the identity providers, and whether what is stored of them fits the file. */

import { statSync } from 'node:fs';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/database.ts';
import { Provider } from '../../security/openid/provider.ts';
import { type ProviderSettings, readProviders } from '../../security/openid/providers-file.ts';
import {
  type Check,
  describeFailure,
  type Finding,
  faultOf,
  noteOf,
  several,
  warningOf,
} from './findings.ts';

const SETTING = 'HAWSER_OIDC_FILE';
const NAME = 'sign-in';

/** @param db null where the database cannot be read */
export async function checkSignIn(
  { oidcFile, publicUrl, environment }: Config,
  db: Db | null,
): Promise<Check> {
  if (oidcFile === null || publicUrl === null)
    return { name: NAME, summary: 'by passwords alone', findings: [] };
  const isDevelopment = environment === 'development';
  try {
    const all = readProviders(oidcFile, isDevelopment);
    const asked = all.map((settings) => askProvider(new Provider(settings, { publicUrl, isDevelopment })));
    const findings = [...all.flatMap(checkSecret), ...(await Promise.all(asked)).flat()];
    const strangers = db === null ? [] : await findStrangers(db, all);
    const summary = several(all.length, 'identity provider');
    return { name: NAME, summary, findings: [...findings, ...strangers] };
  } catch (error) {
    const remedy = 'mend the file: the server starts only with a file without faults';
    return {
      name: NAME,
      summary: oidcFile,
      findings: [faultOf(SETTING, describeFailure(error), remedy)],
    };
  }
}

async function askProvider(provider: Provider): Promise<Finding[]> {
  const { name, issuer } = provider.settings;
  try {
    await provider.ask();
    return [];
  } catch (error) {
    const what = `${issuer} cannot be asked, so nobody can sign in by it: ${describeFailure(error)}`;
    const remedy = 'see whether this machine reaches it, and whether caFile has its authority';
    return [warningOf(`provider ${name}`, what, remedy)];
  }
}

function checkSecret({ name, clientSecretFile }: ProviderSettings): Finding[] {
  const isOpen = (statSync(clientSecretFile).mode & 0o007) !== 0;
  if (!isOpen) return [];
  const remedy = `chmod o= ${clientSecretFile}`;
  return [warningOf(`provider ${name}`, `all users may read ${clientSecretFile}`, remedy)];
}

/** What names a provider that the file does not have: nobody signs in by it any more. */
async function findStrangers(db: Db, all: readonly ProviderSettings[]): Promise<Finding[]> {
  const names = new Set(all.map(({ name }) => name));
  const findings: Finding[] = [];
  for (const [table, noun] of [
    ['identities', 'identity'],
    ['external_group_mappings', 'mapping'],
  ] as const) {
    const rows = await db.selectFrom(table).select(['provider']).distinct().execute();
    for (const { provider } of rows) {
      if (names.has(provider)) continue;
      findings.push(
        noteOf(table, `there is at least one ${noun} of the provider "${provider}", which ${SETTING} lacks`),
      );
    }
  }
  return findings;
}
