/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function RegistrationKeysPage() {
  return <Page heading="RegistrationKeys" />;
}
